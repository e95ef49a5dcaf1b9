package playbook

import (
	"encoding/hex"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/snapshot"
)

// traits are what the evidence of a divergence looks like, whatever the game calls its
// archetypes and systems. Causes are ranked by them.
type traits struct {
	kind    bisect.Kind
	initial bool
	healed  bool
	// uncompared says that the orders of some who parted are not there until they did.
	uncompared bool
	// inputs is how orders around the divergence differ, "" if they do not or are not
	// known.
	inputs orderlog.DifferenceKind
	// order is the kind of the order that differs, or that names what differs.
	order string

	// system is the first one after which the peers differ, opening whether it is the
	// first of the tick; both need traces.
	system  string
	opening bool

	// What follows is of the values that differ: of the columns that the trace shows to
	// differ after the first system if it is fine enough, else of all at the end of the
	// tick. Exact is false where the states are of a later point.
	seen  bool // there are two states to compare
	exact bool
	// rng says that the RNG differs, and early that it does after the first system; it
	// is not known without a trace that has it.
	rng, early, known bool

	archetypes, columns, rows int
	fields                    int // different names of columns
	only                      [2]uint64
	floats                    bool // nothing but floats differ
	ulp                       uint64
	bits                      int // of the only value that differs, 0 if there are several
	kinds                     []snapshot.Kind
	named                     int // rows that orders of the tick name
	blank                     int // values of one field of all archetypes that are nearly all zero on one side
	bothWays                  int // columns whose values differ up and down
	oneWay                    int // columns of three rows or more whose values all differ one way
	traded                    int // columns whose values are the same, in other rows
	conserved                 int // columns whose sums are equal
	share                     float64
	caches                    []string // that differ at the good end under equal roots
	entries                   uint64   // of caches that differ, and are not those of entities that do
	exists                    bool     // entities are on one side only, anywhere
	facts                     []report.Fact
}

// observe finds the traits of a divergence.
func observe(e Evidence, c *Conclusion) *traits {
	t := &traits{
		kind: c.Kind, initial: c.InitialState, healed: e.Bisect.Healed != nil, facts: e.Facts,
	}
	if c.within != nil {
		t.system, t.opening = c.within.System, c.within.Index == 0
	}
	t.orders(e, c)
	t.uncompared = len(c.Inputs.Unheard) > 0
	if e.Before != nil && !e.Before.RootsDiffer() {
		for i := range e.Before.Tables {
			if d := &e.Before.Tables[i]; d.Class == snapshot.Cache {
				t.caches = append(t.caches, d.Label)
			}
		}
	}
	if e.Parted == nil {
		return t
	}
	t.seen, t.exact = true, e.Diff != nil && (c.narrowed() || c.InitialState)
	t.values(e, c)
	return t
}

// orders finds the difference of the inputs that is nearest before the divergence.
func (t *traits) orders(e Evidence, c *Conclusion) {
	if e.Orders == nil || !c.Inputs.Differ() {
		return
	}
	for i := range e.Orders.Differences {
		d := &e.Orders.Differences[i]
		if c.Bracket != nil && d.Tick > c.Bracket.Bad.Tick && t.inputs != "" {
			break
		}
		if t.inputs == "" {
			t.inputs, t.order = d.Kind, d.Order
		}
	}
}

// values looks at what differs.
func (t *traits) values(e Evidence, c *Conclusion) {
	d := e.Parted.Diff
	t.rng = d.RNG != nil
	var scopes []string
	if c.within != nil {
		scopes = c.within.Scopes
		t.known = len(scopes) > 0
		t.early = slices.Contains(scopes, snapshot.RNG)
	}
	subjects := subjectsOf(e, c)
	fields := map[string]bool{}
	rows := map[string]bool{}
	zeroes := map[string]*blanks{}
	t.floats = true
	var all uint64
	for i := range d.Tables {
		table := &d.Tables[i]
		only := table.OnlyACount + table.OnlyBCount
		switch table.Class {
		case snapshot.Cache:
			continue
		case snapshot.Noise:
			continue
		}
		t.exists = t.exists || only > 0
		columns := traced(scopes, table.Label)
		if len(scopes) > 0 && columns == nil {
			continue
		}
		t.archetypes++
		t.only[0] += table.OnlyACount
		t.only[1] += table.OnlyBCount
		byColumn := map[string][]*snapshot.Change{}
		for k := range table.Changes {
			change := &table.Changes[k]
			name := change.Component + "." + change.Field
			if len(columns) > 0 && !slices.Contains(columns, name) {
				continue
			}
			byColumn[name] = append(byColumn[name], change)
			rows[table.Label+"/"+change.Key.String()] = true
			fields[name] = true
		}
		for name, list := range byColumn {
			if zeroes[name] == nil {
				zeroes[name] = &blanks{}
			}
			t.column(list, zeroes[name])
		}
		all += rowsOf(d.A, table.Label)
	}
	t.rows, t.fields = len(rows), len(fields)
	t.entries = unexplained(d)
	for _, z := range zeroes {
		if n := max(z.a, z.b); 5*n >= 4*z.all {
			t.blank = max(t.blank, n)
		}
	}
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		if _, key, _ := strings.Cut(row, "/"); subjects[key] != "" {
			t.named++
			if t.inputs == "" {
				t.order = subjects[key]
			}
		}
	}
	if t.inputs == "" && (t.named < t.rows || !t.exact) {
		t.order = "" // the orders have nothing to do with it, as far as is known
	}
	if all > 0 {
		t.share = float64(t.rows) / float64(all)
	}
	if t.columns == 0 {
		t.floats = false
	}
	if t.rows != 1 || t.columns != 1 {
		t.bits = 0
	}
}

// unexplained counts the entries of caches that differ and are not keyed by an entity that
// differs itself.
func unexplained(d *snapshot.Diff) (n uint64) {
	entities := map[uint64]bool{}
	for i := range d.Tables {
		if t := &d.Tables[i]; t.Class == snapshot.Archetype {
			for k := range t.Changes {
				entities[t.Changes[k].Key.A] = true
			}
			for _, key := range slices.Concat(t.OnlyA, t.OnlyB) {
				entities[key.A] = true
			}
		}
	}
	for i := range d.Tables {
		t := &d.Tables[i]
		if t.Class != snapshot.Cache {
			continue
		}
		keys := slices.Concat(t.OnlyA, t.OnlyB)
		for k := range t.Changes {
			if k == 0 || t.Changes[k].Key != t.Changes[k-1].Key {
				keys = append(keys, t.Changes[k].Key)
			}
		}
		for _, key := range keys {
			if !entities[key.A] && !(key.Two && entities[key.B]) {
				n++
			}
		}
	}
	return n
}

// rowsOf returns how many entities an archetype has.
func rowsOf(info *snapshot.Info, label string) uint64 {
	for _, t := range info.Tables {
		if t.Class == snapshot.Archetype && t.Label == label {
			return t.Rows
		}
	}
	return 0
}

// traced returns the columns of an archetype among the scopes of a trace: nil if it is not
// among them, an empty list if the trace has the archetype only as a whole.
func traced(scopes []string, label string) (columns []string) {
	for _, scope := range scopes {
		l, column, fine := strings.Cut(scope, "/")
		if l != label {
			continue
		}
		if columns == nil {
			columns = []string{}
		}
		if fine && strings.Contains(column, ".") {
			columns = append(columns, column)
		}
	}
	return columns
}

// blanks counts the values of a field, and how many of them are zero on either side.
type blanks struct{ a, b, all int }

// tellingValue is above what small numbers take turns in by chance.
const tellingValue = 16

// column looks at the values of one column that differ.
func (t *traits) column(list []*snapshot.Change, zero *blanks) {
	t.columns++
	var up, down int
	var sum float64
	before, after := map[string]int{}, map[string]int{}
	whole, large := true, false
	for _, c := range list {
		if !slices.Contains(t.kinds, c.Kind) {
			t.kinds = append(t.kinds, c.Kind)
		}
		switch c.Kind {
		case snapshot.KindFloat, snapshot.KindNaN, snapshot.KindSignOfZero:
			t.ulp = max(t.ulp, c.ULP)
			whole = false
		default:
			t.floats = false
		}
		t.bits = c.BitsChanged
		a, b := amount(c.A), amount(c.B)
		switch {
		case a < b:
			up++
		case a > b:
			down++
		}
		sum += b - a
		zero.all++
		if isZero(c.A) {
			zero.a++
		}
		if isZero(c.B) {
			zero.b++
		}
		large = large || math.Abs(a) > tellingValue
		before[string(c.A.Raw)]++
		after[string(c.B.Raw)]++
	}
	if up > 0 && down > 0 {
		t.bothWays++
		if sum == 0 && whole {
			t.conserved++
		}
		same := len(before) == len(after) && len(before) > 1 && large
		for value, n := range before {
			same = same && after[value] == n
		}
		if same {
			t.traded++
		}
	} else if len(list) > 2 {
		t.oneWay++
	}
}

func isZero(v snapshot.Value) bool {
	return v.Absent || !slices.ContainsFunc(v.Raw, func(b byte) bool { return b != 0 })
}

// amount returns a number as a float, whatever its scale; 0 for what is none.
func amount(v snapshot.Value) float64 {
	w := v.Type.Width()
	if v.Absent || w == 0 || w > 8 || len(v.Raw) != w {
		return 0
	}
	var bits uint64
	for i, b := range v.Raw {
		bits |= uint64(b) << (8 * i)
	}
	switch v.Type {
	case snapshot.F32:
		return float64(math.Float32frombits(uint32(bits)))
	case snapshot.F64:
		return math.Float64frombits(bits)
	case snapshot.U8, snapshot.U16, snapshot.U32, snapshot.U64, snapshot.Ref, snapshot.Bool:
		return float64(bits)
	}
	shift := 64 - 8*w
	return float64(int64(bits<<shift) >> shift)
}

// subjectsOf returns the keys that the orders of the divergent tick name, with the kind of
// the order.
func subjectsOf(e Evidence, c *Conclusion) map[string]string {
	out := map[string]string{}
	for _, o := range e.Around {
		in := c.narrowed() && o.Tick == c.Tick.Number
		if !c.narrowed() && c.Bracket != nil && c.Bracket.Good != nil {
			in = c.Bracket.Good.Tick <= o.Tick && o.Tick < c.Bracket.Bad.Tick
		}
		if !in || o.Local {
			continue
		}
		if keys := numbers(o.Payload); len(keys) > 0 {
			out[keys[0]] = o.Kind
		}
	}
	return out
}

// numbers returns the numbers in the hex digits of a payload.
func numbers(payload string) (list []string) {
	b, err := hex.DecodeString(payload)
	if err != nil {
		return nil
	}
	for _, n := range orderlog.Numbers(b) {
		list = append(list, strconv.FormatInt(n.Value, 10))
	}
	return list
}
