package verdict

import (
	"cmp"
	"maps"
	"slices"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/document"
)

// Kinds of evidence of a peer, with their names in document.Coverage.
const (
	CoversStates      = "states"
	CoversOrders      = "orders"
	CoversHashes      = "hashes"
	CoversCheckpoints = "checkpoints"
)

// Covered is what the evidence of one peer covers.
type Covered struct {
	Name string
	// Spans are the ticks, or of states the state points, that each kind of evidence covers, one for each kind.
	Spans []document.Coverage
	// Points are the state points of the peer's states, ascending.
	Points []uint64
	// FromStart is set if its orders begin at the start of the session, so that a simulator can replay them.
	FromStart bool
	// Systems is set if its checkpoints belong to systems inside ticks, not to whole ticks.
	Systems bool
}

func (c *Covered) span(what string) (document.Coverage, bool) {
	i := slices.IndexFunc(c.Spans, func(s document.Coverage) bool { return s.What == what })
	if i < 0 {
		return document.Coverage{}, false
	}
	return c.Spans[i], true
}

// Prospect is whether evidence, before any of it is compared, can answer a step.
type Prospect struct {
	Step Step
	// Can is set if it can. By is what it would be known from, "" for a replay by a simulator.
	Can bool
	By  string
	// Have are the peers that left such evidence, and Lack those that left none.
	Have, Lack []string
	// From and To are the ticks, or state points, that two peers have in common; Points
	// is how many state points. They are zero unless Can is set.
	From, To uint64
	Points   int
	// Needs would close the step that cannot be answered, or answer it better. Unmade would too, but players
	// of the engine cannot provide it.
	Needs, Unmade []Need
}

// Prospects judges the steps StepInputs, StepBracket, StepTick, StepSystem and StepField, in this order, by the
// evidence of the peers. The engine is the one that wrote all files, nil if there is no such one.
func Prospects(peers []Covered, e *engine.Engine) []Prospect {
	inputs := overlap(StepInputs, peers, CoversOrders)
	states := common(peers)
	hashes, checkpoints := overlap(StepTick, peers, CoversHashes), overlap(StepTick, peers, CoversCheckpoints)

	tick := hashes
	switch {
	case hashes.Can:
	case checkpoints.Can:
		tick = checkpoints
	case inputs.Can && slices.ContainsFunc(peers, func(c Covered) bool { return c.FromStart }):
		tick = Prospect{Step: StepTick, Can: true, Needs: needs(Simulator)}
	default:
		tick.Needs = needs(TickChecks)
	}

	system := checkpoints
	system.Step, system.Have = StepSystem, nil
	for _, p := range peers {
		if _, ok := p.span(CoversCheckpoints); ok && p.Systems {
			system.Have = append(system.Have, p.Name)
		}
	}
	switch {
	case checkpoints.Can && len(system.Have) > 1:
	case checkpoints.Can:
		system.Can, system.Needs = false, needs(SystemTraces)
	default:
		system.Needs = needs(Traces, SimulatorTrace)
	}

	field := states
	field.Step = StepField
	list := []Prospect{inputs, states, tick, system, field}
	for i := range list {
		p := &list[i]
		p.Needs, p.Unmade = offered(e, p.Step, p.Needs)
	}
	return list
}

// with returns the peers that have evidence of a kind, and those that lack it.
func with(peers []Covered, what string) (have []*Covered, lack []string) {
	for i := range peers {
		if _, ok := peers[i].span(what); ok {
			have = append(have, &peers[i])
		} else {
			lack = append(lack, peers[i].Name)
		}
	}
	return have, lack
}

func namesOf(peers []*Covered) []string {
	return lists.Map(peers, func(p *Covered) string { return p.Name })
}

// overlap judges a step for which two peers must have evidence of a kind of the same ticks.
func overlap(step Step, peers []Covered, what string) Prospect {
	have, lack := with(peers, what)
	p := Prospect{Step: step, By: what, Have: namesOf(have), Lack: lack}
	// What two have in common begins where the later one does, and is longest with the one of
	// those before it that ends last.
	spans := make([]document.Coverage, len(have))
	for i, a := range have {
		spans[i], _ = a.span(what)
	}
	lists.SortStable(spans, func(a, b document.Coverage) int { return cmp.Compare(a.First, b.First) })
	for i, last := 1, uint64(0); i < len(spans); i++ {
		last = max(last, spans[i-1].Last)
		if from, to := spans[i].First, min(spans[i].Last, last); from <= to && (!p.Can || to-from > p.To-p.From) {
			p.Can, p.From, p.To = true, from, to
		}
	}
	if p.Can {
		return p
	}
	closes := map[string]Artifact{CoversOrders: OrderLogs, CoversHashes: TickHashes, CoversCheckpoints: Traces}[what]
	if len(have) > 1 && what == CoversOrders {
		closes = CommonOrderLogs
	}
	p.Needs = needs(closes)
	return p
}

// common judges whether two peers have states of the same state points.
func common(peers []Covered) Prospect {
	have, lack := with(peers, CoversStates)
	p := Prospect{Step: StepBracket, By: CoversStates, Have: namesOf(have), Lack: lack}
	counts := map[uint64]int{}
	for i := range peers {
		for _, point := range slices.Compact(slices.Clone(peers[i].Points)) {
			counts[point]++
		}
	}
	for _, point := range slices.SortedFunc(maps.Keys(counts), cmp.Compare) {
		if counts[point] < 2 {
			continue
		}
		if p.Points == 0 {
			p.From = point
		}
		p.Can, p.To, p.Points = true, point, p.Points+1
	}
	if !p.Can {
		p.Needs = needs(CommonStates)
	}
	return p
}
