package memory

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/snapshot"
)

// values returns all values of a state, by label, key and column.
func values(t testing.TB, l *Layout, dump []byte, opt Options) map[string]string {
	t.Helper()
	w, err := l.Decode(dump, "dump", opt)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for i := range w.Tables {
		table := &w.Tables[i]
		for r := range table.Rows() {
			for k := range table.Columns {
				c := &table.Columns[k]
				if c.Has(r) {
					out[fmt.Sprintf("%s[%s].%s", table.Label, table.Keys.At(r), c.Name())] = c.At(r).String()
				}
			}
		}
	}
	return out
}

// expect checks some values.
func expect(t *testing.T, got map[string]string, want string) {
	t.Helper()
	for line := range strings.Lines(want) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), " = ")
		if ok && got[name] != value {
			t.Errorf("%s is %q, expected %q", name, got[name], value)
		}
	}
	if t.Failed() {
		var all []string
		for name, value := range got {
			all = append(all, name+" = "+value)
		}
		slices.Sort(all)
		t.Log(strings.Join(all, "\n"))
	}
}

// complete checks that every bit of a dump is in some value.
func complete(t testing.TB, l *Layout, dump []byte) {
	t.Helper()
	opt := Options{Keys: map[string]string{}}
	root := rootOf(t, l, dump, opt)
	for i := range dump {
		for bit := range 8 {
			if bit != i%8 && effort.Of(true, false) {
				continue
			}
			other := bytes.Clone(dump)
			other[i] ^= 1 << bit
			if rootOf(t, l, other, opt) == root {
				t.Fatalf("bit %d of byte %d is in no value: %s", bit, i, l.Explain(i, dump...))
			}
			if len(l.Findings(dump, other, opt)) == 0 && l.Padding != nil && strings.HasPrefix(l.Explain(i, dump...), "padding") {
				t.Fatalf("bit %d of byte %d is padding that nothing is said of", bit, i)
			}
		}
	}
}

// rootOf returns the digest of all values.
func rootOf(t testing.TB, l *Layout, dump []byte, opt Options) string {
	t.Helper()
	w, err := l.Decode(dump, "dump", opt)
	if err != nil {
		t.Fatal(err)
	}
	s, err := snapshot.Hold(w)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	return s.Info().Root.String()
}

// structs returns declarations of so many random structs, which C and Parse read alike. Bit fields have so many bits
// less than their type, at least.
func structs(r *rand.Rand, count, narrower int) string {
	var out strings.Builder
	plain := []string{"u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f32", "f64", "bool", "char", "unsigned short", "enum Mode", "struct S0 *", "void *"}
	fields := []string{"u8", "u16", "u32", "i32", "u64", "bool", "enum Mode"}
	widths := map[string]int{"u8": 8, "u16": 16, "u32": 32, "i32": 32, "u64": 64, "bool": 1, "enum Mode": 32}
	out.WriteString("enum Mode { IDLE, WALK = 1 << 2, RUN, };\n")
	packed := false
	for n := range count {
		if r.IntN(4) == 0 {
			packed = !packed
			out.WriteString(map[bool]string{true: fmt.Sprintf("#pragma pack(push, %d)\n", 1<<r.IntN(4)), false: "#pragma pack(pop)\n"}[packed])
		}
		fmt.Fprintf(&out, "struct S%d {\n", n)
		for m := range 1 + r.IntN(7) {
			typ := plain[r.IntN(len(plain))]
			if n > 0 && r.IntN(4) == 0 {
				typ = fmt.Sprintf("struct S%d", r.IntN(n))
			}
			switch r.IntN(6) {
			case 0, 1:
				f := fields[r.IntN(len(fields))]
				switch r.IntN(8) {
				case 0:
					fmt.Fprintf(&out, "\t%s : %d;\n", f, r.IntN(widths[f]+1))
				default:
					fmt.Fprintf(&out, "\t%s m%d : %d;\n", f, m, 1+r.IntN(max(1, widths[f]-narrower)))
				}
			case 2:
				fmt.Fprintf(&out, "\t%s m%d[%d];\n", typ, m, 1+r.IntN(9))
			case 3:
				fmt.Fprintf(&out, "\tunion { %s m%d; u16 n%d; struct { u8 o%d; u32 p%d; }; }; // %d\n", typ, m, m, m, m, m)
			case 4:
				fmt.Fprintf(&out, "\t%s m%d;\n\t%s n%d[2][3];\n", typ, m, typ, m)
			default:
				fmt.Fprintf(&out, "\t%s m%d;\n", typ, m)
			}
		}
		out.WriteString(map[bool]string{true: "} __attribute__((packed));\n", false: "};\n"}[r.IntN(6) == 0])
	}
	if packed {
		out.WriteString("#pragma pack(pop)\n")
	}
	return out.String()
}

func TestParse(t *testing.T) {
	if _, err := Parse("packed struct Small { u8 a; u32 b; };", ""); err == nil {
		t.Fatal("packed before struct is no C")
	}
	l, err := Parse(`
		// a state
		pointers 32
		#define UNITS 2
		enum Order : u8 { IDLE, ATTACK = 0x10, };
		typedef struct { fixed16 x, y; } Vec;
		struct State {
			const uint64_t tick;
			Vec pos; Order order; char name[2 * 4];
			struct { u16 a; u32 b; } __attribute__((__packed__)) p;
			struct State *next; void (*call)(int, void *);
			unsigned char raw[UNITS << 1];
			long long far;
		};`, "State")
	if err != nil {
		t.Fatal(err)
	}
	dump := make([]byte, l.Size)
	copy(dump[8:], "\x00\x80\x01\x00\x00\x00\xff\xff\x10hello")
	expect(t, values(t, l, dump, Options{}), `
		state[0].pos.x = 1.5
		state[0].pos.y = -1
		state[0].State.order = "ATTACK"
		state[0].State.name = "hello"
		state[0].p.b = 0
		state[0].State (pointer).next = 0
		state[0].State.raw[3] = 0
	`)
	complete(t, l, dump)
	if l.Size != 56 {
		t.Errorf("%d bytes\n%s", l.Size, describe(l))
	}
}

// TestDoubling declares structs that each have the one before twice: they grow beyond all bounds.
func TestDoubling(t *testing.T) {
	for _, form := range []string{"struct S%d { struct S%d a, b; };\n", "union S%d { struct S%d a; struct { struct S%[2]d b; u8 c; } d; };\n", "struct S%d { struct S%d a[9]; };\n"} {
		var text strings.Builder
		text.WriteString("struct S0 { u8 x; };\n")
		for n := range 60 {
			fmt.Fprintf(&text, form, n+1, n)
		}
		l, err := Parse(text.String(), "S60")
		if err != nil {
			continue
		}
		dump := make([]byte, min(l.Size, 1<<16))
		if _, err := l.Decode(dump, "dump", Options{}); err == nil {
			t.Errorf("%s is decoded", form)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	l, err := Parse("struct Unit { u32 id; u32 hp; };", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		size int
		opt  Options
		want string
	}{
		{7, Options{}, "dump: 7 bytes, but Unit has 8"},
		{9, Options{}, "dump: 9 bytes, but Unit has 8"},
		{8, Options{}, ""},
		{12, Options{Offset: 4}, ""},
		{40, Options{Offset: 4}, ""},
		{11, Options{Offset: 4}, "dump: 7 bytes, but Unit has 8"},
		{3, Options{Offset: 4}, "dump: offset 4, of 3 bytes"},
		{32, Options{Elements: -1}, ""},
		{33, Options{Elements: -1}, "dump: 33 bytes from offset 0 on, but an element, Unit, has 8"},
		{0, Options{Elements: -1}, "dump: 0 bytes from offset 0 on, but an element, Unit, has 8"},
		{33, Options{Elements: 4}, ""},
		{31, Options{Elements: 4}, "dump: 31 bytes from offset 0 on, but Unit[4] has 4 × 8"},
		{8, Options{Keys: map[string]string{"units": "none"}}, ""},
	} {
		_, err := l.Decode(make([]byte, c.size), "dump", c.opt)
		if got := fmt.Sprint(err); c.want == "" && err != nil || c.want != "" && got != c.want {
			t.Errorf("%d %+v: %v, expected %q", c.size, c.opt, err, c.want)
		}
	}
}

// TestKeys: a member that identifies is the key only where it does so in both dumps, and the order is a value.
func TestKeys(t *testing.T) {
	l, err := Parse("struct Item { u16 kind; }; struct Unit { u32 unit_id; Item items[6]; }; struct State { Unit units[3]; u8 grid[2][8]; };", "")
	if err != nil {
		t.Fatal(err)
	}
	state := func(ids ...byte) []byte {
		dump := make([]byte, l.Size)
		for i, id := range ids {
			dump[16*i] = id
			dump[16*i+4] = 100 + id
		}
		return dump
	}
	a, b := state(5, 7, 9), state(7, 5, 9)
	keys := l.Keys(Options{}, a, b)
	if len(keys) != 1 || keys["units"] != "unit_id" {
		t.Fatal(keys)
	}
	expect(t, values(t, l, b, Options{Keys: keys}), `
		units[5].Unit.(index) = 1
		units[7].Unit.(index) = 0
		units[9].Unit.unit_id = 9
		units.items[7:0].Item.kind = 107
		units.items[5:0].Item.kind = 105
		grid[1:7].grid.value = 0
	`)
	for _, other := range [][]byte{state(7, 7, 9), state(7, 0, 9)} {
		if keys := l.Keys(Options{}, a, other); len(keys) != 0 {
			t.Error(keys)
		}
	}
	expect(t, values(t, l, a, Options{Keys: map[string]string{}}), "units[1].Unit.unit_id = 7\nunits.items[1:0].Item.kind = 107\n")
	if _, err := l.Decode(a, "dump", Options{Keys: map[string]string{"units": "name"}}); err == nil || err.Error() != "dump: Unit has no member name that is a number" {
		t.Error(err)
	}
	if _, err := l.Decode(state(7, 7, 9), "dump", Options{Keys: keys}); err == nil || err.Error() != "dump: units: elements 0 and 1 both have unit_id 7" {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("struct Unit { u32 id; f32 pos[2]; char name[16]; fixed16 hp; u8 flags : 3; Unit *t; };", []byte("abc"))
	f.Add("pointers 32\n#pragma pack(1)\nunion U { struct { u8 a; } b[3]; enum E : i8 { X = -1 } c; u64 d : 60; };struct S{U u;};", []byte{1, 2, 3})
	f.Add(structs(rand.New(rand.NewPCG(1, 1)), 4, 0), []byte{0xff})
	f.Fuzz(func(t *testing.T, text string, memory []byte) {
		l, err := Parse(text, "")
		if err != nil {
			if strings.ContainsRune(err.Error(), '\n') {
				t.Fatalf("%q has two lines", err)
			}
			return
		}
		checkLayout(t, l, memory)
	})
}

// checkLayout checks that every bit of small memory of a type is in some value.
func checkLayout(t *testing.T, l *Layout, memory []byte) {
	if l.Size == 0 || l.Size > 1<<10 || l.cells > 1<<12 {
		return
	}
	dump := make([]byte, l.Size)
	copy(dump, memory)
	opt := Options{Keys: map[string]string{}}
	w, err := l.Decode(dump, "dump", opt)
	if err != nil {
		return
	}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	l.Findings(dump, make([]byte, l.Size), opt)
	root := rootOf(t, l, dump, opt)
	for i := range dump {
		if l.Explain(i, dump...) == "" {
			t.Fatalf("byte %d is not explained", i)
		}
		if i%(1+len(dump)/16) == 0 {
			dump[i] ^= 1 << (i % 8)
			if rootOf(t, l, dump, opt) == root {
				t.Fatalf("bit %d of byte %d is in no value: %s\n%s", i%8, i, l.Explain(i), describe(l))
			}
			dump[i] ^= 1 << (i % 8)
		}
	}
}

// describe returns all of a layout but the names of its types.
func describe(l *Layout) string {
	var out strings.Builder
	var put func(l *Layout, indent string)
	put = func(l *Layout, indent string) {
		fmt.Fprintf(&out, "%s%d bytes\n", indent, l.Size)
		for _, f := range l.Fields {
			fmt.Fprintf(&out, "%s%s at %d: kind %d of %d, bits %d+%d, %d elements, names %v\n", indent, f.Path, f.Offset, f.Kind, f.Size, f.Bit, f.Bits, f.Count, f.Names)
			if f.Element != nil {
				put(f.Element, indent+"  ")
			}
			for _, a := range f.Alternatives {
				fmt.Fprintf(&out, "%s or %s\n", indent, a.Name)
				put(a.Layout, indent+"  ")
			}
		}
		for _, p := range l.Padding {
			fmt.Fprintf(&out, "%spadding %d+%d %02x after %s\n", indent, p.Offset, p.Size, p.Mask, p.After)
		}
	}
	put(l, "")
	return out.String()
}

// TestFindings: the same padding is counted in all structs that it lies in.
func TestFindings(t *testing.T) {
	l, err := Parse("struct Unit { u32 id; bool alive; }; struct State { Unit king, queen; Unit units[2]; void *p[2]; u64 tick; };", "")
	if err != nil {
		t.Fatal(err)
	}
	a := make([]byte, l.Size)
	for _, c := range []struct {
		at   []int
		want string
	}{
		{[]int{5, 21}, "padding differs: 3 bytes after Unit.alive in 2 of 4 Units: uninitialised memory in what was compared|nothing else differs: the values of the game are equal"},
		{[]int{32}, "only one side has a null pointer in State.p in 1 of 2 elements"},
		{[]int{5, 48, 0}, "padding differs: 3 bytes after Unit.alive in 1 of 4 Units: uninitialised memory in what was compared|values differ, too: Unit.id in 1 of 4 Units; State.tick"},
		{[]int{48}, ""},
	} {
		b := bytes.Clone(a)
		for _, at := range c.at {
			b[at]++
		}
		if got := strings.Join(l.Findings(a, b, Options{}), "|"); got != c.want {
			t.Errorf("%v: %q, expected %q", c.at, got, c.want)
		}
	}
}
