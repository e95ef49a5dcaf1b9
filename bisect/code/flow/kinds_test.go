package flow

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/code"
	"github.com/desynctool/desynctool/bisect/extsim"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// language is a language of the small games whose builds differ by one mistake.
type language struct {
	source string
	flags  map[int][]string // mistakes that are flags, for the same source
	// compile returns the commands that make a program of a game with a mistake; dir is a folder for what is in between.
	compile func(l *language, compiler, dir, program string, fault int, flags []string) ([][]string, error)
	kinds   []kind
}

// kind is a kind of mistakes by its number in the source.
type kind struct {
	fault int
	about string
}

const sources = "../../../docs/sdk/testdata/"

var (
	inC = &language{
		source: sources + "branches.c", compile: compileC,
		flags: map[int][]string{20: {"-funsigned-char"}, 21: {"-mfma", "-ffp-contract=fast"}},
		kinds: []kind{
			{20, "a flag of the compiler"}, {1, "a constant"}, {2, "an off-by-one"}, {5, "ties in a sort"}, {10, "an uninitialised variable"},
			{3, "a clock"}, {9, "a race of two threads"}, {21, "fma"}, {7, "the locale's decimal point"}, {4, "an order that is skipped"},
			{8, "the order of a hash table"}, {11, "a type that is too small"},
		},
	}
	inCPP = &language{
		source: sources + "branches.cpp", compile: compileCPP,
		flags: map[int][]string{20: {"-DNDEBUG"}, 21: {"-mfma", "-ffp-contract=fast"}}, kinds: otherKinds,
	}
	inRust = &language{
		source: sources + "branches.rs", compile: compileRust,
		flags: map[int][]string{20: {"-C", "debug-assertions=off"}}, kinds: otherKinds,
	}
	otherKinds = func() []kind {
		list := slices.Clone(inC.kinds)
		for i := range list {
			if other := map[int]int{10: 6, 11: 10}[list[i].fault]; other > 0 {
				list[i].fault = other
			}
		}
		return list
	}()
)

func coverage(compiler string) string {
	if strings.HasPrefix(compiler, "clang") {
		return "-fsanitize-coverage=trace-pc-guard"
	}
	return "-fsanitize-coverage=trace-pc"
}

func compileC(l *language, compiler, dir, program string, fault int, flags []string) ([][]string, error) {
	recorder, err := recorderObject()
	object := filepath.Join(dir, "game.o")
	args := append([]string{compiler, "-std=gnu99", "-g", "-w", fmt.Sprintf("-DFAULT=%d", fault), coverage(compiler), "-c", l.source, "-o", object}, flags...)
	return [][]string{args, {compiler, object, recorder, "-o", program, "-lpthread", "-lm"}}, err
}

// compileCPP compiles the simulation. What serves requests is compiled once for a folder.
func compileCPP(l *language, compiler, dir, program string, fault int, flags []string) ([][]string, error) {
	if _, err := recorderObject(); err != nil {
		return nil, err
	}
	served, err := shared("served.o", "g++", "-std=c++17", "-O1", "-DSERVED", "-c", l.source)
	if err != nil {
		return nil, err
	}
	recorder, err := shared("recorder-alone.o", "cc", "-O2", "-x", "c", "-DDESYNCTOOL_BRANCHES_IMPLEMENTATION", "-c", "../../../docs/sdk/c/desynctool_branches.h")
	object := filepath.Join(dir, "game.o")
	args := append([]string{compiler, "-std=c++17", "-g", "-w", fmt.Sprintf("-DFAULT=%d", fault), coverage(compiler), "-c", l.source, "-o", object}, flags...)
	return [][]string{args, {compiler, object, served, recorder, "-o", program, "-lpthread"}}, err
}

func compileRust(l *language, _, _, program string, fault int, flags []string) ([][]string, error) {
	recorder, err := shared("recorder-alone.o", "cc", "-O2", "-x", "c", "-DDESYNCTOOL_BRANCHES_IMPLEMENTATION", "-c", "../../../docs/sdk/c/desynctool_branches.h")
	if err != nil {
		return nil, err
	}
	crate, err := shared("libdesynctool.rlib", "rustc", "--edition", "2021", "-O", "--crate-type", "rlib", "--crate-name", "desynctool", "../../../docs/sdk/rust/desynctool.rs")
	args := []string{
		"rustc", "--edition", "2021", "-g", "-A", "warnings", "--cfg", fmt.Sprintf("fault=%q", fmt.Sprint(fault)), "-C", "debug-assertions=on",
		"-C", "overflow-checks=off", "-C", "passes=sancov-module", "-C", "llvm-args=-sanitizer-coverage-level=3",
		"-C", "llvm-args=-sanitizer-coverage-trace-pc-guard", "-C", "link-arg=" + recorder, "--extern", "desynctool=" + crate, "-o", program, l.source,
	}
	return [][]string{append(args, flags...)}, err
}

// shared returns a file that a command makes with -o, once for all tests.
func shared(name string, command ...string) (string, error) {
	object, err := recorderObject()
	if err != nil {
		return "", err
	}
	file := filepath.Join(filepath.Dir(object), name)
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	out, err := exec.Command(command[0], append(command[1:], "-o", file)...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%q: %w\n%s", command, err, out)
	}
	return file, err
}

// build compiles a game with a mistake, and returns it as a simulator.
func (l *language) build(t *testing.T, compiler string, fault int, flags ...string) *bisect.Sim {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the recorder needs an ELF system")
	}
	if _, err := exec.LookPath(compiler); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	name := fmt.Sprintf("game-%d", fault)
	program := filepath.Join(dir, name)
	commands, err := l.compile(l, compiler, dir, program, fault, append(slices.Clone(flags), l.flags[fault]...))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range commands {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	sim, err := extsim.New(context.Background(), name, []string{program}, extsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sim
}

// germanLocale makes a locale with a decimal comma, for the programs that the test starts.
func germanLocale(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("localedef", "-i", "de_DE", "-f", "ISO-8859-1", filepath.Join(dir, "de_DE")).CombinedOutput(); err != nil {
		t.Skipf("localedef: %v\n%s", err, out)
	}
	t.Setenv("LOCPATH", dir)
}

// judged returns whether a finding names a line of the mistake ("named"), leads to no line or only to values ("-"), or
// names another line of the game ("wrong"). A mistake that changes no state has "no effect".
func judged(t *testing.T, l *language, f *Finding, fault int) string {
	t.Helper()
	if f == nil {
		return "no effect"
	}
	lines := marked(t, l.source, fault)
	var places []code.Place
	for _, list := range [][]code.Place{f.At, f.Next[0], f.Next[1]} {
		if len(list) > 0 && list[0].Line > 0 {
			places = append(places, list[0])
		}
	}
	for _, list := range [][]code.Place{f.At, f.Next[0], f.Next[1]} {
		if slices.ContainsFunc(list, func(p code.Place) bool {
			return filepath.Base(p.File) == filepath.Base(l.source) && slices.Contains(lines, p.Line)
		}) {
			return "named"
		}
	}
	if len(places) > 0 && !f.Consequence { // else it points to the values, not to the line
		t.Logf("kind %d: %s at %v, then %v, %d equal, in %s; expected a line of %v; notes %q", fault, f.Kind, f.At, f.Next, f.Equal, f.System, lines, f.Notes)
		return "wrong"
	}
	t.Logf("kind %d: %s at %v, consequence %v; notes %q", fault, f.Kind, f.At, f.Consequence, f.Notes)
	return "-"
}

// TestKinds: twelve kinds of mistakes lead to the line that was changed or to the condition that uses it, nearly all of
// them, and never to another line.
func TestKinds(t *testing.T) {
	effort.Whole(t)
	germanLocale(t)
	for _, c := range []struct {
		name, compiler string
		sound, own     []string
		language       *language
		long           bool
		least          int
	}{
		{"C, gcc -O2", "gcc", []string{"-O2"}, []string{"-O2"}, inC, false, 11},
		{"C, gcc -O0", "gcc", []string{"-O0"}, []string{"-O0"}, inC, true, 11},
		{"C, clang -O2", "clang", []string{"-O2"}, []string{"-O2"}, inC, true, 11},
		{"C, clang -O0", "clang", []string{"-O0"}, []string{"-O0"}, inC, false, 11},
		{"C, gcc -O0 and -O2", "gcc", []string{"-O0"}, []string{"-O2"}, inC, true, 8},
		{"C++, gcc -O2", "g++", []string{"-O2"}, []string{"-O2"}, inCPP, true, 11},
		{"C++, gcc -O0", "g++", []string{"-O0"}, []string{"-O0"}, inCPP, true, 11},
		{"C++, clang -O2", "clang++", []string{"-O2"}, []string{"-O2"}, inCPP, true, 11},
		{"C++, clang -O0", "clang++", []string{"-O0"}, []string{"-O0"}, inCPP, true, 11},
		{"Rust, -O2", "rustc", []string{"-C", "opt-level=2"}, []string{"-C", "opt-level=2"}, inRust, true, 10},
		{"Rust, -O0", "rustc", []string{"-C", "opt-level=0"}, []string{"-C", "opt-level=0"}, inRust, true, 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.long && effort.Long(true, false) {
				t.Skip("DESYNCTOOL_FULL_TESTS=long")
			}
			sound := c.language.build(t, c.compiler, 0, c.sound...)
			named := 0
			var row []string
			for _, kind := range c.language.kinds {
				result := judged(t, c.language, departing(t, sound, c.language.build(t, c.compiler, kind.fault, c.own...)), kind.fault)
				row = append(row, kind.about+": "+result)
				if result == "named" || result == "no effect" {
					named++
				}
			}
			t.Logf("TABLE %s: %d of %d; %s", c.name, named, len(row), strings.Join(row, "; "))
			wrong := strings.Count(strings.Join(row, "\n"), ": wrong")
			if named < c.least || wrong > 0 {
				t.Errorf("the line of %d of %d kinds was named, another one of %d", named, len(row), wrong)
			}
		})
	}
}

// TestThreads: each numbered thread of a simulation has branches of its own, and a mistake in one of them is found, although
// thread 0 differs as a consequence.
func TestThreads(t *testing.T) {
	effort.Whole(t)
	sound := build(t, "gcc", 0, "-O0", "-DTHREADS")
	f := find(t, sound, build(t, "gcc", 12, "-O0", "-DTHREADS"))
	if result := judged(t, inC, f, 12); result != "named" || f.Thread == 0 || f.Kind != Branch {
		t.Errorf("%s in thread %d, %s", f.Kind, f.Thread, result)
	}
}
