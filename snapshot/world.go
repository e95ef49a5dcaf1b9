package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// MaxName is the maximum length in bytes of a label, component, field, phase, peer or native name.
const MaxName = 1024

// AfterOrders is the Phase of the point inside a tick after its orders were applied and before the rest of the step.
const AfterOrders = "after-orders"

// Point is a state point: the moment at which a state was taken. Point T with an empty Phase is the state before tick
// T's orders are applied.
type Point struct {
	Tick   uint64
	Phase  string // "" or AfterOrders
	Native string // the engine's own name, "" if it has none

	Relation Relation // of the point to the moment in Native; At if there is no name
}

// Compare orders points in time. It ignores native names.
func (p Point) Compare(q Point) int {
	return cmp.Or(cmp.Compare(p.Tick, q.Tick), strings.Compare(p.Phase, q.Phase))
}

// check returns an error for an invalid phase or native name.
func (p Point) check() error {
	if p.Phase != "" && p.Phase != AfterOrders {
		return fmt.Errorf("phase is %q, expected none or %q", p.Phase, AfterOrders)
	}
	if int(p.Relation) >= len(relations) {
		return fmt.Errorf("relation %d to its native name", p.Relation)
	}
	if err := checkText(p.Words()); err != nil {
		return fmt.Errorf("native name: %w", err)
	}
	return nil
}

// Same reports whether p and q are the same moment.
func (p Point) Same(q Point) bool { return p.Compare(q) == 0 }

// String returns the engine's own name of the point if it has one, else the tick, followed by the phase if there is
// one.
func (p Point) String() string {
	switch {
	case p.Relation == Some && p.Native != "":
		return unknown + p.Native
	case p.Native != "":
		return p.Words()
	case p.Phase != "":
		return strconv.FormatUint(p.Tick, 10) + "+" + p.Phase
	}
	return strconv.FormatUint(p.Tick, 10)
}

// Head is the data about a state other than its tables.
type Head struct {
	Seed  uint64
	Point Point
	Peer  string // the peer's name, "" if the file does not contain it

	// RNG is the state of the sim's random number generator, nil if the game has none or does not save it.
	RNG []byte

	// History is the history hash at Point, zero if the game has none. Epoch counts the loads, resyncs and joins of
	// this peer before Point.
	History merkle.Hash
	Epoch   uint32

	// Seal is a checksum of the state in an engine's file, by which the game compares peers, "" if there is none.
	Seal string

	// Meta contains other properties of the peer: build, os, cpu, locale, compiler, mods, data hash. It is not covered
	// by the root.
	Meta map[string]string
}

// World is one peer's state at one state point, as flat typed tables.
type World struct {
	Head
	Tables []Table // ascending by class, then label
}

// Table contains the entities of one archetype, or the rows of one cache or one kind of noise.
type Table struct {
	Label   string
	Class   Class
	Placed  bool // keys are positions in a list, because rows have no ids; a .snap does not store this
	Single  bool // the one row is the state itself, so a state without the table lacks its values; not in a .snap either
	Keys    Keys
	Columns []Column // ascending by component, then field
}

// Rows returns the number of rows.
func (t *Table) Rows() int { return len(t.Keys.A) }

// Column returns the column with that name, or nil.
func (t *Table) Column(component, field string) *Column {
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Component == component && c.Field == field {
			return c
		}
	}
	return nil
}

// Keys are the keys of a table's rows, strictly ascending by A, then B.
type Keys struct {
	A []uint64
	B []uint64 // nil where keys have one part, else as long as A
}

// Parts returns the number of parts of each key, 1 or 2.
func (k Keys) Parts() int {
	if k.B == nil {
		return 1
	}
	return 2
}

// At returns the key of row i.
func (k Keys) At(i int) Key {
	if k.B == nil {
		return Key{A: k.A[i]}
	}
	return Key{A: k.A[i], B: k.B[i], Two: true}
}

// newKeys returns keys with this number of parts, and room for more.
func newKeys(parts, room int) Keys {
	k := Keys{A: make([]uint64, 0, room)}
	if parts == 2 {
		k.B = make([]uint64, 0, room)
	}
	return k
}

// add appends a key. It must have as many parts as the others.
func (k *Keys) add(key Key) {
	k.A = append(k.A, key.A)
	if k.B != nil {
		k.B = append(k.B, key.B)
	}
}

// slice returns the keys of rows start to end.
func (k Keys) slice(start, end int) Keys {
	part := Keys{A: k.A[start:end:end]}
	if k.B != nil {
		part.B = k.B[start:end:end]
	}
	return part
}

// unordered returns the first row with a key that does not follow the key before, or 0 if all keys ascend.
func (k Keys) unordered() int {
	for i := 1; i < len(k.A); i++ {
		if k.A[i-1] < k.A[i] || k.B != nil && k.A[i-1] == k.A[i] && k.B[i-1] < k.B[i] {
			continue
		}
		return i
	}
	return 0
}

// Key identifies one row of one table.
type Key struct {
	A, B uint64
	Two  bool // the key has two parts, such as (owner, index)
}

// Compare orders keys of the same table.
func (k Key) Compare(l Key) int {
	return cmp.Or(cmp.Compare(k.A, l.A), cmp.Compare(k.B, l.B))
}

// String returns "12" or "12:3". A part that is the hash of a text is shown as that text if this process has hashed it:
// see TextKey.
func (k Key) String() string {
	if !k.Two {
		return partName(k.A)
	}
	return partName(k.A) + ":" + partName(k.B)
}

// digits returns a key in the notation of the text twin.
func (k Key) digits() string {
	if !k.Two {
		return strconv.FormatUint(k.A, 10)
	}
	return strconv.FormatUint(k.A, 10) + ":" + strconv.FormatUint(k.B, 10)
}

// ParseKey parses a key of numbers: "12" or "12:3".
func ParseKey(s string) (Key, error) {
	a, b, two := strings.Cut(s, ":")
	k := Key{Two: two}
	var err error
	if k.A, err = parseKeyPart(a); err == nil && two {
		k.B, err = parseKeyPart(b)
	}
	if err != nil {
		return Key{}, fmt.Errorf("malformed key %q", s)
	}
	return k, nil
}

func parseKeyPart(s string) (uint64, error) {
	if len(s) > 1 && s[0] == '0' {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseUint(s, 10, 64)
}

// Table returns the table with that class and label, or nil.
func (w *World) Table(class Class, label string) *Table {
	for i := range w.Tables {
		if t := &w.Tables[i]; t.Class == class && t.Label == label {
			return t
		}
	}
	return nil
}

// Sort sorts tables and columns. Rows stay unchanged.
func (w *World) Sort() {
	lists.SortStable(w.Tables, func(a, b Table) int { return a.compare(&b) })
	for i := range w.Tables {
		w.Tables[i].sortColumns()
	}
}

// compare orders the tables in a state.
func (t *Table) compare(u *Table) int {
	return cmp.Or(cmp.Compare(t.Class, u.Class), strings.Compare(t.Label, u.Label))
}

// sortColumns sorts indexes first, because columns are large and often already in order.
func (t *Table) sortColumns() {
	compare := func(i, j int) int { return cmp.Or(t.Columns[i].compareName(&t.Columns[j].Schema), cmp.Compare(i, j)) }
	if slices.IsSortedFunc(t.Columns, func(a, b Column) int { return a.compareName(&b.Schema) }) {
		return
	}
	order := make([]int, len(t.Columns))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, compare)
	columns := make([]Column, 0, len(order))
	for _, i := range order {
		columns = append(columns, t.Columns[i])
	}
	t.Columns = columns
}

// Validate checks everything that readers and writers rely on: names, the order of tables, columns and keys, and that
// every column fits its table.
func (w *World) Validate() error {
	if err := w.Point.check(); err != nil {
		return err
	}
	if err := checkText(w.Peer); err != nil {
		return fmt.Errorf("peer: %w", err)
	}
	for i := range w.Tables {
		t := &w.Tables[i]
		if err := t.validate(); err != nil {
			return fmt.Errorf("%s %q: %w", t.Class, t.Label, err)
		}
		if i == 0 {
			continue
		}
		if prev := &w.Tables[i-1]; prev.compare(t) >= 0 {
			return fmt.Errorf("%s %q does not follow %s %q", t.Class, t.Label, prev.Class, prev.Label)
		}
	}
	return nil
}

func (t *Table) validate() error {
	if !t.Class.Valid() {
		return fmt.Errorf("unknown class %d", t.Class)
	}
	if err := checkName(t.Label); err != nil {
		return fmt.Errorf("label: %w", err)
	}
	if t.Keys.B != nil && len(t.Keys.B) != len(t.Keys.A) {
		return fmt.Errorf("%d first and %d second parts of keys", len(t.Keys.A), len(t.Keys.B))
	}
	if i := t.Keys.unordered(); i > 0 {
		return fmt.Errorf("key %s of row %d does not follow %s", t.Keys.At(i), i, t.Keys.At(i-1))
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if i > 0 && t.Columns[i-1].compareName(&c.Schema) >= 0 {
			return fmt.Errorf("column %s does not follow %s", c.Name(), t.Columns[i-1].Name())
		}
		if err := c.validate(t.Rows()); err != nil {
			return fmt.Errorf("column %s: %w", c.Name(), err)
		}
	}
	return nil
}

// checkName checks a name that must not be empty.
func checkName(s string) error {
	if s == "" {
		return fmt.Errorf("name is empty")
	}
	return checkText(s)
}

func checkText(s string) error {
	if len(s) > MaxName {
		return fmt.Errorf("name has %d bytes, at most %d are allowed", len(s), MaxName)
	}
	if !utf8.ValidString(s) {
		return fmt.Errorf("name %q is not UTF-8", s)
	}
	return nil
}
