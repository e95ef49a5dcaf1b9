package words

import (
	"slices"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
)

// Send lists what peers may send to answer the open steps, the most useful first: for each step the first thing that a
// player can have.
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
		ask(n, string(verdict.StepPreflight))
	}
	for _, a := range c.Open() {
		if !slices.Contains(toLearn, a.Step) && a.Step != verdict.StepBracket && a.Step != verdict.StepPeers {
			continue
		}
		if i := slices.IndexFunc(a.Needs, func(n verdict.Need) bool { return sent(n) != "" }); i >= 0 {
			ask(a.Needs[i], string(a.Step))
		}
	}
	return list
}

// senders returns the peers that should send something: the peers that it must come from, the peers that lack it, or
// else the two that were compared; it is empty if it is another, unknown peer.
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
		has := map[evidence]bool{aState: p.Snapshots > 0, aLog: p.OrderLog, aTrace: p.Trace}[artifacts[n.What].is]
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
