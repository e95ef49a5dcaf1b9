package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// How much of a report its text shows unless all is asked for.
const (
	shownValues  = 12
	shownCascade = 8
	shownOrders  = 8
	shownNext    = 5
)

// ReportText writes a report for a person: what happened in the first lines, then how that
// is known, what differs, how it spread, and what to do; about a screen or two, or
// everything if all is set.
func ReportText(w io.Writer, r *Report, s Style, all bool) error {
	t := reportText{lines{w: w}, r, s, all}
	t.verdict()
	t.ladder()
	t.causes()
	t.values()
	t.cascade()
	t.orders()
	t.trouble()
	t.next()
	return t.err
}

type reportText struct {
	lines
	r   *Report
	s   Style
	all bool
}

// section begins a part of the text.
func (t *reportText) section(name string, about ...string) {
	t.put()
	t.put(t.s.bold.Sprint(name), "  ", t.s.faint.Sprint(strings.Join(about, "")))
}

// shown returns how many of n to show, and what to say of the rest.
func (t *reportText) shown(n, most int) int {
	if t.all || n <= most {
		return n
	}
	return most
}

func (t *reportText) more(n, shown int) {
	if n > shown {
		t.put("  ", t.s.faint.Sprintf("… and %d more  (--all)", n-shown))
	}
}

func (t *reportText) verdict() {
	word := t.s.verdict(t.r.Status)
	for i, line := range t.r.Verdict {
		switch i {
		case 0:
			t.put(word, "  ", t.s.bold.Sprint(Safe(line)))
		default:
			t.put("  ", Safe(line))
		}
	}
	if len(t.r.Verdict) == 0 {
		t.put(word)
	}
	for _, b := range t.r.Seen {
		how := "seen before: "
		if !b.Exact {
			how = "perhaps seen before (the same place): "
		}
		t.put("  ", t.s.warn.Sprint(how), Safe(b.Title), t.s.faint.Sprint("  "+Safe(b.File)))
	}
}

func (t *reportText) ladder() {
	if len(t.r.Ladder) == 0 {
		return
	}
	t.put()
	wide, found := 0, 0
	for _, g := range t.r.Ladder {
		wide = max(wide, columns(g.Step))
		found = max(found, min(columns(Safe(g.Found)), 34))
	}
	for _, g := range t.r.Ladder {
		mark, colour := "?", t.s.warn
		switch g.State {
		case RungFound:
			mark, colour = "●", t.s.bad
		case RungEqual:
			mark, colour = "=", t.s.good
		case RungTrouble:
			mark = "!"
		}
		text := Safe(g.Found)
		line := []string{"  ", colour.Sprint(mark), " ", pad(g.Step, columns(g.Step), wide), "  "}
		if g.State == RungFound {
			line = append(line, t.s.bold.Sprint(text))
		} else {
			line = append(line, text)
		}
		evidence := Safe(g.Evidence)
		if g.State == RungOpen && evidence != "" {
			evidence = "→ " + evidence
		}
		if pad := found - columns(text); pad > 0 && evidence != "" {
			line = append(line, strings.Repeat(" ", pad))
		}
		t.put(append(line, "  ", t.s.faint.Sprint(evidence))...)
	}
}

func (t *reportText) causes() {
	if len(t.r.Causes) == 0 {
		return
	}
	t.section("causes", "those of one number look the same in this evidence")
	last := 0
	for _, c := range t.r.Causes {
		if c.Group > 2 && !t.all {
			break
		}
		t.put("  ", strconv.Itoa(c.Group), "  ", t.s.name.Sprint(pad(c.Class, len(c.Class), 20)), fmt.Sprintf(" %2.0f %%  ", 100*c.Score), c.Title)
		if c.Group != last && len(c.Evidence) > 0 {
			t.put("       ", t.s.faint.Sprint(Safe(strings.Join(c.Evidence, "; "))))
		}
		last = c.Group
	}
}

func (t *reportText) values() {
	k := t.r.Compared
	if k == nil || len(t.r.Locus)+len(k.Rows) == 0 {
		return
	}
	t.section("values", fmt.Sprintf("%d differ at state point %d", k.Values, k.Point))
	a, b := k.Peers[0], k.Peers[1]
	rows := [][]string{{"archetype", "entity", "field", Safe(a), Safe(b), "bits"}}
	n := t.shown(len(t.r.Locus), shownValues)
	for i := range t.r.Locus[:n] {
		f := &t.r.Locus[i]
		name := LabelName(f.Archetype)
		if f.Cache {
			name = "cache " + Safe(f.Archetype)
		}
		field := Safe(f.Component + "." + f.Field)
		if f.Archetype == "" {
			field = "state"
		}
		rows = append(rows, []string{name, Safe(f.Key), field, shorten(Safe(f.Values[a]), 28), shorten(Safe(f.Values[b]), 28), bitsText(f)})
	}
	if n > 0 {
		t.table(rows)
	}
	t.more(int(k.Values), n)
	for i, only := range k.Rows {
		if i == 6 && !t.all {
			t.more(len(k.Rows), i)
			break
		}
		keys := only.Keys[:min(len(only.Keys), 6)]
		t.put("  ", LabelName(only.Archetype), ": only on ", t.s.name.Sprint(Safe(only.Peer)), " ", t.s.faint.Sprint(Safe(strings.Join(keys, ", "))), fmt.Sprintf("  (%d)", only.Count))
	}
}

// bitsText says how many bits of a value changed, and which if it is a small number.
func bitsText(f *LocusField) string {
	if f.ULP != nil {
		return fmt.Sprintf("%d ulp", *f.ULP)
	}
	if f.Bits == 0 {
		return string(f.Kind)
	}
	return plural(uint64(f.Bits), "bit", "bits")
}

// table writes rows of columns below a heading.
func (t *reportText) table(rows [][]string) {
	var wide []int
	for _, r := range rows {
		for i, cell := range r {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], columns(cell))
		}
	}
	for n, r := range rows {
		line := []string{"  "}
		for i, cell := range r {
			text := pad(cell, columns(cell), wide[i])
			switch {
			case n == 0:
				text = t.s.faint.Sprint(text)
			case i == 3:
				text = t.s.good.Sprint(text)
			case i == 4:
				text = t.s.bad.Sprint(text)
			}
			line = append(line, text, "  ")
		}
		t.put(line...)
	}
}

func (t *reportText) cascade() {
	if len(t.r.Cascade) < 2 {
		return
	}
	t.section("cascade", "what differed when")
	n := t.shown(len(t.r.Cascade), shownCascade)
	for _, c := range t.r.Cascade[:n] {
		name := c.Scope
		if c.Scope == "" {
			name = c.System
		} else if c.System != "" {
			name += " behind " + c.System
		}
		t.put("  ", pad(strconv.FormatUint(c.Tick, 10), len(strconv.FormatUint(c.Tick, 10)), 8), "  ", Safe(name))
	}
	t.more(len(t.r.Cascade), n)
}

func (t *reportText) orders() {
	if len(t.r.Orders) == 0 {
		return
	}
	at := uint64(0)
	if d := t.r.FirstDivergence; d != nil {
		at = d.Bracket.Bad
	}
	var list []TriagedOrder
	for _, o := range t.r.Orders { // of the divergent tick, those that differ, those that name what differs
		if t.all || o.Difference != "" || o.Names != "" || at > 0 && o.Tick+1 == at {
			list = append(list, o)
		}
	}
	if len(list) == 0 {
		return
	}
	t.section("orders", "of the divergent tick, and others that have to do with it")
	n := t.shown(len(list), shownOrders)
	for _, o := range list[:n] {
		note := ""
		if o.Names != "" {
			note = "names " + Safe(o.Names)
		}
		if o.Difference != "" {
			note = t.s.bad.Sprint(string(o.Difference)) + " " + note
		}
		t.put("  ", pad(strconv.FormatUint(o.Tick, 10), len(strconv.FormatUint(o.Tick, 10)), 8), "  player ", strconv.FormatUint(uint64(o.Player), 10), "  ",
			pad(Safe(o.Kind), columns(Safe(o.Kind)), 10), "  ", t.s.faint.Sprint(shorten(o.Payload, 32)), "  ", note, t.s.faint.Sprint("  on "+Safe(strings.Join(o.Peers, ", "))))
	}
	t.more(len(list), n)
}

func (t *reportText) trouble() {
	for _, part := range []struct {
		name  string
		texts []string
		color printer
	}{{"contradictions", t.r.Contradictions, t.s.bad}, {"lost or lacking", t.r.Missing, t.s.warn}, {"notes", t.r.Notes, nil}} {
		if len(part.texts) == 0 {
			continue
		}
		t.section(part.name)
		n := t.shown(len(part.texts), 4)
		for _, text := range part.texts[:n] {
			if part.color != nil {
				text = part.color.Sprint(Safe(text))
			} else {
				text = Safe(text)
			}
			t.put("  ", text)
		}
		t.more(len(part.texts), n)
	}
	for i, c := range t.r.Claims {
		if i == 0 {
			t.section("claims", "of the engine")
		}
		if i == 3 && !t.all {
			t.more(len(t.r.Claims), i)
			break
		}
		t.put("  ", Safe(c.Text), "  ", t.s.faint.Sprint(string(c.Standing)))
		for _, no := range c.Contradictions {
			t.put("    ", t.s.bad.Sprint(Safe(no)))
		}
	}
	for i, f := range t.r.Facts {
		if i == 0 {
			t.section("machines", "what differs between the peers")
		}
		for _, p := range t.r.Peers {
			if v, ok := f.Values[p.Name]; ok {
				t.put("  ", f.Name, "  ", t.s.name.Sprint(Safe(p.Name)), "  ", Safe(v))
			}
		}
	}
}

func (t *reportText) next() {
	if len(t.r.Next) > 0 {
		t.section("next")
		n := t.shown(len(t.r.Next), shownNext)
		for _, text := range t.r.Next[:n] {
			t.put("  ", Safe(text))
		}
		t.more(len(t.r.Next), n)
	}
	if t.r.Ask != "" {
		t.section("ask the players", "a text to paste")
		for line := range strings.Lines(strings.TrimRight(t.r.Ask, "\n")) {
			t.put("  ", Safe(strings.TrimRight(line, "\n")))
		}
	}
	if t.r.Fingerprint != "" {
		t.put()
		t.put(t.s.faint.Sprint("fingerprint ", t.r.Fingerprint, ", coarse ", t.r.Coarse))
	}
}
