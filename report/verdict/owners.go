package verdict

import (
	"slices"

	"github.com/desynctool/desynctool/tracediff"
)

// owners finds the owner of each account: the one that it names itself, else the one that follows from the other
// accounts. A file belongs to a peer if another file that it disagrees with has that peer with the checksums that it
// states as its own, and no other peer; and if it never accuses that peer. Any log may contain what a server found:
// such a file belongs to the peer in its path only where paths are known to name players, since the messages name one
// of them.
func owners(accounts []Account) []WordLog {
	out := make([]WordLog, len(accounts))
	players := namesPlayers(accounts)
	all := make([]sums, len(accounts))
	for i := range accounts {
		all[i] = accounts[i].sumsOf()
	}
	for i := range accounts {
		a := &accounts[i]
		out[i] = WordLog{a.File, a.Peer, OwnerByPath, a.Peer}
		if a.Said {
			out[i].By = OwnerSaid
			continue
		}
		switch list := candidates(accounts, all, i); {
		case len(list) == 1:
			out[i].Peer, out[i].By = list[0], OwnerMatched
		case a.Placed:
		case len(list) > 1 || a.Arbiter && !players:
			out[i].Peer, out[i].By = "", OwnerOpen
		}
	}
	for i := range out {
		for k := range out[:i] {
			if out[i].By == OwnerMatched && out[k].By == OwnerMatched && out[i].Peer == out[k].Peer && disagree(all[i], all[k]) {
				out[i].Peer, out[i].By, out[k].Peer, out[k].By = "", OwnerOpen, "", OwnerOpen
			}
		}
	}
	return out
}

// namesPlayers reports whether the paths of two or more accounts name players: the messages name one of them.
func namesPlayers(accounts []Account) bool {
	paths := map[string]bool{}
	for i := range accounts {
		paths[accounts[i].Peer] = true
	}
	return len(paths) > 1 && slices.ContainsFunc(accounts, func(a Account) bool {
		return slices.ContainsFunc(a.Claims, func(c tracediff.Claim) bool {
			return slices.ContainsFunc(c.Peers, func(name string) bool { return paths[name] })
		})
	})
}

// sums are the checksums that an account states, by tick and peer, its own as the peer "".
type sums map[uint64]map[string]string

func (a *Account) sumsOf() sums {
	all := sums{}
	for k := range a.Claims {
		c := &a.Claims[k]
		if !c.HasTick || c.Quoted || c.Replay || c.SelfTest {
			continue
		}
		for i, v := range c.Values {
			if own := a.own(c, i); own || v.Peer != "" {
				if all[c.Tick] == nil {
					all[c.Tick] = map[string]string{}
				}
				if own {
					v.Peer = ""
				}
				all[c.Tick][v.Peer] = v.Value
			}
		}
	}
	return all
}

// candidates returns the possible owners of account i according to the other accounts.
func candidates(accounts []Account, all []sums, i int) (list []string) {
	fits := map[string]bool{} // by name: whether every other account has it as this one has itself
	for k, theirs := range all {
		for tick, sums := range all[i] {
			mine, own := sums[""]
			if !own || k == i {
				continue
			}
			answered := false // this account has the same checksum of a peer as the other has of itself
			for name, sum := range sums {
				answered = answered || name != "" && tracediff.EqualSums(sum, theirs[tick][""])
			}
			for name, sum := range theirs[tick] {
				equal := tracediff.EqualSums(sum, mine)
				if before, seen := fits[name]; !equal {
					fits[name] = false
				} else if answered && !seen {
					fits[name] = true
				} else if seen {
					fits[name] = before
				}
			}
		}
	}
	delete(fits, "")
	here := map[string]bool{} // the peers that it accuses
	for k := range accounts[i].Claims {
		for _, name := range accounts[i].Claims[k].Peers {
			here[name] = true
		}
	}
	for name, fit := range fits {
		if fit && !here[name] {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// disagree reports whether two accounts state different checksums of one tick, for themselves or for the same peer.
func disagree(a, b sums) bool {
	for tick, sums := range a {
		for name, sum := range sums {
			if other, ok := b[tick][name]; ok && sums[""] != "" && !tracediff.EqualSums(sum, other) {
				return true
			}
		}
	}
	return false
}
