package commits

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect/gitbisect"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

const three = "tick=1 sum=0a\ntick=2 sum=0b\ntick=3 sum=0c\n"

// TestProgram: the results of programs, and what they show about their commit. The oracle is the table.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	golden := write(t, filepath.Join(dir, "golden.trace"), three)
	log := write(t, filepath.Join(dir, "log"), three)
	store, err := gitbisect.OpenStore(t.Context(), nil, t.TempDir(), "x", false)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for _, c := range []struct {
		script  string
		runs    int
		verdict gitbisect.Verdict
		why     string
	}{
		{"cp {log} {out}", 0, gitbisect.Good, "agrees with the golden trace up to tick 3"},
		{"sed s/0b/0d/ {log} >{out}", 0, gitbisect.Bad, "departs from the golden trace in tick 2"},
		{"cp {log} {out}; echo MISMATCH; exit 1", 0, gitbisect.Good, "agrees with the golden trace up to tick 3"},
		{"sed s/0b/0d/ {log} >{out}; exit 1", 0, gitbisect.Bad, "departs from the golden trace in tick 2"},
		{"cp {log} {out}; exit 125", 0, gitbisect.Skipped, "its program: exit status 125"},
		{"cp {log} {out}; kill -9 $$", 0, gitbisect.Skipped, "its program: signal: killed"},
		{"echo oh no: {log} >&2; exit 2", 0, gitbisect.Skipped, "its program: exit status 2: oh no: " + log},
		{"true {log} {out}", 0, gitbisect.Skipped, "its program ended with status 0 and left no trace at {out}"},
		{"head -n 2 {log} >{out}", 0, gitbisect.Skipped, "it agrees with the golden trace up to tick 2, where its trace ends: the other goes on to tick 3"},
		{"(head -n 1 {log}; tail -n 1 {log}) >{out}", 0, gitbisect.Skipped, "its trace has gaps"},
		{": {log} >{out}", 0, gitbisect.Skipped, "{out}: "},
		{"echo hello {log} >{out}", 0, gitbisect.Skipped, "{out}: "},
		{"cp {log} {out}", 2, gitbisect.Good, "agrees with itself in 2 runs; agrees with the golden trace up to tick 3"},
		{"test -e " + dir + "/ran && sed s/0c/0d/ {log} >{out} || cp {log} {out}; touch " + dir + "/ran", 2, gitbisect.Bad, "departs from itself, run 2 in tick 3"},
	} {
		p, err := ProgramTest(`sh -c "`+strings.ReplaceAll(c.script, "$", `\$`)+`" {log} {out}`, ProgramOptions{Log: log, Expect: golden, Runs: c.runs})
		if err != nil {
			t.Fatal(err)
		}
		verdict, why, err := p.Run(t.Context(), store, dir, gitbisect.Commit{ID: "abc"}, false)
		if err != nil || verdict != c.verdict || why != c.why && !(strings.HasSuffix(c.why, ": ") && strings.HasPrefix(why, c.why)) {
			t.Errorf("%s: %s, %q, %v; expected %s, %q", c.script, verdict, why, err, c.verdict, c.why)
		}
	}
	if left, _ := filepath.Glob(store.Path("desynctool-run-*")); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

// TestName: a test of another log, or of other golden hashes, has another name.
func TestName(t *testing.T) {
	dir := t.TempDir()
	log := write(t, filepath.Join(dir, "log"), three)
	name := func(opts ProgramOptions) string {
		p, err := ProgramTest("play {log} {out}", opts)
		if err != nil {
			t.Fatal(err)
		}
		return p.Name()
	}
	seen := map[string]bool{}
	add := func(name string) {
		if t.Helper(); seen[name] {
			t.Errorf("two tests are called %s", name)
		}
		seen[name] = true
	}
	add(name(ProgramOptions{Log: log}))
	add(name(ProgramOptions{Log: log, Runs: 2}))
	golden := write(t, filepath.Join(dir, "golden"), three)
	add(name(ProgramOptions{Log: log, Expect: golden}))
	write(t, golden, strings.ReplaceAll(three, "0a", "0b"))
	add(name(ProgramOptions{Log: log, Expect: golden}))
	write(t, log, "another")
	add(name(ProgramOptions{Log: log}))
	write(t, filepath.Join(dir, "sub"), "x")
	add(name(ProgramOptions{Log: dir}))
	write(t, filepath.Join(dir, "sub2"), "x")
	add(name(ProgramOptions{Log: dir}))
	if _, err := ProgramTest("play {log} {out}", ProgramOptions{Log: filepath.Join(dir, "none")}); err == nil {
		t.Error("a log that is not there")
	}
}
