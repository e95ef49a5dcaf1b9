package document

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/tracediff"
)

// textWidth is how many columns the text of a report takes if it does not go to a terminal.
const textWidth = 120

// How much of a report its text shows by default.
const (
	shownValues  = 12
	shownCascade = 8
	shownOrders  = 8
	shownNext    = 5
	shownTables  = 5

	shownLogLines = 5
)

// Text writes a report for a person: first what happened, then the evidence, the differences, how they spread, and the
// next steps; about a screen or two, or everything if all is set.
func (r *Report) Text(w io.Writer, s Style, all bool) error {
	s.width = cmp.Or(s.width, textWidth)
	t := reportText{lines: lines{width: s.width}, r: r, s: s, all: all, keep: keeper(r.names())}
	return t.write(w)
}

type reportText struct {
	lines
	r    *Report
	s    Style
	all  bool
	keep func(string) string // keeps names whole

	parts []*part
	brief bool // a step of the narrowing takes a line
	open  bool // those that found nothing share a line
	cut   bool // some of the evidence of steps is left out
}

// names returns the names in a report that sentences may contain.
func (r *Report) names() (names []string) {
	for i := range r.Peers {
		names = append(names, r.Peers[i].Name)
	}
	for i := range r.Locus {
		names = append(names, r.Locus[i].Archetype)
	}
	g := r.Gather()
	for i := range g.Entities {
		names = append(names, g.Entities[i].Title())
	}
	return names
}

// section begins a part of the text.
func (t *reportText) section(name string, about ...string) {
	t.begin(name)
	t.put()
	t.put(t.s.bold.Sprint(name), "  ", t.s.faint.Sprint(strings.Join(about, "")))
}

// shown returns how many of n to show, and the text about the rest.
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

// wrap writes a text, cut into lines. The first line follows before, which takes indent columns; the others are below
// it.
func (t *reportText) wrap(before string, indent int, text string, color printer) {
	text = t.keep(Safe(text))
	if color != nil {
		text = color.Sprint(text)
	}
	t.hang(indent, before, text)
}

func (t *reportText) verdict() {
	word := t.s.Verdict(t.r.Status)
	for i, line := range t.r.Verdict {
		if i == 0 {
			t.wrap(word+"  ", 2, line, t.s.bold)
			continue
		}
		t.wrap("  ", 2, line, nil)
	}
	if len(t.r.Verdict) == 0 {
		t.put(word)
	}
	for _, b := range t.r.Seen {
		t.put("  ", t.s.warn.Sprint(Safe(b.How()), ": "), Safe(b.Title), t.s.faint.Sprint("  "+prose.Path(b.File)))
	}
}

// gameLogs shows what only some of the games' own logs have.
func (t *reportText) gameLogs() {
	g := t.r.GameLogs
	if g == nil || len(g.Lines) == 0 {
		return
	}
	t.section(gameLogsTitle, "warnings and errors "+g.About())
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
		t.wrap("    "+colour.Sprint(pad(Safe(l.Severity), prose.Columns(Safe(l.Severity)), 9))+"  ", 15, prose.Quote(l.Text), nil)
	}
	t.more(g.Total, n)
}

func (t *reportText) ladder() {
	if len(t.r.Ladder) == 0 {
		return
	}
	t.begin(fixed)
	t.put()
	wide, found := 0, 0
	for _, g := range t.r.Ladder {
		wide = max(wide, prose.Columns(Safe(g.Step)))
		found = max(found, min(prose.Columns(Safe(g.Found)), maxFound(t.width)))
	}
	var unanswered, needs []string
	for _, g := range t.r.Ladder {
		mark, colour := "?", t.s.warn
		if g.State == RungOpen {
			if same := slices.Contains(needs, g.Evidence) && !t.all; t.open || same {
				unanswered = append(unanswered, Safe(g.Step))
				t.cut = t.cut || t.open
				continue
			}
			needs = append(needs, g.Evidence)
		}
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
		before := "  " + colour.Sprint(mark) + " " + pad(Safe(g.Step), prose.Columns(Safe(g.Step)), wide) + "  "
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
			t.evidence(before, indent+found+2, evidence)
		}
	}
	if len(unanswered) > 0 {
		t.put("  ", t.s.warn.Sprint("?"), " open: ", strings.Join(unanswered, ", "))
	}
}

// maxFound is how many columns a step's finding may take in a text of this width, so that the evidence fits next to it.
func maxFound(width int) int { return min(28, 3*width/10) }

// evidence writes a step's evidence after the text before it, or as much as fits on the line.
func (t *reportText) evidence(before string, indent int, text string) {
	text = t.keep(Safe(text))
	first, rest, _ := strings.Cut(fold(strings.Repeat(joint, indent)+text, t.width-2, indent), "\n")
	alone := strings.TrimSpace(before) == "" // the finding takes the line before
	if !t.brief || rest == "" && !alone {
		t.hang(indent, before, t.s.faint.Sprint(text))
		return
	}
	if t.cut = true; alone {
		return
	}
	if i := strings.LastIndex(first, "; "); i >= 0 {
		first = first[:i+1]
	}
	first = strings.TrimSpace(first)
	if strings.Count(first, "“") > strings.Count(first, "”") {
		first += "…”" // the quoted text goes on
	}
	t.put(before, t.s.faint.Sprint(whole(first)+" …"))
}

func (t *reportText) causes() {
	if len(t.r.Causes) > 0 {
		first := &t.r.Causes[0]
		about := map[string]string{"shown": "shown by experiments", "seen": "the evidence shows it", "not-excluded": "no experiment shows it; not excluded"}[first.Standing]
		if about == "" {
			about = "looks like it, nothing more"
			if measured := first.Measured(); measured != "" {
				about = "looks like it: " + measured
			}
		}
		if len(t.r.Causes) > 1 {
			switch {
			case first.Standing == "not-excluded":
				about = "no experiment shows it; these are not excluded"
			case t.r.Causes[1].Group != first.Group:
				about += "; these hold together"
			default:
				about += "; these are not told apart"
			}
		}
		t.section("cause", about)
		for i := range t.r.Causes {
			t.cause(&t.r.Causes[i], i == 0)
		}
	}
	t.experiments()
	if t.all {
		for _, class := range slices.Sorted(maps.Keys(t.r.Excluded)) {
			t.wrap("  "+pad("not "+Safe(class), prose.Columns(Safe(class))+4, 26)+" ", 29, t.r.Excluded[class], t.s.faint)
		}
	} else if n := len(t.r.Excluded); n > 0 {
		t.put("  ", t.s.faint.Sprintf("%s excluded  (--all)", prose.Count(uint64(n), "class is", "classes are")))
	}
}

func (t *reportText) cause(c *Cause, first bool) {
	t.put("  ", t.s.name.Sprint(pad(Safe(c.Class), prose.Columns(Safe(c.Class)), 20)), "  ", Safe(c.Title))
	if first && len(c.Evidence) > 0 {
		t.wrap("    ", 4, strings.Join(c.Evidence, "; "), t.s.faint)
	}
	if c.Standing == "shown" || c.Standing == "seen" {
		return
	}
	if c.Confirm != "" {
		t.step("    confirm: ", 13, c.Confirm, t.s.faint)
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
	switch t.r.Standing(peer) {
	case StandingRight:
		return t.s.good
	case StandingWrong:
		return t.s.bad
	}
	return otherwise
}

// details shows the details of the first checkpoint that differs.
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
	waves := Waves(t.r.Cascade)
	n := t.shown(len(waves), shownCascade)
	wide := 0
	for _, w := range waves[:n] {
		wide = max(wide, prose.Columns(Safe(BothNames(w.Native, w.Tick))))
	}
	for _, w := range waves[:n] {
		most := shownCascade
		if t.all {
			most = len(w.Parts)
		}
		at := Safe(BothNames(w.Native, w.Tick))
		t.put("  ", pad(at, prose.Columns(at), wide), "  ", w.Text(most))
	}
	t.more(len(waves), n)
}

func (t *reportText) orders() {
	if len(t.r.Orders) == 0 {
		return
	}
	at := uint64(0)
	if d := t.r.FirstDivergence; d != nil && d.Bracket != nil {
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
	lists.SortStable(list, func(a, b TriagedOrder) int { return a.rank() - b.rank() })
	t.section("orders", "that differ, that name what differs, or that are of the last tick before it shows")
	n := t.shown(len(list), shownOrders)
	for _, o := range list[:n] {
		at := Safe(BothNames(o.Native, o.Tick))
		note, differs := "", ""
		if o.Names != "" {
			note = "names " + Safe(o.Names) + "  "
		}
		if how := o.Differs(); how != "" {
			differs = ", " + t.s.bad.Sprint(Safe(how))
		}
		t.put("  ", pad(at, prose.Columns(at), 8), "  player ", strconv.FormatUint(uint64(o.Player), 10), "  ",
			pad(prose.Name(o.Kind), prose.Columns(prose.Name(o.Kind)), 10), "  ", t.s.faint.Sprint(prose.Shorten(payloadText(o.Payload), 40)), "  ", note, t.s.faint.Sprint("on "+strings.Join(prose.Names(o.Peers), ", ")), differs)
	}
	t.more(len(list), n)
}

// identity shows how the rows of tables are found again.
func (t *reportText) identity() {
	var of [][]string // tables, by what
	var by []string
	for i := range t.r.Session.Tables {
		table := &t.r.Session.Tables[i]
		k := slices.Index(by, table.Words())
		if k < 0 {
			k = len(by)
			by, of = append(by, table.Words()), append(of, nil)
		}
		of[k] = append(of[k], prose.Name(table.Table))
	}
	if len(by) == 0 {
		return
	}
	t.section("rows", "how they are found again in another state")
	for i, words := range by {
		t.wrap("  ", 4, prose.Few(of[i], shownTables)+": "+words, nil)
	}
}

// payloadText shows a payload that is mostly text as such, others as the hex digits that they
// come in.
func payloadText(digits string) string {
	b, err := hex.DecodeString(digits)
	text := lists.Count(b, func(c byte) bool { return ' ' <= c && c <= '~' })
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
	t.section("splits", "each stretch of state points at which the peers had diverged")
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
}

// claims shows what the engines said.
func (t *reportText) claims() {
	for i, c := range t.r.Claims {
		if len(t.r.Claims) == 1 && len(c.Contradictions)+len(c.Detail) == 0 && !t.all {
			break // a step of the narrowing shows all of it
		}
		if i == 0 {
			from := "of the engine"
			if c.Quoted {
				from = "in the text"
			}
			t.section("claims", from)
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
}

// machines shows how the peers' games and machines differ.
func (t *reportText) machines() {
	for i, f := range t.r.Facts {
		if i == 0 {
			t.section("machines", "what differs between the peers")
		}
		for _, name := range t.r.FactPeers(&f) {
			t.put("  ", prose.Name(f.Name), "  ", t.s.name.Sprint(prose.Name(name)), "  ", prose.Name(f.Values[name]))
		}
	}
}

// claimText describes whether the evidence supports a claim.
func claimText(c *ClaimDocument) string {
	at := "that tick"
	if c.Tick != nil {
		at = Safe(InTick(BothNames(c.Native, *c.Tick)))
	}
	switch c.Standing {
	case tracediff.Borne:
		return "confirmed: by the evidence the peers diverge at " + at
	case tracediff.Late:
		return "late: the peers had diverged before; " + at + " is an upper bound"
	case tracediff.Fits:
		return "fits: nothing else here is about " + at + ", which lies where the peers diverged"
	case tracediff.Contradicted:
		return "contradicted: the peers agree at " + at
	}
	if c.Tick != nil {
		return "not checked: nothing else here is about " + at
	}
	return "nothing here confirms or contradicts it"
}

func (t *reportText) next() {
	if len(t.r.Next) > 0 {
		t.section("next")
		n := t.shown(len(t.r.Next), shownNext)
		for _, text := range t.r.Next[:n] {
			t.step("  ", 2, text, t.s.faint)
		}
		t.more(len(t.r.Next), n)
	}
}

// ask shows the text for the players.
func (t *reportText) ask() {
	if t.r.Ask != "" {
		t.section("ask the players", "a text to paste")
		for line := range strings.Lines(strings.TrimRight(t.r.Ask, "\n")) {
			t.wrap("  ", 2, strings.TrimRight(line, "\n"), nil)
		}
	}
}

func (t *reportText) fingerprint() {
	if len(t.r.Fingerprints) > 0 {
		t.begin(fixed)
		t.put()
		text := "fingerprint " + t.r.Fingerprint
		if t.r.Fingerprint == "" {
			text = "no strict fingerprint: too little is known of what differs first"
		}
		for _, f := range t.r.Fingerprints {
			if t.all {
				text += fmt.Sprintf("; %s %s (%s)", f.Level, f.Digest, prose.Name(f.Name))
			}
		}
		if last := t.r.Fingerprints[len(t.r.Fingerprints)-1]; !t.all {
			text += fmt.Sprintf("; by its %s %s", last.Level, last.Digest)
		}
		t.wrap("", 2, text, t.s.faint)
	}
}
