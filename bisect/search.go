package bisect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
)

// pair searches for the first split of two peers.
type pair struct {
	a, b   *peer
	points []snapshot.Point // at which both have a snapshot
	pairs  []probed         // of each of points
	result *Result

	bracket  *Bracket
	bad      int // the pair at its bad end
	healed   *snapshot.Point
	splits   []Split // all of them, once the logs were looked at
	doubtful bool    // snapshots and logs contradict each other: only the first split is reported

	moved     bool  // a file turned out to be of another point: start again
	surveying bool  // pairs are opened beyond the search
	corrupt   int   // pairs with content that does not match their digests
	read      []int // points with content that was read and matches

	alike  bool // two states that differ have the same columns
	verify bool // the content of every pair is read where no states differ

	// joined are epochs of the two peers that have different numbers, but history hashes that were seen to be one
	// chain.
	joined map[[2]uint32]bool

	// From the logs: split is the first point at which the recorded sync hashes differ, equal the last one before it at
	// which they agree.
	split, equal *uint64

	// kind is set if recorded hashes and states do not agree, ownSums if the hashes are not roots at all.
	kind    Kind
	ownSums bool
	// unlike lists the snapshots for which the logs have another hash, and those with equal histories but different
	// states: contradictions, unless the kind explains them.
	unlike []string
}

// probed is a pair of snapshots as far as it has been read.
type probed struct {
	read bool
	ok   bool
	a, b *snapshot.Info
}

func newPair(r *Result, a, b *peer) *pair { return &pair{a: a, b: b, result: r} }

// before reports whether p diverged earlier than q.
func (p *pair) before(q *pair) bool {
	if c := p.bracket.Bad.Compare(q.bracket.Bad); c != 0 {
		return c < 0
	}
	a, b := p.bracket.Good, q.bracket.Good
	if a == nil || b == nil {
		return a == nil && b != nil
	}
	return a.Compare(*b) < 0
}

// commonOf returns the points at which both sets have a snapshot.
func commonOf(a, b *snapshot.Set) []snapshot.Point {
	points := make([]snapshot.Point, 0, min(len(a.Entries), len(b.Entries)))
	for i, j := 0, 0; i < len(a.Entries) && j < len(b.Entries); {
		switch c := a.Entries[i].Point.Compare(b.Entries[j].Point); {
		case c < 0:
			i++
		case c > 0:
			j++
		default:
			points = append(points, a.Entries[i].Point)
			i++
			j++
		}
	}
	return points
}

// search finds the first pair of snapshots that differs.
func (p *pair) search() {
	r := p.result
	for {
		p.points = commonOf(p.a.set, p.b.set)
		p.pairs = make([]probed, len(p.points))
		for again := true; again; {
			p.bracket, p.healed, p.moved = nil, nil, false
			p.joined = map[[2]uint32]bool{}
			notes := len(r.notes)
			p.run()
			if again = !p.moved && !p.confirmed(); again {
				r.notes = r.notes[:notes]
			}
		}
		if !p.moved {
			return
		}
	}
}

// maxCorrupt is how many pairs may have content that does not match their digests before no state of the two peers is
// believed.
const maxCorrupt = 16

// confirmed reports whether the content of the states that the answer rests on matches their digests: the states at the
// ends of the bracket or, if there is none, the first and the last pair. If not, the pair counts as one that could not
// be read.
func (p *pair) confirmed() bool {
	p.read = p.read[:0]
	for _, i := range p.pillars() {
		if p.sound(i) {
			if p.checksummed(i) {
				p.read = append(p.read, i)
			}
			continue
		}
		if p.corrupt++; p.corrupt == maxCorrupt {
			p.result.lose("%s and %s: the content of %d pairs of states does not match their digests; no other pair is believed", p.a.Path, p.b.Path, maxCorrupt)
			for k := range p.pairs {
				p.pairs[k].read, p.pairs[k].ok = true, false
			}
		}
		return false
	}
	return p.bracket != nil || p.undamaged()
}

// undamaged compares all bytes of the snapshots of all pairs with the checksums in their files, and reports whether they
// fit. Equal roots in two headers do not show that nothing differs where one of the files is damaged. Where the roots are
// equal and the stored bytes are not, it also reads the content.
func (p *pair) undamaged() bool {
	whole := true
	for i := range p.pairs {
		pr := &p.pairs[i]
		if !pr.ok || !p.checksummed(i) {
			continue
		}
		a, b := p.a.set.At(p.points[i]), p.b.set.At(p.points[i])
		for _, e := range []*snapshot.Entry{a, b} {
			if err := e.Undamaged(); err != nil {
				p.result.lose("%v", err)
				pr.ok = false
			}
		}
		if pr.ok && !a.StoredLike(b) && p.sound(i) {
			p.read = append(p.read, i)
		}
		whole = whole && pr.ok
	}
	return whole
}

// pillars returns the pairs that the answer rests on.
func (p *pair) pillars() (list []int) {
	if p.bracket != nil {
		if g := p.bracket.Good; g != nil {
			list = append(list, slices.IndexFunc(p.points, g.Same))
		}
		return append(list, p.bad)
	}
	for i := range p.pairs {
		if p.pairs[i].ok {
			list = append(list, i)
		}
	}
	if n := len(list); n > 2 && !p.verify {
		list = []int{list[0], list[n-1]}
	}
	return list
}

// checksummed reports whether both snapshots of a pair have digests that their content may contradict.
func (p *pair) checksummed(i int) bool {
	return p.a.set.At(p.points[i]).Checksummed() && p.b.set.At(p.points[i]).Checksummed()
}

// sound reads the content of a pair of states.
func (p *pair) sound(i int) bool {
	pr := &p.pairs[i]
	a, b := p.a.set.At(p.points[i]), p.b.set.At(p.points[i])
	for _, err := range []error{a.Check(nil), b.Check(a)} {
		if err != nil {
			p.result.lose("%v", err)
			pr.ok = false
		}
	}
	return pr.ok
}

// probe reads pair i once and reports whether both heads could be read.
func (p *pair) probe(i int) bool {
	pr := &p.pairs[i]
	if pr.read || p.moved {
		return pr.ok
	}
	pr.read = true
	ea, eb := p.a.set.At(p.points[i]), p.b.set.At(p.points[i])
	opened := &p.result.Probes
	if p.surveying {
		opened = &p.result.Surveyed
	}
	first := !p.a.read(ea) || !p.b.read(eb)
	var movedA, movedB bool
	var errA, errB error
	pr.a, movedA, errA = p.a.head(ea)
	pr.b, movedB, errB = p.b.headLike(eb, ea, pr.a)
	if movedA || movedB {
		p.moved = true
		return false
	}
	if first {
		*opened++
	}
	var broken error
	if errA == nil && errB == nil {
		broken = snapshot.Broken(pr.a, pr.b)
	}
	for _, err := range []error{errA, errB, broken} {
		if err != nil {
			p.result.lose("%v", err)
		}
	}
	pr.ok = errA == nil && errB == nil && broken == nil
	if pr.ok {
		p.partial(pr, ea, eb)
	}
	if pr.ok && pr.a.Root != pr.b.Root && !ea.Checksummed() && !eb.Checksummed() && !p.alike {
		p.unlikeColumns(pr, ea, eb)
	}
	return pr.ok
}

// unlikeColumns leaves out two states that do not have the same columns, if nothing else differs: the programs that wrote
// them were not the same, and a hash of all that is in a file shows nothing about the game.
func (p *pair) unlikeColumns(pr *probed, ea, eb *snapshot.Entry) {
	a, errA := ea.Open()
	b, errB := eb.OpenLike(ea)
	for _, s := range []snapshot.State{a, b} {
		if s != nil {
			defer s.Close()
		}
	}
	if errA != nil || errB != nil {
		return // the search has read them
	}
	d, err := snapshot.Compare(a, b, snapshot.DiffOptions{Limit: 1, Force: true})
	if err != nil {
		return
	}
	if !d.OnlyColumns() {
		p.alike = !slices.ContainsFunc(d.Tables, func(t snapshot.TableDiff) bool { return len(t.Schema) > 0 })
		return
	}
	if pr.ok = false; p.result.unlike {
		return
	}
	p.result.unlike = true
	var columns [3][]string // of the first, of the second, of both
	for i := range d.Tables {
		for _, c := range d.Tables[i].Schema {
			kind := 2
			switch {
			case c.A == nil && c.B != nil:
				kind = 1
			case c.B == nil && c.A != nil:
				kind = 0
			}
			columns[kind] = append(columns[kind], prose.Name(c.Column))
		}
	}
	var parts []string
	for kind, words := range []string{"only the first has ", "only the second has ", "of another type in each are "} {
		if len(columns[kind]) > 0 {
			parts = append(parts, words+prose.Few(columns[kind], 5))
		}
	}
	p.result.lose("%s and %s: no value that both have differs; %s", ea.Path(), eb.Path(), strings.Join(parts, ", "))
}

// partial leaves what only one of two incomplete states can show out of both, and notes that those
// which are equal then need not be equal.
func (p *pair) partial(pr *probed, ea, eb *snapshot.Entry) {
	incomplete := ""
	for i, info := range []*snapshot.Info{pr.b, pr.a} {
		if text := info.Incomplete(); text != "" {
			incomplete = text
			p.result.note("%s: incomplete: %s", []*snapshot.Entry{eb, ea}[i].Path(), text)
		}
	}
	if incomplete == "" {
		return
	}
	if !snapshot.Alike(&pr.a.Head, &pr.b.Head) {
		if err := pr.common(ea, eb); err != nil {
			p.result.lose("%v", err)
			pr.ok = false
			return
		}
	}
	if pr.a.Root == pr.b.Root {
		p.result.lose("%s and %s: equal at %s in all that is known of both; incomplete: %s", ea.Path(), eb.Path(), ea.Point, incomplete)
	}
}

// common reads two states again for the parts that both have.
func (pr *probed) common(ea, eb *snapshot.Entry) error {
	a, err := ea.Open()
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := eb.OpenLike(ea)
	if err != nil {
		return err
	}
	defer b.Close()
	a, b, err = snapshot.Common(a, b)
	if err != nil {
		return err
	}
	pr.a, pr.b = a.Info(), b.Info()
	return nil
}

// equalHistories notes the points at which equal histories contradict states that differ.
func (p *pair) equalHistories() {
	first, more := -1, 0
	for i := range p.pairs {
		pr := &p.pairs[i]
		switch {
		case !pr.ok || pr.a.Root == pr.b.Root || !p.chained(i) || pr.a.History != pr.b.History || p.loadedAt(p.points[i]):
		case first < 0:
			first = i
		default:
			more++
		}
	}
	if first < 0 {
		return
	}
	pr, files := &p.pairs[first], p.files(first)
	also := ""
	if more > 0 {
		also = fmt.Sprintf("; it is so at %s more", prose.Count(more, "state point", "state points"))
	}
	p.differs("state point %s: the history hashes of %s and %s are equal, the state hashes are not (%s, %s)%s",
		p.points[first], files[0], files[1], pr.a.Root.Short(), pr.b.Root.Short(), also)
}

func (p *pair) differs(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(p.unlike, s) {
		p.unlike = append(p.unlike, s)
	}
}

// historical reports whether both snapshots of pair i have a history hash that is made of roots.
func (p *pair) historical(i int) bool {
	return !p.ownSums && !p.pairs[i].a.History.IsZero() && !p.pairs[i].b.History.IsZero()
}

// parted reports whether pair i proves that the peers have diverged at its point or before, in its epoch.
func (p *pair) parted(i int) bool {
	pr := &p.pairs[i]
	return pr.a.Root != pr.b.Root || p.chained(i) && pr.a.History != pr.b.History
}

// chained reports whether the history hashes of pair i can be compared: they belong to one epoch, or to two that were
// seen to continue the same history.
func (p *pair) chained(i int) bool {
	e := p.epochs(i)
	return p.historical(i) && (e[0] == e[1] || p.joined[e])
}

// loadedAt reports whether one of the peers loaded a state at a point: the history that it took over there shows
// nothing about the loaded state.
func (p *pair) loadedAt(point snapshot.Point) bool {
	return point.Phase == "" && (p.a.loadedAt(point.Tick) != nil || p.b.loadedAt(point.Tick) != nil)
}

// loadedAt returns the stretch that the peer began by loading a state at a point, nil if it did not.
func (p *peer) loadedAt(point uint64) *Stretch {
	if p.log == nil {
		return nil
	}
	i := slices.IndexFunc(p.log.Stretches, func(s Stretch) bool { return s.Loaded() && s.From == point })
	if i < 0 {
		return nil
	}
	return &p.log.Stretches[i]
}

// epochs identifies the epochs of pair i. Both peers' ascend with time.
func (p *pair) epochs(i int) [2]uint32 {
	return [2]uint32{p.pairs[i].a.Epoch, p.pairs[i].b.Epoch}
}

// loadedBetween reports whether the peer loaded a state at a point from one to another.
func (p *peer) loadedBetween(from, to uint64) bool {
	return p.log != nil && slices.ContainsFunc(p.log.Stretches, func(s Stretch) bool { return s.Loaded() && s.From >= from && s.From <= to })
}

// next returns the first readable pair from i to end, or -1; step is 1 or -1.
func (p *pair) next(i, end, step int) int {
	for ; i != end+step; i += step {
		if p.probe(i) {
			return i
		}
	}
	return -1
}

// nearest returns a readable pair strictly between lo and hi, as near to the middle as there is one, or -1.
func (p *pair) nearest(lo, hi int) int {
	mid := lo + (hi-lo)/2
	for d := 0; mid-d > lo || mid+d < hi; d++ {
		if mid-d > lo && p.probe(mid-d) {
			return mid - d
		}
		if d > 0 && mid+d < hi && p.probe(mid+d) {
			return mid + d
		}
	}
	return -1
}

// narrow returns two adjacent readable pairs, the first good and the second bad. Invariant: lo has been read and is not
// bad, hi has been read and is bad; every step halves the span between them.
func (p *pair) narrow(lo, hi int, bad func(i int) bool) (int, int) {
	for hi-lo > 1 && !p.moved {
		mid := p.nearest(lo, hi)
		switch {
		case mid < 0: // nothing readable in between
			return lo, hi
		case bad(mid):
			hi = mid
		default:
			lo = mid
		}
	}
	return lo, hi
}

// run searches all points.
func (p *pair) run() {
	last := len(p.points) - 1
	if last < 0 {
		return
	}
	lo := p.next(0, last, 1)
	if lo < 0 || p.moved {
		return
	}
	hi := p.next(last, lo, -1)
	if p.moved {
		return
	}
	if p.historical(lo) && p.historical(hi) {
		p.epochWise(lo, hi)
	} else {
		p.stateWise(lo, hi)
	}
	p.sweep(lo, hi)
	if !p.moved && p.bracket != nil {
		p.survey()
	}
	if !p.moved && p.bracket != nil {
		p.findHealed()
	}
}

// epochWise searches lo to hi by history hash, epoch by epoch.
func (p *pair) epochWise(lo, hi int) {
	good := -1
	for start := lo; ; {
		if p.parted(start) {
			p.found(good, start)
			return
		}
		if pr := &p.pairs[start]; pr.a.History == pr.b.History {
			p.joined[p.epochs(start)] = true
		}
		end := hi
		if p.epochs(start) != p.epochs(hi) {
			end, _ = p.narrow(start, hi, func(i int) bool { return p.epochs(i) != p.epochs(start) })
		}
		if p.moved {
			return
		}
		switch {
		case !p.chained(start):
			// Histories that do not continue the same one show nothing.
			if p.scan(start, end); p.moved || p.bracket != nil {
				return
			}
		case p.parted(end):
			p.found(p.narrow(start, end, p.parted))
			return
		}
		good = end
		if end == hi {
			return
		}
		if start = p.next(end+1, hi, 1); p.moved {
			return
		}
	}
}

// stateWise searches lo to hi by state hash.
func (p *pair) stateWise(lo, hi int) {
	switch {
	case p.parted(lo):
		p.found(-1, lo)
	case p.parted(hi):
		p.found(p.narrow(lo, hi, p.parted))
	default:
		p.scan(lo, hi)
	}
}

// scan reads every pair from lo, which is equal, to hi, until one has diverged.
func (p *pair) scan(lo, hi int) {
	good := lo
	for i := p.next(lo+1, hi, 1); i >= 0 && !p.moved; i = p.next(i+1, hi, 1) {
		if p.parted(i) {
			p.found(good, i)
			return
		}
		if good = i; i == hi {
			return
		}
	}
}

// found sets the bracket to the pairs good (or -1) and bad.
func (p *pair) found(good, bad int) {
	if p.moved {
		return
	}
	b := Bracket{Bad: p.points[bad], By: BySnapshots, BadFiles: p.files(bad)}
	if good >= 0 {
		point := p.points[good]
		b.Good, b.GoodFiles = &point, p.files(good)
		skipped := 0
		for i := good + 1; i < bad; i++ {
			if p.pairs[i].read && !p.pairs[i].ok {
				skipped++
			}
		}
		if skipped > 0 {
			p.result.note("%s of snapshots between %s and %s could not be read; the bracket would be narrower with them", prose.Count(skipped, "pair", "pairs"), point, b.Bad)
		}
	}
	p.bracket, p.bad = &b, bad
}

func (p *pair) files(i int) []string {
	return []string{p.a.set.At(p.points[i]).Path(), p.b.set.At(p.points[i]).Path()}
}

// maxEarlier is how many pairs before a split that histories show are opened, if no more are left: wrong equal
// histories would hide an earlier one there.
const maxEarlier = 1000

// sweep compares the roots of the pairs that a search by histories took for equal and did not
// open: of all from lo to hi where it found no split, else of those before it if they are few.
// A history is the word of one peer, and may be wrong.
func (p *pair) sweep(lo, hi int) {
	if p.moved || p.bracket != nil && (!p.historical(p.bad) || p.bad-lo > maxEarlier) {
		return
	}
	end := hi
	if p.bracket != nil {
		end = p.bad - 1
	}
	p.surveying = true
	defer func() { p.surveying = false }()
	good := -1
	for i := lo; i <= end && !p.moved; i++ {
		switch {
		case !p.probe(i):
		case p.parted(i):
			p.found(good, i)
			return
		default:
			good = i
		}
	}
}

// findHealed looks, among the pairs that were read, for a state point at or
// after the bad end at which the states are equal again.
func (p *pair) findHealed() {
	for i := range p.points {
		if p.points[i].Compare(p.bracket.Bad) < 0 {
			continue
		}
		if pr := &p.pairs[i]; pr.ok && pr.a.Root == pr.b.Root {
			point := p.points[i]
			p.healed = &point
			return
		}
	}
}

// commonPoints counts the points at which two peers or more have a snapshot.
func commonPoints(peers []*peer) int {
	if len(peers) == 2 {
		return len(commonOf(peers[0].set, peers[1].set))
	}
	type moment struct {
		tick  uint64
		phase string
	}
	count := map[moment]int{}
	for _, p := range peers {
		for _, e := range p.set.Entries {
			count[moment{e.Point.Tick, e.Point.Phase}]++
		}
	}
	n := 0
	for _, c := range count {
		if c > 1 {
			n++
		}
	}
	return n
}

// FirstDifferent returns the paths of the snapshots of two peers at the first common state point that differs by
// snapshots, else at the first one with different caches, or at the last one if there is none. It also returns warnings
// about files, and the files that could not be used.
func FirstDifferent(a, b *Peer) (paths [2]string, warnings, lost []string, err error) {
	peers := newPeers([]*Peer{a, b})
	if err := oneSession(peers); err != nil {
		return paths, nil, nil, err
	}
	r := &Result{}
	p := newPair(r, peers[0], peers[1])
	p.search()
	warnings = slices.Concat(p.a.set.Warnings, p.b.set.Warnings).Texts()
	if p.bracket != nil {
		return [2]string(p.bracket.BadFiles), warnings, r.lost.strings(), nil
	}
	if c := p.caches(true); c != nil {
		return c.Files, warnings, r.lost.strings(), nil
	}
	for i := len(p.points) - 1; i >= 0; i-- {
		if p.probe(i) {
			return [2]string(p.files(i)), warnings, r.lost.strings(), nil
		}
	}
	return paths, warnings, r.lost.strings(), fmt.Errorf("%s and %s: no state point at which both have a readable snapshot", a.Path, b.Path)
}
