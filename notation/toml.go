package notation

import (
	"bytes"
	"errors"

	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlNotation is TOML 1.0. Dates are text. Unlike most notations it needs memory for the size of a document, since a
// table may be written in pieces anywhere.
func tomlNotation() Notation {
	return Notation{Name: "toml", Repeats: true, Title: "TOML", Extensions: []string{".toml"}, Lines: true, Sniff: sniffTOML, Parse: parseTOML}
}

// sniffTOML reports whether a text is TOML with a table and a key, or with at least two keys.
func sniffTOML(head []byte, whole bool) bool {
	for _, text := range complete(head, whole) {
		d := tomlDocument{text: text}
		if d.read() == nil {
			return d.pairs > 0 && d.pairs+d.headers > 1
		}
	}
	return false
}

func parseTOML(text []byte, to Sink) error {
	d := tomlDocument{text: text}
	fault := d.read()
	d.last = 0
	if err := d.root.give(to, 0, &d.last); err != nil {
		return err
	}
	return fault
}

// tomlDocument reads one text.
type tomlDocument struct {
	text    []byte
	parser  unstable.Parser
	root    *tomlNode
	table   *tomlNode // that keys belong to
	pairs   int
	headers int
	last    int // offset of the node that was last
}

// tomlNode is a table, list or scalar.
type tomlNode struct {
	at      int
	form    form
	kind    Kind   // of a scalar
	text    []byte // of a scalar
	names   [][]byte
	members []*tomlNode // of a table or list
	index   map[string]*tomlNode
	headed  bool // a table that has had its header
	fixed   bool // a table in braces or a list in brackets: nothing is added
}

// read makes the tree of the text.
func (d *tomlDocument) read() error {
	d.root = &tomlNode{form: mapping}
	d.table = d.root
	begin := bomLen(d.text)
	for d.parser.Reset(d.text[begin:]); d.parser.NextExpression(); {
		if err := d.expression(d.parser.Expression()); err != nil {
			return err
		}
	}
	err := d.parser.Error()
	if err == nil {
		return nil
	}
	var e *unstable.ParserError
	at := len(d.text)
	if errors.As(err, &e) && len(e.Highlight) > 0 {
		at = begin + int(d.parser.Range(e.Highlight).Offset)
	}
	if at >= len(d.text)-1 {
		return cut(at, "a value: %s", err)
	}
	return fault(at, "%s", err)
}

// expression adds a header or a key with its value to the tree.
func (d *tomlDocument) expression(n *unstable.Node) error {
	table := d.root
	if n.Kind == unstable.KeyValue {
		d.pairs++
		return d.pair(d.table, n)
	}
	d.headers++
	key := n.Key()
	for key.Next() {
		name, at := key.Node().Data, d.offset(key.Node())
		if !key.IsLast() {
			if table = table.table(name, at); table == nil {
				return taken(name, at)
			}
			continue
		}
		if n.Kind == unstable.ArrayTable {
			tables := table.index[string(name)]
			if tables == nil {
				tables = table.add(name, &tomlNode{form: list, at: at})
			}
			if tables.form != list || tables.fixed {
				return taken(name, at)
			}
			table = &tomlNode{form: mapping, at: at}
			tables.members = append(tables.members, table)
		} else if table = table.table(name, at); table == nil || table.headed {
			return taken(name, at)
		}
	}
	table.headed = true
	d.table = table
	return nil
}

// offset returns where a node begins.
func (d *tomlDocument) offset(n *unstable.Node) int {
	if n.Raw.Length > 0 {
		d.last = bomLen(d.text) + int(n.Raw.Offset)
	}
	return d.last
}

func taken(name []byte, at int) error { return fault(at, "the name %.40q a second time", name) }

// table returns the member of a table that is a table, or the last one of a list of tables. It returns nil if the
// member is neither, and adds it if there is none.
func (t *tomlNode) table(name []byte, at int) *tomlNode {
	member := t.index[string(name)]
	switch {
	case member == nil:
		return t.add(name, &tomlNode{form: mapping, at: at})
	case member.fixed || member.form == scalar:
		return nil
	case member.form == list:
		return member.members[len(member.members)-1]
	}
	return member
}

// add adds a member to a table.
func (t *tomlNode) add(name []byte, member *tomlNode) *tomlNode {
	if t.index == nil {
		t.index = map[string]*tomlNode{}
	}
	t.index[string(name)] = member
	t.names = append(t.names, name)
	t.members = append(t.members, member)
	return member
}

// pair adds a key with its value to a table.
func (d *tomlDocument) pair(table *tomlNode, n *unstable.Node) error {
	key := n.Key()
	for key.Next() {
		name, at := key.Node().Data, d.offset(key.Node())
		if !key.IsLast() {
			if table = table.table(name, at); table == nil {
				return taken(name, at)
			}
			continue
		}
		if table.index[string(name)] != nil {
			return taken(name, at)
		}
		value, err := d.value(n.Value())
		if err != nil {
			return err
		}
		table.add(name, value)
	}
	return nil
}

// value makes the node of a value.
func (d *tomlDocument) value(n *unstable.Node) (*tomlNode, error) {
	node := &tomlNode{at: d.offset(n), fixed: true, text: n.Data}
	switch n.Kind {
	case unstable.Array:
		node.form = list
		for child := n.Child(); child.Valid(); child = child.Next() {
			element, err := d.value(child)
			if err != nil {
				return nil, err
			}
			node.members = append(node.members, element)
		}
	case unstable.InlineTable:
		node.form = mapping
		for child := n.Child(); child.Valid(); child = child.Next() {
			if err := d.pair(node, child); err != nil {
				return nil, err
			}
		}
	case unstable.Bool:
		node.kind = Bool
	case unstable.Integer, unstable.Float:
		node.kind, node.text = Number, tomlNumber(n.Data)
	default:
		node.kind = Text
	}
	return node, nil
}

// tomlNumber returns a number as JSON has it.
func tomlNumber(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("_"), nil)
	if number, ok := plainNumber(text); ok {
		return number
	}
	text = bytes.TrimPrefix(text, []byte("+"))
	if bytes.HasSuffix(text, []byte("nan")) {
		text = text[len(text)-3:]
	}
	return text
}

// give gives a node to a Sink.
func (t *tomlNode) give(to Sink, depth int, last *int) error {
	*last = max(*last, t.at)
	placer, _ := to.(Placer)
	if placer != nil {
		placer.At(t.at)
	}
	switch {
	case t.form == scalar:
		to.Scalar(t.kind, t.text)
		return nil
	case depth == MaxDepth:
		return fault(t.at, "more than %d maps and lists within each other", MaxDepth)
	case t.form == mapping:
		to.BeginMap(t.at)
	default:
		to.BeginList(t.at)
	}
	for i, member := range t.members {
		if placer != nil {
			placer.At(member.at)
		}
		if t.form == mapping {
			to.Name(t.names[i])
		}
		if err := member.give(to, depth+1, last); err != nil {
			return err
		}
	}
	to.End(*last)
	return nil
}
