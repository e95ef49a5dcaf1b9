package words

import (
	"slices"

	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/playbook"
)

// Send says what peers may send that would answer what is open, the most useful first: of each
// step the first thing that a player can have.
func Send(c *playbook.Conclusion) (list []report.Request) {
	ask := func(n playbook.Need, step string) {
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
		list = append(list, report.Request{What: what, From: from, For: []string{step}})
	}
	for _, n := range c.Lacking {
		ask(n, playbook.StepPreflight.String())
	}
	for _, a := range c.Open() {
		if !slices.Contains(toLearn, a.Step) && a.Step != playbook.StepBracket && a.Step != playbook.StepPeers {
			continue
		}
		if i := slices.IndexFunc(a.Needs, func(n playbook.Need) bool { return sent(n) != "" }); i >= 0 {
			ask(a.Needs[i], a.Step.String())
		}
	}
	return list
}

// sent names what one peer may send, "" if it is nothing that a peer has.
func sent(n playbook.Need) string {
	switch n.What {
	case playbook.OrderLogs, playbook.SimulatorOrders:
		return "the order log"
	case playbook.CommonOrderLogs:
		return "the order log of the same ticks"
	case playbook.WholeOrderLogs:
		return "the whole order log"
	case playbook.States:
		if n.At == nil {
			return "states (saves or dumps)"
		}
		return "the state " + at(*n.At)
	case playbook.CommonStates:
		return "states of the same moments as the others'"
	case playbook.StatesOrHashes:
		return "states, or a log with hashes of them"
	case playbook.EarlierState:
		return "a state from before the peers parted"
	case playbook.NearerStates:
		return "states from nearer to the split"
	case playbook.SameColumns:
		return "states that have the same columns"
	case playbook.TickHashes:
		return "an order log with a hash of every tick"
	case playbook.TickChecks:
		return "hashes or checkpoints of the same ticks as the others'"
	case playbook.Traces:
		return "a trace"
	case playbook.CoveringTraces:
		return "a trace whose checksums cover what differs"
	case playbook.SystemTraces:
		return "a trace with checkpoints inside ticks"
	case playbook.ArchetypeTraces:
		return "a trace that records each archetype"
	case playbook.ColumnTraces:
		return "a trace that records each column"
	case playbook.OtherPeer:
		return "the same files as the others"
	}
	return ""
}

// senders returns who should send something: the peers that it has to be of, those that lack such
// things, or else the two that were compared; nobody known if it is another peer.
func senders(c *playbook.Conclusion, n playbook.Need) []string {
	if n.What == playbook.OtherPeer {
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
		case playbook.OrderLogs, playbook.CommonOrderLogs, playbook.TickHashes, playbook.SimulatorOrders:
			has = p.OrderLog
		case playbook.Traces, playbook.CoveringTraces, playbook.SystemTraces, playbook.ArchetypeTraces, playbook.ColumnTraces, playbook.TickChecks:
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
