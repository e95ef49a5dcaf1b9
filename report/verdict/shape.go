package verdict

import (
	"math"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/snapshot"
)

// shape is the form of the difference of two states, independent of the game's names for archetypes and fields. Caches
// and noise are not part of it.
type shape struct {
	rng  bool      // the RNG differs
	only [2]uint64 // entities on one side only
	// archetypes and rows count those in which values differ or that are on one side only,
	// columns those in which values differ, fields their different names.
	archetypes, rows, columns, fields int

	floats, near bool // nothing but floats differ; by no more than rounding makes of them
	// single is the only value that differs, nil if there are several or entities on one
	// side only; flipped is set if it differs in one bit, and rounding does not make that.
	single  *snapshot.Change
	flipped bool

	blank     int // values of one field of all archetypes that are nearly all zero on one side
	traded    int // columns with the same values, in other rows
	scattered int // columns with values that differ up and down

	notations bool // nothing but texts differ, which are one number in two notations

	steps map[float64]bool // by how much whole numbers differ, without sign

	keys   map[string]bool // of the rows, with their archetypes: label/key
	places map[string]bool // where they differ, see bisect.Places
}

// shapeOf looks at the difference of two states; scopes, if there are any, select the columns and archetypes that
// count.
func shapeOf(d *snapshot.Diff, scopes []string) *shape {
	s := &shape{rng: d.RNG != nil, floats: true, near: true, steps: map[float64]bool{}, keys: map[string]bool{}, places: map[string]bool{}}
	fields := map[string]*blanks{}
	if s.rng && (len(scopes) == 0 || slices.Contains(scopes, rngScope)) {
		s.places[snapshot.RNG] = true
	}
	var changes []*snapshot.Change
	for i := range d.Tables {
		table := &d.Tables[i]
		if table.Class != snapshot.Archetype {
			continue
		}
		columns := traced(scopes, table.Label)
		if len(scopes) > 0 && columns == nil {
			continue
		}
		s.archetypes++
		s.only[0] += table.OnlyACount
		s.only[1] += table.OnlyBCount
		for _, key := range slices.Concat(table.OnlyA, table.OnlyB) {
			s.keys[table.Label+"/"+key.String()] = true
			s.places[table.Label+"/"] = true
		}
		for name, list := range byColumn(table, columns) {
			if fields[name] == nil {
				fields[name] = &blanks{}
			}
			s.column(list, fields[name])
			s.places[table.Label+"/"+name] = true
			for _, change := range list {
				s.keys[table.Label+"/"+change.Key.String()] = true
			}
			changes = append(changes, list...)
		}
	}
	s.rows, s.fields = len(s.keys), len(fields)
	if s.columns == 0 {
		s.floats, s.near = false, false
	}
	for _, b := range fields {
		if n := max(b.a, b.b); 5*n >= 4*b.all {
			s.blank = max(s.blank, n)
		}
	}
	s.notations = len(changes) > 0 && !s.rng && s.only == [2]uint64{} && !slices.ContainsFunc(changes, func(c *snapshot.Change) bool { return !sameNumber(c) })
	if len(changes) == 1 && s.only == [2]uint64{} && !s.rng {
		s.single = changes[0]
		s.flipped = s.single.BitsChanged == 1 && !(s.floats && s.near && byRounding(s.single))
	}
	return s
}

// byRounding reports whether rounding may make the one bit of a float in which two values differ: it is among the last that
// the values use, which are fewer in a float of 8 bytes that has the value of one of 4.
func byRounding(c *snapshot.Change) bool {
	const few = 64
	a, b := normal(c.A), normal(c.B)
	single := c.A.Type.Width() == 8 && a == float64(float32(a)) && b == float64(float32(b))
	return c.ULP <= few || single && c.ULP>>29 <= few
}

// byColumn returns the values of a table that differ, by Component.field; if columns are given, only of these.
func byColumn(table *snapshot.TableDiff, columns []string) map[string][]*snapshot.Change {
	out := map[string][]*snapshot.Change{}
	for k := range table.Changes {
		change := &table.Changes[k]
		name := change.Component + "." + change.Field
		if len(columns) == 0 || slices.Contains(columns, name) {
			out[name] = append(out[name], change)
		}
	}
	return out
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

// tellingValue is above what small numbers take turns in by chance, rounding up to which part
// of the largest value of a column rounding moves values.
const (
	tellingValue = 16
	rounding     = 1.0 / (1 << 18)
)

// column looks at the values of one column that differ.
func (s *shape) column(list []*snapshot.Change, zero *blanks) {
	s.columns++
	var up, down int
	before, after := map[string]int{}, map[string]int{}
	var largest, apart float64
	for _, c := range list {
		switch c.Kind {
		case snapshot.KindFloat, snapshot.KindNaN, snapshot.KindSignOfZero:
		default:
			s.floats = false
		}
		a, b := normal(c.A), normal(c.B)
		switch {
		case a < b:
			up++
		case a > b:
			down++
		}
		s.steps[math.Abs(a-b)] = true
		largest, apart = max(largest, math.Abs(a), math.Abs(b)), max(apart, math.Abs(a-b))
		zero.all++
		if isZero(c.A) {
			zero.a++
		}
		if isZero(c.B) {
			zero.b++
		}
		before[string(c.A.Raw)]++
		after[string(c.B.Raw)]++
	}
	if !(apart <= largest*rounding) { // NaN is not near anything
		s.near = false
	}
	if up > 0 && down > 0 {
		s.scattered++
		if len(before) > 1 && largest > tellingValue && sameCounts(before, after) {
			s.traded++
		}
	}
}

func sameCounts(a, b map[string]int) bool {
	for value, n := range a {
		if b[value] != n {
			return false
		}
	}
	return len(a) == len(b)
}

// sameNumber reports whether two texts are one number with another decimal sign.
func sameNumber(c *snapshot.Change) bool {
	if c.Kind != snapshot.KindText || c.A.Absent || c.B.Absent || c.Excerpt != nil {
		return false
	}
	a, b := strings.ReplaceAll(string(c.A.Raw), ",", "."), strings.ReplaceAll(string(c.B.Raw), ",", ".")
	return a == b && strings.ContainsAny(a, "0123456789")
}

// offBy reports whether all values that differ do so by one number.
func (s *shape) offBy(n uint64) bool {
	return len(s.steps) == 1 && s.steps[float64(n)] && s.only == [2]uint64{} && !s.rng
}

// meets reports whether two differences have a place in common: a column, or entities of an
// archetype that only one side has.
func (s *shape) meets(t *shape) bool {
	for place := range s.places {
		if t.places[place] {
			return true
		}
	}
	return false
}

func isZero(v snapshot.Value) bool {
	return v.Absent || !slices.ContainsFunc(v.Raw, func(b byte) bool { return b != 0 })
}

// normal is amount, but 0 for a float so small that some processors flush it to 0.
func normal(v snapshot.Value) float64 {
	n := amount(v)
	if v.Type == snapshot.F32 && math.Abs(n) < 0x1p-126 || v.Type == snapshot.F64 && math.Abs(n) < 0x1p-1022 {
		return 0
	}
	return n
}

// amount returns a number as a float, whatever its scale; 0 for values that are not numbers.
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
