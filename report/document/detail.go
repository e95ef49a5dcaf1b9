package document

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/tracediff"
)

// DetailDocument is a line with details of a checkpoint or a claim.
type DetailDocument struct {
	Text  string `json:"text"`
	Aside string `json:"aside,omitempty"`
}

// words returns the whole line.
func (d DetailDocument) words() string {
	if d.Aside == "" {
		return d.Text
	}
	return d.Text + "  " + d.Aside
}

func detailDocuments(details []tracediff.Detail) []DetailDocument {
	return lists.Map(details, func(d tracediff.Detail) DetailDocument { return DetailDocument(d) })
}

// Details are the details of a checkpoint at which peers differ, side by side.
type Details struct {
	Kind tracediff.DetailKind
	Same []DetailDocument // that all peers have, up to the first in which they differ
	// Peers are the remaining lines of each peer, empty if all lines are the same.
	Peers []PeerDetails
}

// PeerDetails are one peer's lines from the first difference on.
type PeerDetails struct {
	Peer string
	Rest []DetailDocument
}

// FirstDetails returns the details of the first checkpoint that differs, nil if there are none.
func (r *Report) FirstDetails() *Details {
	f := r.FirstDivergence
	if f == nil || f.Checkpoint == nil {
		return nil
	}
	var order []string
	for i := range r.Peers {
		order = append(order, r.Peers[i].Name)
	}
	return f.Checkpoint.Details(order...)
}

// Details returns the details of the peers that have the checkpoint, nil if there are none. The named peers come first,
// in that order.
func (c *CheckpointDocument) Details(order ...string) *Details {
	for _, name := range slices.Sorted(maps.Keys(c.Values)) {
		if !slices.Contains(order, name) {
			order = append(slices.Clone(order), name)
		}
	}
	var sides [][]tracediff.Detail
	var names []string
	any := false
	for _, name := range order {
		v, ok := c.Values[name]
		if !ok {
			continue
		}
		list := lists.Map(v.Detail, func(d DetailDocument) tracediff.Detail { return tracediff.Detail(d) })
		any = any || len(list) > 0
		sides, names = append(sides, list), append(names, name)
	}
	if !any {
		return nil
	}
	d := &Details{Kind: c.DetailOf}
	at, parted := tracediff.FirstOther(sides)
	if !parted {
		d.Same = detailDocuments(sides[0])
		return d
	}
	d.Same = detailDocuments(sides[0][:at])
	for i, list := range sides {
		d.Peers = append(d.Peers, PeerDetails{names[i], detailDocuments(list[at:])})
	}
	return d
}

// Title names the kind of details.
func (d *Details) Title() string {
	switch d.Kind {
	case tracediff.Stack:
		return "stack"
	case tracediff.Path:
		return "where"
	}
	return "detail"
}

// About describes whether they differ, and from where on.
func (d *Details) About() string {
	switch {
	case d.Kind == tracediff.Path:
		return "what the peers have there"
	case len(d.Peers) == 0 && d.Kind == tracediff.Stack:
		return "the same on all peers, the innermost frame first"
	case len(d.Peers) == 0:
		return "the same on all peers"
	case d.Kind == tracediff.Stack && len(d.Same) == 0:
		return "of other things, the innermost frame first"
	case d.Kind == tracediff.Stack:
		return fmt.Sprintf("the innermost frame first; frame %d is the first that differs", len(d.Same))
	}
	return fmt.Sprintf("line %d is the first that differs", len(d.Same)+1)
}

// How many lines of details the text shows by default.
const (
	shownSame = 6 // before the first that differs
	shownRest = 6 // of each peer from there on
	shownOnly = 12
)

// detailRow is one line of details as text.
type detailRow struct {
	peer string // the peer that has it, empty if all have it
	text string // not escaped
	note bool   // it counts lines that are left out
}

// rows returns the lines to show.
func (d *Details) rows(all bool) (rows []detailRow) {
	add := func(peer string, n int, line DetailDocument) {
		rows = append(rows, detailRow{peer: peer, text: d.Line(n, line)})
	}
	left := func(peer string, n int) {
		rows = append(rows, detailRow{peer: peer, text: fmt.Sprintf("… and %d more  (--all)", n), note: true})
	}
	for i, line := range d.Same {
		switch cut := len(d.Same) - shownSame; {
		case all:
		case len(d.Peers) == 0 && i == shownOnly:
			left("", len(d.Same)-i)
			return rows
		case len(d.Peers) > 0 && i == 1 && cut > 1:
			left("", cut-1)
			continue
		case len(d.Peers) > 0 && i > 1 && i < cut:
			continue
		}
		add("", i, line)
	}
	for _, p := range d.Peers {
		for i, line := range p.Rest {
			if i == shownRest && !all {
				left(p.Peer, len(p.Rest)-i)
				break
			}
			add(p.Peer, len(d.Same)+i, line)
		}
		if len(p.Rest) == 0 {
			rows = append(rows, detailRow{peer: p.Peer, text: "nothing more", note: true})
		}
	}
	return rows
}

// Line returns a line with its number, or indented by its depth, not escaped.
func (d *Details) Line(n int, line DetailDocument) string {
	text := line.words()
	switch {
	case d.Kind == tracediff.Stack && n > 0: // the lines before the frames describe the stack
		return fmt.Sprintf("%2d  %s", n, text)
	case d.Kind == tracediff.Path:
		return strings.Repeat("  ", min(n, 16)) + text
	}
	return text
}

// detailWidth is how many columns of a detail are shown.
const detailWidth = 160

// detailText puts details, with a column for the peers.
func detailText(put func(parts ...string), d *Details, s Style, all bool) {
	wide := 0
	for _, p := range d.Peers {
		wide = max(wide, prose.Columns(prose.Name(p.Peer)))
	}
	before := ""
	for _, row := range d.rows(all) {
		text := prose.Shorten(Safe(row.text), detailWidth)
		if row.note {
			text = s.faint.Sprint(text)
		}
		if row.peer == "" {
			put(text)
			continue
		}
		name := prose.Name(row.peer)
		if row.peer == before {
			name = ""
		}
		before = row.peer
		put(s.name.Sprint(pad(name, prose.Columns(name), wide)), "  ", text)
	}
}
