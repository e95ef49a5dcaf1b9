package verdict

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/tracediff"
)

// Account is what a game wrote of desyncs into one file.
type Account struct {
	File string
	// Peer is the owner of the file. Said is set if the file names its owner; else the name comes from its path.
	Peer string
	Said bool
	// Placed is set if the file lies among other evidence of Peer.
	Placed bool
	// Engine is the engine that wrote the messages. Arbiter is set if a value without a peer is the value that a server
	// takes for right, see tracediff.Dialect.
	Engine  string
	Arbiter bool
	// TickName returns the engine's own name of a tick, nil if that is the number.
	TickName func(tick uint64) string
	Claims   []tracediff.Claim
	// Facts are what the file contains about the game and the machine, by name.
	Facts map[string]string
}

// WordKind is how much the messages of games show.
type WordKind int

// Kinds of words, by the first message that shows most.
const (
	WordOnly     WordKind = iota // that there is a desync, and no two checksums of one tick
	WordQuoted                   // the same, in text that may be a quotation
	WordData                     // that the machines had different data before a game
	WordSums                     // two different checksums of one tick
	WordSelfTest                 // one machine computed the same tick twice, with two results
	WordReplay                   // a replay came to another result than its recording
)

// Proves reports whether it is known by the word of a game that there are two results.
func (k WordKind) Proves() bool { return k >= WordSums }

// Unnamed is the peer that a message means without naming it.
const Unnamed = "another peer"

// Word is the content of all messages of games.
type Word struct {
	Kind WordKind
	// Claim is the first message that shows most, and Engine the engine that wrote it. At is the tick that it names,
	// nil if it names none.
	Engine string
	Claim  tracediff.Claim
	At     *Moment
	// By is the peer with the program that wrote Claim, empty if that is not known. Accused are the peers that the
	// messages of that tick accuse, or that report it themselves if Claim is Reported.
	By      string
	Accused []string
	// Logs are the files. Mentioned are the peers that the messages name and that have no file.
	Logs      []WordLog
	Mentioned []string
	// Sums are the peers by the checksum that they had at that tick according to the messages, in the order of the
	// messages. There are none if they state none.
	Sums []WordSum
	// Others is how many other parts of the state differ at that tick according to the messages, if Claim is about one.
	Others int
	// Mutual are the pairs of peers that accuse each other there.
	Mutual [][2]string
	// Torn are peers with two checksums of that tick in the messages.
	Torn []string
}

// WordLog is one file with messages.
type WordLog struct {
	File string
	// Peer is the owner of the file. It is empty if the owner is one of the peers that other files' messages name, and
	// it is not known which one.
	Peer string
	By   OwnerBy
	// Called is the name of the owner in the file or its path.
	Called string
}

// OwnerBy is what the owner of a file is known from.
type OwnerBy int

// Ways to know the owner.
const (
	OwnerByPath  OwnerBy = iota // it is called after its path
	OwnerSaid                   // the file names it
	OwnerMatched                // the peer that it accuses accuses this one, with the checksums the other way round
	OwnerOpen                   // it is not known: Peer is empty
)

// WordSum is a checksum with the peers that had it. Right is set if a server takes it for right.
type WordSum struct {
	Sum   string
	Peers []string
	Right bool
}

// Hear combines what accounts contain, nil if they contain nothing. What an account contains counts as it is: it is
// only known that the game wrote it.
func Hear(accounts []Account) *Word {
	w := &Word{}
	first, at := w.choose(accounts)
	if first == nil {
		return nil
	}
	w.Engine = at.Engine
	h := hearing{accounts: accounts, owners: owners(accounts)}
	if w.Kind == WordSelfTest || w.Kind == WordReplay {
		w.runs(accounts)
		return w
	}
	w.By = h.owner(at, first)
	w.mention(&h)
	w.sums(&h)
	return w
}

// choose finds the message that shows most: one that proves, else one that names a tick, else the first; of several the
// earliest. It returns it with its account, nil if there is none.
func (w *Word) choose(accounts []Account) (first *tracediff.Claim, of *Account) {
	rank := func(c *tracediff.Claim) int {
		switch {
		case c.Proves():
			return 0
		case !c.Quoted && c.HasTick:
			return 1
		case !c.Quoted: // different data, too
			return 2
		}
		return 3
	}
	for i := range accounts {
		for k := range accounts[i].Claims {
			c := &accounts[i].Claims[k]
			if first == nil || cmp.Or(cmp.Compare(rank(c), rank(first)), cmp.Compare(btoi(!c.HasTick), btoi(!first.HasTick)), cmp.Compare(c.Tick, first.Tick)) < 0 {
				first, of = c, &accounts[i]
			}
		}
	}
	if first == nil {
		return nil, nil
	}
	w.Claim = *first
	switch {
	case first.Quoted:
		w.Kind = WordQuoted
	case first.Data:
		w.Kind = WordData
	case !first.Proves():
		w.Kind = WordOnly
	case first.Replay && onceRecorded(accounts, first):
		w.Kind = WordReplay
	case first.SelfTest:
		w.Kind = WordSelfTest
	default:
		w.Kind = WordSums
	}
	if first.HasTick {
		w.At = &Moment{Number: first.Tick, Native: nameOf(of.TickName, first.Tick)}
	}
	return first, of
}

// onceRecorded reports whether all messages agree on the recorded value of a replay's tick.
func onceRecorded(accounts []Account, first *tracediff.Claim) bool {
	recorded := ""
	for i := range accounts {
		for k := range accounts[i].Claims {
			c := &accounts[i].Claims[k]
			if !c.Replay || c.HasTick != first.HasTick || c.Tick != first.Tick || !c.HasTick && c != first {
				continue
			}
			for _, v := range c.Values {
				switch {
				case v.Peer == c.By:
				case recorded == "":
					recorded = v.Value
				case !tracediff.EqualSums(recorded, v.Value):
					return false
				}
			}
		}
	}
	return true
}

// runs takes the two sides of a self-test, or of a replay, for the peers.
func (w *Word) runs(accounts []Account) {
	for i := range accounts {
		w.Logs = append(w.Logs, WordLog{accounts[i].File, "", OwnerOpen, accounts[i].Peer})
	}
	w.Mentioned = []string{tracediff.FirstRun, tracediff.SecondRun}
	var sums [2]string
	for i, v := range w.Claim.Values {
		run := min(i, 1)
		if w.Kind == WordReplay {
			run = btoi(v.Peer == w.Claim.By)
		}
		if sums[run] == "" {
			sums[run] = v.Value
		}
	}
	for run, sum := range sums {
		if sum != "" {
			w.Sums = append(w.Sums, WordSum{Sum: sum, Peers: w.Mentioned[run : run+1]})
		}
	}
}

// hearing is accounts with their owners.
type hearing struct {
	accounts []Account
	owners   []WordLog // of each account
}

// own returns whether a value of a claim belongs to the peer with the program that wrote it.
func (a *Account) own(c *tracediff.Claim, i int) bool {
	if v := c.Values[i]; v.Peer != "" {
		return v.Peer == c.By
	}
	// Of two values without a peer the first is the program's own.
	return !a.Arbiter && !slices.ContainsFunc(c.Values[:i], func(before tracediff.ClaimedValue) bool { return before.Peer == "" || before.Peer == c.By })
}

// owner returns the peer with the program that wrote a claim, "" if that is not known.
func (h *hearing) owner(a *Account, c *tracediff.Claim) string {
	if c.By != "" && !c.Replay { // a replay belongs to the owner of the log
		return c.By
	}
	for i := range h.accounts {
		if &h.accounts[i] == a {
			return h.owners[i].Peer
		}
	}
	return ""
}

// stated is a checksum of a peer that a claim states; the peer is "" if the claim's writer is not known.
type stated struct {
	peer, sum  string
	own, right bool
}

// states returns the checksums that a claim states.
func (h *hearing) states(a *Account, c *tracediff.Claim) (list []stated) {
	for i, v := range c.Values {
		s := stated{peer: v.Peer, sum: v.Value, own: a.own(c, i)}
		switch {
		case s.own:
			s.peer = h.owner(a, c)
		case v.Peer == "" && a.Arbiter:
			s.right = true
		case v.Peer == "":
			s.peer = Unnamed
		}
		list = append(list, s)
	}
	return list
}

// names returns the peers that a claim names, those that it accuses first.
func (h *hearing) names(a *Account, c *tracediff.Claim) (list []string) {
	add := func(name string) {
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	for _, name := range c.Peers {
		add(name)
	}
	for _, s := range h.states(a, c) {
		if !s.own {
			add(s.peer)
		}
	}
	if !c.Replay {
		add(c.By)
	}
	return list
}

// mention lists the files, and the peers that have no file.
func (w *Word) mention(h *hearing) {
	w.Logs = h.owners
	has := map[string]bool{}
	for _, log := range h.owners {
		has[log.Peer] = true
	}
	for i := range h.accounts {
		a := &h.accounts[i]
		for k := range a.Claims {
			for _, name := range h.names(a, &a.Claims[k]) {
				if !has[name] && !tracediff.IsSide(name) && !h.mayBeNamed(name) {
					has[name] = true
					w.Mentioned = append(w.Mentioned, name)
				}
			}
		}
	}
}

// self is what a machine calls itself in its messages.
const self = "local"

// mayBeNamed reports whether other messages may name a peer in another way: the only log belongs to a machine that calls itself
// local, some message has the checksums of both sides, and no message with checksums has this peer.
func (h *hearing) mayBeNamed(name string) bool {
	if len(h.accounts) != 1 || h.owners[0].Peer != self || h.accounts[0].Engine != "" {
		return false
	}
	both := false
	for i := range h.accounts[0].Claims {
		c := &h.accounts[0].Claims[i]
		if len(c.Values) > 1 && slices.Contains(h.names(&h.accounts[0], c), name) {
			return false
		}
		both = both || c.Proves() && c.By == self
	}
	return both
}

// sameSecond reports whether two messages have the same time before them.
func sameSecond(a, b *tracediff.Claim) bool {
	return a.Lead == b.Lead && strings.Count(a.Lead, ":") >= 2
}

// alike reports whether a message has the same time before it as another one about the peers that reported a desync in a message
// without a time.
func (a *Account) alike(c, untimed *tracediff.Claim) bool {
	return untimed.Reported && c.Reported && slices.ContainsFunc(a.Claims, func(d tracediff.Claim) bool {
		return d.Reported && !d.HasTick && slices.Equal(d.Peers, untimed.Peers) && sameSecond(c, &d)
	})
}

// manyAtOnce is from how many accused peers on, at one moment, it is no longer likely that each is wrong by itself.
const manyAtOnce = 3

// AllAtOnce reports whether a game accuses many peers at one moment, all that it names, and states no checksums: they
// may agree with each other, and differ from the peer with the program that wrote the message.
func (w *Word) AllAtOnce() bool {
	return w.Kind == WordOnly && len(w.Sums) == 0 && len(w.Accused) >= manyAtOnce && !slices.Contains(w.Accused, w.By) && (w.Claim.HasTick || w.Claim.Lead != "")
}

// sums groups the peers by the checksums that messages of the tick give them, and finds the peers that accuse each
// other there.
func (w *Word) sums(h *hearing) {
	type known struct {
		sum string
		own bool
	}
	of := map[string]known{}
	var order []stated
	accuses, accused, torn := map[[2]string]bool{}, map[string]bool{}, map[string]bool{}
	others := map[string]bool{} // parts of the state that differ
	for i := range h.accounts {
		a := &h.accounts[i]
		for k := range a.Claims {
			c := &a.Claims[k]
			if c.Quoted != w.Claim.Quoted || c.HasTick != w.Claim.HasTick || c.Tick != w.Claim.Tick || !c.HasTick && !sameWords(c, &w.Claim) && !sameSecond(c, &w.Claim) && !a.alike(c, &w.Claim) {
				continue
			}
			by := h.owner(a, c)
			for _, name := range c.Peers {
				if !accused[name] {
					accused[name] = true
					w.Accused = append(w.Accused, name)
				}
				accuses[[2]string{by, name}] = by != ""
			}
			if c.Of != w.Claim.Of {
				others[c.Of] = c.Of != "" && c.Proves()
				continue
			}
			for _, s := range h.states(a, c) {
				switch before, known := of[s.peer]; {
				case s.right || s.peer == "":
					order = append(order, s)
				case !known:
					order = append(order, s)
				case !tracediff.EqualSums(before.sum, s.sum) && s.peer != Unnamed && !torn[s.peer]:
					torn[s.peer] = true
					w.Torn = append(w.Torn, s.peer)
				}
				if s.peer != "" {
					of[s.peer] = known{s.sum, s.own}
				}
			}
		}
	}
	for _, differs := range others {
		w.Others += btoi(differs)
	}
	group := map[string]int{} // in w.Sums, by SumKey
	for _, s := range order {
		if torn[s.peer] {
			continue
		}
		key := tracediff.SumKey(s.sum)
		i, ok := group[key]
		if !ok {
			i = len(w.Sums)
			group[key] = i
			w.Sums = append(w.Sums, WordSum{Sum: s.sum})
		}
		w.Sums[i].Right = w.Sums[i].Right || s.right
		if s.peer != "" {
			w.Sums[i].Peers = append(w.Sums[i].Peers, s.peer)
		}
	}
	for _, pair := range slices.SortedStableFunc(maps.Keys(accuses), func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	}) {
		if pair[0] < pair[1] && accuses[pair] && accuses[[2]string{pair[1], pair[0]}] {
			w.Mutual = append(w.Mutual, pair)
		}
	}
}

func sameWords(a, b *tracediff.Claim) bool {
	return a.File == b.File && a.Pos == b.Pos && a.Text == b.Text
}

// Runs reports whether the two sides are one game that was computed twice, instead of two peers.
func (w *Word) Runs() bool { return w.Kind == WordSelfTest || w.Kind == WordReplay }

// Peers returns the peers that have a file, then the peers that are only mentioned.
func (w *Word) Peers() (list []document.TriagedPeer) {
	group := map[string]int{}
	for i, g := range w.Sums {
		for _, name := range g.Peers {
			group[name] = i + 1
		}
	}
	has := map[string]bool{"": true}
	if w.Runs() {
		for _, name := range w.Mentioned {
			list = append(list, document.TriagedPeer{Name: name, Group: group[name], ClaimLog: true})
		}
		return list
	}
	for _, log := range w.Logs {
		if !has[log.Peer] {
			has[log.Peer] = true
			list = append(list, document.TriagedPeer{Name: log.Peer, Group: group[log.Peer], ClaimLog: true})
		}
	}
	for _, name := range w.Mentioned {
		list = append(list, document.TriagedPeer{Name: name, Group: group[name], Mentioned: true})
	}
	return list
}
