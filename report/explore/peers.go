package explore

import (
	"fmt"
	"strconv"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

func (b *builder) peers() *Node {
	if len(b.Peers) == 0 {
		return nil
	}
	n := &Node{Title: "peers", Aside: strconv.Itoa(len(b.Peers)), Command: b.doctor()}
	rows := [][]string{}
	for i := range b.Peers {
		p := &b.Peers[i]
		rows = append(rows, []string{p.Name, b.standing(p)})
		n.add(b.peer(p))
	}
	n.Parts = []Part{{Table: &Table{Head: []string{"peer", "stands"}, Rows: rows}}}
	if d := b.FirstDivergence; d != nil && d.Majority > 0 {
		n.Parts = append(n.Parts, Part{Text: []string{fmt.Sprintf("Group %d is the largest. That does not make it right.", d.Majority)}})
	}
	n.add(b.machines())
	return n
}

// standing describes whether a peer is wrong, if that is known, and which peers it agrees with; if no peers diverged,
// the files that it left.
func (b *builder) standing(p *document.TriagedPeer) string {
	text := "its state where they diverged is not known"
	if p.Group > 0 {
		text = "group " + strconv.Itoa(p.Group)
	}
	switch {
	case p.Mentioned:
		return "left nothing; only messages of others name it"
	case b.FirstDivergence == nil:
		return left(p)
	case p.MatchesReference == nil:
	case *p.MatchesReference:
		text = "agrees with the replay, " + text
	default:
		text = "departs from the replay, " + text
	}
	return text
}

// left describes the files that a peer left.
func left(p *document.TriagedPeer) string {
	var parts []string
	for _, one := range []struct {
		has  bool
		text string
	}{{p.Snapshots > 0, prose.Count(p.Snapshots, "state", "states")}, {p.OrderLog, "order log"}, {p.Trace, "trace"}, {p.ClaimLog, "game's log"}} {
		if one.has {
			parts = append(parts, one.text)
		}
	}
	return list(parts)
}

func (b *builder) peer(p *document.TriagedPeer) *Node {
	n := &Node{Title: p.Name, Aside: b.standing(p), Command: b.doctor()}
	rows := [][]string{{"stands", b.standing(p)}, {"states", strconv.Itoa(p.Snapshots)}, {"order log", yes(p.OrderLog)}, {"trace", yes(p.Trace)}}
	if p.ClaimLog {
		rows = append(rows, []string{"game's log", "with messages"})
	}
	var marks [][]string
	if t := b.Timeline; t != nil {
		for i := range t.Peers {
			l := &t.Peers[i]
			if l.Name != p.Name {
				continue
			}
			if len(l.Snapshots) > 0 {
				rows = append(rows, []string{"states at", numbers(l.Snapshots, l.Thinned)})
			}
			for _, s := range []struct {
				name string
				span *document.TimelineSpan
			}{{"hashes", l.Hashes}, {"traced", l.Trace}} {
				if s.span != nil {
					rows = append(rows, []string{s.name, fmt.Sprintf("%d in %d to %d", s.span.Count, s.span.First, s.span.Last)})
				}
			}
			for k := range l.Marks {
				m := &l.Marks[k]
				marks = append(marks, []string{strconv.FormatUint(m.Tick, 10), m.Kind, m.Text})
				n.add(&Node{Title: m.Kind, Aside: "at " + strconv.FormatUint(m.Tick, 10), Tick: &m.Tick, Command: b.orders(),
					Parts: []Part{{Table: &Table{Rows: [][]string{{"peer", p.Name}, {"tick", strconv.FormatUint(m.Tick, 10)}, {"what", m.Kind}, {"more", m.Text}}}}}})
			}
		}
	}
	n.Parts = []Part{{Table: &Table{Rows: rows}}}
	if len(marks) > 0 {
		n.Parts = append(n.Parts, Part{Heading: "events", Table: &Table{Head: []string{"tick", "what", ""}, Rows: marks}})
	}
	return n
}

// machines are facts of the game and the machines that differ.
func (b *builder) machines() *Node {
	if len(b.Facts) == 0 {
		return nil
	}
	n := &Node{Title: "machines", Aside: prose.Count(len(b.Facts), "fact differs", "facts differ"), Command: b.doctor()}
	for i := range b.Facts {
		f := &b.Facts[i]
		rows := [][]string{}
		for _, name := range b.FactPeers(f) {
			rows = append(rows, []string{name, f.Values[name]})
		}
		part := Part{Heading: f.Name, Table: &Table{Rows: rows, Inks: []Ink{Name}}}
		n.Parts = append(n.Parts, part)
		one := &Node{Title: f.Name, Command: b.doctor(), Parts: []Part{part}}
		if f.Must {
			one.Aside = "must be the same"
			one.Parts = append(one.Parts, Part{Text: []string{"It has to be the same on all peers."}, Ink: Warn})
		}
		n.add(one)
	}
	return n
}

func yes(has bool) string {
	if has {
		return "yes"
	}
	return "no"
}
