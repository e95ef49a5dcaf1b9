package explore

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// causes are the classes of mistakes that may have made it, and the experiments.
func (b *builder) causes() *Node {
	if len(b.Causes)+len(b.Experiments)+len(b.Excluded) == 0 {
		return nil
	}
	n := &Node{Title: "cause", Aside: "not known", State: document.RungOpen, Command: b.triage()}
	if len(b.Causes) > 0 {
		c := &b.Causes[0]
		n.Aside, n.State = c.Class, document.RungFound
		switch {
		case len(b.Causes) > 1:
			n.Aside = prose.Count(len(b.Causes), "class", "classes") + ", not told apart"
		case c.Standing == "looks-like":
			n.Aside += ", looks like it"
		}
	}
	for i := range b.Causes {
		c := &b.Causes[i]
		one := &Node{Title: c.Class, Aside: c.Title, Command: b.triage()}
		about := map[string]string{"shown": "experiments show it", "seen": "the evidence shows it", "not-excluded": "no experiment shows it, or excludes it", "looks-like": "it looks like it, nothing more"}[c.Standing]
		one.Parts = []Part{{Text: []string{c.Title}, Ink: Bold}, {Text: []string{about}}}
		if measured := c.Measured(); measured != "" {
			one.Parts = append(one.Parts, Part{Text: []string{measured}})
		}
		for _, p := range []Part{{Heading: "evidence", Text: items(c.Evidence)}, {Heading: "would confirm it", Text: some(c.Confirm)}, {Heading: "would refute it", Text: some(c.Refute)}} {
			if len(p.Text) > 0 {
				one.Parts = append(one.Parts, p)
			}
		}
		n.Parts = append(n.Parts, Part{Heading: c.Class, Text: []string{c.Title, about}})
		n.add(one)
	}
	n.add(b.experiments())
	if len(b.Excluded) > 0 {
		no := &Node{Title: "excluded", Aside: prose.Count(len(b.Excluded), "class", "classes"), Command: b.triage() + " --all"}
		rows := [][]string{}
		for _, class := range slices.Sorted(maps.Keys(b.Excluded)) {
			rows = append(rows, []string{class, b.Excluded[class]})
			no.add(&Node{Title: class, Aside: b.Excluded[class], State: document.RungEqual, Command: b.triage() + " --all", Parts: []Part{{Text: []string{b.Excluded[class]}}}})
		}
		no.Parts = []Part{{Table: &Table{Rows: rows}}}
		n.add(no)
	}
	if len(n.Parts) == 0 {
		n.Parts = []Part{{Text: []string{"Nothing shows a cause."}}}
	}
	return n
}

func some(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

func (b *builder) experiments() *Node {
	if len(b.Experiments) == 0 {
		return nil
	}
	n := &Node{Title: "experiments", Aside: strconv.Itoa(len(b.Experiments)), Command: b.triage()}
	for i := range b.Experiments {
		x := &b.Experiments[i]
		state := map[string]document.RungState{"agrees": document.RungEqual, "departs": document.RungFound, "elsewhere": document.RungTrouble}[x.Result]
		rows := facts{{"mode", x.Mode}, {"simulator", x.Sim}, {"orders of", x.Peer}, {"result", x.Result}}
		if x.Tick != nil {
			rows.add("tick", point(x.Tick))
		}
		rows.add("system", x.System)
		rows.add("archetypes", list(x.Labels))
		rows.add("shows", list(x.Shows))
		n.Parts = append(n.Parts, Part{Text: []string{"- " + x.Text}})
		n.add(&Node{Title: x.Mode, Aside: x.Result, State: cmp.Or(state, document.RungOpen), Tick: x.Tick, Command: b.triage(), Parts: []Part{{Text: []string{x.Text}}, {Table: &Table{Rows: rows}}}})
	}
	return n
}

// inputs are the orders: how they differ between the peers, and those around the tick.
func (b *builder) inputs() *Node {
	if len(b.Orders) == 0 && b.Inputs == nil {
		return nil
	}
	n := &Node{Title: "orders", Command: b.orders()}
	if in := b.Inputs; in != nil {
		n.Aside = "equal"
		if in.Count > 0 {
			n.Aside = prose.Count(in.Count, "difference", "differences")
		}
		n.Parts = append(n.Parts, Part{Text: []string{in.Line}})
		for i := range in.Differences {
			d := &in.Differences[i]
			rows := [][]string{{"tick", document.BothNames(d.Native, d.Tick)}, {"player", strconv.FormatUint(uint64(d.Player), 10)}, {"peer", d.Peer}, {"beside", d.Base}}
			for _, at := range d.At {
				rows = append(rows, []string{"in the log of " + at.Peer, fmt.Sprintf("tick %s, place %d", document.BothNames(at.Native, at.Tick), at.Index)})
			}
			if len(d.Payload) > 0 {
				payload := fmt.Sprintf("%x", []byte(d.Payload))
				if d.PayloadLen > len(d.Payload) {
					payload += fmt.Sprintf("… (%d bytes)", d.PayloadLen)
				}
				rows = append(rows, []string{"content", payload})
			}
			n.add(&Node{Title: string(d.Kind) + " " + d.Order, Aside: "tick " + document.BothNames(d.Native, d.Tick) + ", on " + d.Peer, State: document.RungFound, Command: b.orders(), Tick: &d.Tick, Native: d.Native,
				Parts: []Part{{Table: &Table{Rows: rows}}}})
		}
		if left := in.Count - len(in.Differences); left > 0 {
			n.add(more(left, "difference", "differences", b.orders()))
		}
	}
	for at := 0; at < len(b.Orders); {
		end := at
		for end < len(b.Orders) && b.Orders[end].Tick == b.Orders[at].Tick {
			end++
		}
		n.add(b.ordersOf(b.Orders[at:end]))
		at = end
	}
	return n
}

// ordersOf are the orders of one tick.
func (b *builder) ordersOf(orders []document.TriagedOrder) *Node {
	tick := &orders[0].Tick
	n := &Node{Title: "tick " + document.BothNames(orders[0].Native, *tick), Aside: prose.Count(len(orders), "order", "orders"), Tick: tick, Native: orders[0].Native, Command: b.orders()}
	table := &Table{Head: []string{"player", "order", "content", ""}}
	if d := b.FirstDivergence; d != nil && d.Tick != nil && *d.Tick == *tick {
		n.State = document.RungFound
		n.Aside += ", the divergent tick"
	}
	for i := range orders {
		o := &orders[i]
		note := o.Differs()
		if o.Names != "" {
			note = strings.TrimSpace(note + " names " + o.Names)
		}
		player := strconv.FormatUint(uint64(o.Player), 10)
		table.Rows = append(table.Rows, []string{player, o.Kind, o.Content(), note})
		one := &Node{Title: "player " + player + "  " + o.Kind, Aside: note, Tick: tick, Native: o.Native, Command: b.orders()}
		if o.Difference != "" {
			one.State, n.State = document.RungFound, document.RungFound
		}
		rows := facts{{"tick", document.BothNames(o.Native, o.Tick)}, {"time in it", strconv.FormatUint(uint64(o.SubTick), 10) + " µs"}, {"player", player}, {"sequence", strconv.FormatUint(uint64(o.Sequence), 10)},
			{"kind", o.Kind}, {"content", o.Content()}, {"bytes", o.Payload}, {"in the logs of", list(o.Peers)}}
		rows.add("note", note)
		if o.Local {
			rows = append(rows, []string{"local", "it need not be the same on all peers"})
		}
		one.Parts = []Part{{Table: &Table{Rows: rows}}}
		n.add(one)
	}
	n.Parts = []Part{{Table: table}}
	return n
}

// cascade is what differed when.
func (b *builder) cascade() *Node {
	if len(b.Cascade) == 0 {
		return nil
	}
	n := &Node{Title: "cascade", Aside: strconv.Itoa(len(b.Cascade)), Command: b.tracediff()}
	rows := [][]string{}
	for _, c := range document.Waves(b.Cascade) {
		name := c.Text(len(c.Parts))
		at := document.BothNames(c.Native, c.Tick)
		rows = append(rows, []string{at, name})
		n.add(&Node{Title: name, Aside: "at " + at, Tick: &c.Tick, Native: c.Native, Command: b.tracediff(),
			Parts: []Part{{Table: &Table{Rows: [][]string{{"first differs at", at}, {"differs", prose.Count(c.Count, "time", "times")}, {"last at", strconv.FormatUint(c.Last, 10)}}}}}})
	}
	n.Parts = []Part{{Text: []string{"what differed when"}, Ink: Faint}, {Table: &Table{Head: []string{"tick", "what"}, Rows: rows}}}
	return n
}
