package document

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
)

// maxMarkdown is how many bytes Markdown writes at most: an issue or comment on GitHub may have 65,536 characters, and
// a job summary far more. The last parts are left out first.
const maxMarkdown = 60_000

// maxMarkdownText is how many characters of one text Markdown shows.
const maxMarkdownText = 300

// How many rows of a table, and entries of a list, Markdown shows.
const (
	maxMarkdownRows = 40
	maxMarkdownList = 20
	maxMarkdownSame = 4 // fields with the same two values

	maxMarkdownPeers = 8 // columns of values
)

// Markdown writes a report to paste into an issue, and as a job's summary: GitHub's Markdown, which GitLab also
// accepts. All text from files is escaped for Markdown and HTML, so that it mentions no user and refers to nothing.
func (r *Report) Markdown(w io.Writer) error {
	var m markdown
	m.verdict(r)
	m.gameLogs(r)
	m.peers(r)
	m.ladder(r)
	m.code(r)
	m.details(r)
	m.locus(r)
	m.causes(r)
	m.list("Contradictions", r.Contradictions)
	m.list("Missing", r.Missing)
	m.ask(r)
	m.next(r)
	m.cascade(r)
	m.orders(r)
	m.facts(r)
	m.claims(r)
	m.list("Notes", r.Notes)
	m.list("Warnings", r.Warnings)
	m.fingerprint(r)
	_, err := io.WriteString(w, m.String())
	return err
}

// markdown collects a document and keeps it below maxMarkdown.
type markdown struct {
	strings.Builder
	cut bool // there was no room for all
}

// markdownReserve is the part of maxMarkdown that is reserved for the lines that report omissions, and for the end of
// the document.
const markdownReserve = 6000

// block writes a line or several, if they fit.
func (m *markdown) block(text string) bool {
	if m.cut || m.Len()+len(text)+1 > maxMarkdown-markdownReserve {
		m.cut = true
		return false
	}
	m.WriteString(text + "\n")
	return true
}

func (m *markdown) heading(text string) { m.block("\n### " + text + "\n") }

// table writes rows of escaped cells, the first being the heading, and how many of all there
// are if not all are shown.
func (m *markdown) table(head []string, n int, row func(i int) []string) {
	line := func(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }
	if n == 0 || !m.block(line(head)+"\n|"+strings.Repeat(" --- |", len(head))) {
		return
	}
	shown := 0
	for shown < min(n, maxMarkdownRows) && m.block(line(row(shown))) {
		shown++
	}
	m.more(shown, n)
}

// more writes how many are left out.
func (m *markdown) more(shown, n int) {
	if n > shown {
		m.block(fmt.Sprintf("\n… and %d more", n-shown))
	}
}

func (m *markdown) list(title string, items []string) {
	if len(items) == 0 {
		return
	}
	m.heading(title)
	shown := 0
	for shown < min(len(items), maxMarkdownList) && m.block("- "+markdownText(items[shown])) {
		shown++
	}
	m.more(shown, len(items))
}

func (m *markdown) verdict(r *Report) {
	m.block("## desynctool: " + r.Headline().Text(markdownCode))
	for i, line := range r.Verdict {
		text := markdownText(line)
		if text == "" {
			continue
		}
		if i == 0 {
			text = "**" + text + "**"
		}
		if i == maxMarkdownList || !m.block("\n"+text) {
			break
		}
	}
	for _, s := range r.Seen[:min(len(r.Seen), maxMarkdownList)] {
		m.block("\n" + markdownText("S"+s.How()[1:]) + ": " + markdownText(s.Title) + " (" + markdownCode(s.File) + ")")
	}
	var session []string
	add := func(name, value string) {
		if value != "" {
			session = append(session, name+" "+markdownCode(value))
		}
	}
	add("game", r.Session.Game)
	add("build", r.Session.Build)
	add("seed", r.Session.Seed)
	if len(r.Peers) > 0 {
		session = append(session, fmt.Sprintf("state points %d to %d", r.Session.First, r.Session.Last))
	}
	if r.Kind != "" {
		add("kind", string(r.Kind))
	}
	if len(session) > 0 {
		m.block("\n" + strings.Join(session, ", "))
	}
}

func (m *markdown) gameLogs(r *Report) {
	g := r.GameLogs
	if g == nil || len(g.Lines) == 0 {
		return
	}
	m.heading("In the games' own logs")
	m.block("Warnings and errors " + g.About() + ".\n")
	n := min(len(g.Lines), maxMarkdownList)
	m.table([]string{"Who", "", "Line", "Where", "When"}, n, func(i int) []string {
		l := &g.Lines[i]
		return []string{markdownText(l.Who()), markdownText(l.Severity), markdownCode(l.Text), markdownCode(l.Where()), markdownText(l.When())}
	})
	m.more(n, g.Total)
}

func (m *markdown) peers(r *Report) {
	if len(r.Peers) == 0 {
		return
	}
	m.heading("Peers")
	have := func(is bool) string {
		if is {
			return "yes"
		}
		return "no"
	}
	m.table([]string{"Peer", "Group", "Matches the replay", "Snapshots", "Order log", "Trace"}, len(r.Peers), func(i int) []string {
		p := &r.Peers[i]
		group, matches := "?", "not replayed"
		if p.Group > 0 {
			group = strconv.Itoa(p.Group)
		}
		if p.MatchesReference != nil {
			matches = have(*p.MatchesReference)
		}
		name := markdownCode(p.Name)
		if p.Mentioned {
			name += " (only mentioned)"
		}
		return []string{name, group, matches, strconv.Itoa(p.Snapshots), have(p.OrderLog), have(p.Trace)}
	})
}

func (m *markdown) ladder(r *Report) {
	if len(r.Ladder) == 0 {
		return
	}
	m.heading("Narrowing")
	m.table([]string{"Step", "", "Found", "Evidence"}, len(r.Ladder), func(i int) []string {
		s := &r.Ladder[i]
		return []string{markdownText(s.Step), markdownText(string(s.State)), markdownText(s.Found), markdownText(s.Evidence)}
	})
}

// code shows where in the code the builds depart.
func (m *markdown) code(r *Report) {
	if r.Code == nil {
		return
	}
	m.heading("Line of code")
	for _, b := range r.Code.Blocks() {
		m.block(markdownText(b.Sentence) + "\n")
		m.table([]string{"Build", "Does", "Place", "Source"}, len(b.Sides), func(i int) []string {
			s := &b.Sides[i]
			if s.At == nil {
				return []string{markdownText(s.Who), markdownText(s.Does), "", ""}
			}
			return []string{markdownText(s.Who), markdownText(s.Does), markdownCode(s.At.String()), markdownCode(s.At.Text)}
		})
		for _, more := range b.More[:min(len(b.More), maxMarkdownList)] {
			m.block("\n" + markdownText(more))
		}
	}
}

func (m *markdown) locus(r *Report) {
	c := r.Compared
	if len(r.Locus) == 0 && (c == nil || len(c.Rows) == 0) {
		return
	}
	m.heading("What differs")
	if c != nil {
		m.block(fmt.Sprintf("%s against %s %s: %s\n", markdownCode(c.Peers[0]), markdownCode(c.Peers[1]), markdownText(AtPoint(PointOf(c.Native, c.Point))), prose.Count(c.Values, "value", "values")))
	}
	if c != nil {
		m.summary(c)
	}
	head := []string{"Entity", "Field"}
	peers := LocusPeers(r)
	peers = peers[:min(len(peers), maxMarkdownPeers)]
	head = append(head, lists.Map(peers, markdownCode)...)
	g := r.Gather()
	var pair [2]string
	copy(pair[:], LocusPeers(r))
	var rows []func() []string
	for i := range g.Entities {
		e := &g.Entities[i]
		for n := range e.Lines {
			rows = append(rows, func() []string { return markdownLine(e, n, peers, pair) })
		}
	}
	m.table(append(head, "Difference", "Bits changed"), len(rows), func(i int) []string { return rows[i]() })
	m.oneSide(g)
}

// summary sums up each field.
func (m *markdown) summary(k *Compared) {
	fields := k.Summed()
	if len(fields) == 0 {
		return
	}
	m.table([]string{"Field", "Values", "Pattern", "In"}, len(fields), func(i int) []string {
		f := &fields[i]
		return []string{markdownCode(f.Name()), strconv.FormatUint(f.Values, 10), markdownText(f.Pattern.Text(k.Peers, f.Values)), markdownText(f.Where(3))}
	})
	m.block("\n")
}

// markdownLine returns a row of the table of values: its entity is in its first one.
func markdownLine(e *GatheredEntity, n int, peers []string, pair [2]string) []string {
	f := &e.Lines[n]
	title := ""
	if n == 0 {
		title = markdownCode(e.Title())
	}
	cells := []string{title, markdownCode(f.Names(maxMarkdownSame))}
	for _, p := range peers {
		value, ok := f.Values[p]
		if !ok {
			cells = append(cells, "–")
			continue
		}
		cells = append(cells, markdownCode(value))
	}
	kind, bits := markdownInline(f.apart(pair, ""), ""), ""
	if f.Excerpt != nil {
		kind += fmt.Sprintf(", from byte %d", f.Excerpt.Offset)
	}
	if f.Bits > 0 {
		bits = strconv.Itoa(f.Bits)
	}
	return append(cells, kind, bits)
}

// oneSide lists what only one of the peers has.
func (m *markdown) oneSide(g *Gathered) {
	var lines []string
	for i := range g.Absent {
		a := &g.Absent[i]
		text := fmt.Sprintf("\nOnly %s has %s", markdownCode(a.Peer), markdownCode(a.Title(maxMarkdownList)))
		if rest := a.Rest(); rest != "" {
			text += ": " + rest
		}
		lines = append(lines, text)
	}
	for i := range g.Entities {
		for k := range g.Entities[i].Rows {
			rows := &g.Entities[i].Rows[k]
			lines = append(lines, fmt.Sprintf("\nOnly %s has %s of %s, of %s", markdownCode(rows.Peer), prose.Count(rows.Count, "row", "rows"),
				markdownCode(tableName(rows.Archetype, g.Entities[i].Cache)), markdownCode(g.Entities[i].Title())))
		}
	}
	shown := 0
	for shown < min(len(lines), maxMarkdownList) && m.block(lines[shown]) {
		shown++
	}
	m.more(shown, len(lines))
	if n := g.Others.Rows; n > 0 {
		m.block("\n" + prose.Count(n, "more row is", "more rows are") + " on one side only")
	}
}

func (m *markdown) causes(r *Report) {
	if len(r.Causes) > 0 {
		m.heading("Cause")
		m.table([]string{"Cause", "Standing", "Evidence", "What would confirm it", "What would refute it"}, len(r.Causes), func(i int) []string {
			c := &r.Causes[i]
			standing := c.Standing
			if measured := c.Measured(); measured != "" {
				standing += ", " + measured
			}
			return []string{
				markdownText(c.Title) + " (" + markdownCode(c.Class) + ")", markdownText(standing),
				markdownText(strings.Join(c.Evidence, "; ")), markdownText(c.Confirm), markdownText(c.Refute),
			}
		})
	}
	if len(r.Experiments) > 0 {
		m.heading("Experiments")
		m.table([]string{"Replay", "Result"}, len(r.Experiments), func(i int) []string {
			x := &r.Experiments[i]
			return []string{markdownCode(x.Mode), markdownText(x.Text)}
		})
	}
}

func (m *markdown) ask(r *Report) {
	if r.Ask == "" {
		return
	}
	m.heading("To ask the players")
	const most = 4000
	text := r.Ask
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	var out []string
	for line := range strings.Lines(text) {
		out = append(out, markdownPre(strings.TrimRight(line, "\r\n")))
	}
	m.block("<pre>\n" + strings.Join(out, "\n") + "\n</pre>")
}

// details shows the details of the first checkpoint that differs.
func (m *markdown) details(r *Report) {
	d := r.FirstDetails()
	if d == nil {
		return
	}
	m.heading("At the first difference: " + d.Title())
	m.block(markdownText(d.About()) + "\n")
	rows := d.rows(false)
	m.table([]string{"Peer", "Line"}, len(rows), func(i int) []string {
		peer := rows[i].peer
		if peer != "" {
			peer = markdownCode(peer)
		}
		return []string{peer, markdownCode(rows[i].text)}
	})
}

func (m *markdown) next(r *Report) {
	if len(r.Next) == 0 {
		return
	}
	m.heading("Next")
	for i, step := range r.Next {
		text := markdownText(step)
		if command, _ := CutStep(step); command != "" {
			text = markdownCode(step)
		}
		if i == maxMarkdownList || !m.block(fmt.Sprintf("%d. %s", i+1, text)) {
			break
		}
	}
}

func (m *markdown) cascade(r *Report) {
	if len(r.Cascade) == 0 {
		return
	}
	m.heading("Cascade")
	waves := Waves(r.Cascade)
	m.table([]string{"From tick", "What", "Checkpoints that differ", "Until tick"}, len(waves), func(i int) []string {
		w := &waves[i]
		return []string{fmt.Sprint(w.Tick), markdownText(w.Text(len(w.Parts))), fmt.Sprint(w.Count), fmt.Sprint(w.Last)}
	})
}

func (m *markdown) orders(r *Report) {
	if len(r.Orders) == 0 && r.Inputs == nil {
		return
	}
	m.heading("Orders")
	if in := r.Inputs; in != nil {
		m.block(markdownText(in.Line))
		if len(in.Differences) > 0 {
			m.block("") // a table is a separate paragraph
		}
		m.table([]string{"Tick", "Player", "Order", "Difference", "Peer", "Against"}, len(in.Differences), func(i int) []string {
			d := &in.Differences[i]
			return []string{fmt.Sprint(d.Tick), fmt.Sprint(d.Player), markdownCode(d.Order), markdownText(string(d.Kind)), markdownCode(d.Peer), markdownCode(d.Base)}
		})
		if in.Count > len(in.Differences) {
			m.block(fmt.Sprintf("\n%d differences in all", in.Count))
		}
		m.block("")
	}
	m.table([]string{"Tick", "µs", "Player", "Order", "Of", "Difference", "Names"}, len(r.Orders), func(i int) []string {
		o := &r.Orders[i]
		peers := lists.Map(o.Peers[:min(len(o.Peers), maxMarkdownList)], markdownCode)
		return []string{
			fmt.Sprint(o.Tick), fmt.Sprint(o.SubTick), fmt.Sprint(o.Player), markdownCode(o.Kind), strings.Join(peers, ", "),
			markdownText(o.Differs()), markdownText(o.Names),
		}
	})
}

func (m *markdown) facts(r *Report) {
	differ := lists.Where(r.Facts, func(f Fact) bool { return f.Differs() })
	if len(differ) == 0 {
		return
	}
	m.heading("Where the machines differ")
	m.table([]string{"Fact", "Values"}, len(differ), func(i int) []string {
		var values []string
		for _, peer := range slices.Sorted(maps.Keys(differ[i].Values)) {
			values = append(values, markdownCode(peer)+": "+markdownCode(differ[i].Values[peer]))
		}
		name := markdownText(differ[i].Name)
		if differ[i].Must {
			name += " (must be the same)"
		}
		return []string{name, strings.Join(values[:min(len(values), maxMarkdownList)], ", ")}
	})
}

func (m *markdown) claims(r *Report) {
	if len(r.Claims) == 0 {
		return
	}
	m.heading("Messages of the engines")
	m.table([]string{"Claim", "File", "Stands", "Contradicted by"}, len(r.Claims), func(i int) []string {
		c := &r.Claims[i]
		file := ""
		if len(c.Files) > 0 {
			file = markdownCode(c.Files[0])
		}
		return []string{markdownText(c.Text), file, markdownText(string(c.Standing)), markdownText(strings.Join(c.Contradictions, "; "))}
	})
}

// fingerprint ends the document; it is never left out.
func (m *markdown) fingerprint(r *Report) {
	if m.cut {
		m.WriteString("\n… The rest is left out; the JSON report has all.\n")
	}
	if len(r.Fingerprints) == 0 {
		return
	}
	if r.Fingerprint == "" {
		m.WriteString("\nNo strict fingerprint: too little is known of what differs first.\n")
	} else {
		fmt.Fprintf(m, "\nFingerprint %s\n", markdownCode(r.Fingerprint))
	}
	var levels []string
	for _, f := range r.Fingerprints {
		levels = append(levels, markdownText(string(f.Level))+" "+markdownCode(f.Digest)+" ("+markdownCode(f.Name)+")")
	}
	if text := "\nBy level: " + strings.Join(levels, ", ") + "\n"; m.Len()+len(text) <= maxMarkdown {
		m.WriteString(text)
	}
}

// bounded returns at most maxMarkdownText characters of a text, without control characters.
func bounded(s string) string {
	s = s[:min(len(s), maxMarkdownText*utf8.UTFMax)] // no fewer characters than are shown
	return prose.Shorten(Safe(s), maxMarkdownText)
}

// markdownEntities are the characters that mean something to Markdown or HTML. As entities they are plain text for
// both, also in tables.
const markdownEntities = "&<>`*_[]\\|~$^{}"

// markdownBegins are the characters that have a meaning only at the beginning of a line: a heading, a list, a rule, a
// command to GitHub Actions or to GitLab.
const markdownBegins = "#-+=:/"

// markdownText returns a text that is safe anywhere in a line of Markdown.
func markdownText(s string) string { return numbered(markdownInline(s, markdownBegins)) }

// markdownInline returns a text that is safe within a line, or at its beginning if it does not begin like a list entry.
// The characters in begins are escaped where they are first.
func markdownInline(s, begins string) string {
	s = bounded(strings.TrimSpace(s))
	var b strings.Builder
	for i, r := range s {
		if strings.ContainsRune(markdownEntities, r) || i == 0 && strings.ContainsRune(begins, r) {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
		if refers(s, i, r) {
			b.WriteString("&#8203;") // a space without width: the text after it is a separate word
		}
	}
	return b.String()
}

// refers reports whether the text at s[i:] would be a link to a user, an issue, a merge request or a page that the text
// names.
func refers(s string, i int, r rune) bool {
	next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
	word := unicode.IsLetter(next) || unicode.IsNumber(next) || next == '_'
	switch r {
	case '@', '#', '!', '$', '~', '%', '&':
		return word
	case '-':
		return word && i >= 2 && strings.EqualFold(s[i-2:i], "gh")
	case ':':
		return next == '/'
	case '.':
		return word && i >= 3 && strings.EqualFold(s[i-3:i], "www")
	}
	return false
}

// numbered keeps a text from being an entry of a numbered list.
func numbered(s string) string {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if digits == 0 || digits == len(s) || s[digits] != '.' && s[digits] != ')' {
		return s
	}
	return s[:digits] + fmt.Sprintf("&#%d;", s[digits]) + s[digits+1:]
}

// markdownCode returns a name or a value in the type of code, where nothing is a mention or
// a reference.
func markdownCode(s string) string {
	s = bounded(s)
	if s == "" {
		return ""
	}
	if !strings.ContainsAny(s, "&<>`|\\[]") && strings.TrimSpace(s) == s {
		return "`" + s + "`"
	}
	return "<code>" + markdownPre(s) + "</code>"
}

// markdownPre returns a line that is safe in <code> and <pre>.
func markdownPre(s string) string {
	var b strings.Builder
	for i, r := range Safe(s) {
		if strings.ContainsRune(markdownEntities+"@#:", r) || i == 0 && strings.ContainsRune(markdownBegins, r) {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// MarkdownText returns a text on one line that is safe anywhere in a line of Markdown, also in a table: all of it is
// shown as text.
func MarkdownText(s string) string { return markdownText(Safe(s)) }
