package desynctool_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/document"
)

// fenced returns the blocks of docs/ci.md in a language.
func fenced(t *testing.T, language string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```(\\w+)\n(.*?)```\n").FindAllStringSubmatch(string(text), -1) {
		if m[1] == language {
			blocks = append(blocks, m[2])
		}
	}
	return blocks
}

// TestWorkflows checks the scripts in the workflows of docs/ci.md, and that they give the
// action the inputs that it has.
func TestWorkflows(t *testing.T) {
	action := readAction(t)
	blocks := fenced(t, "yaml")
	if len(blocks) != 4 {
		t.Fatalf("%d workflows", len(blocks))
	}
	scripts, uses := 0, 0
	for _, block := range blocks {
		scripts += len(runBlocks(t, block))
		for _, m := range regexp.MustCompile(`(?m)^    - (.+)$`).FindAllStringSubmatch(block, -1) { // GitLab's
			if strings.Contains(block, "\n  script:\n") {
				if _, err := syntax.NewParser().Parse(strings.NewReader(m[1]), ""); err != nil {
					t.Errorf("%s: %v", m[1], err)
				}
			}
		}
		_, with, ok := strings.Cut(block, "uses: ./third_party/desynctool\n        with:\n")
		if !ok {
			continue
		}
		uses++
		for line := range strings.Lines(with) {
			input, ok := strings.CutPrefix(line, "          ")
			if !ok {
				break
			}
			name, _, _ := strings.Cut(input, ":")
			if !strings.Contains(action, "\n  "+name+":\n") {
				t.Errorf("the action has no input %q", name)
			}
		}
		for _, m := range outputUse.FindAllStringSubmatch(block, -1) {
			if !strings.Contains(action, "\n  "+m[2]+":\n    description:") {
				t.Errorf("the action has no output %q", m[2])
			}
		}
	}
	if scripts < 5 || uses != 1 {
		t.Errorf("%d scripts, %d uses of the action", scripts, uses)
	}
}

// standGo is a go command that builds the command in no time: it puts a desynctool that prints its name where go would.
const standGo = `#!/bin/bash
set -eu
dir=. to=
for package; do :; done
case $1 in
env) exit ;;
install) to=${GOBIN:?}/desynctool ;;
build) ;;
*) exit 1 ;;
esac
shift
while getopts C:o: option; do
	case $option in
	C) dir=$OPTARG ;;
	o) to=$OPTARG; [ "${to%/}" = "$to" ] || to+=desynctool ;;
	esac
done
[ -f "$dir/$package/main.go" ]
mkdir -p "$(dirname "$to")"
printf '#!/bin/sh\necho desynctool stand-in\n' > "$to"
chmod +x "$to"
`

// goPath returns a PATH with the go command, or with a replacement where the tests try some of everything: an
// installation from a clone is compiled from the start, which takes a minute.
func goPath(t *testing.T) string {
	t.Helper()
	if effort.Full() {
		return os.Getenv("PATH")
	}
	onUnix(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go"), standGo, 0o755)
	return dir + string(os.PathListSeparator) + os.Getenv("PATH")
}

// TestInstall runs the lines of the workflows that build desynctool, in a repository with a clone where docs/ci.md puts
// it: none of them needs a module that is published somewhere.
func TestInstall(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	search := goPath(t)
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`github\.com/desynctool/desynctool/\S*|desynctool@\S*`).FindString(string(text)); found != "" {
		t.Errorf("%s has to be fetched", found)
	}
	lines := regexp.MustCompile(`(?m)^ +(?:- |run: )(.*third_party/desynctool .*go.*)$|^ +- (go build .*)$`).FindAllStringSubmatch(string(text), -1)
	if len(lines) != 5 {
		t.Fatalf("%d lines build it: %q", len(lines), lines)
	}
	var distinct []string
	for _, m := range lines {
		distinct = append(distinct, m[1]+m[2])
	}
	slices.Sort(distinct)
	for _, line := range slices.Compact(distinct) {
		dir, bin := t.TempDir(), t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "third_party"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(root, filepath.Join(dir, "third_party", "desynctool")); err != nil {
			t.Skip(err)
		}
		path := strings.Join([]string{bin, filepath.Join(dir, "bin"), search}, string(os.PathListSeparator))
		out, exit := bash(t, dir, line+"\ndesynctool version\n", "PATH="+path, "GOBIN="+bin, "CI_PROJECT_DIR="+dir, "GOPROXY=off")
		if exit != 0 || !strings.Contains(out, "desynctool ") {
			t.Errorf("%s: exit status %d\n%s", line, exit, out)
		}
	}
}

// TestFailOnTable holds the table of docs/ci.md against what is done.
func TestFailOnTable(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| (not given|`[a-z,]+`) \\| (\\d) \\| (\\d) \\| (\\d) \\|$").FindAllStringSubmatch(string(text), -1)
	if len(rows) != 6 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		failOn := strings.Trim(row[1], "`")
		if failOn == "not given" {
			failOn = ""
		}
		for i, r := range []document.Report{
			{Head: document.Head{Status: document.Diverged}},
			{Head: document.Head{Status: document.Diverged}, Seen: []document.SeenBefore{{Exact: true, Known: true}}},
			{Head: document.Head{Status: document.Inconclusive}},
		} {
			status, err := r.ExitFor(failOn)
			if err != nil || strconv.Itoa(status.ExitCode()) != row[2+i] {
				t.Errorf("--fail-on %q: %d in column %d (%v), documented is %s", failOn, status.ExitCode(), i+1, err, row[2+i])
			}
		}
	}
}

// built builds the programs and returns the path of desynctool. The tests of this package share them.
func built(t *testing.T) string {
	t.Helper()
	dir, err := programsBuilt()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "desynctool")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	return program
}

// programsBuilt builds them once, into a folder that TestMain removes.
var programsBuilt = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "desynctool-"); err != nil {
		return "", err
	}
	buildFolder = dir
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", dir+string(filepath.Separator), "./cmd/desynctool", "./cmd/desynctool-desk", "./cmd/desynctool-wasm").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

// buildFolder is the folder of programsBuilt, empty until it is made.
var buildFolder string

func TestMain(m *testing.M) {
	status := m.Run()
	if buildFolder != "" {
		os.RemoveAll(buildFolder)
	}
	os.Exit(status)
}

// TestGolden runs the scripts of docs/ci.md that keep golden hashes: they hold for the game that wrote them, fail for
// another, and report it where something is missing.
func TestGolden(t *testing.T) {
	effort.Whole(t) // builds the command
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	blocks := fenced(t, "sh")
	if len(blocks) != 4 {
		t.Fatalf("%d scripts", len(blocks))
	}
	blocks = blocks[1:] // the first adds the clone
	bin, dir := filepath.Dir(built(t)), t.TempDir()
	path := "PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH")
	run := func(script, sim, build string, want int, has string) {
		t.Helper()
		out, exit := bash(t, dir, script, path, "SIM="+sim, "BUILD="+build)
		if exit != want || !strings.Contains(out, has) {
			t.Errorf("with %s: exit status %d, want %d and %q:\n%s", sim, exit, want, has, out)
		}
	}
	record, replay, platforms := blocks[0], blocks[1], blocks[2]
	run("desynctool record -o session --ticks 90 --entities 300", "", "", 0, "")
	run(replay, "builtin", "gcc", 2, "golden: no such file")
	run(record, "builtin", "", 0, "RECORDED")
	run(replay, "builtin", "gcc", 0, "IN SYNC")
	run(platforms, "", "", 0, "IN SYNC")
	run(replay, "builtin:fault=data-mismatch@30", "clang", 1, "differs in tick")
	run(platforms, "", "", 1, "build is clang on all that differ, and on none that is the same")
	junit, err := os.ReadFile(filepath.Join(dir, "golden.xml"))
	if err != nil || !strings.Contains(string(junit), `<testsuites name="desynctool golden" tests="2" failures="1" errors="0">`) {
		t.Errorf("golden.xml: %v\n%s", err, junit)
	}
	// A second session that cannot be read hides no divergence of the first, and no
	// session hides that.
	run("cp -r golden/skirmish golden/tower && head -c 40 golden/tower/golden.txt > short && mv short golden/tower/golden.txt", "", "", 0, "")
	run(replay, "builtin:fault=data-mismatch@30", "clang", 1, "differs in tick")
	run(replay, "builtin", "gcc", 2, "tower")
	run(platforms, "", "", 1, "tower")
}
