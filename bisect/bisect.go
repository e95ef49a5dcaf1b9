// Package bisect finds when peers parted: between which two state points by
// their snapshots, at which tick by the hashes in their order logs or by
// replaying the orders in a simulator.
//
// # The search
//
// The unit is the pair of two peers' snapshots of one state point. Both ends of
// the common points are read first. Where snapshots carry history hashes the
// search runs on these: histories that have parted never agree again within an
// epoch, so "histories differ" is monotone over its points and a binary search
// finds the first pair that differs. Each epoch is searched by itself, in
// order. Without history hashes the search runs on state hashes; states can
// part and come back, so that when both ends agree every pair is read before
// the peers are called in sync.
//
// A pair that cannot be read is stepped around, and the result says so. So is one at
// the bad end whose indexes show that a file is cut into blocks where the format does
// not cut: such damage changes hashes, and is no divergence. With
// more than two peers every two are compared and the earliest split counts.
package bisect

import (
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// Options says how to bisect. The zero value uses snapshots and logs.
type Options struct {
	// Sim replays the orders between the ends of the bracket, if it is set.
	Sim *Sim

	// Traced opens the trace among a peer's files, nil if there is none. If
	// it is set, peers that depart from Sim are replayed once more, system by system.
	Traced func(files []string) (Traced, error)

	// Traces are comparisons of the checksums that engines recorded beside the
	// states, if there are any.
	Traces []*tracediff.Result
}

// Result is when peers parted, and how that is known.
type Result struct {
	Peers []PeerInfo

	// Bracket is where the first divergence lies, nil if none was found.
	Bracket *Bracket

	// Exact says that the bracket is one tick wide; then Tick is the divergent
	// tick.
	Exact bool
	Tick  uint64

	// InitialState says that the peers differ at point 0, before any tick.
	InitialState bool

	// Probes counts the pairs of snapshots opened, both ends included.
	Probes int
	// Snapshots counts the state points at which two peers or more have one.
	Snapshots int
	// Recorded counts the state points of which two peers' logs or more have a
	// sync hash.
	Recorded int

	// Groups are the names of the peers by their state at Bracket.Bad, in the
	// order of Peers. A peer whose state there is not known is in none.
	Groups [][]string

	// Healed is a state point behind Bad at which the states are equal again,
	// nil if none was seen.
	Healed *snapshot.Point

	// Sums is when recorded hashes part, for ChecksumOnly by these.
	Sums *Sums

	// Kind says what kind of divergence it is, "" if none was found.
	Kind Kind
	// Traces are those of Options.
	Traces []*tracediff.Result

	// Replay is what the simulator said, nil if none ran.
	Replay *Replay

	// Prefix is what was searched where a test told of prefixes of one log whether they
	// diverge, nil else. Then Probes counts the prefixes that were tested.
	Prefix *PrefixSearch

	// Contradictions name two pieces of evidence that cannot both be right.
	Contradictions []string
	// Lost names evidence that could not be used and might change the answer.
	Lost []string
	// Notes say what limits the answer, and Warnings what is odd about files.
	Notes    []string
	Warnings []string
}

// PrefixSearch is a search over the prefixes of one log.
type PrefixSearch struct {
	Test     string
	From, To uint64 // state points that the log begins and ends at
}

// PeerInfo is one peer as far as it is known.
type PeerInfo struct {
	Name      string
	Path      string
	Snapshots int
	Log       bool // an order log was read
}

// Bracket is a span (Good, Bad] of state points in which peers parted.
type Bracket struct {
	// Good is the last point known to be equal, nil if none is.
	Good *snapshot.Point
	Bad  snapshot.Point

	// By says what the ends are known from: "snapshots", "recorded hashes" or
	// "replay".
	By string

	// GoodFiles and BadFiles are the snapshots at the ends, in the order of the
	// two peers A and B that parted; empty where an end is not known from
	// snapshots.
	GoodFiles, BadFiles []string
	A, B                string
}

// limits notes what the answer cannot tell of: snapshots behind the last point
// that peers have in common, and what is missing at the bad end.
func (r *Result) limits(peers []*Peer) {
	if b := r.Bracket; b != nil {
		if len(b.BadFiles) > 0 || r.Snapshots == 0 {
			return
		}
		for _, p := range peers[0].set.Entries {
			if p.Point.Compare(b.Bad) > 0 && !slices.ContainsFunc(peers, func(q *Peer) bool { return q.set.At(p.Point) == nil }) {
				r.note("no snapshots of state point %s; the next ones of all peers are of %s, by when more will differ", b.Bad, p.Point)
				return
			}
		}
		r.note("no snapshots of state point %s, and none behind it", b.Bad)
		return
	}
	last := make([]snapshot.Point, 0, len(peers))
	for _, p := range peers {
		if n := len(p.set.Entries); n > 0 {
			last = append(last, p.set.Entries[n-1].Point)
		}
	}
	if len(last) < 2 {
		return
	}
	end := slices.MinFunc(last, snapshot.Point.Compare)
	for _, p := range peers {
		alone := 0
		for _, e := range p.set.Entries {
			if e.Point.Compare(end) > 0 {
				alone++
			}
		}
		if alone > 0 {
			r.note("%s has %d snapshot(s) behind %s, where another peer's end: nothing is known of them", p.Name, alone, end)
		}
	}
}

// Diverged reports whether a divergence is proven.
func (r *Result) Diverged() bool { return r.Bracket != nil || r.Kind != "" }

// set narrows the result to a bracket.
func (r *Result) set(b Bracket) {
	r.Bracket = &b
	r.Exact, r.Tick = false, 0
	r.InitialState = b.Bad.Tick == 0 && b.Bad.Phase == ""
	if g := b.Good; g != nil && g.Phase == "" && b.Bad.Phase == "" && b.Bad.Tick == g.Tick+1 {
		r.Exact, r.Tick = true, g.Tick
	}
}

func (r *Result) note(format string, args ...any) {
	r.Notes = appendOnce(r.Notes, fmt.Sprintf(format, args...))
}

func (r *Result) lose(format string, args ...any) {
	r.Lost = appendOnce(r.Lost, fmt.Sprintf(format, args...))
}

func (r *Result) contradict(format string, args ...any) {
	r.Contradictions = appendOnce(r.Contradictions, fmt.Sprintf(format, args...))
}

func appendOnce(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// RunTraces tells when the peers parted that left no states, by their traces.
func RunTraces(traces []*tracediff.Result) *Result {
	r := &Result{}
	r.weigh(traces, nil)
	if len(traces) > 0 {
		for i := range traces[0].Traces {
			t := &traces[0].Traces[i]
			r.Peers = append(r.Peers, PeerInfo{Name: t.Name, Path: t.File})
		}
	}
	return r
}

// Run finds when the peers parted. It needs two peers at least. An error says
// that there is nothing to compare.
func Run(peers []*Peer, opts Options) (*Result, error) {
	if len(peers) < 2 {
		return nil, fmt.Errorf("%d peer(s), at least 2 are needed", len(peers))
	}
	r := &Result{}
	if err := oneSession(peers); err != nil {
		return nil, err
	}
	name(peers)
	for _, p := range peers {
		p.record()
		r.Lost = append(r.Lost, p.set.Conflicts...)
	}
	var first, sums *pair
	for i, a := range peers {
		for _, b := range peers[i+1:] {
			p := newPair(a, b)
			p.search(r)
			p.scanLogs(r)
			p.combine(r)
			if p.bracket != nil && (first == nil || p.before(first)) {
				first = p
			}
			if p.kind == ChecksumOnly && (sums == nil || *p.split < *sums.split) {
				sums = p
			}
		}
	}
	r.Snapshots, r.Recorded = commonPoints(peers), recordedPoints(peers)
	for _, p := range peers {
		r.Lost = append(r.Lost, p.lost...)
		r.Notes = append(r.Notes, p.notes...)
	}
	switch {
	case first != nil:
		r.set(*first.bracket)
		r.Healed, r.Kind = first.healed, first.kind
		if opts.Sim != nil {
			if err := replay(r, peers, opts); err != nil {
				r.lose("no replay: %v", err)
			}
		}
		r.Groups = groups(peers, r.Bracket.Bad)
	case sums != nil:
		name(peers)
		r.checksumOnly(sums, peers)
		if opts.Sim != nil {
			r.note("no replay: the states do not part")
		}
	case r.Snapshots == 0 && r.Recorded == 0 && len(opts.Traces) == 0:
		r.lose("no state point at which two peers have a snapshot or a recorded hash")
	case opts.Sim != nil:
		r.note("no replay: the peers do not part")
	}
	r.limits(peers)
	name(peers)
	r.weigh(opts.Traces, peers)
	name(peers) // headers read since may have told names
	for _, p := range peers {
		r.Warnings = append(r.Warnings, p.set.Warnings...)
		r.Peers = append(r.Peers, PeerInfo{p.Name, p.Path, len(p.set.Entries), p.log != nil})
	}
	if first != nil {
		r.Bracket.A, r.Bracket.B = first.a.Name, first.b.Name
		r.Groups = groups(peers, r.Bracket.Bad)
	}
	return r, nil
}
