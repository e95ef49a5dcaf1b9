package document

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
)

// MaxComment is how many characters Comment writes at most, as chats allow.
const MaxComment = 2000

// Limits on what a comment shows.
const (
	commentValues   = 5
	commentFields   = 3
	commentValue    = 32 // characters of a value, which is shortened in the middle
	commentName     = 32 // characters of a name
	commentNames    = 4  // names in a list
	commentOrders   = 3
	commentRequests = 3
	commentSteps    = 4
	commentCommand  = 200 // characters of a command
	commentSentence = 420 // longest sentence in a comment, in characters
	commentAccused  = 3   // peers that are wrong
)

// Comment writes a report for a chat or the thread of an issue: at most MaxComment characters, whatever the report has,
// in Markdown that reads well as plain text. There are no tables and no HTML, and text from files never becomes a link,
// a mention or a reference. Parts that do not fit are left out as a whole, and counted.
func (r *Report) Comment(w io.Writer) error {
	_, err := io.WriteString(w, r.comment())
	return err
}

// comment is a document of parts, which are left out by rank.
type comment struct{ parts []commentPart }

// commentPart is a heading with items below it, or a line by itself.
type commentPart struct {
	head  string // with its line; empty if the items are complete lines
	items []commentItem
	more  uint64 // number that is already left out
	one   string // the name of one of more
	many  string
}

// commentItem is what is left out as a whole. Items of rank 0 never are.
type commentItem struct {
	text string
	rank int
	n    uint64 // how many left-out things it counts for
}

func (r *Report) comment() string {
	c := &comment{}
	c.add(commentPart{items: []commentItem{{text: r.commentTitle()}}})
	c.sentences(r)
	c.who(r)
	c.differs(r)
	c.orders(r)
	c.missing(r)
	c.next(r)
	if text := commentPrint(r); text != "" {
		c.add(commentPart{items: []commentItem{{text: text}}})
	}
	for {
		if text := c.String(); utf8.RuneCountInString(text) <= MaxComment || !c.drop() {
			return text
		}
	}
}

func (c *comment) add(p commentPart) { c.parts = append(c.parts, p) }

// drop leaves out the last item of the highest rank.
func (c *comment) drop() bool {
	part, item, rank := 0, 0, 0
	for i := range c.parts {
		for k := range c.parts[i].items {
			if got := c.parts[i].items[k].rank; got > 0 && got >= rank {
				part, item, rank = i, k, got
			}
		}
	}
	if rank == 0 {
		return false
	}
	p := &c.parts[part]
	p.more += p.items[item].n
	p.items = slices.Delete(p.items, item, item+1)
	return true
}

// String returns the document as it is now.
func (c *comment) String() string {
	var b strings.Builder
	for i := range c.parts {
		p := &c.parts[i]
		if len(p.items) == 0 && (p.more == 0 || p.one == "") {
			continue
		}
		bullet := ""
		if b.Len() > 0 {
			b.WriteByte('\n') // else a line would continue the item before it
		}
		if p.head != "" {
			b.WriteString(p.head + "\n")
			bullet = "- "
		}
		for _, item := range p.items {
			b.WriteString(bullet + item.text + "\n")
		}
		if p.more > 0 && p.one != "" {
			b.WriteString(bullet + "and " + prose.Count(p.more, p.one, p.many) + "\n")
		}
	}
	return b.String()
}

// commentTitle is the headline and the game.
func (r *Report) commentTitle() string {
	title := "**desynctool: " + r.Headline().Text(func(s string) string { return commentCode(s, commentName) }) + "**"
	if r.Session.Game != "" {
		title += " " + commentCode(strings.TrimSpace(r.Session.Game+" "+r.Session.Build), commentName)
	}
	return title
}

// sentences writes the sentences of the verdict that are short enough.
func (c *comment) sentences(r *Report) {
	var p commentPart
	for i, s := range r.Verdict {
		if text := commentLine(s); text != "" && utf8.RuneCountInString(text) <= commentSentence {
			p.items = append(p.items, commentItem{text: text, rank: 3 + 3*i})
		}
	}
	c.add(p)
}

// who writes which peers agree, and which are wrong.
func (c *comment) who(r *Report) {
	if wrong := r.Headline().Wrong; len(wrong) > 0 {
		c.add(commentPart{items: []commentItem{{text: "Wrong by a replay of the orders: " + commentList(wrong, commentAccused, ", ")}}})
	}
	var groups []string
	for n := 1; n <= len(r.Peers); n++ {
		var names []string
		for i := range r.Peers {
			if r.Peers[i].Group == n {
				names = append(names, r.Peers[i].Name)
			}
		}
		if len(names) > 0 {
			groups = append(groups, commentList(names, commentNames, " = "))
		}
	}
	if len(groups) < 2 {
		return
	}
	p := commentPart{items: []commentItem{{text: "Who: " + strings.Join(groups[:min(len(groups), commentNames)], " ≠ ") + commentMore(len(groups)-commentNames, "group"), rank: 1}}}
	c.add(p)
}

// commentMore counts what a line leaves out.
func commentMore(n int, of string) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more %ss", n, of)
}

// differs writes the differences between two states: the most telling values, and the entities that only one peer has.
func (c *comment) differs(r *Report) {
	k := r.Compared
	if k == nil {
		return
	}
	g := r.Gather()
	p := commentPart{
		head: "What differs " + commentText(AtPoint(PointOf(prose.Cut(k.Native, commentName), k.Point))) + ", " +
			commentCode(k.Peers[0], commentName) + " | " + commentCode(k.Peers[1], commentName) + ":",
		one: "more difference", many: "more differences",
	}
	rows := g.Others.Rows
	for i := range g.Absent {
		rows += g.Absent[i].Rows
	}
	for i := range g.Entities {
		rows += g.Entities[i].rows()
	}
	left := k.Values + rows
	var items []commentItem
	add := func(text string, n uint64) {
		items = append(items, commentItem{text: text, rank: 4 + 2*len(items), n: n})
		left -= min(left, n)
	}
	fields := k.Summed()
	for i := range fields[:min(len(fields), commentFields)] {
		if f := &fields[i]; f.Values > commentValues/2 {
			text := fmt.Sprintf("%s: %d values in %s", commentCode(f.Name(), 2*commentName), f.Values, commentText(f.Where(2)))
			if p := f.Pattern.Text(k.Peers, f.Values); p != "" {
				text += ": " + commentText(p)
			}
			add(text, 0)
		}
	}
	absent := min(len(g.Absent), 2)
	for _, line := range g.telling(commentValues - absent) {
		add(line.comment(k.Peers), uint64(1+len(line.Same)))
	}
	for i := range g.Absent[:absent] {
		add(g.Absent[i].comment(), g.Absent[i].Rows)
	}
	for i := range g.Entities {
		if e := &g.Entities[i]; len(e.Rows) > 0 && len(items) < commentValues {
			rows := e.Rows[0]
			add(fmt.Sprintf("%s: %s of %s only on %s", e.commentTitle(), prose.Count(rows.Count, "row", "rows"), commentCode(tableName(rows.Archetype, e.Cache), commentName),
				commentCode(rows.Peer, commentName)), rows.Count)
		}
	}
	if len(items) == 0 {
		return
	}
	p.items, p.more = items, left
	c.add(p)
}

// telling returns the most telling values: the first of each entity in the order of the locus, for as many entities as
// there is room for, then more values of these entities.
func (g *Gathered) telling(most int) []*GatheredLine {
	type at struct{ entity, line int }
	var chosen []at
	for n := 0; len(chosen) < most; n++ {
		before := len(chosen)
		for i := range g.Entities {
			if len(chosen) < most && n < len(g.Entities[i].Lines) {
				chosen = append(chosen, at{i, n})
			}
		}
		if len(chosen) == before && n >= maxLines(g) {
			break
		}
	}
	lists.SortStable(chosen, func(a, b at) int {
		if a.entity != b.entity {
			return a.entity - b.entity
		}
		return a.line - b.line
	})
	out := make([]*GatheredLine, len(chosen))
	for i, c := range chosen {
		out[i] = &g.Entities[c.entity].Lines[c.line]
	}
	return out
}

func maxLines(g *Gathered) (n int) {
	for i := range g.Entities {
		n = max(n, len(g.Entities[i].Lines))
	}
	return n
}

// comment shows a value of both peers.
func (l *GatheredLine) comment(peers [2]string) string {
	text := l.Of.commentTitle() + " " + commentCode(l.Of.fieldName(l.LocusField), 2*commentName) + ": " +
		commentCode(l.Values[peers[0]], commentValue) + " | " + commentCode(l.Values[peers[1]], commentValue)
	if apart := l.apart(peers, ""); apart != string(l.Kind) {
		text += " (" + commentText(apart) + ")"
	}
	if n := len(l.Same); n > 0 {
		text += ", the same in " + prose.Count(n, "more field", "more fields")
	}
	return text
}

// commentTitle names an entity.
func (e *Entity) commentTitle() string {
	short := *e
	short.Name, short.Place = "", ""
	title := middle(short.Title(), commentName)
	if about := e.about(); about != "" {
		title += " (" + middle(about, 2*commentName) + ")"
	}
	return commentCode(title, 4*commentName)
}

// comment describes the entities that only one peer has.
func (a *AbsentEntities) comment() string {
	exist, title := " exist only on ", commentCode(a.Title(2*commentNames), 4*commentName)
	if len(a.Entities) == 1 {
		exist, title = " exists only on ", a.Entities[0].commentTitle()
	}
	text := title + exist + commentCode(a.Peer, commentName)
	if rest := a.Rest(); rest != "" {
		text += "; " + rest
	}
	return text
}

// orders names the orders that differ between the peers.
func (c *comment) orders(r *Report) {
	in := r.Inputs
	if in == nil || in.Count == 0 && len(in.Differences) == 0 {
		return
	}
	p := commentPart{head: "Orders that differ:", one: "more order", many: "more orders"}
	for i := range in.Differences {
		if i == commentOrders {
			break
		}
		d := &in.Differences[i]
		text := fmt.Sprintf("tick %d, player %d, %s: %s", d.Tick, d.Player, commentCode(d.Order, commentName), commentText(string(d.Kind)))
		if d.Peer != "" {
			text += " on " + commentCode(d.Peer, commentName)
		}
		p.items = append(p.items, commentItem{text: text, rank: 5 + 3*i, n: 1})
	}
	p.more = uint64(max(in.Count, len(in.Differences)) - len(p.items))
	c.add(p)
}

// missing names evidence that is lost or lacking.
func (c *comment) missing(r *Report) {
	p := commentPart{head: "Lost or lacking:", one: "more piece of evidence", many: "more pieces of evidence"}
	for i, text := range r.Missing {
		if text = commentLine(text); text == "" {
			continue
		}
		if len(p.items) == commentRequests || utf8.RuneCountInString(text) > commentSentence/2 {
			p.more++
			continue
		}
		p.items = append(p.items, commentItem{text: text, rank: 6 + 3*i, n: 1})
	}
	if len(p.items) > 0 {
		c.add(p)
	}
}

// next has the next steps, or, while the players still have to send what is missing, what to send.
func (c *comment) next(r *Report) {
	switch {
	case r.Status == InSync:
	case r.Ask != "":
		c.send(r)
	default:
		c.steps(r)
	}
}

// steps has the next steps.
func (c *comment) steps(r *Report) {
	p := commentPart{head: "Next:", one: "more step", many: "more steps"}
	for i, line := range r.Next {
		if i == commentSteps {
			p.more = uint64(len(r.Next) - i)
			break
		}
		command, about := CutStep(line)
		text := commentLine(about)
		if code := commentCode(command, commentCommand); code == "`"+command+"`" { // else it is not the command any more
			text = code
			if about = commentText(about); about != "" {
				text += ": " + about
			}
		}
		if text != "" {
			p.items = append(p.items, commentItem{text: text, rank: 5 + 3*i, n: 1})
		}
	}
	if len(p.items) > 0 {
		c.add(p)
	}
}

// send names the files that would answer more, and who should send them.
func (c *comment) send(r *Report) {
	p := commentPart{head: "To send next:", one: "more thing", many: "more things"}
	for i := range r.Send {
		if i == commentRequests {
			p.more = uint64(len(r.Send) - i)
			break
		}
		q := &r.Send[i]
		what := commentLine(prose.Cut(q.What, 2*commentName))
		if what == "" {
			continue
		}
		from := "another player"
		if len(q.From) > 0 {
			from = commentList(q.From, commentNames, ", ")
		}
		text := what + " from " + from
		if len(q.For) > 0 && q.For[0] != "preflight" {
			text += ", to learn the " + commentText(prose.Cut(strings.ReplaceAll(q.For[0], "-", " "), commentName))
		}
		p.items = append(p.items, commentItem{text: text, rank: 5 + 3*i, n: 1})
	}
	if len(p.items) > 0 {
		c.add(p)
	}
}

// commentPrint is the line of fingerprints.
func commentPrint(r *Report) string {
	if len(r.Fingerprints) == 0 {
		return ""
	}
	last := r.Fingerprints[len(r.Fingerprints)-1]
	text := "by its " + commentText(prose.Cut(string(last.Level), commentName)) + " " + commentCode(last.Digest, commentName)
	if r.Fingerprint != "" {
		text = commentCode(r.Fingerprint, commentName) + ", " + text
	}
	return "Fingerprint: " + text
}

// commentList names peers, up to most of them, with a text in between.
func commentList(names []string, most int, between string) string {
	out := lists.Map(names[:min(len(names), most)], func(name string) string { return commentCode(name, commentName) })
	text := strings.Join(out, between)
	if n := len(names) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// wordless is a space without width: the text after it is a separate word, so that @, # and < in front of it do not
// mention, refer to or begin anything.
const wordless = "\u200b"

// commentCode returns a name or a value as code, of limited length: the middle of a longer one is left out. An empty
// one becomes "(no name)".
func commentCode(s string, most int) string {
	s = strings.TrimSpace(middle(Safe(middle(s, 8*most)), most))
	if s == "" {
		return "(no name)"
	}
	s = strings.ReplaceAll(s, "`", "ˋ")
	return "`" + unlinked(s) + "`"
}

// middle leaves out the middle of a text of more than so many characters.
func middle(s string, most int) string {
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	runes := []rune(s)
	head := most / 2
	return string(runes[:head]) + "…" + string(runes[len(runes)-(most-1-head):])
}

// unlinked separates the characters that chats and hosts of code take for a mention, a reference or a link from the
// text after them.
func unlinked(s string) string {
	var b strings.Builder
	for i, r := range s {
		b.WriteRune(r)
		if refers(s, i, r) || r == '<' {
			b.WriteString(wordless)
		}
	}
	return b.String()
}

// commentLine returns a text that is safe as a separate line: not a heading, a list entry or a command.
func commentLine(s string) string {
	text := commentText(s)
	if text != "" && (strings.ContainsRune(markdownBegins, rune(text[0])) || numbered(text) != text) {
		return wordless + text
	}
	return text
}

// commentText returns a text that is safe within a line: Markdown characters that would change its look are escaped
// with a backslash.
func commentText(s string) string {
	s = strings.TrimSpace(Safe(s))
	var b strings.Builder
	before := ' '
	for i, r := range s {
		after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		switch r {
		case '*', '`', '[', ']', '<', '>', '|', '~', '\\':
			b.WriteByte('\\')
		case '_':
			if !wordly(before) || !wordly(after) {
				b.WriteByte('\\')
			}
		}
		b.WriteRune(r)
		if refers(s, i, r) || r == '<' || r == '@' {
			b.WriteString(wordless)
		}
		before = r
	}
	return b.String()
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
