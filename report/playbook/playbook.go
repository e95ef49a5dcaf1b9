// Package playbook narrows a desync down with all of its evidence: which tick, which
// system of it, which archetype, which component, which peer. Each step takes what one
// comparison found; what the evidence does not tell stays open, with the artifact that
// would tell it.
package playbook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/tracediff"
)

// Within is where traces part in a tick.
type Within struct {
	Tick   uint64
	System string
	// Index is the number of the system among those of the tick, from 0; below 0 if that
	// is not known.
	Index int
	// Scopes are the parts of the state that were traced and differ behind it: RNG, an
	// archetype's label, label/Component.field.
	Scopes []string
	// Ends are the sums of the whole state at the end of the tick, by the path of the
	// peer's folder.
	Ends map[string]merkle.Short
}

// Verdict is how far the evidence narrows a desync.
type Verdict struct {
	Kind bisect.Kind // "" if none was found
	// Bracket is where the peers parted, by state points.
	Bracket *bisect.Bracket
	// Tick is the divergent tick, nil if only the bracket is known, or if the peers
	// differ at the start.
	Tick         *uint64
	InitialState bool
	// Inputs says that the peers were given different orders.
	Inputs bool

	// System is the first of the tick behind which they differ, "" if that is not known.
	System string
	// Archetypes are those that may have diverged first, the RNG under "". One is
	// exact; several are what the evidence cannot tell apart, unless Written says that
	// System left them all different: then the first in order counts as the root.
	Archetypes []string
	Written    bool
	// Component is that of the first archetype, "" if it is not known; that of the RNG
	// is RNG.
	Component string

	// Guilty are the peers that departed from the simulator.
	Guilty []string

	// Passing is an earlier tick in which the peers differed between two systems, and no
	// longer at its end, "" if there is none.
	Passing string

	// Open says what is not known, and what would tell it.
	Open []string

	within *Within // nil if it is not known where in the tick they part
}

// RNG is the component of the RNG, whose archetype is "".
const RNG = "RNG"

// Root returns the archetype that diverged first, false if that is not known.
func (v *Verdict) Root() (archetype string, known bool) {
	if len(v.Archetypes) == 0 || len(v.Archetypes) > 1 && !v.Written {
		return "", false
	}
	return v.Archetypes[0], true
}

func (v *Verdict) open(format string, args ...any) {
	v.Open = append(v.Open, fmt.Sprintf(format, args...))
}

// Conclude narrows as far as the evidence goes.
func Conclude(e Evidence) (*Verdict, error) {
	v := &Verdict{}
	r := e.Bisect
	if r == nil {
		return v, nil
	}
	if v.Kind = r.Kind; r.Bracket == nil {
		return v, nil
	}
	v.Bracket, v.InitialState = r.Bracket, r.InitialState
	if r.Exact {
		v.Tick = &r.Tick
	}
	v.blame(e)
	within, err := v.byChecksums(e)
	if err != nil {
		return nil, err
	}
	if within == nil {
		within = v.drilled(e)
	}
	v.within = within
	v.narrowSystem(within)
	v.narrowArchetype(e.Diff, within)
	v.narrowComponent(e.Diff, within)
	if v.Tick == nil && !v.InitialState {
		v.open("the tick: order logs with a hash of every tick, or traces, would tell it")
	}
	return v, nil
}

// blame says whether the inputs or some peers are at fault.
func (v *Verdict) blame(e Evidence) {
	if o := e.Orders; o != nil && o.Verdict == orderlog.InputsDiffer {
		v.Inputs = true
	}
	rep := e.Bisect.Replay
	if rep == nil {
		v.open("who is wrong: a simulator would tell it")
		return
	}
	if rep.InputsDiffer != nil {
		v.Inputs = true
	}
	for i := range rep.Peers {
		if p := &rep.Peers[i]; p.Departs != nil && *p.Departs == v.Bracket.Bad.Tick {
			v.Guilty = append(v.Guilty, p.Name)
		}
	}
	if len(v.Guilty) == len(rep.Peers) {
		v.Guilty = nil
	}
	if len(v.Guilty) == 0 && !v.Inputs {
		v.open("who is wrong: no peer, or every peer, departs from the simulator there")
	}
}

// byChecksums returns where the traces part in the divergent tick. If that tick is not
// known, it is the first within the bracket in which they do. An earlier one in which the
// peers differed for a while is told.
func (v *Verdict) byChecksums(e Evidence) (*Within, error) {
	first := firstTraced(e.Traces)
	if first == nil || v.InitialState || e.Within == nil {
		return nil, nil
	}
	at := first.Tick.Number
	from, to := at, v.Bracket.Bad.Tick
	if v.Tick != nil {
		from, to = *v.Tick, *v.Tick+1
	} else if !v.inside(at) {
		return nil, nil
	}
	within, err := e.Within(from, to)
	if within == nil || err != nil {
		return nil, err
	}
	v.Tick = &within.Tick
	if at < within.Tick {
		v.Passing = fmt.Sprintf("in tick %d the peers differed behind %s, and no longer at its end", at, first.System)
	}
	return within, nil
}

// firstTraced returns the first checkpoint behind a system that differs, nil if there is
// none, or if ticks before it were not traced.
func firstTraced(traces []*tracediff.Result) *tracediff.Difference {
	for _, t := range traces {
		if d := t.First; d != nil && d.System != "" && d.Tick.Epoch == 0 && (d.Tick.Number == 0 || t.Bracket != nil && t.Bracket.Exact()) {
			return d
		}
	}
	return nil
}

// inside reports whether a tick lies in the bracket.
func (v *Verdict) inside(tick uint64) bool {
	return tick < v.Bracket.Bad.Tick && (v.Bracket.Good == nil || tick >= v.Bracket.Good.Tick)
}

func (v *Verdict) narrowSystem(within *Within) {
	switch {
	case v.InitialState:
	case within != nil:
		v.System = within.System
	default:
		v.open("the system: traces of two peers that parted would tell it, or a simulator and the trace of one that is wrong")
	}
}

// drilled returns where the peer that is wrong departs from the simulator in the divergent
// tick.
func (v *Verdict) drilled(e Evidence) *Within {
	if e.Bisect.Replay == nil || v.Tick == nil {
		return nil
	}
	for i := range e.Bisect.Replay.Peers {
		p := &e.Bisect.Replay.Peers[i]
		if !slices.Contains(v.Guilty, p.Name) || p.Drilled == nil || p.Drilled.First == nil {
			continue
		}
		if tick, ok := p.Drilled.Tick(); ok && tick == *v.Tick && p.Drilled.First.System != "" {
			return &Within{Tick: tick, System: p.Drilled.First.System, Index: -1, Scopes: p.Drilled.First.Scopes}
		}
	}
	return nil
}

// scopes returns what differs behind the first system, as far as it is known.
func (w *Within) scopes() []string {
	if w == nil {
		return nil
	}
	return w.Scopes
}

// narrowArchetype takes the archetypes that a trace shows to differ behind the first
// system, and still do at the end of the tick; else those that differ at its end.
func (v *Verdict) narrowArchetype(d *snapshot.Diff, within *Within) {
	left := changed(d)
	var written []string
	for _, scope := range within.scopes() {
		label, _, _ := strings.Cut(scope, "/")
		if label == RNG {
			label = ""
		}
		if !slices.Contains(written, label) && (d == nil || slices.Contains(left, label)) {
			written = append(written, label)
		}
	}
	slices.Sort(written)
	switch {
	case len(written) > 0:
		v.Archetypes, v.Written = written, true
	case v.Tick != nil || v.InitialState:
		v.Archetypes, v.Written = left, v.InitialState
	}
	switch _, known := v.Root(); {
	case known:
	case len(v.Archetypes) > 1:
		v.open("which of %d archetypes diverged first: they differ at the end of the tick; traces of archetypes would tell it", len(v.Archetypes))
	default:
		v.open("the archetype: snapshots of state point %s, or traces of archetypes, would tell it", v.Bracket.Bad)
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
func (v *Verdict) narrowComponent(d *snapshot.Diff, within *Within) {
	root, known := v.Root()
	if !known {
		return
	}
	if root == "" {
		v.Component = RNG
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
		v.Component = traced[0]
	case !rows && (len(left) == 1 || len(left) > 1 && v.InitialState):
		v.Component = left[0]
	case rows:
		v.open("the component of %s: entities differ as a whole; traces of columns would tell which was first", cmp.Or(root, RNG))
	default:
		v.open("the component of %s: traces of columns would tell it", cmp.Or(root, RNG))
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
		for k := range t.Columns {
			if c := t.Columns[k].Component; !slices.Contains(list, c) {
				list = append(list, c)
			}
		}
	}
	slices.Sort(list)
	return list, rows
}
