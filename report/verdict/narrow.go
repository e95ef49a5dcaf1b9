package verdict

import (
	"slices"
	"strings"

	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// narrow finds the tick, the system, the archetype and the component, and who is wrong, as far as the evidence goes.
func (c *Conclusion) narrow(e Evidence) error {
	if c.Exact {
		c.Tick = c.tick(e, e.Bisect.Tick)
	}
	c.blame(e)
	if c.Loaded != nil {
		c.narrowArchetype(e.Diff, nil)
		c.narrowComponent(e.Diff, nil)
		return nil
	}
	within, err := c.byChecksums(e)
	if err != nil {
		return err
	}
	c.SystemBy = SystemByTraces
	outside := within != nil && within.Outside && differsAfter(e.Traces, within.Tick)
	if within != nil && within.Outside {
		c.LastSystem, within = within.System, nil
	}
	if within == nil {
		within = c.drilled(e)
		c.SystemBy = SystemByReplay
	}
	if outside && within == nil {
		c.SystemBy = SystemByOutside
	}
	if c.Restored = c.restored(e); c.Restored != nil {
		within, c.SystemBy = nil, SystemByRestore // no system of the tick began with the state that it should have
	}
	c.within = within
	if within != nil && !c.InitialState {
		c.System = within.System
	}
	if first := firstTraced(e.Traces); c.Within && within == nil && first != nil {
		c.System, c.SystemBy = first.System, SystemByPassing
	}
	if parts := c.parts(e); c.System == "" && c.SystemBy != SystemByOutside && c.Restored == nil && len(parts) > 0 {
		c.System, c.SystemBy = strings.Join(parts, " and "), SystemByParts
	}
	d := e.Diff
	if d != nil && c.narrowed() && !c.InitialState && d.A.Point.Tick > c.Tick.Number+1 {
		d = nil // other values may have differed first, and be equal again
	}
	c.narrowArchetype(d, within)
	c.narrowComponent(d, within)
	if len(c.Archetypes) == 0 {
		c.Suspects = changed(d)
	}
	return nil
}

// tick returns a tick as a moment.
func (c *Conclusion) tick(e Evidence, n uint64) *Moment {
	return &Moment{Number: n, Native: nameOf(e.TickName, n)}
}

// blame finds the peers that departed from the simulator.
func (c *Conclusion) blame(e Evidence) {
	c.majority()
	if c.Witnessed != nil {
		c.blameWitnessed(e)
		return
	}
	rep := e.Bisect.Replay
	if rep == nil {
		return
	}
	if c.Replayed, c.Unsteady = true, rep.Unsteady; rep.Unsteady {
		return
	}
	for i := range rep.Peers {
		if p := &rep.Peers[i]; p.Departs != nil && *p.Departs == c.Bracket.Bad.Tick {
			c.Guilty = append(c.Guilty, p.Name)
		}
	}
	if len(c.Guilty) == len(rep.Peers) {
		c.Guilty = nil
	}
	for i := range rep.Peers {
		if p := &rep.Peers[i]; c.Borrowed == nil && p.Borrowed != "" && slices.Contains(c.Guilty, p.Name) {
			c.Borrowed = &Borrowed{p.Name, p.Borrowed}
		}
	}
}

// majority finds the largest group, which is not known to be right.
func (c *Conclusion) majority() {
	most, ties := 0, 0
	for i, group := range c.Groups {
		switch {
		case len(group) > most:
			most, ties, c.Majority = len(group), 1, i+1
		case len(group) == most:
			ties++
		}
	}
	if ties != 1 {
		c.Majority = 0
	}
}

// byChecksums returns where the traces diverge in the divergent tick. If that tick is not known, it is the first within
// the bracket in which they do. An earlier one in which the peers differed for a while is kept as Passing.
func (c *Conclusion) byChecksums(e Evidence) (*Within, error) {
	first := firstTraced(e.Traces)
	if c.InitialState || e.Within == nil || first == nil && (c.Tick == nil || len(e.Traces) == 0) {
		return nil, nil
	}
	at := c.Bracket.Bad.Tick
	if first != nil {
		at = first.Tick.Number
	}
	from, to := at, c.Bracket.Bad.Tick
	if c.Tick != nil {
		from, to = c.Tick.Number, c.Tick.Number+1
	} else if !c.inside(at) {
		return nil, nil
	}
	within, err := e.Within(from, to)
	if within == nil || err != nil {
		return nil, err
	}
	if c.Bracket.Good == nil && within.Tick == 0 && within.Index == 0 {
		return nil, nil // they may have differed from the start
	}
	if c.Tick == nil {
		c.Tick, c.TickBy = c.tick(e, within.Tick), TickByTraces
	}
	if at < within.Tick {
		c.Passing = &Passing{*c.tick(e, at), first.System}
	}
	return within, nil
}

// restored returns the restore that made the divergent tick begin with another state than the saved one.
func (c *Conclusion) restored(e Evidence) *Restored {
	if c.Tick == nil {
		return nil
	}
	for _, t := range e.Traces {
		for i := range t.Findings {
			if f := &t.Findings[i]; f.Kind == tracediff.RestoreMismatch && f.Tick.Epoch == 0 && f.Tick.Number == c.Tick.Number {
				return &Restored{t.Traces[f.Trace].Name, f.Expected, f.Got}
			}
		}
	}
	return nil
}

// parts returns the parts of the game that differ at the end of the divergent tick, as its traces have a sum for each.
func (c *Conclusion) parts(e Evidence) []string {
	for _, t := range slices.Concat(e.Traces, e.Bisect.Traces) {
		if d := t.First; c.Tick != nil && d != nil && d.Tick.Epoch == 0 && t.Bracket != nil && t.Bracket.Exact() && d.Tick.Number == t.Bracket.Bad.Number {
			point := d.Tick.Number
			if !t.Dialect().AtPoint {
				point++
			}
			if point == c.Tick.Number+1 {
				return d.Parts()
			}
		}
	}
	return nil
}

// firstTraced returns the first checkpoint after a system that differs, nil if there is
// none, or if ticks before it were not traced.
func firstTraced(traces []*tracediff.Result) *tracediff.Difference {
	for _, t := range traces {
		if d := t.First; d != nil && d.System != "" && d.Tick.Epoch == 0 && (d.Tick.Number == 0 || t.Bracket != nil && t.Bracket.Exact()) {
			return d
		}
	}
	return nil
}

// differsAfter reports whether traces differ first at the end of a tick, or in the next one: traces that do not differ
// there have no checksum of the difference.
func differsAfter(traces []*tracediff.Result, tick uint64) bool {
	return slices.ContainsFunc(traces, func(t *tracediff.Result) bool {
		return t.First != nil && (t.First.Tick.Number == tick || t.First.Tick.Number == tick+1)
	})
}

// inside reports whether a tick lies in the bracket.
func (c *Conclusion) inside(tick uint64) bool {
	return tick < c.Bracket.Bad.Tick && (c.Bracket.Good == nil || tick >= c.Bracket.Good.Tick)
}

// drilled returns where the peer that is wrong departs from the simulator in the divergent tick.
func (c *Conclusion) drilled(e Evidence) *Within {
	if e.Bisect.Replay == nil || c.Tick == nil {
		return nil
	}
	for i := range e.Bisect.Replay.Peers {
		p := &e.Bisect.Replay.Peers[i]
		if !slices.Contains(c.Guilty, p.Name) || p.Drilled == nil || p.Drilled.First == nil {
			continue
		}
		if tick, ok := p.Drilled.Tick(); ok && tick == c.Tick.Number && p.Drilled.First.System != "" {
			return &Within{Tick: tick, System: p.Drilled.First.System, Index: -1, Scopes: p.Drilled.First.Scopes}
		}
	}
	return nil
}

// scopes returns what differs after the first system, as far as it is known.
func (w *Within) scopes() []string {
	if w == nil {
		return nil
	}
	return w.Scopes
}

// columns reports whether what differs after the first system is known by columns.
func (w *Within) columns() bool {
	return slices.ContainsFunc(w.scopes(), func(scope string) bool {
		_, column, fine := strings.Cut(scope, "/")
		return fine && strings.Contains(column, ".")
	})
}

// narrowArchetype takes the archetypes that a trace shows to differ after the first system, of these the RNG and those that
// still do at the end of the tick if any does; else those that differ at its end. An RNG may be equal again by then, and
// what was drawn from it is not.
func (c *Conclusion) narrowArchetype(d *snapshot.Diff, within *Within) {
	left := changed(d)
	var written, lasting []string
	for _, scope := range within.scopes() {
		label, _, _ := strings.Cut(scope, "/")
		if label == snapshot.RNG {
			label = ""
		}
		if !slices.Contains(written, label) {
			written = append(written, label)
		}
	}
	for _, label := range written {
		if label == "" || slices.Contains(left, label) {
			lasting = append(lasting, label)
		}
	}
	if len(lasting) > 0 || d != nil && len(left) == 0 {
		written = lasting
	}
	slices.Sort(written)
	switch {
	case len(written) > 0:
		c.Archetypes, c.Written = written, true
	case c.Tick != nil || c.InitialState || c.Loaded != nil:
		c.Archetypes, c.Written = left, c.InitialState
	}
}

// changed returns the archetypes that differ, the RNG first.
func changed(d *snapshot.Diff) (labels []string) {
	if d == nil {
		return nil
	}
	if d.RNG != nil {
		labels = append(labels, "")
	}
	for i := range d.Tables {
		if d.Tables[i].Class == snapshot.Archetype {
			labels = append(labels, d.Tables[i].Label)
		}
	}
	return labels
}

// narrowComponent names the component of the root.
func (c *Conclusion) narrowComponent(d *snapshot.Diff, within *Within) {
	root, known := c.Root()
	if !known {
		return
	}
	if root == "" {
		c.Component = snapshot.RNG
		return
	}
	var traced []string
	for _, scope := range within.scopes() {
		label, column, fine := strings.Cut(scope, "/")
		if component, _, named := strings.Cut(column, "."); fine && named && label == root {
			traced = append(traced, component)
		}
	}
	left, rows := components(d, root)
	if len(left) > 0 && !rows {
		traced = slices.DeleteFunc(traced, func(c string) bool { return !slices.Contains(left, c) })
	}
	slices.Sort(traced)
	switch {
	case len(traced) > 0:
		c.Component = traced[0]
	case !rows && (len(left) == 1 || len(left) > 1 && c.InitialState):
		c.Component = left[0]
	}
}

// components returns the components of an archetype in which a column differs, in
// order, and whether there are entities that only one side has: these differ in all.
func components(d *snapshot.Diff, label string) (list []string, rows bool) {
	if d == nil {
		return nil, false
	}
	for i := range d.Tables {
		t := &d.Tables[i]
		if t.Label != label || t.Class != snapshot.Archetype {
			continue
		}
		rows = rows || t.OnlyACount+t.OnlyBCount > 0
		for k := range t.Schema {
			if c, _, ok := strings.Cut(t.Schema[k].Column, "."); ok && !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
		for k := range t.Columns {
			if c := t.Columns[k].Component; !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	slices.Sort(list)
	return list, rows
}
