package orderlog

import (
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
)

// moment is the earliest tick or point of a finding that decides the verdict.
type moment struct {
	known      bool
	generation int
	tick       uint64
	text       string
}

func (m *moment) note(generation int, tick uint64, text func() string) {
	if !m.known || generation < m.generation || generation == m.generation && tick < m.tick {
		*m = moment{true, generation, tick, text()}
	}
}

func (m *moment) before(generation int, tick uint64) bool {
	return m.generation < generation || m.generation == generation && m.tick < tick
}

// verdict decides by which difference came first. An order that differs after the state did may be a consequence, for
// example an order from an AI.
func (c *comparer) verdict() {
	out, input, failed := c.out, c.shared.input, c.shared.failed
	state, basis := moment{}, ""
	if h := out.State.First; h != nil {
		state = moment{known: true, generation: h.generation, tick: h.Point}
		basis = fmt.Sprintf("%s differ from state point %s on", hashName(h.Kind, h.Coverage), namedTick(h.Point, h.Native))
	}
	// If an order of tick T fails on one side only, the states already differed before T.
	if failed.known && (!state.known || failed.before(state.generation, state.tick)) {
		state, basis = failed, failed.text
	}
	switch {
	case out.State.First != nil && out.State.First.Point == 0 && out.State.First.Coverage == Full:
		out.Verdict, out.Basis = InitialState, basis+", before any tick"
	case input.known && state.known && !input.before(state.generation, state.tick):
		out.Verdict = Simulation
		out.Basis = basis + "; orders differ later: " + input.text
	case input.known && state.known:
		out.Verdict, out.Basis = InputsDiffer, input.text+"; "+basis+later(input, state)
	case input.known && c.complaint(input) != nil:
		out.Verdict, out.Basis = InputsDiffer, input.text+"; "+c.complaint(input).says()
	case input.known && c.agreedAfter(input):
		out.Verdict = LogsDiffer
		out.Basis = fmt.Sprintf("%s; the recorded hashes agree up to state point %s", input.text, namedTick(*out.State.Agreed, c.native(*out.State.Agreed)))
	case input.known:
		out.Verdict, out.Basis = InputsDiffer, input.text
	case state.known:
		out.Verdict, out.Basis = Simulation, "orders are equal, "+basis
	case out.Window == nil:
		out.Verdict, out.Basis = NoOverlap, "no two logs cover a common tick"
	case c.stale != nil:
		// The game recomputed a cache and got a different result.
		out.Verdict, out.Basis = Simulation, "orders are equal, "+c.stale.says()
	default:
		w := out.Window
		out.Verdict = InputsEqual
		out.Basis = fmt.Sprintf("%d orders from %s to %s", w.Orders, namedTick(w.From, w.NativeFrom), namedTick(w.To, w.NativeTo))
		if out.ClaimCount > 0 {
			out.Basis += "; " + out.Claims[0].says() + ", which nothing here confirms"
		}
	}
}

// agreedAfter reports whether hashes agree at or after the point to which the tick of a difference leads.
func (c *comparer) agreedAfter(input moment) bool {
	s := &c.state
	return s.any && input.before(int(s.agreed.generation), s.agreed.point)
}

// complaint returns the first desync that a game itself reported, unless its tick is before the first order that
// differs. It returns nil if there is none.
func (c *comparer) complaint(input moment) *PeerClaim {
	for i := range c.out.Claims {
		if p := &c.out.Claims[i]; p.Kind == ClaimDesync && (p.NativeAfter == "" || p.After >= input.tick) {
			return p
		}
	}
	return nil
}

// later describes how long after an order the states are found to differ. It is empty if that is in the order's tick.
func later(input, state moment) string {
	if n := state.tick - input.tick; state.generation == input.generation && n > 1 {
		return fmt.Sprintf(", %d ticks after the order", n-1)
	}
	return ""
}

// says returns the claim in one line.
func (c *PeerClaim) says() string {
	return fmt.Sprintf("%s reports after %s: %s", prose.Name(c.Peer), namedTick(c.After, c.NativeAfter), prose.Quote(c.Text))
}

func hashName(kind HashKind, coverage Coverage) string {
	if coverage == Full {
		return string(kind) + " hashes"
	}
	return strings.Join([]string{string(kind), string(coverage)}, "/") + " hashes"
}
