// Package messages finds the messages about desyncs in engines' logs, single lines among others: claims without a
// trace. Pages describe the patterns of the messages, see package description.
//
// There may be anything before and after them on the line, lines may be of any length, and the rest of the log may be
// anything. A value has an empty name if the line does not name its peer. So does a value of the log's own peer, which
// few of them name.
//
// A message that the file's end cuts off is not trusted: the log's Trouble reports that it breaks off there.
package messages

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/textsearch"
	"github.com/desynctool/desynctool/tracediff"
)

// Grammar describes the messages of one engine.
type Grammar struct {
	Name, Title string // of the format of logs with them
	Dialect     tracediff.Dialect
	Forms       []*Form

	// Leads are the texts that the program writes before its messages on a line, in addition to those in logs of all
	// programs. A message after any other text may be a quotation. Nil means that no message is a quotation.
	Leads []string
}

// Kind is the result of a form.
type Kind uint8

// Kinds of forms.
const (
	Claim Kind = iota
	Tick       // the tick of the claims after it that name none
	Fact       // facts of the game and the machine, which count if the log has a claim
)

// Form is one shape of a message.
type Form struct {
	Kind    Kind
	Pattern *regexp.Regexp // the group text, if it has one, is what is quoted
	Lines   int            // how many lines it reads
	Follow  *regexp.Regexp // fits lines that follow and belong to the message; may be nil

	// Weak means that it contains less than the engine's other messages, and is repeated: it is kept only where a log
	// has no claim before it.
	Weak bool

	// Parse returns the content of a message. Misfit is why a text that fits the pattern is not a message; it is Equal
	// if the message reports no difference.
	Parse func(m *Match) (f Finding, misfit string)

	// Literal is a text that every message has on its first line, empty if there is none. NewForm sets it.
	Literal string

	first    bool // messages begin with it
	anchored bool // they begin where the line does
}

// Equal is the misfit of a text with two equal checksums.
const Equal = "both checksums are equal"

// NewForm completes a form.
func NewForm(f Form) *Form {
	tree, err := syntax.Parse(f.Pattern.String(), syntax.Perl)
	if err != nil {
		panic(err) // it was compiled
	}
	tree = tree.Simplify()
	l := literals{lines: f.Lines}
	l.walk(tree)
	l.end()
	f.Literal = l.found
	if prefix, _ := f.Pattern.LiteralPrefix(); f.Literal != "" && strings.HasPrefix(prefix, f.Literal) {
		f.first, f.Pattern = true, regexp.MustCompile(`\A(?:`+f.Pattern.String()+`)`)
	}
	if prog, err := syntax.Compile(tree); err == nil {
		f.anchored = prog.StartCond()&syntax.EmptyBeginText != 0
	}
	return &f
}

// literals finds the first text that every match of a pattern has and that is long enough to be searched for.
type literals struct {
	lines      int
	run, found string
	over       bool // it is found, or what follows may be on another line
}

func (l *literals) end() {
	if len(l.run) >= textsearch.MinLength && !l.over {
		l.found, l.over = l.run, true
	}
	l.run = ""
}

func (l *literals) walk(re *syntax.Regexp) {
	switch {
	case l.over:
	case re.Op == syntax.OpConcat || re.Op == syntax.OpCapture:
		for _, sub := range re.Sub {
			l.walk(sub)
		}
	case re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0 && !slices.Contains(re.Rune, '\n'):
		l.run += string(re.Rune)
	case re.Op == syntax.OpBeginText || re.Op == syntax.OpEmptyMatch:
	default:
		l.end()
		l.over = l.over || l.lines > 1 && mayEndLine(re)
	}
}

// mayEndLine reports whether a part of a pattern may match the end of a line.
func mayEndLine(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar:
		return true
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i] <= '\n' && '\n' <= re.Rune[i+1] {
				return true
			}
		}
	}
	return slices.ContainsFunc(re.Sub, mayEndLine)
}

// Match is a text that a pattern fits.
type Match struct {
	Pattern *regexp.Regexp
	Text    []byte
	Places  []int // of the groups
	// Follow are the lines that follow, by the groups of Form.Follow.
	Follow [][][]byte
}

// Group returns the text of a group, empty if it has none.
func (m *Match) Group(name string) []byte {
	if i := m.Pattern.SubexpIndex(name); i >= 0 && m.Places[2*i] >= 0 {
		return m.Text[m.Places[2*i]:m.Places[2*i+1]]
	}
	return nil
}

// Expand returns a template, see regexp.Regexp.Expand, with the texts of the groups.
func (m *Match) Expand(template string) []byte {
	return m.Pattern.Expand(nil, []byte(template), m.Text, m.Places)
}

// Finding is the content of a message.
type Finding struct {
	Tick    uint64
	HasTick bool
	Peers   []string
	Values  []tracediff.ClaimedValue
	Players map[uint32]string

	Facts map[string]string

	By       string // who wrote it, as Claim.By
	SelfTest bool
	Reported bool // by Peers
}

// Format returns the format of a log with the engine's messages. It has only claims. Its Sniff reports whether one of
// the messages is in the leading bytes; [Grammar.Read] finds them anywhere.
func (g *Grammar) Format() tracediff.Format {
	return tracediff.Format{Name: g.Name, Title: g.Title, Sniff: g.sniff, Claims: g.Read}
}

// Read looks for the engine's messages in a whole log. Claims and errors have the name for the log.
func (g *Grammar) Read(r io.Reader, name string) (*tracediff.ClaimLog, error) {
	return Scan(r, name, []*Grammar{g})
}

// Scan looks for the messages of some engines in a whole log. Claims and errors have the name for the log. The dialect
// comes from the first claim; without any the ClaimLog is empty. At most 65536 claims are kept.
func Scan(r io.Reader, name string, list []*Grammar) (*tracediff.ClaimLog, error) {
	logs, err := scan(r, name, nil, list)
	if err != nil {
		return nil, err
	}
	return logs[0], nil
}

// ScanEach reads a log once and returns the result of [Scan] and, by the names of the grammars, the result of
// [Grammar.Read] for each engine. Beside joins another search of the same window, which is then called after each step of
// it.
func ScanEach(r io.Reader, name string, list []*Grammar, beside ...func(w *textsearch.Window) func()) (all *tracediff.ClaimLog, each map[string]*tracediff.ClaimLog, err error) {
	lists := [][]*Grammar{list}
	for i := range list {
		lists = append(lists, list[i:i+1])
	}
	logs, err := scan(r, name, beside, lists...)
	if err != nil {
		return nil, nil, err
	}
	each = map[string]*tracediff.ClaimLog{}
	for i := range list {
		each[list[i].Name] = logs[1+i]
	}
	return logs[0], each, nil
}

// sniff reports whether there is a claim in some bytes.
func (g *Grammar) sniff(head []byte) bool {
	for _, f := range g.Forms {
		if f.Kind != Claim || f.Literal == "" {
			continue
		}
		for from := 0; ; {
			at := bytes.Index(head[from:], []byte(f.Literal))
			if at < 0 {
				break
			}
			at += from
			from = at + len(f.Literal)
			begin := bytes.LastIndexByte(head[:at], '\n') + 1
			if m := g.match(f, head[begin:], at-begin, true); m.ok && m.own {
				return true
			}
		}
	}
	return false
}

// matched is what a form reads in a text.
type matched struct {
	Finding
	ok       bool // it is a message of the form
	own      bool // and the program's own, as far as the text before it shows
	cut      bool // the text ends in its line
	misfit   string
	from, to int // of what is quoted
}

// match reads a message with its literal at a place of a text. The text begins with a line, or after another message on
// a line, or in the middle of a line that is too long.
func (g *Grammar) match(f *Form, text []byte, at int, begins bool) (m matched) {
	part, open := lines(text, at, f.Lines)
	end := len(part)
	if open { // it may continue: part of a number is a different number
		part = append(part[:end:end], 0)
	}
	m.cut = open && bytes.IndexByte(text[at:], '\n') < 0
	if f.anchored && !begins {
		return m
	}
	skipped := 0
	if f.first {
		skipped = at
	}
	places := f.Pattern.FindSubmatchIndex(part[skipped:])
	for i := range places {
		if places[i] >= 0 {
			places[i] += skipped
		}
	}
	if places == nil || f.Literal != "" && (places[0] > at || places[1] < at+len(f.Literal)) || bytes.IndexByte(part[:places[0]], '\n') >= 0 {
		return m
	}
	for i := 1; i < len(places); i += 2 {
		if open && (places[i] > end || i > 1 && places[i] == end) {
			return m
		}
	}
	one := &Match{Pattern: f.Pattern, Text: part, Places: places}
	m.from, m.to = places[0], places[1]
	if i := f.Pattern.SubexpIndex("text"); i > 0 && places[2*i] >= 0 {
		m.from, m.to = places[2*i], places[2*i+1]
	}
	if f.Follow != nil {
		m.to = one.follow(f.Follow, text, m.to)
	}
	m.Finding, m.misfit = f.Parse(one)
	m.ok = m.misfit == ""
	m.own = g.Leads == nil || begins && g.owns(text[:m.from])
	return m
}

// lines returns a text up to the end of some lines; the first one contains a place. Open means that there are not so
// many, or that the last one has no end.
func lines(text []byte, at, n int) (part []byte, open bool) {
	end := at
	for range n {
		i := bytes.IndexByte(text[end:], '\n')
		if i < 0 {
			return text, true
		}
		end += i + 1
	}
	return bytes.TrimSuffix(text[:end-1], []byte("\r")), false
}

// follow takes the whole lines that follow a place and belong to the message. It returns where they end.
func (m *Match) follow(p *regexp.Regexp, text []byte, end int) int {
	next := bytes.IndexByte(text[end:], '\n')
	for at := end + next + 1; next >= 0; at += next + 1 {
		if next = bytes.IndexByte(text[at:], '\n'); next < 0 {
			break
		}
		line := bytes.TrimSuffix(text[at:at+next], []byte("\r"))
		groups := p.FindSubmatch(line)
		if groups == nil {
			break
		}
		m.Follow, end = append(m.Follow, groups), at+len(line)
	}
	return end
}

// Line reads a message in a line alone, without its end. It reports whether the pattern fits.
func (f *Form) Line(line []byte) (found Finding, misfit string, fits bool) {
	at := bytes.Index(line, []byte(f.Literal))
	if at < 0 {
		return Finding{}, "", false
	}
	m := (&Grammar{}).match(f, append(line[:len(line):len(line)], '\n'), at, true)
	return m.Finding, m.misfit, m.ok || m.misfit != ""
}

// Named returns the list of one peer, if it has a name.
func Named(peer string) []string {
	if peer == "" {
		return nil
	}
	return []string{peer}
}

// TickName returns a function that puts an engine's word before the number.
func TickName(word string) func(tick uint64) string {
	return func(tick uint64) string { return fmt.Sprintf("%s %d", word, tick) }
}
