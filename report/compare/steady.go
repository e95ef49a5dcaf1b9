package compare

import (
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/lists"
)

// steady finds out whether two replays of the same orders are the same: the replays of two peers' logs if their orders
// are equal, else a second replay of the first log.
func (p *player) steady(sameOrders bool) (of []*recording, differ *bisect.Bracket) {
	played := lists.Where(p.list, func(r *recording) bool { return r.replay != nil && r.in == nil })
	if len(played) == 0 {
		return nil, nil
	}
	first := shown{played[0].name, played[0].replay.Folder}
	var second shown
	var again [2]*asked
	if sameOrders && len(played) > 1 && played[0].replay.Key != played[1].replay.Key {
		second, of = shown{played[1].name, played[1].replay.Folder}, played[:2]
		again = [2]*asked{{of: played[0], by: p.w.Witness, ask: played[0].replay.Ask}, {of: played[1], by: p.w.Witness, ask: played[1].replay.Ask}}
	} else {
		a := &asked{of: played[0], by: p.w.Witness, ask: played[0].replay.Ask}
		a.ask.Run = 1
		if p.play([]*asked{a}); a.err != nil {
			p.fail(a.err)
			return nil, nil
		}
		second, of = shown{"second " + played[0].name, a.replay.Folder}, played[:1]
		again = [2]*asked{{of: played[0], by: p.w.Witness, ask: played[0].replay.Ask}, {of: played[0], by: p.w.Witness, ask: a.ask}}
	}
	r := p.against(first, second)
	if r == nil {
		return nil, nil
	}
	if r.Bracket == nil {
		return of, nil
	}
	return of, p.closer(again, [2]string{first.name, second.name}, r.Bracket)
}

// against compares two replays with each other, nil if nothing of them can be compared.
func (p *player) against(a, b shown) *bisect.Result {
	_, r, err := p.compare(nil, a, b)
	if err != nil || r.Bracket == nil && r.Recorded+r.Pairs+compared(r) == 0 {
		return nil
	}
	return r
}

// closer narrows the bracket in which two replays diverge: states of points inside it are dumped, until it is one tick
// wide, or the game cannot go further.
func (p *player) closer(list [2]*asked, names [2]string, b *bisect.Bracket) *bisect.Bracket {
	for range maxRounds {
		if !p.w.Game.Dumps || b.Good == nil || b.Bad.Tick-b.Good.Tick <= 1 {
			return b
		}
		points := spread(b.Good.Tick, b.Bad.Tick, dumpsRound)
		until := b.Bad.Tick
		var now []*asked
		for _, a := range list {
			ask := a.ask
			ask.Dump, ask.Until = points, &until
			now = append(now, &asked{of: a.of, by: a.by, ask: ask})
		}
		if p.play(now); now[0].err != nil || now[1].err != nil {
			return b
		}
		r := p.against(shown{names[0], now[0].replay.Folder}, shown{names[1], now[1].replay.Folder})
		if r == nil || r.Bracket == nil { // they do not diverge every time, or not in the dumped states
			return b
		}
		if nearer := meet(b, r.Bracket); nearer == nil || nearer.Same(b) {
			return b
		} else {
			b = nearer
		}
	}
	return b
}

// spread returns at most n numbers from one to another, both included, evenly.
func spread(from, to uint64, n int) (list []uint64) {
	if to-from < uint64(n) {
		for at := from; at <= to; at++ {
			list = append(list, at)
		}
		return list
	}
	for i := range n {
		list = append(list, from+(to-from)*uint64(i)/uint64(n-1))
	}
	return list
}

// meet returns the stretch that two brackets have in common, nil if there is none.
func meet(a, b *bisect.Bracket) *bisect.Bracket {
	out := *a
	if b.Good != nil && (out.Good == nil || b.Good.Compare(*out.Good) > 0) {
		out.Good, out.GoodFiles = b.Good, nil // b's are a replay's
	}
	if b.Bad.Compare(out.Bad) < 0 {
		out.Bad, out.BadFiles, out.By = b.Bad, nil, b.By
	}
	if out.Good != nil && out.Good.Compare(out.Bad) >= 0 {
		return nil
	}
	return &out
}
