package verdict

import (
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// recorded looks at the games' own records of where the peers diverged, within the bracket of the states: values of
// single systems, and checksums of whole ticks.
func (c *Conclusion) recorded(e Evidence) {
	if c.Bracket == nil {
		return
	}
	var parts []string
	var nearby *Checkpoint
	for _, t := range slices.Concat(e.Traces, e.Bisect.Traces) {
		switch first := t.First; {
		case t.OfRuns() && c.Bracket.A != "" && !snapshot.IsRun(c.Bracket.A): // a self-test shows nothing about other peers
		case first == nil || t.Bracket == nil || first.Tick.Epoch > 0 || !c.covers(t, t.Bracket.Bad.Number):
		case t.Dialect().Values || first.System != "" || first.Scope != "":
			if c.Checkpoint == nil && t.Dialect().Engine != "" && first.Kind == tracediff.Changed {
				doc, values := document.FirstCheckpoint(t)
				parts = partsOf(t)
				dense := !t.Dialect().AtPoint || t.Bracket.Exact() // states are compared at each point, or events in each tick
				c.Checkpoint = &Checkpoint{*doc, Moment{Number: doc.Tick, Native: doc.Native}, values, t.Bracket.HasGood && !t.Skips() && dense, false}
			}
		case c.Parting == nil || t.Bracket.Bad.Number < c.Parting.Bad:
			c.Parting = &document.Parting{Bad: t.Bracket.Bad.Number, Native: t.NativeName(t.Bracket.Bad), By: t.Traces[0].Kind()}
			c.Checksums = tracedSums(SumsPart, t)
			if t.Bracket.HasGood {
				c.Parting.Good, c.Checksums.Good = &t.Bracket.Good.Number, tracedTick(t, t.Bracket.Good)
			}
			if doc, values := document.FirstCheckpoint(t); first.Kind == tracediff.Changed && namesValue(doc) {
				nearby = &Checkpoint{CheckpointDocument: *doc, At: Moment{Number: doc.Tick, Native: doc.Native}, Values: values, Nearby: true}
			}
		}
	}
	if c.Checkpoint == nil && nearby != nil {
		c.Checkpoint = nearby
		return
	}
	if cp := c.Checkpoint; cp != nil && c.Tick == nil && cp.Sure {
		c.Tick, c.TickBy = &cp.At, TickByCheckpoint
	}
	if cp := c.Checkpoint; cp != nil && c.System == "" && cp.System+cp.Scope != "" {
		c.System, c.SystemBy = cp.System, SystemByCheckpoint
		if len(parts) > 1 {
			c.System, c.SystemBy = strings.Join(parts, " and "), SystemByParts
		}
	}
}

// namesValue reports whether the details of a checkpoint are the name of a value, and what each peer has.
func namesValue(doc *document.CheckpointDocument) bool {
	d := doc.Details()
	return doc.DetailOf == tracediff.Path && d != nil && len(d.Same) == 1 && len(d.Peers) > 0 &&
		!slices.ContainsFunc(d.Peers, func(p document.PeerDetails) bool { return len(p.Rest) == 0 })
}

// partsOf returns the parts of the game that differ first in traces with a sum of each part at a state point: they have no
// order.
func partsOf(t *tracediff.Result) (names []string) {
	if !t.Dialect().AtPoint || t.First.System != "" {
		return nil
	}
	for _, c := range t.Cascade {
		if c.Scope != "" && c.System == "" && c.Tick == t.First.Tick {
			names = append(names, c.Scope)
		}
	}
	return names
}

func tracedTick(t *tracediff.Result, tick tracediff.Tick) *Moment {
	m := Moment{Number: tick.Number, Native: t.NativeName(tick)}
	return &m
}

// covers reports whether the state that a trace has at a tick lies in the bracket.
func (c *Conclusion) covers(t *tracediff.Result, tick uint64) bool {
	point := tick
	if !t.Dialect().AtPoint {
		point++
	}
	return point <= c.Bracket.Bad.Tick && (c.Bracket.Good == nil || point > c.Bracket.Good.Tick)
}

// traceGroups returns the names of the peers by their values where traces first differ.
func traceGroups(t *tracediff.Result) (groups [][]string) {
	if len(t.Groups) == 0 {
		return nil
	}
	for _, group := range t.Groups[0].Groups {
		names := lists.Map(group, func(i int) string { return t.Traces[i].Name })
		groups = append(groups, names)
	}
	return groups
}

// checkSums compares the games' own checksums with the states.
func (c *Conclusion) checkSums(e Evidence) {
	if c.Checksums != nil && !c.narrowed() {
		return // they diverge within the bracket
	}
	c.Checksums = nil
	switch c.Kind {
	case bisect.BlindChecksum:
		for _, t := range e.Bisect.Traces {
			if len(t.Traces) > 1 && t.First == nil {
				c.Checksums = &Checksums{State: SumsBlind, By: t.Traces[0].Kind(), To: tracedTick(t, t.LastCompared)}
				return
			}
		}
	case bisect.ChecksumOnly:
		c.Checksums = differingSums(e)
	default:
		if h := c.Inputs.Hashes; h != nil && c.Bracket != nil && e.Orders.State.First.Point > c.Bracket.Bad.Tick {
			c.Checksums = &Checksums{State: SumsLater, From: &h.At, Point: true, Hash: h.Kind}
		}
	}
}

// differingSums returns where checksums differ by the first traces of them that do, else by
// the hashes in order logs; nil if none do.
func differingSums(e Evidence) *Checksums {
	for _, t := range e.Bisect.Traces {
		if t.First == nil || t.Bracket == nil {
			continue
		}
		return tracedSums(SumsOnly, t)
	}
	if s := e.Bisect.Sums; s != nil {
		return &Checksums{State: SumsOnly, From: &Moment{Number: s.Bad}, Point: true, Groups: s.Groups}
	}
	return nil
}

// tracedSums returns where the checksums of traces differ.
func tracedSums(state SumsState, t *tracediff.Result) *Checksums {
	s := &Checksums{State: state, By: t.Traces[0].Kind(), From: tracedTick(t, t.Bracket.Bad), Groups: traceGroups(t)}
	if t.EqualFrom.Number > t.LastDiffering.Number {
		s.To, s.Again = tracedTick(t, t.LastDiffering), tracedTick(t, t.EqualFrom)
	}
	return s
}

// detected returns when the first peer noticed: the first tick that an engine's own claim
// names, or the state point of a peer's own report.
func detected(e Evidence) (first *uint64) {
	first = e.Detected
	if e.Orders != nil {
		for i := range e.Orders.Claims {
			if c := &e.Orders.Claims[i]; c.Kind == orderlog.ClaimDesync && c.NativeAfter != "" && (first == nil || c.After < *first) {
				first = &c.After
			}
		}
	}
	for _, t := range e.Bisect.Traces {
		for i := range t.Claims {
			if c := &t.Claims[i]; c.HasTick && (first == nil || c.Tick < *first) {
				first = &c.Tick
			}
		}
	}
	return first
}

// staleCache returns the claim of a game that derived data was stale, nil if there is none.
func staleCache(e Evidence) *orderlog.PeerClaim {
	if e.Orders == nil {
		return nil
	}
	for i := range e.Orders.Claims {
		if c := &e.Orders.Claims[i]; c.Kind == orderlog.ClaimCache {
			return c
		}
	}
	return nil
}
