package godot

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/snapshot"
)

// Components of a row.
const (
	component      = "node"
	orderComponent = "order"
	afterField     = "after" // the node before this one, absent for the first
	keysField      = "keys"  // the keys of the node's dictionaries as they follow each other
	valueField     = "value" // of a node that gave something else than a dictionary
)

// noiseLabel follows the label of data that is not hashed.
const noiseLabel = " (not hashed)"

// maxPath is the longest name of a node or field in bytes.
const maxPath = snapshot.MaxName / 2

// builder puts the nodes of a state into tables.
type builder struct {
	tables snapshot.Sparse
	label  string
	key    uint64

	table *snapshot.SparseTable
	row   int
	keys  strings.Builder
	lists int // arrays around the current value: values in one are hashed as they are
}

// tables returns the tables of a state.
func tables(state *Value) ([]snapshot.Table, error) {
	b := &builder{}
	before := ""
	for i := range state.Keys {
		key := &state.Keys[i]
		if key.Kind == Text && key.Text == HashKey {
			continue
		}
		name := KeyName(key)
		if name == "" || len(name) > maxPath {
			return nil, fmt.Errorf("node %.40q, expected a path of 1 to %d bytes", name, maxPath)
		}
		if err := b.node(name, before, &state.Values[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		before = name
	}
	return b.tables.Tables()
}

func (b *builder) node(name, before string, v *Value) (err error) {
	b.label, b.key = place(name)
	if b.table, err = b.tables.Table(snapshot.Archetype, b.label, 1); err != nil {
		return err
	}
	added := false
	if b.row, added = b.table.Row(b.key, 0); !added {
		return errors.New("a node is there twice")
	}
	if before != "" {
		if err := b.table.SetText(b.row, orderComponent, afterField, before); err != nil {
			return err
		}
	}
	b.keys.Reset()
	if v.Kind != Dictionary {
		return b.value(valueField, v, false)
	}
	if err := b.dictionary("", v, false); err != nil {
		return err
	}
	return b.table.SetText(b.row, orderComponent, keysField, b.keys.String())
}

// dictionary adds what is in a dictionary, and its keys. Noise means that it is not hashed.
func (b *builder) dictionary(path string, v *Value, noise bool) error {
	if !noise {
		b.keys.WriteByte('{')
		defer b.keys.WriteByte('}')
	}
	first := true
	for i := range v.Keys {
		key := &v.Keys[i]
		unhashed := noise || b.lists == 0 && Unhashed(key)
		name := KeyName(key)
		if !unhashed {
			if !first {
				b.keys.WriteString(", ")
			}
			first = false
			b.keys.WriteString(name)
		}
		if path != "" {
			name = path + "." + name
		}
		if err := b.value(name, &v.Values[i], unhashed); err != nil {
			return err
		}
	}
	return nil
}

// value adds a value, or everything in it.
func (b *builder) value(path string, v *Value, noise bool) error {
	path = cmp.Or(path, `""`)
	if len(path) > maxPath {
		return fmt.Errorf("a field has a path of %d bytes, expected at most %d", len(path), maxPath)
	}
	switch v.Kind {
	case Dictionary:
		if len(v.Keys) == 0 {
			return b.text(path, "{}", noise)
		}
		return b.dictionary(path, v, noise)
	case Struct:
		for i := range v.Keys {
			name := path + "." + v.Keys[i].Text
			if strings.HasPrefix(v.Keys[i].Text, "[") {
				name = path + v.Keys[i].Text
			}
			if err := b.value(name, &v.Values[i], noise); err != nil {
				return err
			}
		}
		return nil
	case Array:
		if err := b.bits(path+".size", snapshot.I64, uint64(len(v.Values)), noise); err != nil {
			return err
		}
		b.lists++
		defer func() { b.lists-- }()
		for i := range v.Values {
			if err := b.value(path+"["+strconv.Itoa(i)+"]", &v.Values[i], noise); err != nil {
				return err
			}
		}
		return nil
	case Bool:
		return b.bits(path, snapshot.Bool, v.Bits, noise)
	case Int:
		return b.bits(path, snapshot.I64, v.Bits, noise)
	case Float:
		return b.bits(path, snapshot.F64, v.Bits, noise)
	case Bytes:
		return b.raw(path, []byte(v.Text), noise)
	case Text:
		return b.text(path, v.Text, noise)
	}
	return b.text(path, KeyName(v), noise) // null, or an object by its number
}

// at returns the table of the current node, or the table of its data that is not hashed, and the row.
func (b *builder) at(noise bool) (*snapshot.SparseTable, int, error) {
	if !noise {
		return b.table, b.row, nil
	}
	t, err := b.tables.Table(snapshot.Noise, b.label+noiseLabel, 1)
	if err != nil {
		return nil, 0, err
	}
	row, _ := t.Row(b.key, 0)
	return t, row, nil
}

// set gives the row a value under a path, or PATH#2 and so on if that is taken: the keys 1 and "1"
// have the same name.
func (b *builder) set(path string, noise bool, set func(t *snapshot.SparseTable, row int, field string) error) error {
	t, row, err := b.at(noise)
	if err != nil {
		return err
	}
	field := path
	for n := 2; n <= maxSame+1; n++ {
		if err := set(t, row, field); !errors.Is(err, snapshot.ErrTwice) {
			return err
		}
		field = fmt.Sprintf("%s#%d", path, n)
	}
	return fmt.Errorf("%.60q more than %d times", path, maxSame)
}

// maxSame is how many values of a node may have the same path.
const maxSame = 8

func (b *builder) bits(path string, typ snapshot.Type, bits uint64, noise bool) error {
	return b.set(path, noise, func(t *snapshot.SparseTable, row int, field string) error {
		return t.SetBits(row, component, field, typ, bits)
	})
}

func (b *builder) text(path, text string, noise bool) error {
	return b.set(path, noise, func(t *snapshot.SparseTable, row int, field string) error {
		return t.SetText(row, component, field, text)
	})
}

func (b *builder) raw(path string, raw []byte, noise bool) error {
	return b.set(path, noise, func(t *snapshot.SparseTable, row int, field string) error {
		return t.SetRaw(row, component, field, raw)
	})
}
