package playbook

import (
	"slices"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report"
)

// ordersDiffer reports whether the order logs prove that the peers were given different
// orders before their states parted.
func ordersDiffer(e Evidence) bool {
	return e.Orders != nil && e.Orders.Verdict == orderlog.InputsDiffer
}

// maxInputs is how many differences of orders a conclusion lists.
const maxInputs = 20

// inputs says what is known of the orders that the peers were given.
func (c *Conclusion) inputs(e Evidence) {
	in := &c.Inputs
	if r := e.Bisect.Replay; r != nil && r.InputsDiffer != nil {
		in.Replayed = true
	}
	if o := e.Orders; o != nil {
		in.Logs, in.Window, in.Count, in.Line, in.Basis = len(o.Peers), o.Window, o.DifferenceCount, o.Line(), o.Basis
		in.Differences, in.Misplaced = o.Differences[:min(len(o.Differences), maxInputs)], o.MisplacedCount
		in.Unheard = unheard(e)
		for _, h := range o.State.Hashes {
			if h.First != nil {
				in.Hashes = &LoggedHash{h.Kind, MomentOf(report.PointOf(h.First.Native, h.First.Point))}
				break
			}
		}
	}
	switch o := e.Orders; {
	case in.Replayed || ordersDiffer(e):
		in.State = InputsOther
	case o == nil:
		in.State = InputsUnknown
	case o.Verdict == orderlog.NoOverlap:
		in.State = InputsApart
	case len(in.Unheard) > 0:
		in.State = InputsSameSoFar
	case o.DifferenceCount > 0:
		in.State = InputsSameUntil
	default:
		in.State = InputsSame
	}
}

// unheard returns the peers that parted from others and of whose orders until then nothing is
// known, so that nobody can say whether they were given the same ones.
func unheard(e Evidence) (peers []string) {
	if e.Bisect.Bracket == nil {
		return nil
	}
	reach := map[string]bool{}
	for _, p := range e.Orders.Peers {
		n := len(p.Stretches)
		reach[p.Name] = p.Err == nil || n > 0 && p.Stretches[n-1].To+1 >= e.Bisect.Bracket.Bad.Tick
	}
	for _, group := range e.Bisect.Groups {
		if !slices.ContainsFunc(group, func(name string) bool { return reach[name] }) {
			peers = append(peers, group...)
		}
	}
	return peers
}
