package verdict

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// f64, f32 and i32 are values of states.
func f64(v float64) snapshot.Value {
	return snapshot.Value{Type: snapshot.F64, Raw: binary.LittleEndian.AppendUint64(nil, math.Float64bits(v))}
}

func f32(v float32) snapshot.Value {
	return snapshot.Value{Type: snapshot.F32, Raw: binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))}
}

func i32(v int32) snapshot.Value {
	return snapshot.Value{Type: snapshot.I32, Raw: binary.LittleEndian.AppendUint32(nil, uint32(v))}
}

// change is a value that differs, as snapshot.Compare has it.
func change(key uint64, field string, a, b snapshot.Value) snapshot.Change {
	c := snapshot.Change{Key: snapshot.Key{A: key}, Component: "C", Field: field, A: a, B: b, Kind: snapshot.KindInteger}
	if a.Type == snapshot.F32 || a.Type == snapshot.F64 {
		c.Kind = snapshot.KindFloat
	}
	for i := range a.Raw {
		for x := a.Raw[i] ^ b.Raw[i]; x != 0; x &= x - 1 {
			c.BitsChanged++
		}
	}
	return c
}

func text(a, b string) snapshot.Change {
	of := func(s string) snapshot.Value { return snapshot.Value{Type: snapshot.String, Raw: []byte(s)} }
	return snapshot.Change{Key: snapshot.Key{A: 1}, Component: "C", Field: "t", Kind: snapshot.KindText, A: of(a), B: of(b)}
}

func diffOf(changes ...snapshot.Change) *snapshot.Diff {
	a, b := &snapshot.Info{}, &snapshot.Info{}
	b.Root[0] = 1
	return &snapshot.Diff{A: a, B: b, Tables: []snapshot.TableDiff{{Label: "Unit", Class: snapshot.Archetype, Changes: changes}}}
}

// TestShape compares the properties that are seen in differences with the way they were made.
func TestShape(t *testing.T) {
	for _, test := range []struct {
		name string
		d    *snapshot.Diff
		is   func(s *shape) bool
	}{
		{"one ulp of an f32", diffOf(change(1, "x", f32(15.36), f32(math.Nextafter32(15.36, 16)))), func(s *shape) bool { return s.floats && s.near }},
		{"an f64 that follows from an f32", diffOf(change(1, "x", f64(1.0), f64(1.0+1e-7))), func(s *shape) bool { return s.near }},
		{"floats that are far apart", diffOf(change(1, "x", f64(15.36), f64(15.61))), func(s *shape) bool { return s.floats && !s.near }},
		{"near zero beside large ones", diffOf(change(1, "x", f64(1000), f64(1000.0001)), change(2, "x", f64(1e-9), f64(-1e-9))), func(s *shape) bool { return s.near }},
		{"a float that is flushed to zero", diffOf(change(1, "x", f32(0), f32(9.9e-39))), func(s *shape) bool { return s.floats && s.near }},
		{"a small float beside zero", diffOf(change(1, "x", f32(0), f32(9.9e-38))), func(s *shape) bool { return s.floats && !s.near }},
		{"NaN", diffOf(change(1, "x", f64(1), f64(math.NaN()))), func(s *shape) bool { return !s.near }},
		{"an integer beside a float", diffOf(change(1, "x", f64(1), f64(1+1e-9)), change(1, "n", i32(3), i32(4))), func(s *shape) bool { return !s.floats }},
		{"one bit", diffOf(change(1, "n", i32(4096), i32(0))), func(s *shape) bool { return s.single != nil && s.single.BitsChanged == 1 }},
		{"two values", diffOf(change(1, "n", i32(1), i32(0)), change(2, "n", i32(1), i32(0))), func(s *shape) bool { return s.single == nil }},
		{"values that change places", diffOf(change(1, "n", i32(100), i32(300)), change(2, "n", i32(300), i32(100))), func(s *shape) bool { return s.traded == 1 }},
		{"small numbers that change places", diffOf(change(1, "n", i32(1), i32(3)), change(2, "n", i32(3), i32(1))), func(s *shape) bool { return s.traded == 0 && s.scattered == 1 }},
		{"a comma for a point", diffOf(text("2.55", "2,55"), text("1.000", "1,000")), func(s *shape) bool { return s.notations }},
		{"another name", diffOf(text("2.55", "2,55"), text("a.b", "a,b")), func(s *shape) bool { return !s.notations }},
		{"another number", diffOf(text("2.55", "2,5")), func(s *shape) bool { return !s.notations }},
		{"zeroes", diffOf(change(1, "n", i32(1), i32(0)), change(2, "n", i32(7), i32(0)), change(3, "n", i32(9), i32(0))), func(s *shape) bool { return s.blank == 3 }},
	} {
		if s := shapeOf(test.d, nil); !test.is(s) {
			t.Errorf("%s: %+v", test.name, s)
		}
	}
	s := shapeOf(diffOf(change(1, "x", i32(1), i32(2)), change(1, "y", i32(1), i32(2))), []string{"Unit/C.y"})
	if s.columns != 1 || !s.places["Unit/C.y"] {
		t.Errorf("a trace of one column: %+v", s)
	}
}

// TestMentions checks that ids are found in payloads of any layout, and small numbers in raw
// ones only as 8 bytes.
func TestMentions(t *testing.T) {
	raw := func(parts ...any) string {
		var b []byte
		for _, p := range parts {
			b, _ = binary.Append(b, binary.LittleEndian, p)
		}
		return hex.EncodeToString(b)
	}
	for _, test := range []struct {
		payload, key string
		want         bool
	}{
		{"92cd0b0905", "2825", true},                               // MessagePack: [2825, 5]
		{"9205cd0b09", "2825", true},                               // not the first number
		{raw(uint32(7), uint32(70000)), "70000", true},             // a struct, not its first field
		{raw(uint32(7), uint32(70000)), "7", false},                // a small number may be anything
		{raw(float32(1), uint32(0), uint64(7)), "7", true},         // unless it has 8 bytes
		{raw(uint16(1), uint32(70000), uint16(1)), "70000", false}, // not on its own place
		{raw(uint64(70000)), "70000:3", true},                      // of a key of two parts the first
		{"", "5", false},
		{"zz", "5", false},
	} {
		if got := mentions(test.payload, test.key); got != test.want {
			t.Errorf("mentions(%s, %s) is %v", test.payload, test.key, got)
		}
	}
}

// TestLikenesses pins which rule comes first for what is the plainest of each kind, and that
// what is of some later time is no evidence.
func TestLikenesses(t *testing.T) {
	of := func(d *snapshot.Diff) *traits { return &traits{exact: true, shape: shapeOf(d, nil)} }
	float := of(diffOf(change(1, "x", f32(1), f32(math.Nextafter32(1, 2)))))
	bit := of(diffOf(change(1, "n", i32(1<<20), i32(0))))
	named := of(diffOf(change(1, "n", i32(1<<20), i32(0))))
	named.named = "move"
	loaded := &traits{loaded: &Sign{Kind: LoadedThere}}
	later := of(diffOf(change(1, "x", f32(1), f32(math.Nextafter32(1, 2)))))
	later.exact = false
	rng := &traits{system: "A", scopes: []string{rngScope}}
	for _, test := range []struct {
		name string
		t    *traits
		want []string
	}{
		{"rounding", float, []string{Float}},
		{"one bit", bit, []string{BitFlip, ForeignWrite}},
		{"named by an order", named, []string{ImpureValidation, PredictionLeak}},
		{"at a load", loaded, []string{SaveForgets, TimerOff}},
		{"rounding, some time later", later, nil},
		{"a trace in which only the RNG departs", rng, []string{RNGLeak}},
	} {
		var got []string
		if list := likenesses(test.t); len(list) > 0 {
			got = list[0].Classes
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, expected %v", test.name, got, test.want)
		}
	}
}

// TestRates checks that a rule is said only if it was right often enough where it was
// measured.
func TestRates(t *testing.T) {
	for r, want := range map[Rate]bool{{49, 50}: true, {97, 100}: false, {4, 4}: false, {0, 0}: false, {100, 100}: true} {
		if r.enough() != want {
			t.Errorf("%d of %d: %v", r.Right, r.Of, r.enough())
		}
	}
	for kind, r := range rates {
		if r.Right > r.Of || !r.enough() {
			t.Errorf("%s is right in %d of %d: such a rule is not said, and has no place here", kind, r.Right, r.Of)
		}
	}
}

// TestSeen pins the causes that the evidence itself shows, and that later states give none.
func TestSeen(t *testing.T) {
	c := conclude(t, differAt(partedIn(60, 61), 90))
	if len(c.Causes) != 0 {
		t.Errorf("states of 29 ticks later give the cause %v", c.Causes)
	}
	start := partedIn(0, 0)
	start.Bisect.Bracket.Good, start.Bisect.InitialState, start.Bisect.Exact = nil, true, false
	start.Facts = []document.Fact{{Name: "map", Must: true, Values: map[string]string{"host": "b", "client": "a"}}}
	c = conclude(t, differAt(start, 0))
	if len(c.Causes) != 2 || c.Causes[0].Class != InitialState || c.Causes[0].Standing != Seen || len(c.Causes[0].Signs) != 2 {
		t.Errorf("a start that differs: %+v", c.Causes)
	}
	sums := inSync()
	sums.Bisect.Kind = bisect.ChecksumOnly
	if c = conclude(t, sums); len(c.Causes) != 1 || c.Causes[0].Class != ChecksumDefect || !c.Causes[0].Confirmed() {
		t.Errorf("checksums alone: %+v", c.Causes)
	}
}

// TestNames checks that each sign has the name that tables print.
func TestNames(t *testing.T) {
	for kind := OnlySumsDiffer; kind <= RNGFirst; kind++ {
		if kind.String() == "" {
			t.Errorf("sign %d has no name", kind)
		}
	}
}

// Only a peer that was away, or may have been, can have a timer that is off by the time.
func TestByLoading(t *testing.T) {
	away := uint64(100)
	for _, test := range []struct {
		name   string
		loaded bisect.Loaded
		want   []string
	}{
		{"a load without a gap", bisect.Loaded{Began: bisect.BeganLoad}, []string{SaveForgets, Uninitialized}},
		{"a load after a gap", bisect.Loaded{Began: bisect.BeganLoad, After: &away}, []string{SaveForgets, Uninitialized, TimerOff}},
		{"a join", bisect.Loaded{Began: bisect.BeganJoin}, []string{SaveForgets, Uninitialized, TimerOff}},
	} {
		if got := (&traits{}).byLoading(&test.loaded); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
