package sdk_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// compileRust builds a Rust program, in which overflows panic.
func compileRust(t *testing.T, source string, flags ...string) string {
	t.Helper()
	return buildOnce(t, append([]string{"rustc", "--edition", "2021", "-D", "warnings", "-C", "overflow-checks=on"}, flags...), source)
}

func TestRust(t *testing.T) {
	whole(t)
	if runtime.GOOS == "windows" {
		t.Skip("Unix sockets are tried")
	}
	program := compileRust(t, "rust/skirmish.rs", "-C", "opt-level=1")
	skirmishes(t, program, false)
	sameFiles(t, program)
	malformed(t, program, false)
}

func TestRustVectors(t *testing.T) {
	thorough(t)
	sameVectors(t, compileRust(t, "testdata/vectors.rs"))
}

func TestRustReads(t *testing.T) {
	thorough(t)
	program := compileRust(t, "testdata/reads.rs")
	for _, file := range readable(t) {
		judges(t, mutants(t, file), program)
	}
	judges(t, forgeries(t), program)
	readsVectors(t, program, "--hash")
}

// TestRustMistakes makes mistakes in the example, one at a time, and sees whether they are found.
func TestRustMistakes(t *testing.T) {
	thorough(t)
	source, err := os.ReadFile("rust/skirmish.rs")
	if err != nil {
		t.Fatal(err)
	}
	file, err := filepath.Abs("rust/desynctool.rs")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ old, broken, says string }{
		{"cooldown: next() as u16,", "cooldown: { next(); 0 },", "WRONG  save and restore"},
		{"        s.grid = s.counted(); //", "        //", "WRONG  load"},
		// In one line, and not where it records.
		{"        let (system, run) = SYSTEMS", "        assert!(self.tick != 37 || std::env::args().count() > 2, \"ran out\\nof arrows\");\n        let (system, run) = SYSTEMS", "ran out of arrows"},
	} {
		if !strings.Contains(string(source), test.old) {
			t.Fatalf("%q is not in the example", test.old)
		}
		text := strings.Replace(string(source), test.old, test.broken, 1)
		text = strings.Replace(text, "mod desynctool;", "#[path = "+strconv.Quote(file)+"]\nmod desynctool;", 1)
		broken := filepath.Join(t.TempDir(), "broken.rs")
		if err := os.WriteFile(broken, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		program := compileRust(t, broken)
		dir, _ := play(t, program, "--ticks", "200")
		args, wantExit := []string{"sim", "check", "--log", filepath.Join(dir, "host"), "--", program, "serve"}, 1
		if !strings.HasPrefix(test.says, "WRONG") {
			args, wantExit = []string{"replay", filepath.Join(dir, "host"), "--sim", "exec:" + program + " serve"}, 2
		}
		tool, err := desynctool()
		if err != nil {
			t.Fatal(err)
		}
		stdout, stderr, exit := execute(t, nil, tool, args...)
		if exit != wantExit {
			t.Errorf("exit status %d, expected %d", exit, wantExit)
		}
		wants(t, stdout+stderr, test.says)
	}
}

// peerRust builds testdata/peer.rs as a module of the game in Rust. A state of the peer has a table that this game has not.
func peerRust(t *testing.T) []string {
	source, err := os.ReadFile("rust/skirmish.rs")
	if err != nil {
		t.Fatal(err)
	}
	modules := ""
	for _, file := range []string{"rust/desynctool.rs", "rust/desynctool_flight.rs", "testdata/peer.rs"} {
		path, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		modules += "#[path = " + strconv.Quote(path) + "]\nmod " + strings.TrimSuffix(filepath.Base(file), ".rs") + ";\n"
	}
	text := string(source)
	for _, edit := range [][2]string{
		{"mod desynctool;\n", modules},
		{"        from.world.same_shape(&self.world())?;\n", ""},
		{"fn main() {\n", "fn main() {\n    peer::run();\n}\n\n#[allow(dead_code)]\nfn skirmish() {\n"},
	} {
		if strings.Count(text, edit[0]) != 1 {
			t.Fatalf("rust/skirmish.rs does not contain %q once", edit[0])
		}
		text = strings.Replace(text, edit[0], edit[1], 1)
	}
	root := filepath.Join(built, "peer.rs")
	if err := os.WriteFile(root, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return []string{compileRust(t, root, "-C", "opt-level=2")}
}

// TestRustFlight: the recorder computes the example of docs/exchange.md, takes packets of any content, and allocates nothing
// in a tick.
func TestRustFlight(t *testing.T) {
	thorough(t)
	program := peerRust(t)[0]
	page, err := os.ReadFile("../exchange.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"example"}, {"cost", "20"}, {"hostile", "1", "4000"}, {"hostile", "2", "4000"}} {
		out, stderr, exit := execute(t, nil, program, args...)
		if exit != 0 {
			t.Errorf("%v: exit status %d\n%s%s", args, exit, out, stderr)
		}
		for _, line := range strings.Split(out, "\n") {
			if args[0] == "example" && !strings.Contains(string(page), line+"\n") {
				t.Errorf("the page does not contain %s", line)
			}
		}
	}
}
