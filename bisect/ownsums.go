package bisect

import (
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// The sync hash that a game records is usually the root of the whole state, and so is the hash in a snapshot's header.
// It can be the game's own checksum instead, which may not cover all of the state, or may be computed wrongly. Then
// only the roots identify states, since they follow from the contents of the snapshots.

// notRoots reports whether the recorded hashes are another kind of checksum than the roots of the snapshots that were
// read: there are at least two points with both, and they differ at all of them.
func (p *peer) notRoots() bool {
	n := 0
	for e, h := range p.heads {
		if h.info == nil || e.Point.Phase != "" {
			continue
		}
		if sync, ok := p.log.at(e.Point.Tick); ok {
			if sync == h.info.Root.Short() {
				return false
			}
			n++
		}
	}
	return n > 1
}

// logsSums is notRoots with two snapshots at least, if there are so many at points with a recorded hash.
func (p *peer) logsSums() bool {
	n := 0
	for _, e := range slices.Clone(p.set.Entries) {
		if _, ok := p.log.at(e.Point.Tick); !ok || e.Point.Phase != "" || n == 2 {
			continue
		}
		if _, moved, err := p.head(e); err == nil && !moved {
			n++
		}
	}
	return p.notRoots()
}

// blind deals with peers that record the game's own checksums as hashes and histories: the search begins again by
// states only, and the logs' findings are added.
func (p *pair) blind() {
	r := p.result
	p.unlike = nil
	p.ownSums, p.a.ownSums, p.b.ownSums = true, true, true
	r.note("the recorded hashes of %s and %s are not the roots of their snapshots: they are taken for a checksum of the game's own", p.a.Path, p.b.Path)
	p.search()
	b := p.bracket
	switch {
	case b == nil && p.split != nil:
		p.onlySums()
	case b == nil || b.Bad.Phase != "" || p.equal == nil:
	case p.split == nil && *p.equal >= b.Bad.Tick:
		p.kind = BlindChecksum
		r.blind("every recorded sync hash agrees, up to state point %d", *p.equal)
	case p.split == nil:
		r.note("the recorded sync hashes agree, but end with state point %d, before they could show it", *p.equal)
	case *p.split > b.Bad.Tick:
		r.note("the recorded sync hashes differ from state point %d on: they do not cover what differs first", *p.split)
	}
}

// onlySums looks for a checksum-only difference: recorded hashes that differ where the
// states of both peers are there and equal, while no states differ anywhere.
func (p *pair) onlySums() {
	if p.split == nil {
		return
	}
	seen := false
	for i, point := range p.points {
		ha, okA := p.a.log.at(point.Tick)
		hb, okB := p.b.log.at(point.Tick)
		if point.Phase != "" || !okA || !okB || ha == hb {
			continue
		}
		// If the snapshots by themselves would mean in sync, one is read for this.
		if !seen && (p.pairs[i].read || p.bracket == nil) && p.probe(i) && p.pairs[i].a.Root == p.pairs[i].b.Root {
			seen = true
		}
	}
	for i := 0; seen && i < len(p.points); i++ {
		if p.probe(i) && p.pairs[i].a.Root != p.pairs[i].b.Root {
			return
		}
	}
	if !seen || p.moved {
		return
	}
	p.kind, p.bracket, p.healed = ChecksumOnly, nil, nil
	p.checkAgainstSnapshots() // all are read now
	for _, text := range p.unlike {
		p.result.note("%s", text)
	}
	p.unlike = nil
}

// Sums is when recorded hashes diverge while the states do not.
type Sums struct {
	Good *uint64 // the last state point before Bad at which they agree, nil if there is none
	Bad  uint64
	Last uint64 // that was compared
	// Groups are the names of the peers by their hash at Bad.
	Groups [][]string
}

// checksumOnly makes p's the result.
func (r *Result) checksumOnly(p *pair) {
	r.Kind = ChecksumOnly
	r.note("the states are equal at all %d state points: a checksum that is not computed from the state alone, or wrongly", r.Snapshots)
	r.Sums = &Sums{Good: p.equal, Bad: *p.split, Last: min(p.a.log.last(), p.b.log.last())}
}

// sumGroups returns the names of the peers by the hash that they recorded of a point.
func sumGroups(peers []*peer, point uint64) [][]string {
	var out grouping[merkle.Short]
	for _, p := range peers {
		if hash, ok := p.log.at(point); ok {
			out.add(hash, p.name)
		}
	}
	return out.groups
}

// byRoots compares a replay with the roots of the peer's snapshots. It does so if the simulator has these roots at a
// point and the log records the game's own checksum.
func (p *player) byRoots(point uint64, got merkle.Short) {
	want, ok := p.recorded[point]
	if !ok || want == got || p.opts.Expect != nil || p.opts.Snapshots == nil {
		return
	}
	roots := map[uint64]merkle.Short{}
	for _, e := range slices.Clone(p.opts.Snapshots.Entries) {
		if e.Point.Phase != "" || e.Seed != p.log.Header.Seed {
			continue
		}
		if root, ok := rootAt(e); ok {
			roots[e.Point.Tick] = root
			if p.recorded[e.Point.Tick] == root {
				return
			}
		}
	}
	if roots[point] != got || len(roots) < 2 {
		return
	}
	p.recorded, p.rooted = roots, true
	p.out.Notes = append(p.out.Notes, fmt.Sprintf("the hashes in %s are not the roots of the peer's snapshots but a checksum of the game's own; the replay is compared with %d snapshots instead", prose.Path(p.log.Name), len(roots)))
}

func rootAt(e *snapshot.Entry) (root merkle.Short, ok bool) {
	state, err := e.Open()
	if state != nil {
		defer state.Close()
	}
	if err != nil {
		return root, false
	}
	return state.Info().Root.Short(), true
}
