// Package bisect finds when peers diverged: between which two state points by their snapshots, at which tick by the
// hashes in their order logs or by replaying the orders in a simulator.
//
// # The search
//
// The search works on pairs: two peers' snapshots of one state point. Both ends of the common points are read first.
// Where snapshots carry history hashes the search runs on these: histories that have diverged never agree again within
// an epoch, so "histories differ" is monotone over its points and a binary search finds the first pair that differs.
// Each epoch is searched by itself, in order. Without history hashes the search runs on state hashes; states can
// diverge and become equal again, so every pair is read before the peers are called in sync or an earlier split is
// excluded.
//
// A history hash is a claim of one peer. So before the peers are called in sync the roots of all pairs are compared,
// and the roots before a split if they are few: where histories are equal and states are not, that is a contradiction,
// and the states count. The content of the states at the ends of the bracket, or of the first and the last pair, is
// read and compared with their digests.
//
// After the search, the pairs that it skipped and that no log covers are opened, as far as heads can be read without
// whole files: to find where the first split heals, later splits, and, where nothing diverges, caches that differ while
// states are equal. The traces that peers wrote are compared with all of this.
//
// Peers that were away, joined late or loaded a game have several stretches, see Stretch: a gap is never played, and
// each stretch is judged by itself. Histories are compared only in epochs that continue the same epoch; elsewhere
// states are compared.
//
// The search steps around a pair that it cannot read, and the result reports it. It does the same with a pair at the
// bad end if the index shows a file cut into blocks where the format does not cut: such damage changes hashes, and is
// not a divergence. With more than two peers every two are compared and the earliest split counts.
package bisect

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// Options configures a bisection. The zero value uses snapshots and logs.
type Options struct {
	// Sim replays the orders between the ends of the bracket, if it is set.
	Sim *Sim
	// Verify reads the content of all pairs of snapshots and recomputes their digests if no states differ, not only for
	// the first and the last pair.
	Verify bool
	// Progress, if not nil, is called during that replay with the number of finished ticks and of all ticks.
	Progress func(done, total int64)

	// Traced opens the trace that a peer left, nil if there is none. If it is set, peers that depart from Sim are
	// replayed again, system by system.
	Traced func(*Peer) (Traced, error)

	// Traces are comparisons of the checksums that engines recorded next to the states, if there are any. Run does not
	// change them.
	Traces []*tracediff.Result
	// Own returns comparisons of the traces that the peers wrote by docs/trace.md. Their main checksums without a scope
	// cover the whole state. It returns nil if there are none. If they are not needed, because hashes of every tick
	// show all splits, it may return nil.
	Own func(needed bool) []*tracediff.Result
}

// Result is when peers diverged, and the evidence.
type Result struct {
	Peers []PeerInfo

	// Bracket contains the first divergence, nil if none was found.
	Bracket *Bracket

	// Exact reports whether the bracket is one tick wide; then Tick is the divergent tick.
	Exact bool
	Tick  uint64

	// InitialState reports whether the peers differ at point 0, before any tick.
	InitialState bool

	// Probes counts the pairs of snapshots that the search opened, both ends included.
	// Surveyed counts those that were opened after it, for healings and later splits.
	Probes, Surveyed int
	// Pairs counts all pairs: for every two peers, the state points at which both have a snapshot.
	Pairs int
	// Content are the state points at which the content of two peers' snapshots was read whole and its digests were
	// recomputed, ascending: the ends that the answer rests on, or all with Options.Verify. Elsewhere the root in a
	// snapshot's header is believed; where no states differ, the checksums of all bytes were compared. Snapshots of a
	// format without digests are read whole anyway.
	Content []snapshot.Point
	// Snapshots counts the state points at which at least two peers have one.
	Snapshots int
	// Recorded counts the state points for which two or more peers' logs have a sync hash. If there are none, it counts
	// those for which they have another hash of one kind.
	Recorded int

	// Equal is the last state point at which states of two peers, or the recorded sync
	// hashes, were compared and agree; nil if there is none, or if states differ.
	Equal *uint64
	// Agreed is the last state point at which hashes in order logs of engines agree, perhaps of a part
	// of the state; nil if none do.
	Agreed *uint64

	// Groups are the names of the peers by their state at Bracket.Bad, in the order of Peers. A peer with an unknown
	// state there is in none.
	Groups [][]string

	// Loaded is set if a peer diverged by loading a state at Bracket.Bad, after a gap or when it joined: then there is
	// no divergent tick.
	Loaded *Loaded

	// Splits are all stretches in which peers had diverged, as far as we know, in order; the first belongs to Bracket.
	// Healed is where it ends, nil if that is not known.
	Splits []Split
	Healed *snapshot.Point

	// Sums is when recorded hashes diverge; for ChecksumOnly it is the finding.
	Sums *Sums

	// Caches is where caches differ first though the states are equal, nil if none are known; for StaleCache nothing
	// else differs.
	Caches *CacheSplit

	// Noise lists the differences that the peers' files declare to be noise; they prove nothing.
	Noise []NoiseSplit

	// Kind is the kind of divergence, "" if none was found.
	Kind Kind
	// OnlyHistories reports whether only the history hashes show that the peers diverged: the states are equal wherever
	// both left one, and so is everything else that was compared. Either they diverged in between and became equal
	// again, or one of them recorded a past that it did not have. Only the peer itself vouches for its history.
	OnlyHistories bool
	// Traces are the traces of Options, with their claims checked by the states.
	Traces []*tracediff.Result

	// Replay is the outcome of the simulator, nil if none ran.
	Replay *Replay
	// Witnessed is the outcome of a game that played the recordings again, nil if none did.
	Witnessed *Witnessed
	// Computed are the states that were computed and written to files.
	Computed []Computed
	// SimFailed is how the simulator of Options failed: it did not start, refused the session, or died. Empty if it did
	// not fail.
	SimFailed string

	// Headers are the facts in the peers' order logs and snapshots that must be the same and differ: the build, the
	// tick rate.
	Headers []orderlog.HeaderDifference

	// Prefix describes the search if a test judged prefixes of one log, else nil. Then Probes counts the prefixes that
	// were tested.
	Prefix *PrefixSearch

	// Contradictions name two pieces of evidence that cannot both be right.
	Contradictions []string
	// Lost names evidence that could not be used and might change the answer.
	Lost []string
	// Notes list the limits of the answer, Warnings what is odd about files.
	Notes    []string
	Warnings []string
	// Blind is the one of the Notes which shows that a checksum is blind, empty if none is.
	Blind string

	// While it is made.
	notes, lost, contradictions texts
	blindNote                   text                  // of the notes
	partings                    map[[2]uint64]parting // of the logs, by their digests
	unlike                      bool                  // states do not have the same columns
	splits                      [][]Split             // of each two peers
	pairs                       []*pair
}

// Entries of Lost where nothing of two peers was there to compare.
const (
	LostStates = "states of two peers, or hashes of them: without these nothing shows whether the states agree"
	LostSums   = "checksums of two peers: without these nothing shows whether a claim is right"
)

// PrefixSearch is a search over the prefixes of one log.
type PrefixSearch struct {
	Test string `json:"test"`
	// From and To are the state points that the log begins and ends at.
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
}

// PeerInfo is what is known about one peer.
type PeerInfo struct {
	Name      string `json:"name"`
	Path      string `json:"path"`
	Snapshots int    `json:"snapshots"`
	Log       bool   `json:"order_log"` // one was read

	// States are the snapshots of the session, misnamed ones by their headers; nil
	// if the peer was not searched by states.
	States *snapshot.Set `json:"-"`
}

// Loaded is a wrong state that a peer loaded.
type Loaded struct {
	Peer  string    `json:"peer"`
	Began Beginning `json:"began"`
	After *uint64   `json:"after"` // the state point that the peer had reached before, nil if it joined or was not away
}

// Bracket is a span (Good, Bad] of state points in which peers diverged.
type Bracket struct {
	// Good is the last point known to be equal, nil if none is known.
	Good *snapshot.Point
	Bad  snapshot.Point

	By Source // the evidence for the ends

	// GoodFiles and BadFiles are the snapshots at the ends, in the order of the two peers A and B that diverged; empty
	// where an end is not known from snapshots.
	GoodFiles, BadFiles []string
	A, B                string
}

// Same reports whether both are the same stretch.
func (b *Bracket) Same(other *Bracket) bool {
	if (b.Good == nil) != (other.Good == nil) || b.Good != nil && !b.Good.Same(*other.Good) {
		return false
	}
	return b.Bad.Same(other.Bad)
}

// Source is the evidence for a bracket.
type Source string

// Sources.
const (
	BySnapshots          Source = "snapshots"
	ByHashes             Source = "recorded hashes" // in order logs
	ByHashesAndSnapshots Source = "recorded hashes and snapshots"
	ByReplay             Source = "replay"
	ByChecksums          Source = "recorded checksums" // in traces
	ByValues             Source = "recorded values"    // in traces that hold them instead
	BySnapshotsAndSums   Source = "snapshots and recorded checksums"
	ByClaim              Source = "an engine's log" // the log itself reports it
	ByCommand            Source = "command"         // that judged prefixes of a log
)

// limits notes what the answer does not cover: snapshots after the last point that peers have in common, and what is
// missing at the bad end.
func (r *Result) limits(peers []*peer) {
	if b := r.Bracket; b != nil {
		if len(b.BadFiles) > 0 || r.Snapshots == 0 || commonAt(peers, b.Bad) {
			return
		}
		for _, p := range peers[0].set.Entries {
			if p.Point.Compare(b.Bad) > 0 && !slices.ContainsFunc(peers, func(q *peer) bool { return q.set.At(p.Point) == nil }) {
				r.note("no snapshots of state point %s; the next ones of all peers are of %s, by when more will differ", b.Bad, p.Point)
				return
			}
		}
		r.note("no snapshots of state point %s or any later one", b.Bad)
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
		later := lists.Count(p.set.Entries, func(e *snapshot.Entry) bool { return e.Point.Compare(end) > 0 })
		if later > 0 {
			r.note("not compared: %s of %s, after the last one of another peer %s", prose.Count(later, "state", "states"), p, end.When())
		}
	}
}

// commonAt reports whether two peers have a snapshot of a point.
func commonAt(peers []*peer, at snapshot.Point) bool {
	n := lists.Count(peers, func(p *peer) bool { return p.set.At(at) != nil })
	return n > 1
}

// Diverged reports whether a divergence is proven.
func (r *Result) Diverged() bool { return r.Bracket != nil || r.Kind != "" }

// Failed reports whether the requested simulator failed.
func (r *Result) Failed() bool { return r.SimFailed != "" }

// Incomplete reports whether evidence was lost or contradicts itself.
func (r *Result) Incomplete() bool { return len(r.Lost)+len(r.Contradictions) > 0 }

// set narrows the result to a bracket.
func (r *Result) set(b Bracket) {
	r.Bracket = &b
	r.Exact, r.Tick = false, 0
	r.InitialState = b.Bad.Tick == 0 && b.Bad.Phase == "" && b.Bad.Relation != snapshot.Some
	if g := b.Good; g != nil && g.Phase == "" && b.Bad.Phase == "" && b.Bad.Tick == g.Tick+1 {
		r.Exact, r.Tick = true, g.Tick
	}
}

// Nearer narrows the bracket of a result to one inside it, which other evidence shows.
func (r *Result) Nearer(b Bracket) {
	r.set(b)
	r.keepFirst()
}

// keepFirst sets the first split to the bracket, which other evidence may have narrowed.
func (r *Result) keepFirst() {
	if r.Bracket == nil {
		r.Splits, r.Healed = nil, nil
		return
	}
	if len(r.Splits) == 0 {
		r.Splits = []Split{{}}
	}
	first := &r.Splits[0]
	healed, files := first.Healed, first.HealedFiles
	*first = splitOf(r.Bracket, healed)
	first.HealedFiles = files
}

func (r *Result) note(format string, args ...any) {
	r.notes = append(r.notes, say(format, args...))
}

// blind notes that the checksums do not cover what differs.
func (r *Result) blind(format string, args ...any) {
	r.note(format+": it does not cover what differs", args...)
	r.blindNote = r.notes[len(r.notes)-1]
}

func (r *Result) lose(format string, args ...any) {
	r.lost = append(r.lost, say(format, args...))
}

func (r *Result) contradict(format string, args ...any) {
	r.contradictions = append(r.contradictions, say(format, args...))
}

// phrase puts into words what was noted, now that the peers have their names.
func (r *Result) phrase() {
	if r.blindNote.format != "" {
		r.Blind = r.blindNote.String()
	}
	r.Notes, r.Lost, r.Contradictions = r.notes.strings(), r.lost.strings(), r.contradictions.strings()
	r.notes, r.lost, r.contradictions, r.partings, r.splits, r.pairs = nil, nil, nil, nil, nil, nil
}

// RunTraces finds when peers that left no states diverged, by their traces.
func RunTraces(traces []*tracediff.Result) *Result {
	r := &Result{}
	r.weigh(traces, nil)
	r.keepFirst()
	if len(r.Splits) > 0 {
		r.Healed = r.Splits[0].Healed
	}
	r.phrase()
	if len(traces) > 0 {
		for i := range traces[0].Traces {
			t := &traces[0].Traces[i]
			r.Peers = append(r.Peers, PeerInfo{Name: t.Name, Path: t.File})
		}
	}
	return r
}

// mostPeers is how many peers are compared at most, since every two of them are compared.
const mostPeers = 256

// Run finds when the peers diverged. It needs at least two peers. An error means that there is nothing to compare.
func Run(list []*Peer, opts Options) (*Result, error) {
	if len(list) < 2 {
		return nil, fmt.Errorf("%s, at least 2 are needed", prose.Count(len(list), "peer", "peers"))
	}
	if len(list) > mostPeers {
		return nil, fmt.Errorf("%d peers, at most %d are compared", len(list), mostPeers)
	}
	r := &Result{}
	peers := newPeers(list)
	if err := oneSession(peers); err != nil {
		return nil, err
	}
	for _, p := range peers {
		r.lost.add(p.set.Conflicts.Texts()...)
		if p.log != nil {
			p.blocks = blocksOf(p.log.Hashes)
			p.digest = digestOf(p.blocks)
		}
	}
	first, sums := r.compare(peers, opts.Verify)
	r.Splits = unite(r.splits...)
	if len(r.Splits) > 0 {
		r.Healed = r.Splits[0].Healed
	}
	r.Snapshots, r.Recorded = commonPoints(peers), recordedPoints(peers)
	for _, p := range r.pairs {
		r.Pairs += len(p.points)
		r.contents(p)
	}
	for _, p := range peers {
		r.lost.add(p.Lost...)
		if p.log != nil {
			r.lost.add(p.log.lost()...)
		}
		r.notes.add(p.Notes...)
	}
	var own []*tracediff.Result
	if opts.Own != nil {
		own = opts.Own(first == nil || slices.ContainsFunc(r.pairs, func(p *pair) bool { return !p.hashedThroughout() }))
	}
	switch {
	case first != nil:
		r.Equal = nil
		r.set(*first.bracket)
		r.Kind = first.kind
		if opts.Sim != nil {
			if err := replay(r, peers, opts); err != nil {
				r.lose("no replay: %v", err)
			}
		}
	case sums != nil:
		r.checksumOnly(sums)
		r.unused(opts.Sim, peers, "the states do not diverge")
	case r.Snapshots == 0 && r.Recorded == 0 && len(opts.Traces)+len(own) == 0:
		r.lose(noPair)
	default:
		r.unused(opts.Sim, peers, "the peers do not diverge")
	}
	cached := r.findCaches()
	r.limits(peers)

	// Every header that matters is read now.
	r.name(peers)
	r.Headers = headers(peers)
	switch {
	case first != nil:
		r.Groups = groups(peers, r.Bracket.Bad)
	case sums != nil:
		r.Sums.Groups = sumGroups(peers, r.Sums.Bad)
	}
	if first != nil {
		r.byLoading(first)
		if r.Bracket.A, r.Bracket.B = first.a.name, first.b.name; len(r.pairs) > 1 {
			r.equalLater(nil, nil)
		}
	}
	r.weigh(opts.Traces, peers)
	if cached != nil {
		r.Caches.A, r.Caches.B = cached.a.name, cached.b.name
	}
	r.weighOwn(own, r.pairs)
	if r.Caches != nil && r.Bracket == nil && r.Kind == "" {
		r.Kind = StaleCache
	}
	r.earlyCaches()
	for _, p := range r.pairs {
		r.declared(p)
	}
	if r.Replay != nil {
		r.Replay.name()
	}
	if r.OnlyHistories = r.onlyHistories(own); r.OnlyHistories {
		r.Kind = StateDiffers
	}
	r.keepFirst()
	for _, p := range peers {
		r.Warnings = append(r.Warnings, p.set.Warnings.Texts()...)
		r.Peers = append(r.Peers, PeerInfo{p.name, p.Path, len(p.set.Entries), p.log != nil && !p.log.Signed, p.set})
	}
	r.traceOnly(own)
	r.phrase()
	return r, nil
}

// traceOnly adds the peers of the groups that left only a trace.
func (r *Result) traceOnly(own []*tracediff.Result) {
	grouped := slices.Concat(r.Groups...)
	for _, t := range own {
		for i := range t.Traces {
			info := &t.Traces[i]
			known := func(p PeerInfo) bool {
				return p.Name == info.Name || strings.HasPrefix(info.File, p.Path+string(filepath.Separator))
			}
			if slices.Contains(grouped, info.Name) && !slices.ContainsFunc(r.Peers, known) {
				r.Peers = append(r.Peers, PeerInfo{Name: info.Name, Path: info.File})
			}
		}
	}
}

// contents notes at which points the content of both snapshots of a pair was read.
func (r *Result) contents(p *pair) {
	for _, i := range p.read {
		at := p.points[i]
		if k, known := slices.BinarySearchFunc(r.Content, at, snapshot.Point.Compare); !known {
			r.Content = slices.Insert(r.Content, k, at)
		}
	}
}

// byLoading finds whether one of the peers that diverged did so by loading a state.
func (r *Result) byLoading(first *pair) {
	b := r.Bracket
	if b.Bad.Phase != "" {
		return
	}
	for _, p := range []*peer{first.a, first.b} {
		s := p.loadedAt(b.Bad.Tick)
		if s == nil || r.Loaded != nil && r.Loaded.Peer != p.name {
			continue
		}
		after, where := s.After, "when it joined"
		switch {
		case after == nil && s.Began == BeganGap:
			continue // the log lacks its beginning: it may have played the ticks before
		case after == nil:
		case *after < s.From:
			where = fmt.Sprintf("after it had been away from state point %d on", *after)
		case !first.spoilt(p, s):
			continue
		default:
			after, where = nil, "though its orders had led it to the state of the others"
		}
		r.Loaded, r.Exact, r.Tick = &Loaded{p.name, s.Began, after}, false, 0
		r.note("%s has another state where it loaded one, at state point %d, %s: loading lost something, or it was another save", p, s.From, where)
	}
}

// spoilt reports whether a load without a gap replaced the state of one of the peers by another one: its log has a hash of
// that point from before the load, the other peer has the same one, and the hash after the load is different.
func (p *pair) spoilt(one *peer, s *Stretch) bool {
	now, ok := one.log.at(s.From)
	if !ok || s.left == nil || now == *s.left {
		return false
	}
	other := p.a
	if other == one {
		other = p.b
	}
	if o := other.loadedAt(s.From); o != nil && o.left != nil {
		return *o.left == *s.left
	}
	its, ok := other.log.at(s.From)
	return ok && its == *s.left
}

// onlyHistories reports whether nothing but history hashes shows that the peers diverged.
func (r *Result) onlyHistories(own []*tracediff.Result) bool {
	diverged := func(t *tracediff.Result) bool { return t.Diverged() }
	if b := r.Bracket; b == nil || r.Loaded != nil || r.departs() || slices.ContainsFunc(r.Traces, diverged) || slices.ContainsFunc(own, diverged) {
		return false
	}
	for _, p := range r.pairs {
		if p.split != nil || p.kind == ChecksumOnly || slices.ContainsFunc(p.splits, func(s Split) bool { return !s.passed }) {
			return false
		}
		for i := range p.pairs {
			if pr := &p.pairs[i]; pr.ok && pr.a.Root != pr.b.Root {
				return false
			}
		}
	}
	return true
}

// departs reports whether a replay departs from what a peer recorded.
func (r *Result) departs() bool {
	return r.Replay != nil && slices.ContainsFunc(r.Replay.Peers, func(p ReplayedPeer) bool { return p.Departs != nil })
}

// headers returns what the peers' files state differently; for a peer without a log, the build comes from its
// snapshots.
func headers(peers []*peer) []orderlog.HeaderDifference {
	list := make([]orderlog.Header, len(peers))
	for i, p := range peers {
		if p.log != nil {
			list[i] = p.log.Header
			continue
		}
		for _, e := range p.set.Entries {
			if h, ok := p.heads[e]; ok && h.info != nil {
				list[i].Build = h.info.Meta["build"]
				break
			}
		}
	}
	return orderlog.DifferentHeaders(names(peers), list)
}

// compare searches every two peers. It returns the pair that diverged first, and the first pair with only diverging
// recorded hashes. With verify it reads the content of all snapshots where no states differ.
func (r *Result) compare(peers []*peer, verify bool) (first, sums *pair) {
	for i, a := range peers {
		for _, b := range peers[i+1:] {
			p := newPair(r, a, b)
			p.verify = verify
			p.search()
			p.equalHistories()
			p.scanLogs()
			p.combine()
			r.agree(p)
			p.allSplits()
			r.splits, r.pairs = append(r.splits, p.splits), append(r.pairs, p)
			if p.bracket != nil && (first == nil || p.before(first)) {
				first = p
			}
			if p.kind == ChecksumOnly && (sums == nil || *p.split < *sums.split) {
				sums = p
			}
		}
	}
	return first, sums
}

// agree notes the last point at which a pair was compared and is equal.
func (r *Result) agree(p *pair) {
	last := p.equal
	for i := range p.pairs {
		if pr := &p.pairs[i]; pr.ok && pr.a.Root == pr.b.Root && p.points[i].Phase == "" && (last == nil || p.points[i].Tick > *last) {
			last = &p.points[i].Tick
		}
	}
	if last != nil && (r.Equal == nil || *last > *r.Equal) {
		r.Equal = last
	}
}
