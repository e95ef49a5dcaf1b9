package bisect

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
)

// origin finds where the replay of a stretch can begin: at its first point if possible, else at the first snapshot
// after it. If there is none it returns nil and notes that in Lost.
func (r *trialRun) origin(p *player, s *played) (*part, error) {
	if w := r.opts.From; w != nil && s == r.list[0] {
		if err := p.belongs("the snapshot", &w.Head); err != nil {
			return nil, err
		}
		return &part{s, origin{world: w}, w.Point.Tick}, nil
	}
	if !s.Loaded() || r.opts.Mode == FromEachSnapshot {
		return &part{s, origin{}, s.From}, nil
	}
	if at := r.snapshotOf(p, s, s.From); at != nil {
		return at, nil
	}
	if led, err := r.led(p, s); led != nil || err != nil {
		return led, err
	}
	if r.opts.Snapshots != nil {
		for _, e := range r.opts.Snapshots.Entries {
			point := e.Point.Tick
			if e.Point.Phase != "" || point <= s.From || point >= min(s.To, r.until) {
				continue
			}
			if at := r.snapshotOf(p, s, point); at != nil {
				r.out.Lost = append(r.out.Lost, fmt.Sprintf("%s: ticks %d to %d, after a %s, are not judged: the peer left no snapshot before state point %d", prose.Path(r.log.Name), s.From, point-1, s.Began, point))
				return at, nil
			}
		}
	}
	if s.From == r.log.Header.FirstPoint && s.After == nil {
		return &part{s, origin{}, s.From}, nil // the simulator may know how
	}
	r.lose(s, fmt.Sprintf("the peer left no snapshot of state point %d or of a later one", s.From))
	return nil, nil
}

// snapshotOf returns the part of a stretch that begins at a snapshot of the peer, nil if
// there is none that can be used.
func (r *trialRun) snapshotOf(p *player, s *played, point uint64) *part {
	if r.opts.Snapshots == nil {
		return nil
	}
	e := r.opts.Snapshots.At(snapshot.Point{Tick: point})
	if e == nil || !r.opts.Force && e.Seed != r.log.Header.Seed {
		return nil
	}
	state, err := e.Open()
	if state != nil {
		defer state.Close()
	}
	if err == nil {
		err = p.belongs(e.Path(), &state.Info().Head)
	}
	if err != nil {
		p.out.Lost = append(p.out.Lost, err.Error())
		return nil
	}
	if !r.ofStretch(s, state.Info()) {
		return nil
	}
	world, err := snapshot.Load(state)
	if err != nil {
		p.out.Lost = append(p.out.Lost, err.Error())
		return nil
	}
	return &part{s, origin{world: world}, point}
}

// ofStretch reports whether a snapshot belongs to a stretch: no other stretch has its point, or the hash that the
// stretch has there is its root.
func (r *trialRun) ofStretch(s *played, info *snapshot.Info) bool {
	point := info.Point.Tick
	if hash, ok := s.hashes[point]; ok && hash == info.Root.Short() {
		return true
	}
	return !slices.ContainsFunc(r.list, func(other *played) bool { return other != s && other.covers(point) })
}

// led returns the part of a stretch that begins with a state that an earlier stretch reaches, as its hash shows; nil if
// there is none.
func (r *trialRun) led(p *player, s *played) (*part, error) {
	want, ok := s.hashes[s.From]
	if !ok {
		return nil, nil
	}
	for _, lead := range r.judged {
		if !lead.covers(s.From) || lead.begin > s.From {
			continue
		}
		from := origin{lead: lead, until: s.From}
		if r.opts.Mode == Plain {
			if r.mark[s.From] != want {
				continue
			}
			return &part{s, from, s.From}, nil
		}
		sim, err := p.begin(p.sim, from)
		if err != nil {
			return nil, err
		}
		got := sim.SyncHash()
		if err := p.stop(sim); err != nil {
			return nil, err
		}
		if got == want {
			return &part{s, from, s.From}, nil
		}
	}
	return nil, nil
}

// loads looks at the later stretches that began where the replayed one passed through: the state that was loaded there
// equals the replay's, or loading lost something.
func (r *trialRun) loads(p *player, lead *part) error {
	if p.rooted || r.opts.Expect != nil || r.out.Agreed == nil {
		return nil
	}
	after := r.list[slices.Index(r.list, lead.played)+1:]
	i := slices.IndexFunc(after, func(s *played) bool {
		want, ok := s.hashes[s.From]
		got := r.mark[s.From]
		return ok && s.Began == BeganLoad && lead.begin < s.From && s.From <= p.out.To && lead.covers(s.From) && got != want && !got.IsZero()
	})
	if i < 0 {
		return nil
	}
	s := after[i]
	again := r.player(lead.played)
	again.from, again.out.From, again.out.To = lead.from, lead.begin, s.From
	d := &Departure{Point: s.From, A: again.source(), B: r.sim.Name, Expected: s.hashes[s.From], Got: r.mark[s.From], Loaded: true}
	if err := again.afterLoading(d); err != nil {
		return err
	}
	r.out.Compared++
	if *r.out.Agreed >= d.Point {
		r.out.Agreed = nil
	}
	r.out.First, r.out.Unsteady, r.out.Means = d, again.out.Unsteady, again.out.Means
	r.keepNotes(again)
	return nil
}

// afterLoading finds out what departs where a peer loaded another state than its orders had led to.
func (p *player) afterLoading(d *Departure) error {
	p.out.First = d
	if err := errors.Join(p.twice(d), p.close()); err != nil {
		return err
	}
	if d.Diff != nil && !d.Diff.RootsDiffer() {
		d.Diff = nil // the snapshot is from before
	}
	p.out.Means = cmp.Or(p.out.Means, means(p.out))
	return nil
}

// unused notes the snapshots that no replay began at because they belong to no stretch, and reports if no replay began
// at all.
func (r *trialRun) unused() error {
	if r.opts.Snapshots == nil {
		return errors.New("no snapshots to begin at")
	}
	for _, e := range r.opts.Snapshots.Entries {
		point := e.Point.Tick
		of := func(s *played) bool { return s.covers(point) }
		if e.Point.Phase == "" && point >= r.out.From && point < r.until && !slices.ContainsFunc(r.list, of) {
			r.out.Notes = append(r.out.Notes, fmt.Sprintf("%s: its state point is in a gap of the log: no replay begins there", prose.Path(e.Path())))
		}
	}
	if r.out.Snapshots == 0 && len(r.out.Lost) == 0 {
		return fmt.Errorf("%s: no snapshots between state points %d and %d", r.opts.Snapshots.Path, r.out.From, r.until)
	}
	return nil
}
