package history

import (
	"bytes"
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/notation"
)

// value is a value of a document.
type value struct {
	name    string
	kind    notation.Kind
	text    []byte // of a scalar
	at      int
	open    bool // it is a map or list
	list    bool
	item    bool // it is a list that its notation writes by repeating its name
	cut     bool // its last member is
	torn    bool // its last member may be
	members []value
}

// tree is the Sink that keeps a document.
type tree struct {
	text  []byte
	at    int
	stack []value
	name  string
	item  bool
	roots []value
}

func (t *tree) BeginMap(at int)  { t.begin(at, false) }
func (t *tree) BeginList(at int) { t.begin(at, true) }

func (t *tree) begin(at int, list bool) {
	t.at = at
	t.stack = append(t.stack, value{name: t.name, open: true, item: t.item, list: list, at: at})
	t.name, t.item = "", false
}

func (t *tree) Name(name []byte) { t.find(name); t.name, t.item = string(name), false }
func (t *tree) Item(name []byte) { t.find(name); t.name, t.item = string(name), true }

// find goes on to a name or scalar in the text, if it is there as it is, and returns its place.
func (t *tree) find(text []byte) int {
	const near = 256 // bytes from one to the next, as a rule
	from := min(t.at, len(t.text))
	if i := bytes.Index(t.text[from:min(from+near, len(t.text))], text); i >= 0 {
		t.at = from + i + len(text)
		return from + i
	}
	return from
}

func (t *tree) Scalar(kind notation.Kind, text []byte) {
	v := value{name: t.name, kind: kind, text: bytes.Clone(text), at: t.find(text), item: t.item}
	t.name, t.item = "", false
	t.add(v)
}

func (t *tree) End(at int) {
	n := len(t.stack) - 1
	top := t.stack[n]
	t.stack, t.at = t.stack[:n], at
	if top.item {
		top.unwrap()
	}
	t.add(top)
}

// unwrap makes a scalar of each element in XML that has one, <hash>f4dbdf21</hash>, and a list of a row of cells.
func (v *value) unwrap() {
	for i := range v.members {
		m := &v.members[i]
		if !m.item || !m.list || slices.ContainsFunc(m.members, func(one value) bool { return one.open }) {
			continue
		}
		if len(v.members) == 1 && len(m.members) > 1 && !m.cut { // <tr><td>0</td><td>f4dbdf21</td></tr>
			v.list, v.members = true, lists.Map(m.members, func(one value) value { one.name = ""; return one })
			return
		}
		if len(m.members) == 1 {
			*m = m.members[0]
		}
	}
}

// add adds a value to the map or list that is open. An item is an element of a list with its name.
func (t *tree) add(v value) {
	n := len(t.stack) - 1
	if n < 0 {
		t.roots = append(t.roots, v)
		return
	}
	to := &t.stack[n].members
	if item := v.item; item {
		const near = 8 // lists in which items may alternate
		v.item = false
		for i := len(*to) - 1; i >= max(0, len(*to)-near); i-- {
			if of := &(*to)[i]; of.item && of.name == v.name {
				of.members = append(of.members, v)
				return
			}
		}
		v = value{name: v.name, open: true, list: true, item: true, at: v.at, members: []value{v}}
	}
	*to = append(*to, v)
}

// close returns the document, and reports whether there is one alone. If its text is cut, so is the end of the maps and lists
// that are still open. If it may be, so may be the last value.
func (t *tree) close(cut, perhaps bool) (root value, ok bool) {
	for n := len(t.stack) - 1; n >= 0; n-- {
		t.stack[n].cut = cut
		t.End(t.at)
	}
	if len(t.roots) != 1 {
		return value{}, false
	}
	for v := &t.roots[0]; perhaps; v = &v.members[len(v.members)-1] {
		if v.torn = true; len(v.members) == 0 {
			break
		}
	}
	return t.roots[0], true
}
