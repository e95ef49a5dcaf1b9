package document

import (
	"io"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
)

// screenful is how many lines a text takes at most by default.
const screenful = 40

// part is a part of a text, line by line. A line may take several on a terminal.
type part struct {
	name   string
	lines  []string
	hidden int // how many terminal lines were left out at its end; its last line replaces them
}

// Write takes one line.
func (p *part) Write(b []byte) (int, error) {
	p.lines = append(p.lines, string(b))
	return len(b), nil
}

// height counts the lines of a terminal.
func (p *part) height() int { return height(p.lines) }

func height(lines []string) (n int) {
	for _, line := range lines {
		n += strings.Count(line, "\n")
	}
	return n
}

// stays is how much of a part of a report stays if not all parts fit: the number of lines, including the heading and
// the empty line before it; 0 if the part may go.
type stays struct {
	name  string
	least int
}

// others is the key for all parts with unknown names.
const others = ""

// importance are the parts of a report that may be cut, the most important first. The others are never cut.
var importance = []stays{
	{"next", 4}, {"code", 8}, {"values", 6}, {eachValue, 4}, {gameLogsTitle, 4}, {"orders", 4}, {"machines", 4}, {"cause", 4}, {"experiments", 4}, {"contradictions", 3}, {"lost or lacking", 3},
	{others, 0}, {"splits", 0}, {"claims", 0}, {"cascade", 0}, {"notes", 0}, {"ask the players", 0},
}

// fit leaves out lines of parts, the least important first, until all fit on most lines or nothing more may be left
// out. It returns the names of the parts that are gone. Rest returns the line that reports how many lines of a part are
// left out.
func fit(parts []*part, most int, rest func(lines int) string) (gone []string) {
	total := 0
	for _, p := range parts {
		total += p.height()
	}
	known := func(name string) bool {
		return name == fixed || slices.ContainsFunc(importance, func(s stays) bool { return s.name == name })
	}
	order := slices.Clone(importance[1:]) // if that is not enough, all but the first are left out
	for i := range order {
		order[i].least = 0
	}
	order = append(order, importance...)
	for _, s := range slices.Backward(order) {
		for _, p := range slices.Backward(parts) {
			if total <= most || p.name != s.name && (s.name != others || known(p.name)) || len(p.lines) == 0 {
				continue
			}
			before, kept := p.height(), p.lines
			if p.hidden > 0 {
				kept = kept[:len(kept)-1]
			}
			all := height(kept) + p.hidden
			for len(kept) > s.least && len(kept) > 2 && total-before+height(kept)+1 > most {
				kept = kept[:len(kept)-1]
			}
			switch {
			case s.least == 0 && (total-before+height(kept)+1 > most || len(kept) == 2):
				gone = append(gone, p.name)
				p.lines = nil
			case all-height(kept) > 1: // one line is not longer than the line that reports it
				p.hidden = all - height(kept)
				p.lines = append(slices.Clone(kept), rest(p.hidden))
			}
			total += p.height() - before
		}
	}
	slices.Reverse(gone)
	return gone
}

// fixed is the name of parts that are never cut.
const fixed = "-"

// begin begins a part of the text.
func (t *reportText) begin(name string) {
	p := &part{name: name}
	t.parts = append(t.parts, p)
	t.w = p
}

// render makes all parts of the text.
func (t *reportText) render() {
	t.parts = nil
	t.begin(fixed)
	t.verdict()
	t.gameLogs()
	t.ladder()
	t.splits()
	t.code()
	t.causes()
	t.machines()
	t.details()
	t.values()
	t.identity()
	t.cascade()
	t.orders()
	t.trouble()
	t.claims()
	t.next()
	t.ask()
	t.fingerprint()
}

// write writes the text. In a report that is longer than a screen the steps of the narrowing
// take a line each, then those that are open one for all, then parts are cut.
func (t *reportText) write(w io.Writer) error {
	t.render()
	var left []string
	if t.longer(screenful) {
		hint := 2 // lines that report omissions
		if t.width < 100 {
			hint = 3
		}
		t.brief = true
		t.render()
		if t.cut {
			left = append(left, "evidence of steps")
		}
		rest := func(n int) string {
			return "  " + t.s.faint.Sprintf("… and %s  (--all)", prose.Count(n, "more line", "more lines")) + "\n"
		}
		if t.longer(screenful - hint) {
			t.open = true
			t.render()
		}
		if t.longer(screenful - hint) {
			left = append(left, fit(t.parts, screenful-hint, rest)...)
		}
	}
	t.begin(fixed)
	if len(left) > 0 {
		t.put()
		t.put(t.s.faint.Sprint("left out: "+strings.Join(left, ", ")), "  (--all)")
	}
	for _, p := range t.parts {
		for _, line := range p.lines {
			if _, err := io.WriteString(w, line); err != nil {
				return err
			}
		}
	}
	return t.err
}

// longer reports whether the text is longer than allowed.
func (t *reportText) longer(most int) bool {
	total := 0
	for _, p := range t.parts {
		total += p.height()
	}
	return !t.all && total > most
}
