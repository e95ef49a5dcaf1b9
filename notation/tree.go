package notation

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// treeNotation is a tree that a program printed: each line has a sign and a label, with the lines in it deeper. dump of Swift does, windows
// of debug values, and trees drawn with lines:
//
//	▿ Game.Match #0        v World               ├── tick: 5
//	  - tick: 5              - tick: 5           └── units
//	  ▿ units: 1 element     v Units (1)             └── Unit #7
//	    ▿ Game.Unit #1         v Unit #7                 └── hp: 3
//	      - hp: 3                - hp: 3
//
// Lines without a sign are around the trees. Each tree is a document. The names of classes are #type. A number after one is #id, but
// not in Swift, which counts the objects in the order of the dump.
func treeNotation() Notation {
	return Notation{Name: "tree", Title: "printed trees", Extensions: []string{".txt", ".log", ".dump", ".tree"}, Lines: true, Sniff: sniffTree, Parse: parseTree}
}

// Signs before lines that have others in them, before lines that have none, and of trees drawn with lines.
var (
	treeLine   = lazyregexp.New(`^([\s│┃|]*)(▿|▹|▾|▸|▼|▶|►|v|>|\+|-|\*|•|·|[├└┖┠┣┗]─*╴?|\|--|\+--|` + "`--" + `|\\--) ?(\S.*)$`)
	treeName   = lazyregexp.New(`^(\.?[A-Za-z_][\w.$ -]{0,80}|\.\d{1,9}): ?(.*)$`)
	treeCount  = lazyregexp.New(`^(?:([A-Za-z_][\w.$ ]{0,80}?) )?(?:\((\d{1,9})\)|\(?(\d{1,9}) (elements?|members?|key/value pairs?|items?|entries|children)\)?)$`)
	treeObject = lazyregexp.New(`^(?:\[(\d{1,18})\] ?)?([A-Za-z_][\w.:<>$]*)?(?: ?#(\d{1,18}))?(?: "([^"]*)")?(?: [@(]?0x[0-9a-fA-F]+\)?)?$`)
	treeWord   = lazyregexp.New(`^([A-Za-z_][\w.$]*)(?: (.*))?$`)
)

const swiftSign = "▿"

// branch is a line of a tree.
type branch struct {
	sign     string
	label    []byte
	at, end  int
	depth    int
	children []int
	named    bool // it has a name and a value
	name     []byte
	value    []byte
}

// treeReader reads the trees of a text.
type treeReader struct {
	text  []byte
	at    int
	swift bool

	lines, others int
	opens, leaves int // lines with lines in them and a sign for it, and lines with a sign for lines that have none
	pairs, nested int
	numbers       int
	drawn         bool
}

// sniffTree reports whether nearly all lines are trees of several levels, with a sign for lines that have others in them, or drawn with
// lines. A quarter of the values are numbers.
func sniffTree(head []byte, whole bool) bool {
	if !whole {
		head = head[:bytes.LastIndexByte(head, '\n')+1]
	}
	r := treeReader{text: head}
	for {
		all, _, err := r.next()
		if err != nil {
			return false
		}
		if len(all) == 0 {
			break
		}
		r.count(all)
	}
	return 10*r.others <= r.lines+10 && r.nested > 0 && r.pairs > 2 && 4*r.numbers >= r.pairs && (r.drawn || r.opens > 0 && r.leaves > 0)
}

// count counts what the lines of a tree are.
func (r *treeReader) count(all []branch) {
	for i := range all[1:] {
		b := &all[i+1]
		switch {
		case len(b.children) > 0 && strings.Contains("-*•·", b.sign) || len(b.children) == 0 && b.sign == "v":
			r.others++ // a letter or a list of notes
		case len(b.children) > 0:
			r.opens++
		case strings.Contains("-*•·", b.sign):
			r.leaves++
		}
		first, _ := utf8.DecodeRuneInString(b.sign)
		r.drawn = r.drawn || first >= '─' && first <= '╿'
		if b.depth > all[1].depth {
			r.nested++
		}
		if b.named && len(b.children) == 0 {
			if r.pairs++; len(b.value) > 0 && bytes.IndexByte([]byte("0123456789-([tf"), b.value[0]) >= 0 {
				r.numbers++
			}
		}
	}
}

func parseTree(text []byte, to Sink) error {
	r := treeReader{text: text}
	for {
		all, tick, err := r.next()
		if err != nil || len(all) == 0 {
			return err
		}
		r.swift = all[1].sign == swiftSign
		to.BeginMap(all[1].at)
		for _, i := range all[0].children {
			own := &all[i]
			if isTick(own.name) || slices.ContainsFunc(own.children, func(i int) bool { return isTick(all[i].name) }) {
				tick = nil
			}
		}
		if tick != nil {
			to.Name([]byte("tick"))
			to.Scalar(Number, withoutZeros(tick))
		}
		t, root := tree{all: all, swift: r.swift, to: to}, 0
		if only := &all[1]; len(all[0].children) == 1 && len(only.children) > 0 && !only.named && !t.isList(only, false) {
			t.classOf(only.label)
			root = 1
		}
		t.members(root)
		to.End(all[len(all)-1].end)
	}
}

// next reads the next tree, with a root before its lines, and the tick in the line before it. There is none at the end.
func (r *treeReader) next() (all []branch, tick []byte, err error) {
	open := []int{0}
	for r.at < len(r.text) {
		begin := r.at
		line, after := lineAt(r.text, r.at)
		m := treeLine.FindSubmatch(bytes.TrimRight(line, " \t\r"))
		if m == nil {
			if len(bytes.TrimSpace(line)) > 0 && len(all) > 0 {
				return all, tick, nil
			}
			r.at = after
			if len(bytes.TrimSpace(line)) > 0 {
				r.others++
				tick = nil
				for _, word := range wordNumber.FindAllSubmatchIndex(line, mostBegins) {
					if isTick(line[word[2]:word[3]]) {
						tick = line[word[4]:word[5]]
					}
				}
			}
			continue
		}
		depth := utf8.RuneCount(m[1])
		if all == nil {
			if depth > 3 {
				return nil, nil, fault(begin, "%.40q, expected the begin of a tree", line)
			}
			all = append(all, branch{depth: -1})
		} else if depth < all[1].depth {
			return nil, nil, fault(begin, "%.40q, expected a line as deep as the first one", line)
		}
		r.at = after
		r.lines++
		for all[open[len(open)-1]].depth >= depth {
			open = open[:len(open)-1]
		}
		if len(open) >= MaxDepth/4 {
			return nil, nil, fault(begin, "more than %d lines within each other", MaxDepth/4)
		}
		b := branch{sign: string(m[2]), label: bytes.TrimSpace(m[3]), at: begin, end: after, depth: depth}
		if pair := treeName.FindSubmatch(b.label); pair != nil {
			b.named, b.name, b.value = true, bytes.TrimPrefix(pair[1], []byte{'.'}), pair[2]
		}
		for _, i := range open {
			all[i].end = after
		}
		outer := &all[open[len(open)-1]]
		outer.children = append(outer.children, len(all))
		open = append(open, len(all))
		all = append(all, b)
	}
	return all, tick, nil
}

// tree gives the lines of one.
type tree struct {
	all   []branch
	swift bool
	to    Sink
}

// isElement reports whether a line is an element of a list, and no member of a map.
func (t *tree) isElement(b *branch) bool {
	if b.named {
		return false
	}
	if m := treeObject.FindSubmatch(b.label); m != nil {
		return len(m[1])+len(m[3]) > 0
	}
	m := treeCount.FindSubmatch(b.label)
	return m != nil && len(m[1]) == 0 || m == nil && len(b.children) == 0
}

// isList reports whether the lines in one are a list. Counted means that it has their number.
func (t *tree) isList(b *branch, counted bool) bool {
	for _, i := range b.children {
		if c := &t.all[i]; c.named || !counted && !t.isElement(c) {
			return false
		}
	}
	return true
}

// members gives the lines in one as members of a map.
func (t *tree) members(i int) {
	names := map[string]int{}
	label := func(b *branch) (name, value []byte) {
		if b.named {
			return b.name, b.value
		}
		if m := treeCount.FindSubmatch(b.label); m != nil && len(m[1]) > 0 {
			return m[1], b.label[len(m[1])+1:]
		}
		if m := treeObject.FindSubmatch(b.label); m != nil && len(m[2]) > 0 {
			if len(m[2]) == len(b.label) {
				return m[2], nil
			}
			return m[2], b.label
		}
		if m := treeWord.FindSubmatch(b.label); m != nil {
			return m[1], m[2]
		}
		return b.label[:min(len(b.label), maxBegin)], nil
	}
	for _, c := range t.all[i].children {
		name, _ := label(&t.all[c])
		names[string(name)]++
	}
	for _, c := range t.all[i].children {
		b := &t.all[c]
		name, value := label(b)
		if m := treeObject.FindSubmatch(b.label); names[string(name)] > 1 || !b.named && m != nil && len(m[3]) > 0 {
			t.to.Item(name)
		} else {
			t.to.Name(name)
		}
		t.value(c, value)
	}
}

// value gives a line by the text after its name, or by the whole line if it has none.
func (t *tree) value(i int, text []byte) {
	b := &t.all[i]
	count := treeCount.FindSubmatch(text)
	counted := count != nil && len(count[1]) == 0
	pairs := counted && bytes.HasPrefix(count[4], []byte("key"))
	none := len(b.children) == 0 && counted && string(count[3]) == "0"
	switch {
	case none && pairs:
		t.to.BeginMap(b.at)
	case none, len(b.children) == 0 && string(text) == "[]":
		t.to.BeginList(b.at)
	case len(b.children) == 0:
		if string(text) == "nil" {
			t.to.Scalar(Null, nil)
		} else {
			giveValue(t.to, text, b.at)
		}
		return
	case len(b.children) == 1 && string(t.all[b.children[0]].name) == "some" && bytes.HasPrefix(text, []byte("Optional(")):
		t.value(b.children[0], t.all[b.children[0]].value)
		return
	case pairs && t.arePairs(b):
		t.to.BeginMap(b.at)
		for _, c := range b.children {
			pair := t.all[c].children
			key := &t.all[pair[0]]
			t.to.Name(trimQuotes(key.value))
			t.value(pair[1], t.all[pair[1]].value)
		}
	case counted && bytes.HasPrefix(count[4], []byte("member")) && t.areScalars(b):
		t.to.BeginList(b.at)
		var set []element
		for _, c := range b.children {
			set = append(set, element{Bare, t.all[c].label})
		}
		giveSet(t.to, set)
	case t.isList(b, counted):
		t.to.BeginList(b.at)
		for _, c := range b.children {
			t.value(c, t.all[c].label)
		}
	default:
		t.to.BeginMap(b.at)
		t.classOf(text)
		t.members(i)
	}
	t.to.End(t.all[i].end)
}

// classOf gives the class and the number before the members of an object, or what else its line has.
func (t *tree) classOf(text []byte) {
	m := treeObject.FindSubmatch(text)
	if m == nil {
		if len(text) > 0 && !t.swift {
			t.to.Name([]byte("#text"))
			giveValue(t.to, text, 0)
		}
		return
	}
	if len(m[2]) > 0 {
		t.to.Name([]byte("#type"))
		t.to.Scalar(Text, m[2])
	}
	if id := append(bytes.Clone(m[3]), m[1]...); len(id) > 0 && !t.swift {
		number := m[3]
		if len(number) == 0 {
			number = m[1]
		}
		if _, err := strconv.ParseUint(string(number), 10, 63); err == nil {
			t.to.Name([]byte("#id"))
			t.to.Scalar(Number, withoutZeros(number))
		}
	}
	if len(m[4]) > 0 {
		t.to.Name([]byte("#name"))
		t.to.Scalar(Text, m[4])
	}
}

// arePairs reports whether all lines in one have a scalar key and a value in them.
func (t *tree) arePairs(b *branch) bool {
	for _, c := range b.children {
		pair := t.all[c].children
		if len(pair) != 2 || string(t.all[pair[0]].name) != "key" || len(t.all[pair[0]].children) > 0 || string(t.all[pair[1]].name) != "value" {
			return false
		}
	}
	return true
}

// areScalars reports whether no line in one has others in it.
func (t *tree) areScalars(b *branch) bool {
	for _, c := range b.children {
		if len(t.all[c].children) > 0 {
			return false
		}
	}
	return true
}

// trimQuotes returns a text without the quotes around it.
func trimQuotes(text []byte) []byte {
	if isQuoted(text) {
		return text[1 : len(text)-1]
	}
	return text
}
