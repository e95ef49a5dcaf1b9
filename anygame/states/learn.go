package states

import (
	"bytes"
	"hash/maphash"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/snapshot"
)

const (
	// mostMembers is how many names of a map are kept apart, unless they are the fields of a record.
	mostMembers = 64
	// mostFields is how many names a record may have.
	mostFields = 1 << 12
	// mostKinds is how many times more names the records at one path may have together than the largest one has.
	mostKinds = 16
	// mostNodes bounds the memory of a Schema.
	mostNodes = 1 << 16
	// mostIdentities is how many members of a row may identify it.
	mostIdentities = 32
	// mostSeen is how many values of such a member are remembered.
	mostSeen = 1 << 18
	// fewestSteps is how often a number must grow to be a tick by that alone.
	fewestSteps = 8
)

// node is what is known of the values at one path. All elements of a list are at one path.
type node struct {
	name    string
	hint    *hint
	members []*node // of maps, in the order in which they came
	index   map[string]int
	item    *node // the elements of lists, and the members of maps with ids as names

	values, maps, lists int                // how often there was a value, and a map or list
	scalars             [notation.Bare]int // a bare one counts as the kind that it looks like
	shortest, longest   int                // of the lists
	repeated            bool               // it came several times in one map, in a notation without lists
	ids                 bool               // all names of its members look like ids
	counting            bool               // the names of its members count, from 0 or 1 on
	growing             bool               // they are ticks, each after the one before
	steps               pace               // of these ticks
	collapsed           bool               // it has so many members that those which are alike are in item
	rowIDs              bool               // the names of all that are in item look like ids
	largest             int                // members of one map, at most
	identifies          bool               // it may identify the rows that it is in
	vectors             int                // texts that consist of a few numbers: "1, 2.5"
	commas              int                // of these, those that may be one number with a comma: "0,76"
	decimals            decimals           // how these look
	ragged              bool               // a map has lists of different lengths

	unique *uniqueness // of a scalar that may identify a row
}

func newNode(name string) *node {
	return &node{name: name, shortest: -1, ids: true, counting: true, growing: true}
}

// member returns the member of that name, which is made the first time.
func (n *node) member(name []byte, nodes *int) *node {
	if i, ok := n.index[string(name)]; ok {
		return n.members[i]
	}
	id := looksLikeID(string(name))
	if n.collapsed && (id || !n.rowIDs || len(n.members) >= mostMembers || *nodes >= mostNodes) {
		return n.item
	}
	n.ids = n.ids && id
	if !n.collapsed && (*nodes >= mostNodes || len(n.members) > 0 && len(n.members)%mostMembers == 0 && !n.record()) {
		n.collapse(nodes)
		return n.member(name, nodes)
	}
	if n.index == nil {
		n.index = map[string]int{}
	}
	m := newNode(string(name))
	m.hint = n.hint.at(m.name)
	m.identifies = len(n.members) <= mostIdentities || idRank(m.name) > 0 || rank(tickWords, m.name) > 0
	*nodes++
	n.index[m.name] = len(n.members)
	n.members = append(n.members, m)
	return m
}

// record reports whether many members are the fields of records: most are scalars, and maps do not each have others.
func (n *node) record() bool {
	scalars := lists.Count(n.members, func(m *node) bool { return m.scalar() })
	return !n.ids && 2*scalars >= len(n.members) && len(n.members) < mostFields && (n.maps == 1 || len(n.members) <= mostKinds*n.largest)
}

// collapse makes one node of the members that are alike, all if there are no others.
func (n *node) collapse(nodes *int) {
	common := map[string]int{} // members that have a member of that name
	for _, m := range n.members {
		for name := range m.index {
			common[name]++
		}
	}
	maps := lists.Count(n.members, func(m *node) bool { return m.maps > 0 })
	unlike := func(m *node) bool {
		shared := 0
		for name := range m.index {
			if 2*common[name] >= maps {
				shared++
			}
		}
		return m.scalar() || len(m.index) > 0 && 2*shared < len(m.index)
	}
	all := n.members
	n.element()
	n.members, n.index, n.collapsed, n.rowIDs = nil, nil, true, true
	for _, m := range all {
		if 2*maps > len(all) && unlike(m) {
			if n.index == nil {
				n.index = map[string]int{}
			}
			n.index[m.name] = len(n.members)
			n.members = append(n.members, m)
			continue
		}
		n.rowIDs = n.rowIDs && looksLikeID(m.name)
		n.item.merge(m, nodes)
	}
	if n.item.values == 0 { // no two are alike
		for _, m := range n.members {
			n.item.merge(m, nodes)
		}
		n.members, n.index, n.rowIDs = nil, nil, false
	}
}

// element returns the node of the elements of lists.
func (n *node) element() *node {
	if n.item == nil {
		n.item = newNode("")
		n.item.hint = n.hint.element()
	}
	return n.item
}

// merge adds what is known of another path.
func (n *node) merge(m *node, nodes *int) {
	n.values += m.values
	n.maps += m.maps
	n.lists += m.lists
	for kind := range m.scalars {
		n.scalars[kind] += m.scalars[kind]
	}
	if m.shortest >= 0 && (n.shortest < 0 || m.shortest < n.shortest) {
		n.shortest = m.shortest
	}
	n.longest = max(n.longest, m.longest)
	n.vectors += m.vectors
	n.commas += m.commas
	n.decimals.merge(m.decimals)
	n.ragged = n.ragged || m.ragged
	n.repeated = n.repeated || m.repeated
	n.counting = n.counting && m.counting
	n.growing = n.growing && m.growing
	n.largest = max(n.largest, m.largest)
	n.identifies = n.identifies || m.identifies
	if m.collapsed && !n.collapsed {
		n.collapse(nodes)
	}
	for _, other := range m.members {
		n.member([]byte(other.name), nodes).merge(other, nodes)
	}
	if m.item != nil {
		n.element().merge(m.item, nodes)
	}
	if m.unique != nil {
		if n.unique == nil {
			n.unique = &uniqueness{seen: map[uint64]place{}}
		}
		n.unique.merge(m.unique)
	}
}

// scalar reports whether the values are scalars alone.
func (n *node) scalar() bool { return n.maps == 0 && n.lists == 0 }

// uniqueness notes whether a member identifies the rows of its list.
type uniqueness struct {
	seen   map[uint64]place
	broken bool // two rows of one list have the same value, or one is not a whole number or a text
	again  int  // values that are in several documents
	// repeats counts values that a list has again. Where each line of a file is a row, those are other ticks of one row.
	repeats int
	values  int // that were added
	others  int // of these, those that another list has
	pace
}

// pace notes whether whole numbers grow from row to row of a list, by one step or sometimes a multiple of it.
type pace struct {
	list       int // that the last row was in
	last, step uint64
	steps, odd int // how often they grew, and how often by more than a step
	uneven     bool
}

// add takes the value of the next row.
func (p *pace) add(text []byte, list int) {
	n, err := strconv.ParseUint(string(text), 10, 63)
	begins := p.list != list
	grown := n - p.last
	p.list, p.last = list, n
	switch {
	case err != nil || !begins && int64(grown) < 0:
		p.uneven = true
	case begins || grown == 0:
	case p.step == 0 || grown < p.step && p.step%grown == 0:
		p.step, p.odd, p.steps = grown, p.steps, p.steps+1
	default:
		p.steps++
		p.uneven = p.uneven || grown%p.step != 0
		if grown != p.step {
			p.odd++
		}
	}
}

// even reports whether a number grows as one that counts the steps of a simulation.
func (p *pace) even() bool { return !p.uneven && p.steps >= fewestSteps && 8*p.odd <= p.steps }

// place is where a value was seen.
type place struct{ list, document int }

var seed = maphash.MakeSeed() // of hashes that never leave the process

// add takes a value of a row.
func (u *uniqueness) add(text []byte, at place) {
	u.pace.add(text, at.list)
	key := maphash.Bytes(seed, text)
	before, known := u.seen[key]
	if u.values++; known && before.list != at.list {
		u.others++
	}
	switch {
	case known && before.list == at.list:
		u.broken = true
		u.repeats++
		return
	case known && before.document != at.document:
		u.again++
	case len(u.seen) == mostSeen:
		return
	}
	u.seen[key] = at
}

// merge adds the values of another member.
func (u *uniqueness) merge(v *uniqueness) {
	u.broken = u.broken || v.broken
	for key, at := range v.seen {
		before, known := u.seen[key]
		u.broken = u.broken || known && before.list == at.list
		u.seen[key] = at
	}
	u.again += v.again
	u.values += v.values
	u.others += v.others
	u.uneven = true
}

// How many of a hundred values have to be in every document, so that a member identifies rows. If rows come and go,
// fewer of their ids are in every document. Two peers at one tick have the same values even where these change.
const (
	manyValues = 40
	mostValues = 90
)

// recurs reports whether the values of one document come again in others, so that they can identify rows. Share is how many
// of a hundred have to be in every document; without it a third has to come again at all.
func (u *uniqueness) recurs(documents, share int) bool {
	switch {
	case documents < 2:
		return share == 0
	case share == 0:
		return 3*u.again >= len(u.seen)
	}
	return 100*u.again >= share*(documents-1)*len(u.seen)
}

// learner is the Sink that learns.
type learner struct {
	schema *Schema
	stack  []learning
	next   *node // of the value that comes
	raw    []byte
	hinted []*node // tables by the hints, which came once in their maps, in a notation without lists

	separated bool // the file is a table with separators other than commas
}

// end decides whether tables that came once are single rows, or lists or maps of rows.
func (l *learner) end() {
	for _, n := range l.hinted {
		bare := *n
		bare.hint = nil
		n.repeated = n.repeated || n.lists == 0 && bare.asMap() == inline
	}
}

// learning is an open map or list.
type learning struct {
	node      *node
	list      bool
	count     int            // elements of a list, members of a map
	container int            // the number of the list that it is in
	inner     int            // the number of the list that its elements are in
	tick      uint64         // the name of the member before, if all are ticks
	length    int            // of the lists that are members, and 1
	items     map[*node]bool // members that came, in a notation without lists
}

// begin takes the node of a value that begins.
func (l *learner) begin() *node {
	n := l.next
	l.next = nil
	switch {
	case n != nil:
	case len(l.stack) == 0:
		n = l.schema.root
		l.schema.documents++
	default:
		top := &l.stack[len(l.stack)-1]
		top.count++
		n = top.node.element()
	}
	n.values++
	return n
}

// BeginMap implements notation.Sink.
func (l *learner) BeginMap(int) {
	n := l.begin()
	n.maps++
	in := l.inner()
	l.stack = append(l.stack, learning{node: n, container: in, inner: in})
}

// inner returns the number of the list that contains a value which begins now. At the top of a document, the number
// belongs to the file.
func (l *learner) inner() int {
	if len(l.stack) == 0 {
		return -l.schema.files
	}
	return l.stack[len(l.stack)-1].inner
}

// BeginList implements notation.Sink.
func (l *learner) BeginList(int) {
	n := l.begin()
	n.lists++
	l.schema.lists++
	l.stack = append(l.stack, learning{node: n, list: true, inner: l.schema.lists})
}

// End implements notation.Sink.
func (l *learner) End(int) {
	top := &l.stack[len(l.stack)-1]
	l.stack = l.stack[:len(l.stack)-1]
	if n := top.node; top.list {
		if n.shortest < 0 || top.count < n.shortest {
			n.shortest = top.count
		}
		n.longest = max(n.longest, top.count)
		if i := len(l.stack) - 1; i >= 0 && !l.stack[i].list {
			above := &l.stack[i]
			above.node.ragged = above.node.ragged || above.length > 0 && above.length != top.count+1
			above.length = top.count + 1
		}
	} else {
		n.largest = max(n.largest, top.count)
	}
}

// Name implements notation.Sink.
func (l *learner) Name(name []byte) {
	top := &l.stack[len(l.stack)-1]
	if top.count++; top.count == 1 && digits(string(name)) { // of a list that is written as a map
		l.schema.lists++
		top.inner = l.schema.lists
	}
	if top.node.counting {
		at, err := strconv.Atoi(string(name))
		top.node.counting = err == nil && (at == top.count || at == top.count-1)
	}
	if top.node.growing {
		tick, ok := tickName(name)
		top.node.growing, top.tick = ok && (top.count == 1 || tick > top.tick), tick
		top.node.steps.add(name[len(bytes.TrimRight(name, "0123456789")):], top.node.maps)
	}
	l.next = top.node.member(name, &l.schema.nodes)
}

// tickName returns the tick that is the name of a member: "25", "frame_25".
func tickName(name []byte) (uint64, bool) {
	word := bytes.TrimRight(name, "0123456789")
	if len(word) > 0 && rank(tickWords, string(word)) == 0 {
		return 0, false
	}
	tick, err := strconv.ParseUint(string(name[len(word):]), 10, 63)
	return tick, err == nil
}

// Item implements notation.Sink.
func (l *learner) Item(name []byte) {
	l.Name(name)
	top := &l.stack[len(l.stack)-1]
	if top.items == nil {
		top.items = map[*node]bool{}
		l.schema.lists++
		top.inner = l.schema.lists
	}
	if top.items[l.next] {
		l.next.repeated = true
	} else if l.next.hint.isTable() {
		l.hinted = append(l.hinted, l.next)
	}
	top.items[l.next] = true
}

// Scalar implements notation.Sink.
func (l *learner) Scalar(kind notation.Kind, text []byte) {
	member := l.next != nil
	n := l.begin()
	if kind == notation.Bare {
		kind = l.kindOf(text)
	}
	if kind == notation.Text && vectorIn(text) != nil {
		if n.vectors++; decimal(text) != nil {
			n.commas++
			n.decimals.add(text, l.separated)
		}
	}
	n.scalars[kind]++
	if len(l.stack) == 0 {
		return
	}
	top := &l.stack[len(l.stack)-1]
	if at := len(l.stack) - 2; !member && at >= 0 && !l.stack[at].list && idRank(top.node.name) > 0 { // perhaps a column of ids
		n.identifies, member = true, true
		top = &learning{container: top.inner}
	}
	if !member {
		return
	}
	if kind == notation.Null || kind == notation.Bool || !n.identifies {
		return
	}
	if n.unique == nil {
		n.unique = &uniqueness{seen: map[uint64]place{}}
	}
	if kind != notation.Text && fraction(text) {
		n.unique.broken = true
	}
	n.unique.add(text, place{top.container, l.schema.documents})
}

// vectorIn returns the numbers of a text that consists of two to four of them, with commas or blanks between them; nil for
// other texts.
func vectorIn(text []byte) [][]byte {
	if len(text) < 3 || len(text) > 128 || bytes.IndexByte([]byte("-+.([0123456789"), text[0]) < 0 {
		return nil
	}
	parts := bytes.FieldsFunc(bytes.Trim(text, "()[]"), func(r rune) bool { return strings.ContainsRune(",; \t", r) })
	if len(parts) < 2 || len(parts) > longestVector {
		return nil
	}
	for _, part := range parts {
		if _, ok := snapshot.AppendNumber(nil, part); !ok {
			return nil
		}
	}
	return parts
}

// kindOf returns the kind of a text in a notation without types.
func (l *learner) kindOf(text []byte) notation.Kind {
	l.raw = appendScalar(l.raw[:0], notation.Bare, text)
	switch l.raw[0] {
	case '"':
		return notation.Text
	case 't', 'f':
		return notation.Bool
	}
	return notation.Number
}

// decimal returns a number with a comma, as some languages write it, with a point; nil for other texts.
func decimal(text []byte) []byte {
	whole, part, found := bytes.Cut(text, []byte(","))
	if !found || !digits(string(bytes.TrimPrefix(whole, []byte("-")))) || !digits(string(part)) {
		return nil
	}
	return bytes.Join([][]byte{whole, part}, []byte("."))
}

// decimals is how numbers with a comma look.
type decimals struct {
	places, most int  // digits after it, at least and at most
	padded       bool // some end with 0
	together     bool // some are not in a table with other separators
}

func (d *decimals) add(text []byte, separated bool) {
	places := len(text) - 1 - bytes.IndexByte(text, ',')
	d.merge(decimals{places, places, text[len(text)-1] == '0', !separated})
}

func (d *decimals) merge(o decimals) {
	if d.places == 0 || o.places > 0 && o.places < d.places {
		d.places = o.places
	}
	d.most = max(d.most, o.most)
	d.padded, d.together = d.padded || o.padded, d.together || o.together
}

// numbers reports whether such values are numbers if nothing has a point: they are in a table with other separators, and a program
// wrote them, with as many digits each or without zeros at their ends. Others may be places: 12,7 and 12,70.
func (d *decimals) numbers() bool { return !d.together && (d.places == d.most || !d.padded) }

// hasDecimals reports whether all values are numbers, with a comma if they are not whole. Some files write them with a point.
func (n *node) hasDecimals() bool {
	return n.commas > 0 && n.commas+n.scalars[notation.Number]+n.scalars[notation.Null] == n.values &&
		(n.scalars[notation.Number] > 0 || n.decimals.numbers() && rank(pairWords, n.name) == 0)
}

// fraction reports whether a text is a number that is not whole: those identify nothing.
func fraction(text []byte) bool {
	return bytes.IndexByte(text, '.') >= 0 && number(text)
}

// digits reports whether a name is a number.
func digits(name string) bool { return name != "" && strings.Trim(name, "0123456789") == "" }

// looksLikeID reports whether the name of a member looks like the id of a row and not like the name of a field: a
// number, hexadecimal digits of an id, or a word with a number after a separator.
func looksLikeID(name string) bool {
	if name == "" {
		return false
	}
	if digits(strings.TrimLeft(name, "-#")) {
		return true
	}
	if len(name) >= 8 && strings.Trim(strings.ToLower(name), "0123456789abcdef-") == "" && strings.ContainsAny(name, "0123456789") {
		return true
	}
	word := strings.TrimRight(name, "0123456789")
	return len(word) < len(name) && len(word) > 1 && strings.ContainsAny(word[len(word)-1:], "_-#: .")
}
