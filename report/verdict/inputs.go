package verdict

import (
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/tracediff"
)

// maxInputs is how many differences of orders a conclusion lists.
const maxInputs = 20

// inputs describes what is known of the orders that the peers were given.
func (c *Conclusion) inputs(e Evidence) {
	in := &c.Inputs
	if c.OwnReplay = e.OwnReplay; c.OwnReplay != nil { // both logs have the orders of one
		in.State = InputsAlone
		return
	}
	in.Replayed = replaysPart(e)
	if o := e.Orders; o != nil {
		in.Logs, in.Window, in.Count, in.Line, in.Basis = len(o.Peers), o.Window, o.DifferenceCount, o.Line(), o.Basis
		in.Differences, in.Misplaced = o.Differences[:min(len(o.Differences), maxInputs)], o.MisplacedCount
		in.Unheard = unheard(e)
		for _, h := range o.State.Hashes {
			if h.First != nil {
				in.Hashes = &LoggedHash{h.Kind, MomentOf(document.PointOf(h.First.Native, h.First.Point))}
				break
			}
		}
	}
	switch o := e.Orders; {
	case in.Replayed:
		in.State, in.By = InputsOther, BorneByReplay
		in.place(o, parting(e))
	case o != nil && o.DifferenceCount > 0 && in.weigh(e):
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

// unheard returns the peers that diverged from others while nothing is known about their orders until then, so that it
// is not known whether they were given the same ones.
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

// replaysPart reports whether the replays of two peers' own orders differ from each other.
func replaysPart(e Evidence) bool {
	return e.Bisect.Replay != nil && e.Bisect.Replay.InputsDiffer != nil
}

// The latency between an order and its effect, where a state is
// known to be equal in between, is up to so many ticks, or seconds if these are more.
const (
	latencyTicks   = 64
	latencySeconds = 3
)

// apart is when something is first known to differ that is not an order: the last state point
// known to be equal, and the first that is not; nil where none is known.
type apart struct {
	good, bad *uint64
	by        BorneBy
}

// parting returns when the peers diverged, by states, else by any hashes, else by their games' own messages.
func parting(e Evidence) (a apart) {
	b := e.Bisect
	see := func(good, bad *uint64, by BorneBy) {
		if bad != nil && (a.bad == nil || *bad < *a.bad) {
			a.bad, a.by = bad, by
		}
		if good != nil && (a.good == nil || *good > *a.good) {
			a.good = good
		}
	}
	if k := b.Bracket; k != nil {
		var good *uint64
		if k.Good != nil {
			good = &k.Good.Tick
		}
		see(good, &k.Bad.Tick, BorneByState)
	}
	if s := b.Sums; s != nil {
		see(s.Good, &s.Bad, BorneByHash)
	}
	if o := e.Orders; o != nil && o.State.First != nil {
		see(o.State.Good, &o.State.First.Point, BorneByHash)
	}
	for _, t := range slices.Concat(e.Traces, b.Traces) {
		if t.First != nil && t.First.Tick.Epoch == 0 {
			after := t.First.Tick.Number + 1
			see(nil, &after, BorneByHash)
		}
	}
	if a.bad == nil && complains(e) {
		a.by = BorneByGame
	}
	if a.good != nil && a.bad != nil && *a.good >= *a.bad {
		a.good = nil // they contradict each other, which is said elsewhere
	}
	return a
}

// complains reports whether a game itself reported that the peers diverged.
func complains(e Evidence) bool {
	if e.Detected != nil {
		return true
	}
	for _, t := range e.Bisect.Traces {
		if slices.ContainsFunc(t.Claims, func(c tracediff.JudgedClaim) bool { return c.Standing != tracediff.Contradicted }) {
			return true
		}
	}
	return e.Orders != nil && slices.ContainsFunc(e.Orders.Claims, func(c orderlog.PeerClaim) bool { return c.Kind == orderlog.ClaimDesync })
}

// weigh decides what differences between logs come to. Logs that differ are not yet inputs that differ: a log may lack
// a line that its peer applied. It returns false if orders differ only after the peers diverged.
func (in *Inputs) weigh(e Evidence) bool {
	a := parting(e)
	if !in.place(e.Orders, a) {
		return false
	}
	d := in.Parting
	rep := e.Bisect.Replay
	switch {
	case a.by == BorneByNothing:
		in.State = InputsLogs
		if last := lastEqual(e); last > d.Tick {
			in.AgreedTo = &last
		}
	case rep != nil && !rep.Unsteady && rep.From <= d.Tick && allReplayed(rep):
		in.State = InputsHarmless
	case a.good != nil && *a.good > d.Tick && *a.good-d.Tick > latency(e):
		in.State = InputsEarlier
	default:
		in.State, in.By = InputsOther, a.by
	}
	return true
}

// allReplayed reports whether the replay of each peer's own orders reached the end.
func allReplayed(rep *bisect.Replay) bool {
	return !slices.ContainsFunc(rep.Peers, func(p bisect.ReplayedPeer) bool { return p.Borrowed != "" || p.Compared == 0 })
}

// latency returns up to how many ticks after an order its effect may begin.
func latency(e Evidence) uint64 {
	return max(latencyTicks, uint64(latencySeconds*max(0, min(e.Session.TickRate, 1e6))))
}

// lastEqual returns the last state point at which states, or hashes of them, were compared
// and agree, where none differ; 0 if there is none.
func lastEqual(e Evidence) (last uint64) {
	if p := e.Bisect.Equal; p != nil {
		last = *p
	}
	if p := e.Orders.State.Agreed; p != nil {
		last = max(last, *p)
	}
	for _, t := range slices.Concat(e.Traces, e.Bisect.Traces) {
		if len(t.Traces) > 1 && len(t.Uncompared) < len(t.Traces) {
			last = max(last, t.LastCompared.Number+1)
		}
	}
	return last
}

// place finds the order, or marker, that may have made the peers diverge: the first that differs since they are known
// to be equal, else the last before. It returns false if all differ later.
func (in *Inputs) place(o *orderlog.Comparison, a apart) bool {
	if o == nil {
		return false
	}
	for i := range o.Differences {
		d := &o.Differences[i]
		if d.Kind == orderlog.Failed {
			continue // the order is the same, its effect is not
		}
		if a.bad != nil && d.Tick >= *a.bad {
			break
		}
		in.Parting = d
		if a.good == nil || d.Tick >= *a.good {
			break
		}
	}
	d := in.Parting
	if d == nil {
		return false
	}
	if a.bad != nil {
		most := *a.bad - 1 - d.Tick
		least := uint64(0)
		if a.good != nil && *a.good > d.Tick {
			least = *a.good - d.Tick
		}
		in.Lag = &Lag{Least: least, Most: most}
	}
	return true
}
