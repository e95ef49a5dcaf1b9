package memory

import (
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	l, err := Parse(`struct Unit { u32 id; char name[16]; bool alive; struct Unit *target; u8 low : 3; };
		struct State { Unit units[2]; union { u32 i; f32 f; } u; };`, "")
	if err != nil {
		t.Fatal(err)
	}
	memory := make([]byte, l.Size)
	copy(memory[40+4:], "abcdefgh")
	for offset, want := range map[int]string{
		1:   "byte 1 of Unit.id, element 0 of State.units",
		13:  "byte 9 of Unit.name, after its end, element 0 of State.units",
		52:  "byte 8 of Unit.name, element 1 of State.units",
		53:  "byte 9 of Unit.name, after its end, element 1 of State.units",
		20:  "Unit.alive, element 0 of State.units",
		22:  "padding after Unit.alive (3 bytes at offset 21 of Unit), element 0 of State.units",
		26:  "pointer Unit.target, element 0 of State.units",
		32:  "Unit.low, element 0 of State.units",
		34:  "padding after Unit.low (7 bytes at offset 33 of Unit), element 0 of State.units",
		81:  "byte 1 of the union State.u",
		85:  "padding after State.u (4 bytes at offset 84 of State)",
		88:  "outside of State (88 bytes)",
		-1:  "outside of State (88 bytes)",
		999: "outside of State (88 bytes)",
	} {
		if got := l.Explain(offset, memory...); got != want {
			t.Errorf("%d: %q, expected %q", offset, got, want)
		}
	}
	if got := l.Explain(13); got != "byte 9 of Unit.name, element 0 of State.units" {
		t.Error(got)
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                            "no struct is declared",
		"struct A { u32 id; }":                        `line 1: "", expected ";"`,
		"struct A {\nu32 id;\nlong x;\n};":            `line 3: the size of "long" depends on the compiler: write u32, i64 or the like`,
		"struct A { foo x; };":                        `line 1: type "foo" is not declared`,
		"struct A { struct A a; };":                   "line 1: a has a type that is not declared",
		"struct A { struct B b[2]; };":                "line 1: b has a type that is not declared",
		"struct A { u8 x : 9; };":                     "line 1: a bit field of 9 bits",
		"struct A { f32 x : 3; };":                    "line 1: a bit field of 3 bits",
		"struct A { u8 x[1152921504606846976]; };":    "expected at most",
		"struct A { u8 x[1024][1048576][1048576]; };": "an array of",
		"struct A { u8 x[n]; };":                      `"n", expected a number`,
		"struct A { u8 x[]; };":                       `"]", expected a number`,
		"struct A { u8 x; /* ":                        "line 1: a comment without end",
		"struct A { u8 x;":                            "line 1: the text ends inside a struct",
		"struct A { void x; };":                       "x has a type that is not declared",
		"#ifdef X\nstruct A { u8 x; };":               "line 1: #ifdef, expected declarations without conditions",
		"#pragma pack(3)\nstruct A { u8 x; };":        `#pragma pack with "3"`,
		"pointers 16":                                 `pointers of "16" bits, expected 32 or 64`,
		"class Foo { public: int x; };":               `"public" is not declared`,
		"int main() { return 0; }":                    `line 1: "(", expected ";"`,
		"hello world":                                 `type "hello" is not declared`,
		"{\"json\": 1}":                               `line 1: '"', expected a declaration of a struct`,
		strings.Repeat("struct A {", 100):             "structs lie more than 64 deep",
	} {
		if _, err := Parse(text, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, expected %q", text, err, want)
		}
	}
	if _, err := Parse("struct A { u8 x; };", "B"); err == nil || err.Error() != "no struct B is declared" {
		t.Error(err)
	}
}
