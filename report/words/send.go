package words

import (
	"slices"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
)

// Send says what peers may send that would answer what is open, the most useful first: of each
// step the first thing that a player can have.
func Send(c *verdict.Conclusion) (list []document.Request) {
	ask := func(n verdict.Need, step string) {
		what := sent(theirs(n))
		if what == "" {
			return
		}
		from := senders(c, n)
		for i := range list {
			if r := &list[i]; r.What == what && slices.Equal(r.From, from) {
				r.For = append(r.For, step)
				return
			}
		}
		list = append(list, document.Request{What: what, From: from, For: []string{step}})
	}
	for _, n := range c.Lacking {
		ask(n, verdict.StepPreflight.String())
	}
	for _, a := range c.Open() {
		if !slices.Contains(toLearn, a.Step) && a.Step != verdict.StepBracket && a.Step != verdict.StepPeers {
			continue
		}
		if i := slices.IndexFunc(a.Needs, func(n verdict.Need) bool { return sent(n) != "" }); i >= 0 {
			ask(a.Needs[i], a.Step.String())
		}
	}
	return list
}

// sent names what one peer may send, "" if it is nothing that a peer has.
func sent(n verdict.Need) string {
	switch n.What {
	case verdict.OrderLogs, verdict.SimulatorOrders:
		return "the order log"
	case verdict.CommonOrderLogs:
		return "the order log of the same ticks"
	case verdict.WholeOrderLogs:
		return "the whole order log"
	case verdict.States:
		if n.At == nil {
			return "states (saves or dumps)"
		}
		return "the state " + at(*n.At)
	case verdict.CommonStates:
		return "states of the same moments as the others'"
	case verdict.StatesOrHashes:
		return "states, or a log with hashes of them"
	case verdict.EarlierState:
		return "a state from before the peers parted"
	case verdict.NearerStates:
		return "states from nearer to the split"
	case verdict.SameColumns:
		return "states that have the same columns"
	case verdict.TickHashes:
		return "an order log with a hash of every tick"
	case verdict.TickChecks:
		return "hashes or checkpoints of the same ticks as the others'"
	case verdict.Traces:
		return "a trace"
	case verdict.CoveringTraces:
		return "a trace whose checksums cover what differs"
	case verdict.SystemTraces:
		return "a trace with checkpoints inside ticks"
	case verdict.ArchetypeTraces:
		return "a trace that records each archetype"
	case verdict.ColumnTraces:
		return "a trace that records each column"
	case verdict.OtherPeer:
		return "the same files as the others"
	}
	return ""
}

// senders returns who should send something: the peers that it has to be of, those that lack such
// things, or else the two that were compared; nobody known if it is another peer.
func senders(c *verdict.Conclusion, n verdict.Need) []string {
	if n.What == verdict.OtherPeer {
		return nil
	}
	if len(n.Of) > 0 {
		return n.Of
	}
	var all, lacking []string
	for i := range c.Peers {
		p := &c.Peers[i]
		has := p.Snapshots > 0
		switch n.What {
		case verdict.OrderLogs, verdict.CommonOrderLogs, verdict.TickHashes, verdict.SimulatorOrders:
			has = p.OrderLog
		case verdict.Traces, verdict.CoveringTraces, verdict.SystemTraces, verdict.ArchetypeTraces, verdict.ColumnTraces, verdict.TickChecks:
			has = p.Trace
		}
		if all = append(all, p.Name); !has {
			lacking = append(lacking, p.Name)
		}
	}
	switch {
	case len(lacking) > 0:
		return lacking
	case c.Compared != nil:
		return c.Compared.Peers[:]
	case c.Bracket != nil && c.Bracket.A != "":
		return []string{c.Bracket.A, c.Bracket.B}
	}
	return all
}
