package memory

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// die is an entry of debug information that a test writes. A name of another entry refers to it.
type die struct {
	label string
	tag   dwarf.Tag
	attrs []any // pairs: an attribute, and an int, a string, or a ref
	kids  []die
}

type ref string

// information returns debug information of one unit, by the rules of DWARF 4.
func information(kids ...die) (abbrev, info []byte) {
	forms := func(v any) byte {
		switch v.(type) {
		case int:
			return 0x06 // data4
		case int64:
			return 0x07 // data8
		case ref:
			return 0x13 // ref4
		case bool:
			return 0x0c // flag
		}
		return 0x08 // string
	}
	at := map[string]int{}
	fixes := map[int]string{}
	info = []byte{0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8}
	code := 0
	var put func(d die)
	put = func(d die) {
		code++
		at[d.label] = len(info)
		abbrev = binary.AppendUvarint(binary.AppendUvarint(abbrev, uint64(code)), uint64(d.tag))
		abbrev = append(abbrev, map[bool]byte{true: 1, false: 0}[len(d.kids) > 0])
		info = binary.AppendUvarint(info, uint64(code))
		for i := 0; i < len(d.attrs); i += 2 {
			abbrev = append(binary.AppendUvarint(abbrev, uint64(d.attrs[i].(dwarf.Attr))), forms(d.attrs[i+1]))
			switch v := d.attrs[i+1].(type) {
			case int:
				info = binary.LittleEndian.AppendUint32(info, uint32(v))
			case int64:
				info = binary.LittleEndian.AppendUint64(info, uint64(v))
			case ref:
				fixes[len(info)] = string(v)
				info = append(info, 0, 0, 0, 0)
			case bool:
				info = append(info, 1)
			case string:
				info = append(append(info, v...), 0)
			}
		}
		abbrev = append(abbrev, 0, 0)
		if len(d.kids) == 0 {
			return
		}
		for _, kid := range d.kids {
			put(kid)
		}
		info = append(info, 0)
	}
	put(die{tag: dwarf.TagCompileUnit, attrs: []any{dwarf.AttrName, "unit.c"}, kids: kids})
	for where, label := range fixes {
		binary.LittleEndian.PutUint32(info[where:], uint32(at[label]))
	}
	binary.LittleEndian.PutUint32(info, uint32(len(info)-4))
	return append(abbrev, 0), info
}

func member8(name, of string, at any) die {
	return die{tag: dwarf.TagMember, attrs: []any{dwarf.AttrName, name, dwarf.AttrType, ref(of), dwarf.AttrDataMemberLoc, at}}
}

func structure(name string, size any, members ...die) die {
	return die{label: name, tag: dwarf.TagStructType, attrs: []any{dwarf.AttrName, name, dwarf.AttrByteSize, size}, kids: members}
}

// TestHostileTypes: debug information that no compiler writes ends with one line, at once.
func TestHostileTypes(t *testing.T) {
	number := die{label: "u32", tag: dwarf.TagBaseType, attrs: []any{dwarf.AttrName, "u32", dwarf.AttrByteSize, 4, dwarf.AttrEncoding, 7}}
	array := func(name, of string, count any) die {
		return die{label: name, tag: dwarf.TagArrayType, attrs: []any{dwarf.AttrType, ref(of)},
			kids: []die{{tag: dwarf.TagSubrangeType, attrs: []any{dwarf.AttrCount, count}}}}
	}
	alias := func(name, of string) die {
		return die{label: name, tag: dwarf.TagTypedef, attrs: []any{dwarf.AttrName, name, dwarf.AttrType, ref(of)}}
	}
	var deep, wide, chain []die
	for n := range 100 {
		below := fmt.Sprintf("D%d", n)
		if n == 0 {
			below = "u32"
		}
		deep = append(deep, structure(fmt.Sprintf("D%d", n+1), 4, member8("m", below, 0)))
		wide = append(wide, structure(fmt.Sprintf("D%d", n+1), 1<<30, member8("a", below, 0), member8("b", below, 4<<min(n, 26))))
		chain = append(chain, alias(fmt.Sprintf("D%d", n+1), below))
	}
	deep, wide, chain = append(deep, structure("S", 4, member8("m", "D100", 0))), append(wide, structure("S", 1<<30, member8("m", "D100", 0))), append(chain, structure("S", 4, member8("m", "D100", 0)))
	for name, c := range map[string]struct {
		types []die
		want  string
	}{
		"itself":         {[]die{structure("S", 4, member8("m", "S", 0))}, "a type that contains itself"},
		"two":            {[]die{structure("S", 4, member8("m", "T", 0)), structure("T", 4, member8("m", "S", 0))}, "a type that contains itself"},
		"alias":          {[]die{structure("S", 4, member8("m", "T", 0)), alias("T", "T")}, "a type that contains itself"},
		"array":          {[]die{structure("S", 4, member8("m", "A", 0)), array("A", "S", 1)}, "a type that contains itself"},
		"absurd size":    {[]die{structure("S", int64(1)<<60, member8("m", "u32", 0))}, "bytes, at most"},
		"negative size":  {[]die{structure("S", int64(-1), member8("m", "u32", 0))}, "struct S has no size"},
		"absurd count":   {[]die{structure("S", 4, member8("m", "A", 0)), array("A", "u32", int64(1)<<60)}, "an array of 1152921504606846976 elements"},
		"count of none":  {[]die{structure("S", 4, member8("m", "A", 0)), array("A", "E", int64(1)<<60), structure("E", 0)}, ""},
		"negative count": {[]die{structure("S", 4, member8("m", "A", 0)), array("A", "u32", int64(-5))}, "an array of -5 elements"},
		"outside":        {[]die{structure("S", 4, member8("m", "u32", 1))}, "member S.m of 4 bytes at offset 1 does not fit into 4 bytes"},
		"far outside":    {[]die{structure("S", 4, member8("m", "u32", int64(1)<<62))}, "S.m is at offset"},
		"before":         {[]die{structure("S", 4, member8("m", "u32", int64(-8)))}, "its offset is computed by the program"},
		"overlap":        {[]die{structure("S", 8, member8("m", "u32", 0), member8("n", "u32", 2))}, "members m and n of S overlap"},
		"deep":           {deep, "types"},
		"chain":          {chain, "types within each other"},
		"wide":           {wide, "S"},
		"no such entry":  {[]die{structure("S", 4, member8("m", "nothing", 0))}, "S.m: "},
		"declared":       {[]die{structure("S", 4, member8("m", "T", 0)), {label: "T", tag: dwarf.TagStructType, attrs: []any{dwarf.AttrName, "T", dwarf.AttrDeclaration, true}}}, "struct T is declared, and defined nowhere"},
		"void":           {[]die{structure("S", 4, die{tag: dwarf.TagMember, attrs: []any{dwarf.AttrName, "m"}})}, "void or not given"},
		"function":       {[]die{structure("S", 4, member8("m", "f", 0)), {label: "f", tag: dwarf.TagSubroutineType}}, "which is not read"},
		"bits":           {[]die{structure("S", 4, die{tag: dwarf.TagMember, attrs: []any{dwarf.AttrName, "m", dwarf.AttrType, ref("u32"), dwarf.AttrBitSize, 99}})}, "does not fit"},
		"bits before":    {[]die{structure("S", 4, die{tag: dwarf.TagMember, attrs: []any{dwarf.AttrName, "m", dwarf.AttrType, ref("u32"), dwarf.AttrBitSize, 3, dwarf.AttrDataBitOffset, int64(-9)}})}, "does not fit"},
		"no variants":    {[]die{structure("S", 4, die{tag: dwarf.TagVariantPart})}, "S has no variants"},
	} {
		t.Run(name, func(t *testing.T) {
			abbrev, info := information(append([]die{number}, c.types...)...)
			data, err := dwarf.New(abbrev, nil, nil, info, nil, nil, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			l, err := (&Info{data: data}).Layout("S")
			if err == nil {
				_, err = l.Decode(make([]byte, min(l.Size, 1<<16)), "dump", Options{})
			}
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("%v, expected %q", err, c.want)
			}
			if spent := time.Since(begun); spent > 5*time.Second {
				t.Errorf("it takes %s", spent)
			}
		})
	}
}

// object is a small program with debug information.
func object(t testing.TB) []byte {
	program := compile(t, "gcc", "game.c", `struct Unit { unsigned id; float pos[2]; char name[8]; struct Unit *target; unsigned a : 3; enum { X, Y } e; union { int i; float f; } u; };
		typedef struct { struct Unit units[3]; long long tick; } State; State state;`, "-c")
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestTypesErrors(t *testing.T) {
	content := object(t)
	for text, want := range map[string]string{
		"":                     "not a program: it has fewer than 4 bytes",
		"hello":                "not a program: expected an ELF, PE or Mach-O file",
		"\x7fELF\x02\x01\x01":  "debug information: ",
		"MZ\x90\x00":           "debug information: ",
		string(content[:700]):  "debug information: the file ends before it",
		"\xcf\xfa\xed\xfe\x00": "debug information: ",
	} {
		if _, err := Types(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.10q: %v", text, err)
		}
	}
	stripped := bytes.ReplaceAll(content, []byte(".debug_info"), []byte(".other_info"))
	if _, err := Types(bytes.NewReader(stripped)); err == nil || !strings.Contains(err.Error(), "build the game with -g") {
		t.Error(err)
	}
}

// TestBrokenName looks for a type beside one with a line break in its name.
func TestBrokenName(t *testing.T) {
	info, err := Types(bytes.NewReader(bytes.ReplaceAll(object(t), []byte("State"), []byte("St\nte"))))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = info.Layout("State"); err == nil || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

// TestDamagedTypes reads programs that are cut off or have bytes that are others.
func TestDamagedTypes(t *testing.T) {
	content := object(t)
	r := rand.New(rand.NewPCG(3, 4))
	for range effort.Of(300, 5000) {
		damaged := bytes.Clone(content)
		for range 1 + r.IntN(6) {
			damaged[64+r.IntN(len(damaged)-64)] = byte(r.IntN(256))
		}
		tryTypes(t, damaged[:len(damaged)-r.IntN(2)*r.IntN(len(damaged))])
	}
}

// tryTypes reads types of what may be no program.
func tryTypes(t *testing.T, content []byte) {
	info, err := Types(bytes.NewReader(content))
	if err != nil {
		return
	}
	for _, name := range []string{"State", "Unit"} {
		if l, err := info.Layout(name); err == nil {
			checkLayout(t, l, content)
		} else if strings.Contains(err.Error(), "\n") {
			t.Fatalf("%q has two lines", err)
		}
	}
}

func FuzzTypes(f *testing.F) {
	if small, err := os.ReadFile("testdata/unit.o"); err == nil {
		f.Add(small)
	}
	f.Fuzz(func(t *testing.T, content []byte) { tryTypes(t, content) })
}
