package report

import (
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/tracediff"
)

// textWidth is how many columns the text of a report takes; values and names are not cut for
// it.
const textWidth = 120

// How much of a report its text shows unless all is asked for.
const (
	shownValues  = 12
	shownCascade = 8
	shownOrders  = 8
	shownNext    = 5

	shownLogLines = 5
	maxLogText    = 300
)

// Text writes a report for a person: what happened in the first lines, then how that
// is known, what differs, how it spread, and what to do; about a screen or two, or
// everything if all is set.
func (r *Report) Text(w io.Writer, s Style, all bool) error {
	t := reportText{lines{w: w}, r, s, all}
	t.verdict()
	t.gameLogs()
	t.ladder()
	t.splits()
	t.causes()
	t.details()
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
	if n > shown && !t.all {
		t.put("  ", t.s.faint.Sprintf("… and %d more  (--all)", n-shown))
	}
}

// wrap puts a text in lines of textWidth columns. The first follows what stands before it,
// which takes indent columns; the others stand below it.
func (t *reportText) wrap(before string, indent int, text string, color printer) {
	for i, line := range wrapped(Safe(text), textWidth-indent) {
		if i > 0 {
			before = strings.Repeat(" ", indent)
		}
		if color != nil {
			line = color.Sprint(line)
		}
		t.put(before, line)
	}
}

// wrapped cuts a text into lines of so many columns at spaces.
func wrapped(text string, width int) (out []string) {
	line := ""
	for _, word := range strings.Split(text, " ") {
		switch {
		case line == "":
			line = word
		case prose.Columns(line)+1+prose.Columns(word) > width:
			out = append(out, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(out, line)
}

func (t *reportText) verdict() {
	word := t.s.Verdict(t.r.Status)
	for i, line := range t.r.Verdict {
		if i == 0 {
			lines := wrapped(Safe(line), textWidth-2-len(t.r.Status))
			t.put(word, "  ", t.s.bold.Sprint(lines[0]))
			if len(lines) > 1 {
				t.wrap("  ", 2, strings.Join(lines[1:], " "), t.s.bold)
			}
			continue
		}
		t.wrap("  ", 2, line, nil)
	}
	if len(t.r.Verdict) == 0 {
		t.put(word)
	}
	for _, b := range t.r.Seen {
		t.put("  ", t.s.warn.Sprint(Safe(b.How()), ": "), Safe(b.Title), t.s.faint.Sprint("  "+Safe(b.File)))
	}
}

// gameLogs shows what only some of the games' own logs have.
func (t *reportText) gameLogs() {
	g := t.r.GameLogs
	if g == nil || len(g.Lines) == 0 {
		return
	}
	t.section(gameLogsTitle, gameLogsAbout)
	n := t.shown(len(g.Lines), shownLogLines)
	for i := range g.Lines[:n] {
		l := &g.Lines[i]
		colour := t.s.warn
		if l.Severity != "warning" {
			colour = t.s.bad
		}
		about := "  " + Safe(l.Where())
		if when := l.When(); when != "" {
			about += ", " + Safe(when)
		}
		t.put("  ", t.s.name.Sprint(Safe(l.Who())), t.s.faint.Sprint(about))
		t.wrap("    "+colour.Sprint(pad(Safe(l.Severity), prose.Columns(Safe(l.Severity)), 9))+"  ", 15, prose.Shorten(l.Text, maxLogText), nil)
	}
	t.more(g.Total, n)
}

func (t *reportText) ladder() {
	if len(t.r.Ladder) == 0 {
		return
	}
	t.put()
	wide, found := 0, 0
	for _, g := range t.r.Ladder {
		wide = max(wide, prose.Columns(g.Step))
		found = max(found, min(prose.Columns(Safe(g.Found)), 28))
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
		text, evidence := Safe(g.Found), g.Evidence
		if g.State == RungOpen && evidence != "" {
			evidence = "→ " + evidence
		}
		var color printer
		if g.State == RungFound {
			color = t.s.bold
		}
		before := "  " + colour.Sprint(mark) + " " + pad(g.Step, prose.Columns(g.Step), wide) + "  "
		indent := 4 + wide + 2
		if prose.Columns(text) > found || evidence == "" {
			t.wrap(before, indent, g.Found, color)
			before = strings.Repeat(" ", indent+found+2)
		} else {
			padding := strings.Repeat(" ", found-prose.Columns(text)+2)
			if color != nil {
				text = color.Sprint(text)
			}
			before += text + padding
		}
		if evidence != "" {
			t.wrap(before, indent+found+2, evidence, t.s.faint)
		}
	}
}

func (t *reportText) causes() {
	if len(t.r.Causes) > 0 {
		first := &t.r.Causes[0]
		about := map[string]string{"shown": "shown by experiments", "seen": "the evidence shows it"}[first.Standing]
		if about == "" {
			about = "looks like it, nothing more"
			if first.Of > 0 {
				about = fmt.Sprintf("looks like it: right in %d of %d measured sessions with such evidence", first.Right, first.Of)
			}
		}
		if len(t.r.Causes) > 1 {
			about += "; these are not told apart"
		}
		t.section("cause", about)
		for i := range t.r.Causes {
			t.cause(&t.r.Causes[i], i == 0)
		}
	}
	t.experiments()
	if t.all {
		for _, class := range slices.Sorted(maps.Keys(t.r.Excluded)) {
			t.wrap("  "+pad("not "+class, len(class)+4, 26)+" ", 29, t.r.Excluded[class], t.s.faint)
		}
	} else if n := len(t.r.Excluded); n > 0 {
		t.put("  ", t.s.faint.Sprintf("%s excluded  (--all)", prose.Count(uint64(n), "class is", "classes are")))
	}
}

func (t *reportText) cause(c *Cause, first bool) {
	t.put("  ", t.s.name.Sprint(pad(c.Class, len(c.Class), 20)), "  ", c.Title)
	if first && len(c.Evidence) > 0 {
		t.wrap("    ", 4, strings.Join(c.Evidence, "; "), t.s.faint)
	}
	if c.Standing == "shown" || c.Standing == "seen" {
		return
	}
	if c.Confirm != "" {
		t.wrap("    confirm: ", 13, c.Confirm, nil)
	}
	if c.Refute != "" {
		t.wrap("    refuted by: ", 16, c.Refute, t.s.faint)
	}
}

func (t *reportText) experiments() {
	if len(t.r.Experiments) == 0 {
		return
	}
	t.section("experiments", "replays of the orders, each to tell classes of causes apart")
	for i := range t.r.Experiments {
		x := &t.r.Experiments[i]
		mark, colour := "?", t.s.warn
		switch x.Result {
		case "agrees":
			mark, colour = "=", t.s.good
		case "departs":
			mark, colour = "✗", t.s.bad
		case "elsewhere":
			mark, colour = "~", t.s.warn
		}
		t.wrap("  "+colour.Sprint(mark)+" ", 4, x.Text, nil)
	}
}

// side returns the colour of a peer's values: only a replay shows whether they are right.
func (t *reportText) side(peer string, otherwise printer) printer {
	for _, p := range t.r.Peers {
		if p.Name == peer && p.MatchesReference != nil {
			if *p.MatchesReference {
				return t.s.good
			}
			return t.s.bad
		}
	}
	return otherwise
}

// details shows those of the first checkpoint that differs.
func (t *reportText) details() {
	if d := t.r.FirstDetails(); d != nil {
		t.section(d.Title(), d.About())
		detailText(func(parts ...string) { t.put(append([]string{"  "}, parts...)...) }, d, t.s, t.all)
	}
}

func (t *reportText) cascade() {
	if len(t.r.Cascade) < 2 {
		return
	}
	t.section("cascade", "what differed when")
	n := t.shown(len(t.r.Cascade), shownCascade)
	wide := 0
	for _, c := range t.r.Cascade[:n] {
		wide = max(wide, prose.Columns(Safe(BothNames(c.Native, c.Tick))))
	}
	for _, c := range t.r.Cascade[:n] {
		name := c.Scope
		if c.Scope == "" {
			name = c.System
		} else if c.System != "" {
			name += " after " + c.System
		}
		at := Safe(BothNames(c.Native, c.Tick))
		t.put("  ", pad(at, prose.Columns(at), wide), "  ", Safe(name))
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
	t.section("orders", "those that differ, that name what differs, or that are of the last tick before it shows")
	n := t.shown(len(list), shownOrders)
	for _, o := range list[:n] {
		at := Safe(BothNames(o.Native, o.Tick))
		note := ""
		if o.Names != "" {
			note = "names " + Safe(o.Names)
		}
		if o.Difference != "" {
			note = t.s.bad.Sprint(string(o.Difference)) + " " + note
		}
		t.put("  ", pad(at, prose.Columns(at), 8), "  player ", strconv.FormatUint(uint64(o.Player), 10), "  ",
			pad(Safe(o.Kind), prose.Columns(Safe(o.Kind)), 10), "  ", t.s.faint.Sprint(prose.Shorten(payloadText(o.Payload), 40)), "  ", note, t.s.faint.Sprint("  on "+Safe(strings.Join(o.Peers, ", "))))
	}
	t.more(len(list), n)
}

// payloadText shows a payload that is mostly text as such, others as the hex digits that they
// come in.
func payloadText(digits string) string {
	b, err := hex.DecodeString(digits)
	text := 0
	for _, c := range b {
		if ' ' <= c && c <= '~' {
			text++
		}
	}
	if err != nil || len(b) == 0 || 10*text < 9*len(b) {
		return Safe(digits)
	}
	return Safe(string(b))
}

func (t *reportText) splits() {
	list := t.r.Splits
	if len(list) < 2 {
		return
	}
	t.section("splits", "each stretch of state points at which the peers had parted")
	n := t.shown(len(list), maxSplits)
	for i := range list[:n] {
		t.wrap("  ", 2, SplitText(&list[i]), nil)
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
			t.wrap("  ", 2, text, part.color)
		}
		t.more(len(part.texts), n)
	}
	for i, c := range t.r.Claims {
		if len(t.r.Claims) == 1 && len(c.Contradictions)+len(c.Detail) == 0 && !t.all {
			break // a step of the narrowing says all of it
		}
		if i == 0 {
			t.section("claims", "of the engine")
		}
		if i == 3 && !t.all {
			t.more(len(t.r.Claims), i)
			break
		}
		t.wrap("  ", 2, c.Text, nil)
		t.put("    ", t.s.faint.Sprint(claimText(&c)))
		if c.Quoted {
			t.put("    ", t.s.faint.Sprint("quoted, perhaps by a person"))
		}
		for _, no := range c.Contradictions {
			t.wrap("    ", 4, no, t.s.bad)
		}
		for _, text := range c.Omits {
			t.wrap("    ", 4, text, nil)
		}
		if t.all || t.r.FirstDetails() == nil { // else the first checkpoint shows it
			claimDetail(c.Detail, t.all, func(text string) { t.put("      ", t.s.faint.Sprint(text)) })
		}
	}
	for i, f := range t.r.Facts {
		if i == 0 {
			t.section("machines", "what differs between the peers")
		}
		for _, name := range t.r.FactPeers(&f) {
			t.put("  ", Safe(f.Name), "  ", t.s.name.Sprint(Safe(name)), "  ", Safe(f.Values[name]))
		}
	}
}

// claimText says how a claim stands.
func claimText(c *ClaimDocument) string {
	at := "that tick"
	if c.Tick != nil {
		at = Safe(InTick(BothNames(c.Native, *c.Tick)))
	}
	switch c.Standing {
	case tracediff.Borne:
		return "borne out: by the evidence the peers part at " + at
	case tracediff.Late:
		return "late: the peers had parted before; " + at + " is an upper bound"
	case tracediff.Fits:
		return "fits: nothing else here is of " + at + ", which lies where the peers parted"
	case tracediff.Contradicted:
		return "contradicted: the peers agree at " + at
	}
	if c.Tick != nil {
		return "not checked: nothing else here is of " + at
	}
	return "names no tick; nothing bears it out or contradicts it"
}

func (t *reportText) next() {
	if len(t.r.Next) > 0 {
		t.section("next")
		n := t.shown(len(t.r.Next), shownNext)
		for _, text := range t.r.Next[:n] {
			t.wrap("  ", 2, text, nil)
		}
		t.more(len(t.r.Next), n)
	}
	if t.r.Ask != "" {
		t.section("ask the players", "a text to paste")
		for line := range strings.Lines(strings.TrimRight(t.r.Ask, "\n")) {
			t.wrap("  ", 2, strings.TrimRight(line, "\n"), nil)
		}
	}
	if len(t.r.Fingerprints) > 0 {
		t.put()
		text := "fingerprint " + t.r.Fingerprint
		if t.r.Fingerprint == "" {
			text = "no strict fingerprint: too little is known of what differs first"
		}
		for _, f := range t.r.Fingerprints {
			if t.all {
				text += fmt.Sprintf("; %s %s (%s)", f.Level, f.Digest, Safe(f.Name))
			}
		}
		if last := t.r.Fingerprints[len(t.r.Fingerprints)-1]; !t.all {
			text += fmt.Sprintf("; by its %s %s", last.Level, last.Digest)
		}
		t.wrap("", 0, text, t.s.faint)
	}
}
