// Package sdk_test tests the single files by which games in other languages write
// desynctool's formats and serve its protocol, against desynctool itself.
package sdk_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// built is the folder of what tests build once.
var built string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "desynctool-sdk-")
	if err != nil {
		panic(err)
	}
	built = dir
	os.Setenv("PYTHONPYCACHEPREFIX", filepath.Join(dir, "pycache")) // else Python leaves folders next to the sources
	takeTurns()
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// takeTurns skips the tests of all languages except the one that has its turn. The tests of C always run: the other
// files are compared with it.
func takeTurns() {
	var not []string
	for i, tests := range []string{"CPP", "Python", "CSharp|Trade", "TypeScript", "Rust"} {
		if !effort.Turn(i, 5) {
			not = append(not, tests)
		}
	}
	if len(not) > 0 {
		// -skip on the command line is read later, and counts.
		_ = flag.Set("test.skip", "^Test(Killed)?("+strings.Join(not, "|")+")") // a pattern, which the flag takes
	}
}

// desynctool builds the tool and returns its path.
var desynctool = sync.OnceValues(func() (string, error) {
	path := filepath.Join(built, "desynctool")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	build := []string{"build", "-ldflags=-s -w", "-o", built + string(filepath.Separator), "../../cmd/desynctool"}
	if everything() {
		build = append(build, "../../cmd/desynctool-wasm")
	}
	out, err := exec.Command("go", build...).CombinedOutput()
	if err != nil {
		return "", errors.New("go build: " + err.Error() + "\n" + string(out))
	}
	return path, nil
})

// programs are the programs that compilers have built, by their command lines: func() (path string, err error).
var programs sync.Map

// buildOnce has a compiler build a program from a source, once for all tests that build it alike.
func buildOnce(t *testing.T, compiler []string, source string) string {
	t.Helper()
	needTool(t, compiler[0])
	command := append(slices.Clone(compiler), source)
	key := strings.Join(command, " ")
	build, _ := programs.LoadOrStore(key, sync.OnceValues(func() (string, error) {
		path := filepath.Join(built, fmt.Sprintf("program-%x", sha256.Sum256([]byte(key))))
		if out, err := exec.Command(command[0], append(command[1:], "-o", path)...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%s: %w\n%s", key, err, out)
		}
		return path, nil
	}))
	path, err := build.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs desynctool, which must end with an exit status, and returns its stdout.
func run(t *testing.T, wantExit int, args ...string) string {
	t.Helper()
	path, err := desynctool()
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, exit := execute(t, nil, path, args...)
	if exit != wantExit {
		t.Fatalf("desynctool %s: exit status %d, expected %d\n%s%s", strings.Join(args, " "), exit, wantExit, stdout, stderr)
	}
	return stdout
}

// execute runs a command and returns what it wrote and its exit status.
func execute(t *testing.T, stdin []byte, name string, args ...string) (stdout, stderr string, exit int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &out, &errs
	err := cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatalf("%s: %v", name, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// everything reports whether the tests try all that they know, of all languages.
func everything() bool { return effort.Full() || effort.Asked("DESYNCTOOL_SDK_TESTS") }

// whole skips a test of one more language unless all are tried: by default the game in C is played for all of them.
func whole(t *testing.T) {
	t.Helper()
	if !everything() {
		t.Skip("neither DESYNCTOOL_FULL_TESTS nor DESYNCTOOL_SDK_TESTS is 1")
	}
}

// thorough skips a test unless DESYNCTOOL_SDK_TESTS is 1. The tests that are left without it play the game of each
// language, and judge it. Such tests run in parallel.
func thorough(t *testing.T) {
	t.Helper()
	if !effort.Asked("DESYNCTOOL_SDK_TESTS") {
		t.Skip("DESYNCTOOL_SDK_TESTS is not 1, or it is not the turn of the package")
	}
	t.Parallel()
}

// needTool skips the test if a program is not there, and fails it if
// DESYNCTOOL_SDK_TESTS is 1.
func needTool(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		lack(t, name+" is not on PATH")
	}
}

func lack(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("DESYNCTOOL_SDK_TESTS") == "1" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// wants fails the test for each text that is not in what was printed.
func wants(t *testing.T, printed string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(printed, text) {
			t.Errorf("%q is not in\n%s", text, printed)
		}
	}
}

// capabilities are the parts of sim check that a target has to announce.
var capabilities = []string{"state", "save and restore", "load", "systems", "caches", "validate", "test", "predict"}

// conforms checks that sim check finds nothing wrong, and no capability not supported but
// the given ones.
func conforms(t *testing.T, without []string, args ...string) {
	t.Helper()
	out := run(t, 0, append([]string{"sim", "check"}, args...)...)
	for _, part := range capabilities {
		want := "  ok     " + part
		for _, w := range without {
			if w == part {
				want = "  -      " + part
			}
		}
		wants(t, out, want)
	}
}

// example returns the n-th fenced block of a kind in a page of the documentation.
func example(t *testing.T, page, begin string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", page))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(b), begin+"\n")
	text, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatalf("%s: no block %q", page, begin)
	}
	return text
}

// frameOf puts the length in front of a value.
func frameOf(b []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// parted reads where the two peers of an example diverge according to its output.
func parted(t *testing.T, said string) (tick, system string) {
	t.Helper()
	m := regexp.MustCompile(`the peers diverge in tick (\d+), in (\w+)`).FindStringSubmatch(said)
	if m == nil {
		t.Fatalf("the example does not say where its peers diverge:\n%s", said)
	}
	return m[1], m[2]
}
