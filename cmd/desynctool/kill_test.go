package main

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/internal/testkit/kill"
)

// victim is a command that is killed again and again.
type victim struct {
	t        *testing.T
	args     []string
	temp     string // its TMPDIR
	takes    time.Duration
	random   *rand.Rand
	statuses []int // with which it ends where it is not killed
}

// newVictim runs a command to its end.
func newVictim(t *testing.T, statuses []int, args ...string) *victim {
	t.Helper()
	v := &victim{t: t, args: args, temp: t.TempDir(), random: rand.New(rand.NewPCG(5, 6)), statuses: statuses}
	begun := time.Now()
	v.finish()
	v.takes = time.Since(begun)
	return v
}

func (v *victim) command() *exec.Cmd {
	cmd := exec.Command("desynctool", v.args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+v.temp)
	return cmd
}

// finish runs the command to its end.
func (v *victim) finish() {
	v.t.Helper()
	cmd := v.command()
	out, _ := cmd.CombinedOutput()
	if !slices.Contains(v.statuses, cmd.ProcessState.ExitCode()) {
		v.t.Fatalf("%q: %v\n%s", v.args, cmd.ProcessState, out)
	}
}

// kill runs the command and kills it at a random moment. It reports whether the command had ended before.
func (v *victim) kill() (ended bool) {
	v.t.Helper()
	cmd := v.command()
	begun := time.Now()
	_, ended, err := kill.After(cmd, time.Duration(v.random.Float64()*float64(v.takes)))
	if took := time.Since(begun); ended && took < v.takes {
		v.takes = took
	}
	if err != nil {
		if !slices.Contains(v.statuses, cmd.ProcessState.ExitCode()) {
			v.t.Fatalf("%q: %v", v.args, err)
		}
		ended = true
	}
	if left := contents(v.t, v.temp); len(left) > 0 {
		v.t.Fatalf("temporary files stay: %q", left)
	}
	return ended
}

// contents returns the files below a folder, by path.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return all
}

// differs returns the names of files that are not in both, or not the same.
func differs(got, want map[string]string) (names []string) {
	for name := range got {
		if text, ok := want[name]; !ok || text != got[name] {
			names = append(names, name)
		}
	}
	for name := range want {
		if _, ok := got[name]; !ok {
			names = append(names, name)
		}
	}
	return names
}

// grows reports whether a file is written piece by piece: the pieces that are there are readable.
func grows(name string) bool {
	return strings.HasSuffix(name, "/"+session.LogName) || strings.HasSuffix(name, "/"+session.TraceName)
}

// A record that was killed leaves the beginning of what it would have left: logs and traces up to some record, all else
// whole. It does not count as a session before all of it is there, is never taken for peers that diverged, and is no
// hindrance for the next.
func TestKilledRecord(t *testing.T) {
	effort.Whole(t)
	dir := filepath.Join(t.TempDir(), "s")
	var kills, partly int
	for _, fault := range []string{"", "rng-leak@60"} {
		args := []string{"record", "-o", dir, "--ticks", "150", "--entities", "100", "--snapshot-every", "50"}
		if fault != "" {
			args = append(args, "--fault", fault)
		}
		v := newVictim(t, []int{0}, args...)
		want := contents(t, dir)
		for n := range kill.Times() / 2 {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			if ended := v.kill(); !ended {
				kills++
			}
			got := contents(t, dir)
			_, unfinished := got[session.StateName]
			_, told := got[session.TruthName]
			delete(got, session.StateName)
			switch {
			case told || !unfinished && len(got) > 0:
				if names := differs(got, want); len(names) > 0 {
					t.Fatalf("taken for whole, but %q differ", names)
				}
			default:
				for name, text := range got {
					if !strings.HasPrefix(want[name], text) || len(text) < len(want[name]) && !grows(name) {
						t.Fatalf("%s: %d bytes that nobody wrote", name, len(text))
					}
				}
				if len(got) > 0 {
					partly++
				}
			}
			if fault == "" {
				var stdout, stderr bytes.Buffer
				got[session.TruthName] = want[session.TruthName]
				status := run([]string{"triage", dir}, strings.NewReader(""), &stdout, &stderr)
				if status == 1 || status == 0 && len(differs(got, want)) > 0 || strings.Contains(stdout.String()+stderr.String(), "corrupt") {
					t.Fatalf("triage: exit status %d\n%s%s", status, &stdout, &stderr)
				}
			}
			if n%5 == 0 && !told {
				v.finish()
				if names := differs(contents(t, dir), want); len(names) > 0 {
					t.Fatalf("once more: %q differ", names)
				}
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d sessions there in part", kills, partly)
	if kills == 0 || partly == 0 {
		t.Error("no record was killed in the middle")
	}
}

// A minimize that was killed has left nothing, a search to continue, or the result, and the
// same command ends with the result.
func TestKilledMinimize(t *testing.T) {
	effort.Whole(t)
	dir := t.TempDir()
	desynctool(t, 0, nil, "record", "-o", filepath.Join(dir, "s"), "--ticks", "120", "--entities", "100", "--fault", "rng-leak@40")
	out := filepath.Join(dir, "small")
	v := newVictim(t, []int{0}, "minimize", filepath.Join(dir, "s", "host"), "-o", out, "--sim", "builtin:fault=rng-leak@40", "--against", "builtin", "--max-replays", "40")
	want := contents(t, out)
	var kills, partly, rounds int
	for n := range kill.Times() {
		if rounds++; rounds == 4 || n == 0 { // some begin where another was killed
			rounds = 0
			if err := os.RemoveAll(out); err != nil {
				t.Fatal(err)
			}
		}
		if ended := v.kill(); !ended {
			kills++
		}
		got := contents(t, out)
		_, unfinished := got["minimize.state"]
		if unfinished {
			partly++
		} else if len(got) > 0 {
			if names := differs(got, want); len(names) > 0 {
				t.Fatalf("taken for whole, but %q differ", names)
			}
		}
		for name := range got {
			if files.IsUnfinished(filepath.Base(name)) {
				t.Fatalf("%s stays", name)
			}
		}
		if n%5 == 0 && (unfinished || len(got) == 0) {
			v.finish()
			if names := differs(contents(t, out), want); len(names) > 0 {
				t.Fatalf("continued: %q differ", names)
			}
		}
		if got = contents(t, out); len(got) > 0 && got["minimize.state"] == "" {
			rounds = 3 // the folder is taken
		}
	}
	t.Logf("%d kills, %d searches to continue", kills, partly)
	if kills == 0 || partly == 0 {
		t.Error("no minimize was killed in the middle")
	}
}

// A file that a command was writing when it was killed is the old one or the new one.
func TestKilledFiles(t *testing.T) {
	effort.Whole(t)
	dir := t.TempDir()
	s := filepath.Join(dir, "s")
	desynctool(t, 0, nil, "record", "-o", s, "--ticks", "120", "--entities", "100", "--fault", "rng-leak@40")
	saved := filepath.Join(dir, "saved.json")
	desynctool(t, 1, nil, "triage", s, "--format", "json="+saved)
	out := filepath.Join(dir, "out")
	if err := os.Mkdir(out, 0o777); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(out, name) }
	reports, err := filepath.Glob(filepath.Join(s, "*", "desync_report_*.json"))
	if err != nil || len(reports) != 2 {
		t.Fatal(reports, err)
	}
	for _, c := range []struct {
		name   string
		status int
		args   []string
		files  []string
	}{
		{"triage", 1, []string{"triage", s, "--format", "html=" + at("a.html"), "--format", "json=" + at("a.json")}, []string{"a.html", "a.json"}},
		{"report", 1, []string{"report", saved, "--format", "html=" + at("a.html"), "--format", "junit=" + at("a.xml")}, []string{"a.html", "a.xml"}},
		{"peer", 0, []string{"report", "--peer", filepath.Join(s, "host"), "-o", at("host.json")}, []string{"host.json"}},
		{"merge", 0, append([]string{"report", "--format", "json=" + at("merged.json")}, reports...), []string{"merged.json"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newVictim(t, []int{0, c.status}, c.args...)
			whole := contents(t, out)
			if len(whole) != len(c.files) {
				t.Fatalf("%q wrote %d files", c.args, len(whole))
			}
			var kills, old, some int
			for n := range kill.Times() {
				for _, name := range c.files {
					if n%2 == 0 {
						err = os.Remove(at(name))
					} else {
						err = os.WriteFile(at(name), []byte("old"), 0o666)
					}
					if err != nil && !errors.Is(err, fs.ErrNotExist) {
						t.Fatal(err)
					}
				}
				if ended := v.kill(); !ended {
					kills++
				}
				written := 0
				for name, text := range contents(t, out) {
					switch {
					case whole[name] == "":
						t.Fatalf("%s stays", name)
					case text == whole[name]:
						written++
					case text == "old" && n%2 == 1:
						old++
					default:
						t.Fatalf("%s: %d bytes, neither the old nor the new file", name, len(text))
					}
				}
				if written > 0 && written < len(c.files) {
					some++
				}
			}
			t.Logf("%d kills, %d old files kept, %d times only some files were new", kills, old, some)
			if kills == 0 || old == 0 {
				t.Errorf("no %s was killed before it had written", c.name)
			}
			for _, name := range c.files {
				os.Remove(at(name))
			}
		})
	}
}
