package playbook

import (
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/tracediff"
)

// recorded is what games recorded themselves of where the peers parted, within the bracket
// of the states: values of single systems, and checksums of whole ticks.
type recorded struct {
	checkpoint *report.CheckpointDocument
	values     []string // what each peer has there
	// sure says that everything before it was compared, too.
	sure bool

	checksums *tracediff.Result
	parting   *report.Parting
}

// recordedOf looks at all traces of engines.
func recordedOf(e Evidence, v *Verdict) (r recorded) {
	if v.Bracket == nil {
		return r
	}
	for _, t := range slices.Concat(e.Traces, e.Bisect.Traces) {
		switch first := t.First; {
		case first == nil || t.Bracket == nil || first.Tick.Epoch > 0 || !v.covers(t, t.Bracket.Bad.Number):
		case t.Dialect().Values || first.System != "" || first.Scope != "":
			if r.checkpoint == nil && t.Dialect().Engine != "" && first.Kind == tracediff.Changed {
				r.checkpoint, r.values = report.FirstCheckpoint(t)
				r.sure = t.Bracket.HasGood
			}
		case r.parting == nil || t.Bracket.Bad.Number < r.parting.Bad:
			r.checksums = t
			r.parting = &report.Parting{Bad: t.Bracket.Bad.Number, Native: t.NativeName(tracediff.Tick{Number: t.Bracket.Bad.Number}), By: t.Traces[0].Kind()}
			if t.Bracket.HasGood {
				r.parting.Good = &t.Bracket.Good.Number
			}
		}
	}
	return r
}

// covers reports whether the state that a trace tells of at a tick lies in the bracket.
func (v *Verdict) covers(t *tracediff.Result, tick uint64) bool {
	point := tick
	if !t.Dialect().AtPoint {
		point++
	}
	return point <= v.Bracket.Bad.Tick && (v.Bracket.Good == nil || point > v.Bracket.Good.Tick)
}

// traceGroups returns the names of the peers by what they have where traces first differ.
func traceGroups(t *tracediff.Result) (groups [][]string) {
	if len(t.Groups) == 0 {
		return nil
	}
	for _, group := range t.Groups[0].Groups {
		var names []string
		for _, i := range group {
			names = append(names, t.Traces[i].Name)
		}
		groups = append(groups, names)
	}
	return groups
}

// claims returns what engines wrote themselves into their order logs, beside the states.
func claims(e Evidence, v *Verdict) (list []report.ClaimDocument) {
	if e.Orders == nil {
		return nil
	}
	for i := range e.Orders.Claims {
		c := &e.Orders.Claims[i]
		doc := report.ClaimDocument{
			Text: c.Peer + ": " + c.Text, Files: []string{}, Line: c.Line, Native: c.NativeAfter, Peers: []string{}, Values: []report.ClaimedValueDoc{},
			Standing: tracediff.Unchecked, Contradictions: []string{},
		}
		if c.After > 0 || c.NativeAfter != "" {
			doc.Tick = &c.After
		}
		if b := v.Bracket; b != nil && doc.Tick != nil && c.Kind == orderlog.ClaimDesync {
			switch {
			case c.After >= b.Bad.Tick:
				doc.Standing = tracediff.Late
			case b.Good == nil || c.After >= b.Good.Tick:
				doc.Standing = tracediff.Borne
			default:
				doc.Standing = tracediff.Contradicted
				doc.Contradictions = append(doc.Contradictions, fmt.Sprintf("the states are equal %s, after that tick", b.Good.When()))
			}
		}
		list = append(list, doc)
	}
	return list
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

// hashesOfLogs says where the hashes that games wrote into their order logs differ, "" if
// they do not.
func hashesOfLogs(e Evidence) string {
	if e.Orders == nil {
		return ""
	}
	for _, h := range e.Orders.State.Hashes {
		if h.First != nil {
			return fmt.Sprintf("%s hashes in the order logs differ from %s on", h.Kind, report.PointName(report.PointOf(h.First.Native, h.First.Point)))
		}
	}
	return ""
}

// hashesCompared counts the pairs of hashes of order logs that were compared.
func hashesCompared(e Evidence) (n uint64) {
	if e.Orders == nil {
		return 0
	}
	for _, h := range e.Orders.State.Hashes {
		n += h.Equal + h.Differ
	}
	return n
}

// statesCompared reports whether any evidence of the states themselves was compared.
func statesCompared(e Evidence) bool {
	b := e.Bisect
	return b.Snapshots+b.Recorded > 0 || hashesCompared(e) > 0 ||
		slices.ContainsFunc(slices.Concat(b.Traces, e.Traces), func(t *tracediff.Result) bool { return len(t.Traces) > len(t.Uncompared)+1 })
}
