package notation

import (
	"bytes"
	"strconv"
	"strings"
)

// term is a scalar, or a container before the terms in it. A document of terms is kept before it is given, since only all of
// the terms of a list show whether they are the members of a map.
type term struct {
	shape      termShape
	as         termClass
	kind       Kind // of a scalar
	form       termForm
	begin, end int32 // in the text
	all        int32 // how many terms it is, with those in it
	items      int32 // how many terms it has
}

// termShape is what a term is.
type termShape uint8

const (
	scalarTerm termShape = iota
	listTerm
	tupleTerm // of Erlang
	mapTerm   // a name, its value, the next name …
	setTerm   // without an order
	pairTerm  // (name . value)
)

// termClass is how a container is given.
type termClass uint8

const (
	asItems       termClass = iota // as a list
	asMembers                      // as a map: its terms are lists that begin with different names
	asPlist                        // as a map: (:id 7 :hp 3)
	asTypedFields                  // as a map: (unit 7 (hp 3) (at 1 2))
	asTypedPlist                   // as a map: (unit :id 7 :hp 3)
	asTypedMap                     // as a map, with its only map: {unit,7,#{hp => 3}}
)

// termForm is how the text of a scalar is read.
type termForm uint8

const (
	wordForm   termForm = iota // as it is
	quotedForm                 // in quotes
	keyForm                    // as it is, and it begins with a colon: the name of a member in Lisp
)

// maxTerms bounds the memory for a document.
const maxTerms = 1 << 23

// termDialect is a language that prints terms.
type termDialect struct {
	scalars dialect
	tagged  bool                      // a tuple begins with its type, and a list of pairs has pairs of two
	next    func(r *termReader) error // reads a scalar, a sign, or the begin of a container
}

// termReader reads documents, one after the other.
type termReader struct {
	*termDialect
	scanner
	terms []term
	open  []openTerm
	marks int // what only this language writes
}

// openTerm is a container that has begun.
type openTerm struct {
	term     int
	closes   byte // 0 if the next separator ends it
	complete bool // a term is, and a separator must follow
}

func (d *termDialect) reader(text []byte) *termReader {
	return &termReader{termDialect: d, scanner: scanner{dialect: &d.scalars, text: text, at: bomLen(text)}}
}

// document reads the next document. It reports whether there is one. If the document ends too early, its begin is kept.
func (r *termReader) document() (bool, error) {
	r.terms, r.open = r.terms[:0], r.open[:0]
	for {
		if err := r.space(); err != nil {
			return len(r.terms) > 0, err
		}
		if r.at == len(r.text) {
			if len(r.open) > 0 {
				return true, r.unended()
			}
			return len(r.terms) > 0, nil
		}
		if len(r.open) == 0 && len(r.terms) > 0 {
			return true, nil
		}
		if len(r.terms) >= maxTerms {
			return true, fault(r.at, "more than %d values in a document", maxTerms)
		}
		if err := r.next(r); err != nil {
			r.unended()
			return len(r.terms) > 0, err
		}
	}
}

// unended ends the containers of a text that ends too early.
func (r *termReader) unended() error {
	for len(r.open) > 0 {
		r.pop(r.at)
	}
	return cut(r.at, "a value")
}

// top returns the container that is open, nil if none is.
func (r *termReader) top() *openTerm {
	if len(r.open) == 0 {
		return nil
	}
	return &r.open[len(r.open)-1]
}

// add adds a scalar that ends at the current place.
func (r *termReader) add(kind Kind, form termForm, begin, end int) {
	r.count()
	r.terms = append(r.terms, term{kind: kind, form: form, begin: int32(begin), end: int32(end), all: 1})
}

// count counts a term in the container around it.
func (r *termReader) count() {
	if top := r.top(); top != nil {
		r.terms[top.term].items++
		top.complete = true
	}
}

// push begins a container, after the sign that begins it.
func (r *termReader) push(shape termShape, closes byte, begin int) error {
	if len(r.open) >= MaxDepth {
		return fault(begin, "more than %d maps and lists within each other", MaxDepth)
	}
	r.count()
	r.open = append(r.open, openTerm{term: len(r.terms), closes: closes})
	r.terms = append(r.terms, term{shape: shape, begin: int32(begin)})
	return nil
}

// pop ends the container that is open.
func (r *termReader) pop(end int) {
	i := r.top().term
	t := &r.terms[i]
	t.end, t.all = int32(end), int32(len(r.terms)-i)
	t.as = r.classOf(i)
	r.open = r.open[:len(r.open)-1]
}

// closes ends a container at the sign that ends it.
func (r *termReader) closes(c byte) error {
	if top := r.top(); top != nil && top.closes == 0 && top.complete {
		r.pop(r.at)
	}
	top := r.top()
	if top == nil || top.closes != c || r.namedOnly() {
		return fault(r.at, "%q, expected a value", c)
	}
	r.at++
	if r.terms[top.term].shape == setTerm && r.at < len(r.text) && bytes.IndexByte([]byte(")>"), r.text[r.at]) >= 0 {
		r.at++ // MapSet.new([9, 3])
	}
	r.pop(r.at)
	return nil
}

// namedOnly reports whether the last term of the map that is open is a name.
func (r *termReader) namedOnly() bool {
	t := &r.terms[r.top().term]
	return t.shape == mapTerm && t.items%2 != 0
}

// textOf returns the text of a scalar.
func (r *termReader) textOf(t *term) []byte {
	text := r.text[t.begin:t.end]
	if t.kind == Null {
		return nil
	}
	switch t.form {
	case keyForm:
		return bytes.ReplaceAll(text[1:], []byte("/"), []byte("."))
	case quotedForm:
		s := scanner{dialect: r.dialect, text: text}
		if _, read, err := s.texts(Text); err == nil {
			return read
		}
	}
	if w, ok := r.dialect.words[string(text)]; ok {
		return []byte(w.text)
	}
	if number, ok := plainNumber(text); ok && t.kind == Number {
		return number
	}
	return text
}

// nameOf returns a term as the name of a member.
func (r *termReader) nameOf(i int) []byte {
	t := &r.terms[i]
	if t.shape == scalarTerm && t.kind != Null && t.kind != Bool {
		return r.textOf(t)
	}
	return compact(r.text[t.begin:t.end])
}

// items calls a function with the terms in a container, until it returns false. It reports whether it never did.
func (r *termReader) items(i int, do func(i int) bool) bool {
	at := i + 1
	for range r.terms[i].items {
		if !do(at) {
			return false
		}
		at += int(r.terms[at].all)
	}
	return true
}

// isWord reports whether a term is a word without quotes.
func (r *termReader) isWord(i int) bool {
	t := &r.terms[i]
	return t.shape == scalarTerm && t.kind == Text && t.form == wordForm
}

// areMembers reports whether terms are the members of a map: lists or tuples that begin with a name, no two with the same. A list
// of two numbers is a place rather than a member.
func (r *termReader) areMembers(x rest) bool {
	var names map[string]bool
	for n := range x.items {
		t, at := &r.terms[x.at], x.at
		if x.at += int(t.all); !r.isMember(at) {
			return false
		}
		if x.items == 1 {
			return true
		} else if n == 0 {
			names = map[string]bool{}
		}
		name := string(r.nameOf(at + 1))
		if names[name] {
			return false
		}
		names[name] = true
	}
	return x.items > 0
}

// isMember reports whether a term may be a member of a map.
func (r *termReader) isMember(i int) bool {
	t := &r.terms[i]
	switch {
	case t.shape == pairTerm:
		return t.items == 2
	case t.items == 0 || t.shape != listTerm && t.shape != tupleTerm || t.shape == tupleTerm != r.tagged || r.tagged && t.items != 2:
		return false
	}
	name := &r.terms[i+1]
	if name.form == keyForm || name.shape != scalarTerm && !(r.tagged && r.flat(i+1)) || t.items == 1 {
		return false
	}
	return name.shape == scalarTerm && name.kind != Number || r.terms[i+1+int(name.all)].shape != scalarTerm
}

// flat reports whether a term has scalars only.
func (r *termReader) flat(i int) bool {
	return r.items(i, func(i int) bool { return r.terms[i].shape == scalarTerm })
}

// rest is the terms of a container from one of them on.
type rest struct{ at, items int }

func (r *termReader) rest(i, skip int) rest {
	out := rest{i + 1, int(r.terms[i].items)}
	for range skip {
		out.at += int(r.terms[out.at].all)
		out.items--
	}
	return out
}

// isPlist reports whether each other term is a name with a colon: (:id 7 :hp 3).
func (r *termReader) isPlist(x rest) bool {
	if x.items == 0 || x.items%2 != 0 {
		return false
	}
	for i := range x.items {
		if i%2 == 0 && r.terms[x.at].form != keyForm {
			return false
		}
		x.at += int(r.terms[x.at].all)
	}
	return true
}

// isFields reports whether terms are scalars, and after them lists that begin with words, one at least: 7 (hp 3) (at 1 2).
func (r *termReader) isFields(x rest) bool {
	lists := 0
	for range x.items {
		t := &r.terms[x.at]
		switch {
		case t.shape == scalarTerm && lists == 0 && t.form != keyForm:
		case (t.shape == listTerm || t.shape == pairTerm) && t.items > 0 && r.isWord(x.at+1):
			lists++
		default:
			return false
		}
		x.at += int(t.all)
	}
	return lists > 0
}

// isMap reports whether a term is given as a map.
func (r *termReader) isMap(i int) bool {
	return r.terms[i].shape == mapTerm || r.terms[i].as != asItems
}

// classOf returns how a container is given.
func (r *termReader) classOf(i int) termClass {
	t := &r.terms[i]
	if t.shape != listTerm && t.shape != tupleTerm || t.items == 0 {
		return asItems
	}
	if t.shape == listTerm {
		if r.areMembers(r.rest(i, 0)) {
			return asMembers
		} else if r.isPlist(r.rest(i, 0)) {
			return asPlist
		}
	}
	if t.items < 2 || t.shape == tupleTerm != r.tagged || !r.isWord(i+1) {
		return asItems
	}
	x := r.rest(i, 1)
	switch {
	case !r.tagged && r.isFields(x):
		return asTypedFields
	case r.isPlist(x):
		return asTypedPlist
	}
	last, others := x.at, 0
	for range x.items {
		if last = x.at; r.terms[last].shape != scalarTerm {
			others++
		}
		x.at += int(r.terms[last].all)
	}
	if others == 1 && r.terms[last].shape != scalarTerm && r.isMap(last) {
		return asTypedMap
	}
	return asItems
}

// giver gives terms to a Sink.
type giver struct {
	*termReader
	to Sink
}

// value gives a term.
func (g *giver) value(i int) {
	t := &g.terms[i]
	switch {
	case t.shape == scalarTerm:
		g.to.Scalar(t.kind, g.textOf(t))
	case g.isMap(i):
		g.to.BeginMap(int(t.begin))
		g.inside(i, "")
		g.to.End(int(t.end))
	case t.shape == setTerm:
		g.set(i)
	case t.shape == tupleTerm && t.items > 1 && g.isWord(i+1):
		g.to.BeginMap(int(t.begin))
		g.typeOf(i)
		g.numbered(g.rest(i, 1), 0)
		g.to.End(int(t.end))
	default:
		g.list(g.rest(i, 0), int(t.begin), int(t.end))
	}
}

// list gives terms as a list.
func (g *giver) list(x rest, begin, end int) {
	g.to.BeginList(begin)
	for range x.items {
		g.value(x.at)
		x.at += int(g.terms[x.at].all)
	}
	g.to.End(end)
}

// typeOf gives the type of a term that begins with it.
func (g *giver) typeOf(i int) {
	g.to.Name([]byte("#type"))
	g.to.Scalar(Text, g.textOf(&g.terms[i+1]))
}

// numbered gives terms with their numbers as names, and the members of the map inline as its own.
func (g *giver) numbered(x rest, inline int) {
	for n := range x.items {
		if x.at == inline {
			g.inside(x.at, "")
		} else {
			g.member(strconv.AppendInt(nil, int64(n+1), 10), rest{x.at, 1}, false)
		}
		x.at += int(g.terms[x.at].all)
	}
}

// inside gives the members of a term that is given as a map. If tick is not empty, it is the name of the number after its type.
func (g *giver) inside(i int, tick string) {
	t := &g.terms[i]
	x := g.rest(i, 0)
	if class := g.typeBefore(t); class != nil {
		g.to.Name([]byte("#type"))
		g.to.Scalar(Text, class)
	} else if t.as >= asTypedFields {
		if x = g.rest(i, 1); tick == "" {
			g.typeOf(i)
		} else {
			g.to.Name([]byte(tick))
			g.to.Scalar(Number, g.textOf(&g.terms[x.at]))
			x = g.rest(i, 2)
		}
	}
	switch {
	case t.shape == mapTerm || t.as == asPlist || t.as == asTypedPlist:
		g.alternating(x)
	case t.as == asMembers:
		g.items(i, func(i int) bool { g.member(g.nameOf(i+1), g.rest(i, 1), false); return true })
	case t.as == asTypedFields:
		g.fields(x)
	default:
		last := x
		for range x.items - 1 {
			last.at += int(g.terms[last.at].all)
		}
		g.numbered(x, last.at)
	}
}

// typeBefore returns the name of the type before a map: %Unit{…}, #unit{…}.
func (g *giver) typeBefore(t *term) []byte {
	if t.shape != mapTerm {
		return nil
	}
	text := g.text[t.begin:t.end]
	if n := bytes.IndexByte(text, '{'); n > 1 {
		return bytes.TrimPrefix(text[1:n], []byte(":"))
	}
	return nil
}

// alternating gives terms: a name, its value, the next name, and so on.
func (g *giver) alternating(x rest) {
	for range x.items / 2 {
		name := g.nameOf(x.at)
		x.at += int(g.terms[x.at].all)
		g.member(name, rest{x.at, 1}, false)
		x.at += int(g.terms[x.at].all)
	}
}

// fields gives scalars with their numbers as names, and lists that begin with their names.
func (g *giver) fields(x rest) {
	for n := range x.items {
		if t := &g.terms[x.at]; t.shape == scalarTerm {
			g.member(strconv.AppendInt(nil, int64(n+1), 10), rest{x.at, 1}, false)
		} else {
			g.member(g.nameOf(x.at+1), g.rest(x.at, 1), true)
		}
		x.at += int(g.terms[x.at].all)
	}
}

// member gives a member of a map. Several terms are its value, or one is. Again means that its name may come again.
func (g *giver) member(name []byte, x rest, again bool) {
	give := g.to.Name
	if again {
		give = g.to.Item
	}
	if x.items == 0 {
		give(name)
		g.to.Scalar(Bool, []byte("true"))
		return
	}
	t := &g.terms[x.at]
	begin, end := int(t.begin), g.end(x)
	switch {
	case x.items == 1 && g.tagged && t.shape == tupleTerm && t.items > 1 && g.isWord(x.at+1) && !g.isMap(x.at): // {move,5}
		g.to.Name(append(bytes.Clone(name), "#type"...))
		g.to.Scalar(Text, g.textOf(&g.terms[x.at+1]))
		give(name)
		if inner := g.rest(x.at, 1); inner.items == 1 {
			g.value(inner.at)
		} else {
			g.list(inner, begin, end)
		}
	case g.isFields(x) && !g.tagged && (x.items > 1 || !g.flat(x.at) && t.as != asTypedPlist):
		give(name)
		g.to.BeginMap(begin)
		g.fields(x)
		g.to.End(end)
	case x.items == 1:
		give(name)
		g.value(x.at)
	case g.isPlist(x):
		give(name)
		g.to.BeginMap(begin)
		g.alternating(x)
		g.to.End(end)
	default:
		give(name)
		g.list(x, begin, end)
	}
}

// end returns where the last of some terms ends.
func (g *giver) end(x rest) int {
	end := 0
	for range x.items {
		end = int(g.terms[x.at].end)
		x.at += int(g.terms[x.at].all)
	}
	return end
}

// set gives the members of a set, in order if they are scalars.
func (g *giver) set(i int) {
	var set []element
	t := &g.terms[i]
	if !g.flat(i) {
		g.list(g.rest(i, 0), int(t.begin), int(t.end))
		return
	}
	g.items(i, func(i int) bool {
		set = append(set, element{g.terms[i].kind, bytes.Clone(g.textOf(&g.terms[i]))})
		return true
	})
	g.to.BeginList(int(t.begin))
	giveSet(g.to, set)
	g.to.End(int(t.end))
}

// termStates are words for a whole state: {state, 20, #{…}}.
const termStates = "state world snapshot snap game sim dump save checkpoint"

// tickName returns the name of the number after the type of a document, empty if it is not known to be the tick:
// {state, 20, #{…}}, (frame 20 (units …)).
func (r *termReader) tickName() string {
	if len(r.terms) < 3 || r.terms[0].as < asTypedFields || r.terms[2].shape != scalarTerm || r.terms[2].kind != Number {
		return ""
	}
	number, tag := r.textOf(&r.terms[2]), r.textOf(&r.terms[1])
	if len(bytes.Trim(number, "0123456789")) > 0 {
		return ""
	}
	switch {
	case isTick(tag):
		return strings.ToLower(string(tag))
	case oneOfWords(strings.ToLower(string(tag)), termStates):
		return "tick"
	}
	return ""
}

// contents is what the documents of a text are.
type contents struct {
	documents, ticked, maps int
	names                   map[string]bool // of documents that are members of one map; nil if they are none
	numbers, named          int             // scalars that are numbers, and members with names
	flat                    bool            // a scalar is a document
	odd                     bool            // a word is the name of a member of a map in braces
}

// most names of documents that are members of one map.
const mostTermNames = 1 << 12

// note adds a document.
func (c *contents) note(r *termReader) {
	c.documents++
	root := &r.terms[0]
	c.flat = c.flat || root.shape == scalarTerm
	if r.tickName() != "" {
		c.ticked++
	}
	if r.hasMaps() {
		c.maps++
	}
	for i := range r.terms {
		t := &r.terms[i]
		if t.kind == Number && t.shape == scalarTerm {
			c.numbers++
		}
		if t.shape == mapTerm {
			c.named += int(t.items / 2)
			c.odd = c.odd || t.items > 0 && r.isWord(i+1)
		} else if t.as != asItems {
			c.named += int(t.items)
		}
	}
	if c.names == nil || !r.isMember(0) || len(c.names) == mostTermNames || c.names[string(r.nameOf(1))] {
		c.names = nil
		return
	}
	c.names[string(r.nameOf(1))] = true
}

// hasMaps reports whether a document has a map.
func (r *termReader) hasMaps() bool {
	for i := range r.terms {
		if r.isMap(i) {
			return true
		}
	}
	return false
}

// look reads a text, and returns what its documents are.
func (d *termDialect) look(text []byte) (c contents, r *termReader, err error) {
	r = d.reader(text)
	c.names = map[string]bool{}
	for {
		more, err := r.document()
		if more {
			c.note(r)
		}
		if !more || err != nil {
			return c, r, err
		}
	}
}

// parse gives documents. Those that begin with different names are the members of one; others are states if they have a map, and
// only those with a tick if some have one.
func (d *termDialect) parse(text []byte, to Sink) error {
	c, r, _ := d.look(text)
	one := len(c.names) > 1 && len(c.names) == c.documents && c.ticked == 0
	*r = *d.reader(text)
	g := giver{r, to}
	if one {
		to.BeginMap(r.at)
	}
	for {
		more, err := r.document()
		if more {
			tick := r.tickName()
			switch {
			case one:
				g.member(r.nameOf(1), r.rest(0, 1), false)
			case tick != "":
				to.BeginMap(int(r.terms[0].begin))
				g.inside(0, tick)
				to.End(int(r.terms[0].end))
			case c.ticked == 0 && (c.maps == 0 || r.hasMaps()):
				g.value(0)
			}
		}
		if err == nil && !more && one {
			to.End(r.at)
		}
		if err != nil || !more {
			return err
		}
	}
}
