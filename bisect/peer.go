package bisect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
)

// Peer is the evidence of one peer, as far as a search needs it. Run does not change it.
type Peer struct {
	// Name is the peer's name from the headers; "" if no header is known to have one. Run gives the peers distinct
	// names in its Result.
	Name string
	Path string // for texts

	Snapshots *snapshot.Set // nil if it left none
	Log       *Log          // nil if it left none

	// Lost names evidence of the peer that could not be used, Notes its limits.
	Lost, Notes []string
}

// peer is a Peer during a search.
type peer struct {
	*Peer
	says string // the name that a header or log gives
	name string // in the result, once all headers are read

	set    *snapshot.Set // the peer's own, from one session
	log    *Log          // of that session, else nil
	blocks []block       // of the log's hashes
	digest uint64        // of blocks
	heads  map[*snapshot.Entry]head
	lately *snapshot.Entry // its head was read last

	// ownSums reports whether the recorded hashes are the game's own checksums, not roots.
	ownSums bool
}

// String returns the peer's name in the result.
func (p *peer) String() string { return p.name }

// head is the head of a snapshot, or why it could not be read.
type head struct {
	info *snapshot.Info
	err  error
}

func newPeer(p *Peer) *peer {
	return &peer{Peer: p, says: p.Name, set: p.Snapshots.Clone(), log: p.Log, heads: map[*snapshot.Entry]head{}}
}

func newPeers(list []*Peer) []*peer {
	peers := make([]*peer, len(list))
	for i, p := range list {
		peers[i] = newPeer(p)
	}
	return peers
}

// headLike is head for a snapshot that may be a copy of another one with a known head.
func (p *peer) headLike(e, other *snapshot.Entry, known *snapshot.Info) (info *snapshot.Info, moved bool, err error) {
	if !p.read(e) && known != nil && snapshot.SameBytes(e, other) {
		same := *known
		same.Peer = e.Peer
		p.heads[e] = head{info: &same}
		return &same, false, nil
	}
	return p.headBeside(e, other)
}

// read reports whether the head of a snapshot has been read.
func (p *peer) read(e *snapshot.Entry) bool {
	_, ok := p.heads[e]
	return ok || e.Read()
}

// head reads the head of a snapshot once. A misnamed snapshot moves to the point of its header; moved reports that the
// set has changed.
func (p *peer) head(e *snapshot.Entry) (info *snapshot.Info, moved bool, err error) {
	return p.headBeside(e, p.lately)
}

// headBeside is head for a snapshot that has much in common with another one, nil for none.
func (p *peer) headBeside(e, other *snapshot.Entry) (info *snapshot.Info, moved bool, err error) {
	if h, ok := p.heads[e]; ok {
		return h.info, false, h.err
	}
	p.lately = e
	info, err = e.InfoLike(other)
	var misnamed *snapshot.MisnamedError
	switch {
	case errors.As(err, &misnamed):
		p.set.Recheck(e)
		return nil, true, err
	case err != nil:
		p.heads[e] = head{err: err}
		return nil, false, err
	}
	p.heads[e] = head{info: info}
	if p.says == "" {
		p.says = info.Peer
	}
	return info, false, nil
}

// OtherGameError means that the peers' evidence comes from different sessions.
type OtherGameError struct {
	Path string
	Seed uint64 // of the session that the other peers share
}

func (e *OtherGameError) Error() string {
	return fmt.Sprintf("%s: nothing of the session with seed %016x, which the others are of", e.Path, e.Seed)
}

// oneSession finds the session that most of the evidence of two peers or more is of and leaves everything else out.
func oneSession(peers []*peer) error {
	seeds := map[uint64]int{} // how many peers have something of it
	for _, p := range peers {
		own := map[uint64]bool{}
		for i := 0; i < len(p.set.Entries); { // ascending by seed
			seed := p.set.Entries[i].Seed
			own[seed] = true
			if p.set.Entries[len(p.set.Entries)-1].Seed == seed {
				break
			}
			for i < len(p.set.Entries) && p.set.Entries[i].Seed == seed {
				i++
			}
		}
		if p.log != nil {
			own[p.log.Header.Seed] = true
		}
		for seed := range own {
			seeds[seed]++
		}
	}
	weigh := func(seed uint64) (peersOf, files int) {
		if len(seeds) == 1 {
			return seeds[seed], 0
		}
		for _, p := range peers {
			files += lists.Count(p.set.Entries, func(e *snapshot.Entry) bool { return e.Seed == seed })
		}
		return seeds[seed], files
	}
	var best uint64
	bestPeers, bestFiles := -1, -1
	for seed := range seeds {
		n, files := weigh(seed)
		if n > bestPeers || n == bestPeers && (files > bestFiles || files == bestFiles && seed < best) {
			best, bestPeers, bestFiles = seed, n, files
		}
	}
	for _, p := range peers {
		p.set.Session(best)
		if p.log != nil && p.log.Header.Seed != best {
			p.set.Warn(p.log.Name, "%s: stale: of seed %016x, the session is %016x", prose.Path(p.log.Name), p.log.Header.Seed, best)
			p.log = nil
		}
		if len(p.set.Entries) == 0 && p.log == nil {
			return &OtherGameError{p.Path, best}
		}
	}
	return nil
}

// name gives every peer a distinct name, once the headers that may contain one are read. It notes which peers have the
// same name.
func (r *Result) name(peers []*peer) {
	says, paths := make([]string, len(peers)), make([]string, len(peers))
	for i, p := range peers {
		says[i], paths[i] = p.says, p.Path
	}
	for i, n := range snapshot.PeerNames(says, paths) {
		peers[i].name = n
	}
	for i, p := range peers {
		if p.says != "" && p.name != p.says && !strings.HasPrefix(p.name, p.says+"#") {
			continue // by the name of its folder
		}
		k := slices.IndexFunc(peers[:i], func(q *peer) bool { return q.says != "" && q.says == p.says })
		if k >= 0 {
			r.note("%s and %s both call themselves %q: here %q is the peer in %s; which of them is that peer is not known", peers[k].Path, p.Path, p.says, p.name, p.Path)
		}
	}
}
