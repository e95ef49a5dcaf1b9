package bisect

import (
	"errors"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// origin is where instances begin: a state, the start of the session if there is none, or
// where an earlier part of the log leads to.
type origin struct {
	world *snapshot.World
	lead  *part
	until uint64 // to which the lead is played
	// header is what instances are started with, nil the log's own.
	header *orderlog.Header
}

// part is what of a stretch is replayed.
type part struct {
	*played
	from  origin
	begin uint64 // state point
}

// trialRun replays the stretches of a log, one after the other.
type trialRun struct {
	log  *orderlog.Log
	sim  *Sim
	opts TrialOptions
	out  *Trial

	list   []*played // that are to be judged
	until  uint64
	judged []*part
	mark   map[uint64]merkle.Short // what plain replays have where a later stretch begins
	seen   *uint64                 // the highest point that was observed
	hits   []bool
	left   int   // stretches that are not judged
	done   int64 // by the parts before
	all    int64
}

func newRun(log *orderlog.Log, sim *Sim, opts TrialOptions) (*trialRun, error) {
	r := &trialRun{log: log, sim: sim, opts: opts, out: &Trial{Mode: opts.Mode, Sim: sim.Name}, mark: map[uint64]merkle.Short{}}
	list, lost := playedOf(log, opts.Whole)
	r.list, r.out.Lost = list, lost
	r.headed(list[0])
	if w := opts.From; w != nil {
		if err := r.beginAt(w); err != nil {
			return nil, err
		}
	}
	for _, s := range r.list {
		r.until = max(r.until, s.To)
	}
	if opts.Until != nil {
		if *opts.Until > r.until {
			return nil, fmt.Errorf("%s: its orders are known up to state point %d only, not to %d", log.Name, r.until, *opts.Until)
		}
		r.until = *opts.Until
	}
	first := r.list[0].From
	if opts.From != nil {
		first = opts.From.Point.Tick
	}
	if r.until < first {
		return nil, fmt.Errorf("%s: state point %d is before %d, where the replay would begin", log.Name, r.until, first)
	}
	r.list = slices.DeleteFunc(r.list, func(s *played) bool { return s.From > r.until })
	r.out.From, r.out.To = first, first
	for i, s := range r.list {
		r.all += int64(min(s.To, r.until) - s.From)
		if i > 0 {
			r.mark[s.From] = merkle.Short{}
		}
	}
	return r, r.predictable()
}

// try replays the stretches until one departs.
func (r *trialRun) try() (*Trial, error) {
	for _, s := range r.list {
		if err := r.judge(s); err != nil {
			return nil, err
		}
		if r.out.First != nil && r.opts.Observe == nil {
			break
		}
	}
	return r.finish()
}

// headed takes the hash at the log's first point from its header.
func (r *trialRun) headed(first *played) {
	start := r.log.Header.Start
	if start.IsZero() || first.From != r.log.Header.FirstPoint {
		return
	}
	if got, ok := first.hashes[first.From]; ok && got != start.Short() {
		r.out.Lost = append(r.out.Lost, fmt.Sprintf("%s contradicts itself: at state point %d its header has hash %s, its hashes %s", prose.Path(r.log.Name), first.From, start.Short(), got))
		return
	}
	first.hashes[first.From] = start.Short()
}

// beginAt leaves only what comes from a state on.
func (r *trialRun) beginAt(w *snapshot.World) error {
	point := w.Point.Tick
	last := -1
	for i, s := range r.list {
		if s.covers(point) && (last < 0 || point < s.To || point == s.From) {
			last = i
		}
	}
	if end := r.list[len(r.list)-1]; last < 0 && point > end.To {
		// Nothing is known of the points after it.
		end.From, end.To, last = point, point, len(r.list)-1
	}
	if last < 0 {
		return fmt.Errorf("%s: state point %d is in no stretch of the log; the first is %s", r.log.Name, point, r.list[0])
	}
	r.list = r.list[last:]
	return nil
}

// predictable reports players that have no orders to predict.
func (r *trialRun) predictable() error {
	if r.opts.Mode != Predict || r.opts.Since != nil {
		return nil
	}
	for _, player := range r.opts.Predict {
		n := 0
		for _, s := range r.list {
			p := r.player(s)
			p.out.From, p.out.To = s.From, min(s.To, r.until)
			if w := r.opts.From; w != nil {
				p.out.From = max(p.out.From, w.Point.Tick)
			}
			n += len(p.ordersOf(player))
		}
		if n == 0 {
			return fmt.Errorf("%s: player %d gives no orders between state points %d and %d, there is nothing to predict", r.log.Name, player, r.out.From, r.until)
		}
	}
	return nil
}

// player returns the player of a stretch.
func (r *trialRun) player(s *played) *player {
	p := &player{log: r.log, sim: r.sim, opts: r.opts, orders: s.orders, recorded: s.hashes, mark: r.mark}
	p.out = &Trial{Mode: r.opts.Mode, Sim: r.sim.Name}
	p.mine = func(info *snapshot.Info) bool { return r.ofStretch(s, info) }
	return p
}

// judge replays a stretch, or notes why it cannot.
func (r *trialRun) judge(s *played) error {
	p := r.player(s)
	if r.opts.Expect != nil {
		p.recorded = r.opts.Expect
	}
	p.opts.Observe = r.observe()
	p.opts.ObserveSystem = r.observeSystem()
	if r.opts.Progress != nil {
		p.opts.Progress = r.progress(int64(min(s.To, r.until) - s.From))
	}
	from, err := r.origin(p, s)
	if err != nil {
		return err
	}
	r.keepNotes(p)
	if from == nil {
		return nil
	}
	p.from, p.out.From, p.out.To = from.from, from.begin, min(s.To, r.until)
	first := len(r.judged) == 0
	err = p.replay()
	if errors.Is(err, ErrUnsupported) && p.from.world != nil && p.from.world != r.opts.From && r.opts.Mode != FromEachSnapshot {
		r.lose(s, fmt.Sprintf("%s cannot load the state at point %d", r.sim.Name, from.begin))
		return nil
	}
	if err != nil {
		return err
	}
	r.done += p.done
	r.judged = append(r.judged, from)
	r.merge(p, first)
	if r.out.First == nil && r.opts.Mode == Plain {
		return r.loads(p, from)
	}
	return nil
}

func (r *trialRun) lose(s *played, why string) {
	if r.left++; r.left > shownGaps {
		return
	}
	r.out.Lost = append(r.out.Lost, fmt.Sprintf("%s: %s is not judged: %s", prose.Path(r.log.Name), s.Stretch.String(), why))
}

// keepNotes takes over a player's notes.
func (r *trialRun) keepNotes(p *player) {
	add := func(list *[]string, more []string) {
		for _, s := range more {
			if !slices.Contains(*list, s) {
				*list = append(*list, s)
			}
		}
	}
	add(&r.out.Lost, p.out.Lost)
	add(&r.out.Notes, p.out.Notes)
	p.out.Lost, p.out.Notes = nil, nil
}

// merge adds what was found in a stretch.
func (r *trialRun) merge(p *player, first bool) {
	out, t := r.out, p.out
	r.keepNotes(p)
	if first {
		out.From = t.From
	}
	out.To = max(out.To, t.To)
	out.End = t.End
	out.Against, out.Ticks, out.Compared, out.Snapshots = t.Against, out.Ticks+t.Ticks, out.Compared+t.Compared, out.Snapshots+t.Snapshots
	out.Stretches++
	if r.hits == nil {
		r.hits = p.hits
	}
	for i, hit := range p.hits {
		r.hits[i] = r.hits[i] || hit
	}
	if t.Changed != nil {
		out.Changed = t.Changed // of the last stretch
	}
	if out.First != nil {
		return
	}
	out.First, out.Unsteady = t.First, t.Unsteady
	if t.Agreed != nil || t.First != nil {
		out.Agreed = t.Agreed
	}
	if t.First != nil {
		out.Means = t.Means
	}
}

// observe returns what the hashes of a plain replay are handed to: points ascend, also where the log goes back.
func (r *trialRun) observe() func(uint64, merkle.Short) error {
	if r.opts.Observe == nil {
		return nil
	}
	return func(point uint64, hash merkle.Short) error {
		if r.seen != nil && point <= *r.seen {
			return nil
		}
		r.seen = &point
		return r.opts.Observe(point, hash)
	}
}

// observeSystem is observe for the systems between the state points.
func (r *trialRun) observeSystem() func(uint64, string, merkle.Short) error {
	if r.opts.ObserveSystem == nil {
		return nil
	}
	return func(tick uint64, system string, hash merkle.Short) error {
		if r.seen != nil && tick < *r.seen {
			return nil
		}
		return r.opts.ObserveSystem(tick, system, hash)
	}
}

// progress returns what the progress of a stretch of some ticks is handed to.
func (r *trialRun) progress(ticks int64) func(done, total int64) {
	before := r.done
	return func(done, total int64) {
		if ticks > 0 {
			total = total * r.all / ticks // the other stretches take as much a tick
		}
		r.opts.Progress(before+done, max(total, before+done))
	}
}

// shownGaps is how many gaps are named.
const shownGaps = 10

// noteGaps notes which ticks the log lacks.
func (r *trialRun) noteGaps() {
	n := 0
	for _, s := range r.list {
		if s.After == nil || s.From <= *s.After {
			continue
		}
		if n++; n <= shownGaps {
			r.out.Notes = append(r.out.Notes, fmt.Sprintf("ticks %d to %d are not in the log: the peer was not there, and they are not played", *s.After, s.From-1))
		}
	}
	if r.left > shownGaps {
		r.out.Lost = append(r.out.Lost, fmt.Sprintf("%s: and %d more stretches are not judged", prose.Path(r.log.Name), r.left-shownGaps))
	}
	if n > shownGaps {
		r.out.Notes = append(r.out.Notes, fmt.Sprintf("and %d more gaps", n-shownGaps))
	}
}

// finish returns the result of all stretches.
func (r *trialRun) finish() (*Trial, error) {
	out := r.out
	if out.Mode == FromEachSnapshot {
		if err := r.unused(); err != nil {
			return nil, err
		}
	}
	r.noteGaps()
	if out.Mode == Repeat {
		out.Runs = r.opts.Runs - 1
		out.Hits += lists.Count(r.hits, func(hit bool) bool { return hit })
		if out.Stretches > 0 {
			out.Low, out.High = Wilson(out.Hits, out.Runs)
		}
	}
	if out.Means == "" {
		out.Means = means(out)
	}
	return out, nil
}
