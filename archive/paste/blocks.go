package paste

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// PostLen is how many bytes a text has at most in which blocks are looked for.
const PostLen = 256 << 10

// HasFences reports whether a text has lines that open and close blocks.
func HasFences(text []byte) bool {
	return bytes.Count(text, []byte("\n```")) > 1 || bytes.Count(text, []byte("\n~~~")) > 1 || bytes.Contains(text, []byte("[/code]")) || bytes.Contains(text, []byte("</pre>"))
}

// block is a part of a post that is set apart: between fences, indented, a table, or a paragraph.
type block struct {
	label  string // the short line before it
	tick   string // the number of the tick in it
	set    bool   // between fences, or a table
	plain  bool   // a paragraph
	text   []byte
	ticks  []uint64
	fields map[string]bool // of a state
}

// blocks takes the logs with checksums out of a post that people wrote. Several are the logs of several machines if they
// have ticks in common, and labels or fences:
//
//	Server:
//	    step 1200 crc=0x11223344
//	Client (Tom):
//	    step 1200 crc=0x11223345
func (p *peeler) blocks() {
	var found, states []block
	for _, b := range split(p.text) {
		if b.set && b.tick == "" {
			b.tick = p.tickOf(b.text)
		}
		if columns := b.columns(); b.set && p.known.State != nil && len(columns) > 0 {
			for _, c := range columns {
				states = p.state(states, c)
			}
		} else if (b.set || b.tick != "" && !b.plain) && p.known.State != nil {
			states = p.state(states, b)
		}
		if b.ticks = p.known.Ticks(b.text); len(b.ticks) > 0 {
			found = append(found, b)
		}
	}
	if len(found) > 1 && apart(found) && inCommon(found) {
		p.note("%d logs with checksums were found in the text, which is left out", len(found))
		p.machines(found)
		return
	}
	if len(states) > 1 && apart(states) && alike(states) {
		p.note("%d states were found in the text, which is left out", len(states))
		p.machines(states)
		return
	}
	if len(found) == 1 && !found[0].plain && len(p.known.Ticks(p.text)) == 0 { // the rest of a damaged log is no text around it
		p.note("the text around a log with checksums is left out")
		p.posts++
		p.files = append(p.files, File{Text: found[0].text})
	}
}

// tickOf returns the number that the first line of a block ends with, if the text around the blocks calls it a tick: "frozen: 4187"
// of a block, "at slot 4187" in a sentence. It is empty if there is none.
func (p *peeler) tickOf(block []byte) string {
	first, _, _ := bytes.Cut(block, []byte{'\n'})
	m := lastNumber.FindSubmatch(first)
	if m == nil {
		return ""
	}
	for _, called := range tickCalled.FindAllStringSubmatch(string(p.text[:min(len(p.text), PostLen)]), maxCalled) {
		if called[1] == string(m[1]) {
			return string(m[1])
		}
	}
	return ""
}

// maxCalled is how many ticks of a text are looked at.
const maxCalled = 1 << 10

// state adds a block to others if it is a state.
func (p *peeler) state(list []block, b block) []block {
	var plain []byte
	if b.fields, plain = p.known.State(b.text); len(b.fields) == 0 {
		return list
	}
	if plain != nil {
		b.text = plain
	}
	if plain != nil && b.tick != "" && !tickLine.Match(plain) {
		b.text, b.tick = append([]byte("tick: "+b.tick+"\n"), plain...), ""
	}
	return append(list, b)
}

// machines takes each block as the file of another machine.
func (p *peeler) machines(list []block) {
	ticked := !slices.ContainsFunc(list, func(b block) bool { return b.tick == "" })
	for i, b := range list {
		folder := b.label
		if folder == "" {
			folder = fmt.Sprintf("post%d", i+1)
		}
		name := "paste.txt"
		if ticked {
			name = "state_" + b.tick + ".txt"
		}
		p.files = append(p.files, File{Folder: folder, Name: name, Text: b.text})
	}
}

// alike reports whether blocks have most fields in common, as states of one game do.
func alike(list []block) bool {
	first := list[0].fields
	for _, b := range list[1:] {
		common := 0
		for name := range b.fields {
			if first[name] {
				common++
			}
		}
		if 4*common < 3*max(len(first), len(b.fields)) {
			return false
		}
	}
	return true
}

// apart reports whether blocks are set apart so that each may be of another machine: all have labels, no two the same, or
// none has one and all are set.
func apart(list []block) bool {
	seen := map[string]bool{}
	for _, b := range list {
		if b.label != "" && seen[b.label] || (b.label == "") != (list[0].label == "") || b.label == "" && !b.set {
			return false
		}
		seen[b.label] = true
	}
	return true
}

// inCommon reports whether two blocks have a tick in common.
func inCommon(list []block) bool {
	seen := map[uint64]bool{}
	for _, b := range list {
		own := slices.Compact(slices.Sorted(slices.Values(b.ticks)))
		if slices.ContainsFunc(own, func(t uint64) bool { return seen[t] }) {
			return true
		}
		for _, t := range own {
			seen[t] = true
		}
	}
	return false
}

// split returns the blocks of a text.
func split(text []byte) (list []block) {
	ls := &lines{text: text}
	label, tick, author, heading := "", "", "", ""
	table := -1 // the last one below the heading
	add := func(set, plain bool, lines [][]byte) {
		if label == "" && set {
			label, heading = heading, ""
		}
		if author != "" && ofAuthor.MatchString(label) {
			label = author
		}
		list = append(list, block{label: label, tick: tick, set: set, plain: plain, text: append(bytes.Join(dedent(lines), []byte{'\n'}), '\n')})
		label, tick = "", ""
	}
	for !ls.ended() {
		if f := opens(ls); f != nil {
			var inside [][]byte
			for !ls.ended() && !f.closes(ls.peek()) {
				inside = append(inside, ls.next())
			}
			if !ls.ended() {
				ls.next()
			}
			add(true, false, inside)
			continue
		}
		kind := kindOf(ls.peek())
		if kind == emptyLine {
			ls.next()
			continue
		}
		var run [][]byte
		for !ls.ended() && (kindOf(ls.peek()) == kind || kind == indentedLine && kindOf(ls.peek()) == emptyLine) {
			line := ls.peek()
			if kind == proseLine && (len(run) > 0 && (isLabel(line) || isHeading(line)) || opensBlock(line)) {
				break
			}
			run = append(run, ls.next())
		}
		for _, line := range run {
			if m := authorNamed.FindSubmatch(line); kind == proseLine && m != nil {
				author = string(m[1])
			}
		}
		switch {
		case kind == proseLine && isHeading(run[0]):
			heading, _, _ = strings.Cut(strings.Trim(string(run[0]), "=-*#~+ "), ": ")
			heading, _ = named([]byte(place.ReplaceAllString(heading, "")))
			run, table = run[1:], -1
		case kind == proseLine && isLabel(run[0]):
			label, tick = named(run[0]) // states of ticks have these in their names
			run, table = run[1:], -1
		case kind == tableLine && table >= 0 && list[table].goesOn(run): // a message was between its rows
			text := &list[table].text
			*text = append(append(*text, bytes.Join(dedent(run), []byte{'\n'})...), '\n')
			continue
		}
		if len(run) > 0 {
			add(kind == tableLine, kind == proseLine, run)
		}
		if kind == tableLine {
			table = len(list) - 1
		}
	}
	return list
}

// opensBlock reports whether a line opens a block between fences.
func opensBlock(line []byte) bool { return opens(&lines{text: line}) != nil }

// lineKind is how a line is set.
type lineKind int

const (
	emptyLine lineKind = iota // it is empty
	proseLine
	indentedLine
	tableLine
)

func kindOf(line []byte) lineKind {
	rest := bytes.TrimLeft(line, " \t")
	switch {
	case len(rest) == 0:
		return emptyLine
	case rest[0] == '|' && bytes.Count(rest, []byte{'|'}) > 2:
		return tableLine
	case len(line)-len(rest) > 1 || line[0] == '\t':
		return indentedLine
	}
	return proseLine
}

// isRule reports whether a line is the rule below the names of a table's columns.
func isRule(line []byte) bool { return len(bytes.Trim(line, "|-: \t")) == 0 }

// goesOn reports whether rows are the next ones of a table: as wide, without the names of the columns, and with a larger number.
func (b *block) goesOn(rows [][]byte) bool {
	last := b.text[bytes.LastIndexByte(b.text[:len(b.text)-1], '\n')+1:]
	next := dedent(rows[:1])
	if len(next) == 0 || len(rows) > 1 && isRule(rows[1]) || bytes.Count(next[0], []byte{'\t'}) != bytes.Count(last, []byte{'\t'}) {
		return false
	}
	number := func(row []byte) int {
		cell, _, _ := bytes.Cut(row, []byte{'\t'})
		n, err := strconv.Atoi(string(cell))
		if err != nil {
			return -1
		}
		return n
	}
	return number(last) >= 0 && number(next[0]) > number(last)
}

// dedent takes the indentation that all lines have off them. Rows of Markdown's tables become cells between tabs.
func dedent(lines [][]byte) (out [][]byte) {
	indent := -1
	for _, line := range lines {
		if n := len(line) - len(bytes.TrimLeft(line, " \t")); n < len(line) && (indent < 0 || n < indent) {
			indent = n
		}
	}
	for _, line := range lines {
		line = line[min(len(line), max(indent, 0)):]
		if kindOf(line) == tableLine {
			if isRule(line) {
				continue
			}
			cells := bytes.Split(bytes.Trim(line, "| \t"), []byte{'|'})
			for i := range cells {
				cells[i] = bytes.Trim(cells[i], " \t*`")
			}
			line = bytes.Join(cells, []byte{'\t'})
		}
		out = append(out, line)
	}
	return out
}

// maxLabel is how many bytes a label has at most.
const maxLabel = 60

// isLabel reports whether a line is the label of what follows: it is short, and ends with a colon or is a heading.
func isLabel(line []byte) bool {
	text := bytes.TrimRight(bytes.Trim(line, " \t"), "*_")
	if len(text) == 0 || len(text) > maxLabel {
		return false
	}
	return text[len(text)-1] == ':' || bytes.HasPrefix(bytes.TrimLeft(text, "#"), []byte{' '}) && text[0] == '#'
}

// isHeading reports whether a line is a heading of what follows up to the next one: === [1/2] linux: game.zip ===.
func isHeading(line []byte) bool {
	text := bytes.Trim(line, " \t")
	return len(text) >= 8 && len(text) <= 4*maxLabel && strings.IndexByte("=-*#~+", text[0]) >= 0 && len(bytes.TrimLeft(text[:3], string(text[:1]))) == 0 &&
		len(bytes.TrimLeft(text[len(text)-3:], string(text[:1]))) == 0 && len(bytes.Trim(text, string(text[:1])+" ")) > 0
}

// place finds the number of a heading: [1/2].
var place = lazyregexp.New(`^[(\[]?\d+(?:/\d+)?[)\].:] `)

// about are words of labels that do not name a machine.
var about = []string{"and", "log", "logs", "logfile", "output", "console", "trace", "the", "my", "here", "is", "from", "on", "of", "file", "wrote", "got", "this", "by", "both"}

// authorNamed finds who wrote a post, in the line above it, and ofAuthor a word for the author in a label.
var (
	authorNamed = lazyregexp.New(`^[*_#> ]*@?([\pL\pN_.-]{1,39})[*_]* (?:commented|wrote|said|replied|posted|opened)\b`)
	ofAuthor    = lazyregexp.New(`(?i)\b(my|mine|me|I)\b`)
)

// pathOf finds the path of a file in a label, between brackets.
var pathOf = lazyregexp.New(`\s*[(\[]` + "`" + `?[^\s()\[\]]*[/\\][^()\[\]]*[)\]]`)

// tickLine finds the line of a state with its tick.
var tickLine = lazyregexp.New(`(?im)^(?:tick|frame|turn|step):`)

// tickNamed finds the tick that a label names.
var tickNamed = lazyregexp.New(`(?i)[,;]?\s*\b(?:(?:at|in|of|on|for)\s+)?(?:tick|frame|turn|step)\s*[#=:]?\s*(\d{1,18})\b`)

// lastNumber finds the number that a line ends with, tickCalled those that a text calls ticks.
var (
	lastNumber = lazyregexp.New(`[:=]\s*(\d{2,18})\s*$`)
	tickCalled = lazyregexp.New(`(?i)\b(?:at|in|of|on|for|after)\s+(?:tick|frame|turn|step|slot|block|height)\s*[#=:]?\s*(\d{2,18})\b`)
)

// named returns the name of a machine in a label, "Client (Tom)" of "**Client log (Tom), tick 512:**", and the tick.
func named(label []byte) (name, tick string) {
	text := strings.Trim(pathOf.ReplaceAllString(string(label), ""), " \t#*_:`")
	if m := tickNamed.FindStringSubmatch(text); m != nil {
		text, tick = strings.Trim(strings.Replace(text, m[0], "", 1), " ,;:"), m[1]
	}
	var kept []string
	for _, word := range strings.Fields(text) {
		if !slices.Contains(about, strings.ToLower(strings.Trim(word, "':,"))) {
			kept = append(kept, word)
		}
	}
	name = cmp.Or(strings.Join(kept, " "), text)
	name = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == utf8.RuneError || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, name)
	if name = strings.TrimLeft(name, ". "); name == "" {
		return "post", tick
	}
	return name, tick
}
