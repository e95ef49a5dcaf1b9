package memory

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// compile compiles a program with debug information. Without the compiler the test is skipped.
func compile(t testing.TB, compiler, name, source string, flags ...string) (program string) {
	t.Helper()
	path, err := exec.LookPath(compiler)
	if err != nil {
		t.Skip("no " + compiler)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, name)
	program = filepath.Join(dir, "game")
	build := func(source string) ([]byte, error) {
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		return exec.Command(path, append(slices.Clone(flags), "-g", "-o", program, file)...).CombinedOutput()
	}
	if out, err := build(source); err != nil {
		least := "int main(void) { return 0; }\n"
		if strings.HasSuffix(name, ".rs") {
			least = "fn main() {}\n"
		}
		if _, err := build(least); err == nil {
			t.Fatalf("%s %v: %s", compiler, flags, out)
		}
		t.Skipf("%s %v: %s", compiler, flags, out)
	}
	return program
}

// layoutOf returns the layout of a type in a program.
func layoutOf(t testing.TB, program, name string) *Layout {
	t.Helper()
	f, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := Types(f)
	if err != nil {
		t.Fatal(err)
	}
	l, err := info.Layout(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// dumpOf returns what a program writes.
func dumpOf(t testing.TB, program string, args ...string) []byte {
	t.Helper()
	out, err := exec.Command(program, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const sourceC = `
#include <stdio.h>
#include <string.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct { float x, y; } Vec2;
enum Mode { IDLE, MOVE = 4, ATTACK, FLEE = -1 };

typedef struct Unit {
	uint32_t id; Vec2 pos; char name[16]; bool alive; uint8_t low : 3, high : 2;
	struct Unit *target; enum Mode mode; int8_t delta : 5; struct { int16_t a; union { int32_t i; float f; }; } inner;
} Unit;

typedef struct { uint64_t tick; uint32_t rng[4]; int16_t map[3][5]; uint16_t n; Unit units[6]; long double far; double last; Unit *first[2];
	unsigned long long big : 50, rest : 10; unsigned char raw[6]; void (*call)(int); } GameState;
int main(int argc, char **argv) {
	int fill = atoi(argv[1]);
	GameState *g = malloc(sizeof *g);
	memset(g, fill, sizeof *g);
	g->tick = 77;
	for (int i = 0; i < 4; i++) g->rng[i] = 1000 + i;
	for (int i = 0; i < 15; i++) g->map[i / 5][i % 5] = i - 7;
	g->n = 6;
	for (int i = 0; i < 6; i++) {
		Unit *u = &g->units[i];
		u->id = 20 - i; u->pos.x = i; u->pos.y = -i; strcpy(u->name, "abc"); u->alive = i % 2; u->low = i; u->high = 1;
		u->target = i ? (Unit *)(uintptr_t)(0x1000 * (fill + 1) + i) : 0; u->mode = i == 2 ? FLEE : ATTACK; u->delta = -i; u->inner.a = -3; u->inner.f = 1.5f;
	}
	g->far = 1.0L; g->last = 3.25; g->first[0] = 0; g->first[1] = (Unit *)(uintptr_t)(0x40 + fill); g->big = 0x2000000000005ULL; g->rest = 513;
	for (int i = 0; i < 6; i++) g->raw[i] = i;
	g->call = 0;
	fwrite(g, sizeof *g, 1, stdout);
	return 0;
}
`

const valuesC = `
state[0].GameState.tick = 77
state[0].GameState.rng[0] = 1000
state[0].GameState.rng[3] = 1003
state[0].GameState.n = 6
state[0].GameState.last = 3.25
state[0].GameState (pointer).first[0] = 0
state[0].GameState.big = 562949953421317
state[0].GameState.rest = 513
map[0:0].map.value = -7
map[2:4].map.value = 7
raw[5].raw.value = 5
units[20].Unit.(index) = 0
units[15].Unit.(index) = 5
units[15].pos.x = 5
units[15].pos.y = -5
units[15].Unit.name = "abc"
units[15].Unit.alive = 1
units[15].Unit.low = 5
units[15].Unit.high = 1
units[15].Unit.delta = -5
units[15].Unit.mode = "ATTACK"
units[18].Unit.mode = "FLEE"
units[18].inner.a = -3
units[18].inner.f = 1.5
units[18].inner.i = 1069547520
units[20].Unit (pointer).target = 0
`

// combinations calls a test for each compiler and each of its options.
func combinations(t *testing.T, compilers []string, options [][]string, test func(t *testing.T, compiler string, flags []string)) {
	for _, compiler := range compilers {
		for _, flags := range options {
			t.Run(compiler+strings.Join(flags, ""), func(t *testing.T) {
				t.Parallel()
				test(t, compiler, flags)
			})
		}
	}
}

// TestC decodes memory of a program in C with values that the test knows.
func TestC(t *testing.T) {
	combinations(t, []string{"gcc", "clang"}, [][]string{{"-O0"}, {"-O2", "-gdwarf-4"}, {"-O0", "-gdwarf-2", "-gz"}}[:effort.Of(1, 3)], func(t *testing.T, compiler string, flags []string) {
		program := compile(t, compiler, "game.c", sourceC, flags...)
		l := layoutOf(t, program, "GameState")
		clean, dirty := dumpOf(t, program, "0"), dumpOf(t, program, "205")
		expect(t, values(t, l, clean, Options{}), valuesC)
		expect(t, values(t, l, dirty, Options{}), valuesC)
		if compiler == "gcc" && flags[0] == "-O0" {
			complete(t, l, dirty[:l.Size])
		}
		got := l.Findings(clean, dirty, Options{})
		want := []string{
			"padding differs: 3 bits after Unit.high in 6 of 6 Units; 2 bytes after Unit.high in 6 of 6 Units; 3 bits after Unit.delta in 6 of 6 Units; " +
				"3 bytes after Unit.delta in 6 of 6 Units; 2 bytes after Unit.inner.a in 6 of 6 Units; and 3 more: uninitialised memory in what was compared",
			"pointers differ in Unit.target in 5 of 6 Units; GameState.first in 1 of 2 elements: they differ on every machine",
			"text differs only after the zero that ends it: Unit.name in 6 of 6 Units: bytes that the memory held before",
			"nothing else differs: the values of the game are equal",
		}
		// Where the bit field begins in its unit, and so the padding around it, is the same in all of these compilers.
		for i := range min(len(got), len(want)) {
			if i > 0 && got[i] != want[i] {
				t.Errorf("got  %s\nwant %s", got[i], want[i])
			}
		}
		if len(got) != len(want) || !strings.HasPrefix(got[0], "padding differs: ") || !strings.HasSuffix(got[0], ": uninitialised memory in what was compared") {
			t.Errorf("%q", got)
		}
		dirty[l.Fields[0].Offset]++
		if got := l.Findings(clean, dirty, Options{}); got[len(got)-1] != "values differ, too: GameState.tick" {
			t.Errorf("%q", got)
		}
		if got := l.Findings(clean, clean, Options{}); len(got) > 0 {
			t.Errorf("of equal dumps: %q", got)
		}
	})
}

const sourceCPP = `
#include <cstdio>
#include <cstring>
#include <cstdint>
#include <cstdlib>
#include <new>
namespace game {
struct Entity { uint32_t id; uint8_t kind; static int count; virtual void step() {} };
int Entity::count = 3;
template <typename T, int N> struct Grid { T cells[N]; T at(int i) const { return cells[i]; } };
enum class Mode : int8_t { Idle = -2, Walk = 1 };
struct Base { int32_t a; int8_t b; Base() : a(1), b(2) {} };
struct Derived : Base { int8_t c = 3; };
struct Unit final : Entity { Mode mode; bool alive; const int &ref; Grid<uint16_t, 3> grid; int Entity::*field; struct { uint8_t r, g; } colour; Unit(int &r) : ref(r) {} };
struct State { Unit a; Grid<int, 6> big; Derived d; unsigned flags : 20; };
}
namespace other { struct Mode { int x; } mode; }
int main(int argc, char **argv) {
	int x = 5;
	void *memory = malloc(sizeof(game::State));
	memset(memory, atoi(argv[1]), sizeof(game::State));
	game::State *s = static_cast<game::State *>(memory);
	new (&s->a) game::Unit(x);
	new (&s->d) game::Derived();
	s->a.id = 7; s->a.kind = 9; s->a.mode = game::Mode::Idle; s->a.alive = true; s->a.field = nullptr; s->a.colour = {1, 2};
	for (int i = 0; i < 3; i++) s->a.grid.cells[i] = i + 1;
	for (int i = 0; i < 6; i++) s->big.cells[i] = s->big.at(0) * 0 - i;
	s->flags = 0xabcde;
	fwrite(s, sizeof *s, 1, stdout);
	return other::mode.x;
}
`

// TestCPP decodes classes with bases, templates and references.
func TestCPP(t *testing.T) {
	combinations(t, []string{"g++", "clang++"}, [][]string{{"-O0", "-std=c++17"}, {"-O2", "-std=c++17"}}[:effort.Of(1, 2)], func(t *testing.T, compiler string, flags []string) {
		program := compile(t, compiler, "game.cc", sourceCPP, flags...)
		dirty := dumpOf(t, program, "170")
		for _, name := range []string{"State", "game::State"} {
			l := layoutOf(t, program, name)
			expect(t, values(t, l, dirty, Options{}), `
				state[0].a.Entity.id = 7
				state[0].a.Entity.kind = 9
				state[0].a.mode = "Idle"
				state[0].a.alive = 1
				state[0].a.grid.cells[2] = 3
				state[0].a.colour.g = 2
				state[0].d.Base.a = 1
				state[0].d.Base.b = 2
				state[0].d.c = 3
				state[0].State.flags = 703710
				big.cells[5].big.cells.value = -5
			`)
			complete(t, l, dirty)
			if _, ok := values(t, l, dirty, Options{})["state[0].a (pointer).ref"]; !ok {
				t.Error("the reference is no pointer")
			}
		}
		if l := layoutOf(t, program, "Grid<int,6>"); l.Size != 24 {
			t.Errorf("Grid has %d bytes", l.Size)
		}
		f, err := os.Open(program)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, err := Types(f)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{"Mode": "has 2 definitions: ", "Statt": "no type Statt in the debug information; did you mean State?", "": "no type "} {
			if _, err := info.Layout(name); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", name, err)
			}
		}
		if _, err := info.Layout("Mode"); !strings.Contains(err.Error(), "game::Mode") || !strings.Contains(err.Error(), "other::Mode") {
			t.Error(err)
		}
	})
}

const sourceRust = `
#![allow(dead_code)]
use std::io::Write;
#[repr(C)] #[derive(Clone, Copy)] pub struct V { x: f32, y: f32 }
#[derive(Clone, Copy)] pub enum Order { Idle, Move(V), Attack { target: u32, strong: bool }, Far(Option<core::num::NonZeroU32>) }
#[derive(Clone, Copy)] pub enum Kind { A = 3, B = 7 }
pub struct Game { units: [(u32, Order); 4], kind: Kind, first: Option<Order>, letter: char, big: u128, alive: bool, name: [u8; 5], id: Option<Box<u8>> }
fn main() {
	let game = Game { units: [(1, Order::Idle), (2, Order::Move(V { x: 1.0, y: 2.5 })), (3, Order::Attack { target: 9, strong: true }),
		(4, Order::Far(core::num::NonZeroU32::new(6)))], kind: Kind::B, first: None, letter: 'x', big: 5, alive: true, name: *b"abcde", id: None };
	let bytes = unsafe { std::slice::from_raw_parts(&game as *const Game as *const u8, std::mem::size_of::<Game>()) };
	std::io::stdout().write_all(bytes).unwrap();
}
`

// TestRust decodes enums with data. Their other bytes are not the same in all runs.
func TestRust(t *testing.T) {
	combinations(t, []string{"rustc"}, [][]string{{"-Copt-level=0"}, {"-Copt-level=2"}}[:effort.Of(1, 2)], func(t *testing.T, compiler string, flags []string) {
		program := compile(t, compiler, "game.rs", sourceRust, flags...)
		dump := dumpOf(t, program)
		l := layoutOf(t, program, "game::Game")
		got := values(t, l, dump, Options{})
		expect(t, got, `
			state[0].Game.kind = "B"
			state[0].Game.first = "None"
			state[0].Game.letter = 120
			state[0].Game.alive = 1
			state[0].Game.big = 0x05000000000000000000000000000000
			name[4].name.value = 101
			units[0].(u32, game::Order).__1 = "Idle"
			units[1].__1.Move.__0.x = 1
			units[1].__1.Move.__0.y = 2.5
			units[2].__1.Attack.target = 9
			units[2].__1.Attack.strong = 1
			units[3].__1.Far.__0 = "Some"
			units[3].__1.Far.__0.Some.__0.__0.__0 = 6
		`)
		if _, ok := got["units[0].__1.Move.__0.x"]; ok {
			t.Error("a unit that idles has the data of one that moves")
		}
		complete(t, l, dump)
	})
}

// TestObject32 holds the layout for a machine of 32 bits against what the compiler computed itself.
func TestObject32(t *testing.T) {
	source := strings.NewReplacer("#include <stdio.h>", "", "#include <string.h>", "", "#include <stdint.h>", "", "#include <stdbool.h>", "", "#include <stdlib.h>", "").Replace(sourceC)
	source = source[:strings.Index(source, "int main")]
	types := "typedef unsigned char uint8_t; typedef signed char int8_t; typedef short int16_t; typedef unsigned short uint16_t; typedef int int32_t; typedef unsigned uint32_t; typedef unsigned long long uint64_t;\n#define bool _Bool\n"
	source = types + source + "GameState state; char marker[] = {'@', '@', sizeof(Unit), __builtin_offsetof(Unit, target), __builtin_offsetof(Unit, mode), __builtin_offsetof(Unit, inner), __builtin_offsetof(GameState, units), '@', '@'};\n"
	for _, compiler := range []string{"gcc", "clang"} {
		t.Run(compiler, func(t *testing.T) {
			program := compile(t, compiler, "game.c", source, "-m32", "-c")
			l := layoutOf(t, program, "GameState")
			object, err := os.ReadFile(program)
			if err != nil {
				t.Fatal(err)
			}
			at := bytes.Index(object, []byte("@@"))
			for object[at+7] != '@' {
				at += 1 + bytes.Index(object[at+1:], []byte("@@"))
			}
			want := object[at+2 : at+7]
			units := l.Fields[slices.IndexFunc(l.Fields, func(f Field) bool { return f.Path == "units" })]
			offset := func(path string) int64 {
				return units.Element.Fields[slices.IndexFunc(units.Element.Fields, func(f Field) bool { return f.Path == path })].Offset
			}
			got := []byte{byte(units.Element.Size), byte(offset("target")), byte(offset("mode")), byte(offset("inner.a")), byte(units.Offset)}
			if !bytes.Equal(got, want) {
				t.Errorf("size and offsets are %d, the compiler's are %d", got, want)
			}
		})
	}
}

// short are the short names of types in C.
const short = `typedef unsigned char u8; typedef signed char i8; typedef unsigned short u16; typedef short i16; typedef unsigned u32; typedef int i32;

typedef unsigned long long u64; typedef long long i64; typedef float f32; typedef double f64; typedef _Bool bool;
`

// TestParseLikeCompilers compares the layouts of random declarations with the compilers' layouts.
func TestParseLikeCompilers(t *testing.T) {
	combinations(t, []string{"gcc", "clang"}[:effort.Of(1, 2)], [][]string{{}, {"-gdwarf-4"}}[:effort.Of(1, 2)], func(t *testing.T, compiler string, flags []string) {
		const count = 150
		text := structs(rand.New(rand.NewPCG(5, 5)), count, len(compiler)/len("clang")) // clang writes the widest at a wrong place
		var uses strings.Builder
		for n := range count {
			fmt.Fprintf(&uses, "struct S%d s%d;\n", n, n)
		}
		program := compile(t, compiler, "game.c", short+text+uses.String(), append(flags, "-c", "-w")...)
		for n := range count {
			name := fmt.Sprintf("S%d", n)
			got, err := Parse(text, name)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if n%effort.Of(10, 1) != 0 {
				continue
			}
			if want := describe(layoutOf(t, program, name)); describe(got) != want {
				from := strings.Index(text, "struct "+name+" {")
				t.Fatalf("%s\nParse: %s\n%s: %s", text[from:from+strings.Index(text[from:], "\n}")+3], describe(got), compiler, want)
			}
		}
	})
}
