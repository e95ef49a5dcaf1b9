package explore

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/tracediff"
)

// claims are what the engines wrote themselves.
func (b *builder) claims() *Node {
	if len(b.Claims) == 0 {
		return nil
	}
	n := &Node{Title: "claims", Aside: strconv.Itoa(len(b.Claims)) + " of the engine", Command: b.tracediff()}
	for i := range b.Claims {
		c := &b.Claims[i]
		n.Parts = append(n.Parts, Part{Text: []string{c.Text}}, Part{Text: []string{c.StandingText()}, Ink: Faint})
		one := &Node{Title: c.Text, Aside: string(c.Standing), Tick: c.Tick, Native: c.Native, Command: b.tracediff(), Text: c.Text}
		if c.Standing == tracediff.Contradicted || len(c.Contradictions) > 0 {
			one.State = document.RungTrouble
		}
		one.Parts = []Part{{Text: []string{c.Text}, Ink: Bold}, {Text: []string{c.StandingText()}}}
		from := list(c.Files)
		if from != "" && c.Line > 0 {
			from += fmt.Sprintf(", line %d", c.Line)
		}
		rows := facts{}
		rows.add("from", from)
		rows.add("written by", c.By)
		rows.add("accuses", list(c.Peers))
		for _, v := range c.Values {
			rows = append(rows, []string{"checksum", strings.TrimSpace(v.Value + " " + v.Peer)})
		}
		if c.Quoted {
			rows.add("note", "quoted, perhaps by a person")
		}
		one.Parts = append(one.Parts, Part{Table: &Table{Rows: rows}})
		if len(c.Contradictions) > 0 {
			one.Parts = append(one.Parts, Part{Heading: "contradicts", Text: c.Contradictions, Ink: Bad})
		}
		if len(c.Omits) > 0 {
			one.Parts = append(one.Parts, Part{Heading: "leaves out", Text: c.Omits})
		}
		detail := lists.Map(c.Detail, func(d document.DetailDocument) string { return strings.TrimSpace(d.Text + "  " + d.Aside) })
		if len(detail) > 0 {
			one.Parts = append(one.Parts, Part{Heading: "detail", Text: detail})
		}
		n.add(one)
	}
	return n
}

// evidence is what is wrong with it, lacks, or is to be known of it.
func (b *builder) evidence() *Node {
	n := &Node{Title: "evidence", Command: b.doctor()}
	var about []string
	for _, part := range []struct {
		title, one, many string
		texts            []string
		state            document.RungState
		ink              Ink
	}{
		{"contradictions", "contradiction", "contradictions", b.Contradictions, document.RungTrouble, Bad},
		{"lost or lacking", "lost or lacking", "lost or lacking", b.Missing, document.RungOpen, Warn},
		{"warnings", "warning", "warnings", b.Warnings, document.RungTrouble, Warn},
		{"notes", "note", "notes", b.Notes, "", Plain},
	} {
		if len(part.texts) == 0 {
			continue
		}
		about = append(about, prose.Count(len(part.texts), part.one, part.many))
		group := &Node{Title: part.title, Aside: strconv.Itoa(len(part.texts)), State: part.state, Command: b.doctor(), Parts: []Part{{Text: items(part.texts), Ink: part.ink}}}
		for _, text := range part.texts {
			group.add(&Node{Title: text, Command: b.doctor(), Text: text, Parts: []Part{{Text: []string{text}, Ink: part.ink}}})
		}
		n.Parts = append(n.Parts, Part{Heading: part.title, Text: items(part.texts), Ink: part.ink})
		n.add(group)
	}
	if len(n.Children) == 0 {
		return nil
	}
	n.Aside = list(about)
	return n
}

// next is what to do.
func (b *builder) next() *Node {
	n := &Node{Title: "next", Command: b.triage()}
	for _, text := range b.Next {
		n.add(&Node{Title: text, Command: b.triage(), Text: text, Parts: []Part{{Text: []string{text}}}})
	}
	n.Parts = append(n.Parts, Part{Text: items(b.Next)})
	if b.Ask != "" {
		lines := strings.Split(strings.TrimRight(b.Ask, "\n"), "\n")
		n.add(&Node{Title: "ask the players", Aside: "a text to paste", Command: b.doctor(), Text: strings.Join(lines, "\n"), Parts: []Part{{Text: lines}}})
	}
	if len(b.Send) > 0 {
		n.add(b.send())
	}
	if len(n.Children) == 0 {
		return nil
	}
	n.Aside = strconv.Itoa(len(n.Children))
	return n
}

// send is what peers may send.
func (b *builder) send() *Node {
	n := &Node{Title: "what would help", Aside: strconv.Itoa(len(b.Send)), Command: b.doctor()}
	for _, s := range b.Send {
		from := "a peer that nothing is known of"
		if len(s.From) > 0 {
			from = list(s.From)
		}
		rows := [][]string{{"from", from}, {"may answer", list(s.For)}}
		n.Parts = append(n.Parts, Part{Heading: s.What, Table: &Table{Rows: rows}})
		n.add(&Node{Title: s.What, Aside: "from " + from, Command: b.doctor(), Text: s.What, Parts: []Part{{Text: []string{s.What}}, {Table: &Table{Rows: rows}}}})
	}
	return n
}
