package confine

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// TestRun: programs end as they do, or as their limits have it.
func TestRun(t *testing.T) {
	for _, c := range []struct {
		script string
		want   Ended
	}{
		{"echo one; echo two >&2; exit 3", Ended{Code: 3, Tail: []string{"one", "two"}}},
		{"kill -SEGV $$", Ended{Code: -1, Signal: "segmentation fault"}},
		{"exec sleep 1000", Ended{Code: -1, Signal: "terminated", Limit: Time, Why: "ran longer than 300ms"}},
		{"cat; echo read", Ended{Tail: []string{"read"}}},
	} {
		dir := t.TempDir()
		limit := time.Minute
		if c.want.Limit == Time {
			limit = 300 * time.Millisecond
		}
		e, err := Run(t.Context(), Command{Args: []string{"sh", "-c", c.script}, Env: Minimal(dir), Writes: []string{dir}, Time: limit})
		if err != nil {
			t.Fatal(err)
		}
		if e.Code != c.want.Code || e.Signal != c.want.Signal || e.Limit != c.want.Limit || e.Why != c.want.Why || !slices.Equal(e.Tail, c.want.Tail) {
			t.Errorf("%s: %+v, want %+v", c.script, e, c.want)
		}
	}
}

// TestErrors: a program that cannot be started is reported in a line.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		c    Command
		want string
	}{
		{Command{Writes: []string{dir}}, "no program is given"},
		{Command{Args: []string{"true"}}, "neither a working folder nor one that may be written is given"},
		{Command{Args: []string{"desynctool-no-such-program"}, Dir: dir}, "desynctool-no-such-program: there is no such program"},
		{Command{Args: []string{filepath.Join(dir, "none")}, Dir: dir}, filepath.Join(dir, "none") + ": there is no such program"},
		{Command{Args: []string{file}, Dir: dir}, file + ": cannot be run: permission denied"},
		{Command{Args: []string{"sh"}, Writes: []string{filepath.Join(dir, "none")}}, "none: no such file or directory"},
		{Command{Args: []string{"sh"}, Writes: []string{file}}, file + ": expected a folder"},
		{Command{Args: []string{"sh"}, Dir: file}, file + ": expected a folder"},
		{Command{Args: []string{"sh"}, Dir: filepath.Join(dir, "none")}, "none: no such file or directory"},
	} {
		e, err := Run(t.Context(), c.c)
		if e != nil || err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%q: %+v, %v, want %s", c.c.Args, e, err, c.want)
		}
	}
	if err := os.Chmod(file, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("neither a program nor a script"), 0o700); err != nil {
		t.Fatal(err)
	}
	if e, err := Run(t.Context(), Command{Args: []string{file}, Dir: dir}); e != nil || err == nil || err.Error() != file+": cannot be run: exec format error" {
		t.Errorf("%+v, %v", e, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if e, err := Run(ctx, Command{Args: []string{"sh", "-c", "echo > " + file + "2"}, Dir: dir}); err != nil || e.Limit != Interrupted || e.Why != "was interrupted" || e.Code != -1 {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := os.Stat(file + "2"); err == nil {
		t.Error("it ran though it was interrupted before")
	}
}

// TestOutput: lines come whole whatever pieces they come in, and what is longer than a line may be is cut.
func TestOutput(t *testing.T) {
	long := strings.Repeat("x", 5000)
	text := "one\n\ntwo\r\nhalf\rwhole\r\r\n\xff\x1b[31m\n" + long + "\n" + long
	want := []string{"one", "", "two", "half", "whole", "\xff\x1b[31m", long[:maxLine], long[:maxLine]}
	for _, piece := range []int{1, 2, 3, 7, 4096, 1 << 20} {
		var got []string
		o := newOutput(&Command{Line: func(line string) { got = append(got, line) }})
		o.take(struct{ io.Reader }{&pieces{[]byte(text), piece}})
		if !slices.Equal(got, want) {
			t.Errorf("pieces of %d: %.60q", piece, got)
		}
	}
	o := newOutput(&Command{})
	o.take(strings.NewReader(strings.Repeat("line\n", 50) + "\xff\x1b[31m\n" + long))
	tail := o.tail()
	if len(tail) != maxTail || tail[18] != `\xff\x1b[31m` || len([]rune(tail[19])) != maxColumns {
		t.Errorf("%q", tail)
	}
}

// pieces is a reader of a few bytes at once.
type pieces struct {
	left []byte
	n    int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.left[:min(p.n, len(p.left))])
	p.left = p.left[n:]
	return n, nil
}

// TestOutputMemory: endless output takes no memory.
func TestOutputMemory(t *testing.T) {
	var before, after runtime.MemStats
	o := newOutput(&Command{Line: func(string) {}})
	runtime.ReadMemStats(&before)
	o.take(io.LimitReader(endless{}, int64(effort.Of(64<<20, 1<<30))))
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
		t.Errorf("it took %d bytes", took)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// using is a process that uses something.
type using struct {
	held    int64
	threads int
}

func (using) wait() outcome               { return outcome{} }
func (using) end()                        {}
func (using) kill()                       {}
func (u using) usage() (int64, int, bool) { return u.held, u.threads, true }
func (using) missing() []string           { return nil }

// TestLook: which use is too much.
func TestLook(t *testing.T) {
	for want, use := range map[string]using{
		"":                               {1 << 20, maxProcesses},
		"took more than 1 MiB of memory": {1<<20 + 1, 1},
		"had more than 4096 processes and threads": {0, maxProcesses + 1},
	} {
		command := Command{Memory: 1 << 20, Disk: 1 << 10, Writes: []string{t.TempDir()}}
		if got := command.look(use, weight{left: 1}); got.text != want || (got.limit == None) != (want == "") {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}

// TestPassed: which growth is too much. A disk that others fill ends nothing.
func TestPassed(t *testing.T) {
	const much = 100 << 30
	c := Command{Disk: 1 << 10}
	for _, x := range []struct {
		before, now weight
		err         error
		want        string
	}{
		{weight{5000, 5, much}, weight{6024, 5 + maxEntries, much - 1<<10}, nil, ""},
		{weight{5000, 5, much}, weight{6025, 5, much}, nil, "wrote more than 1 KiB"},
		{weight{5000, 5, much}, weight{5000, 6 + maxEntries, much}, nil, "made more than 1048576 files"},
		{weight{5000, 5, much}, weight{5000, 5, spare - 1}, nil, "wrote more than 1 KiB"}, // in files without names
		{weight{5000, 5, much}, weight{5000, 5, spare}, nil, ""},
		{weight{5000, 5, spare - 1}, weight{5000, 5, spare - 1 - 1<<10}, nil, ""},
		{weight{5000, 5, much}, weight{0, 0, 0}, fmt.Errorf("%w: deep", errHidden), "made a folder that cannot be looked into"},
		{weight{5000, 5, much}, weight{9000, 5, 0}, fmt.Errorf("%w: deep", errHidden), "wrote more than 1 KiB"},
		{weight{5000, 5, 0}, weight{5000, 5, 0}, nil, ""},
	} {
		if got := c.passed(x.before, x.now, x.err); got.text != x.want || (got.limit == Disk) != (x.want != "") {
			t.Errorf("%+v to %+v: %+v, want %q", x.before, x.now, got, x.want)
		}
	}
}

// TestMinimal: nothing of this process's environment but PATH.
func TestMinimal(t *testing.T) {
	for _, name := range []string{"DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "SSH_ASKPASS", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "SECRET", "LD_PRELOAD"} {
		t.Setenv(name, "x")
	}
	home := t.TempDir()
	for _, variable := range Minimal(home) {
		name, value, _ := strings.Cut(variable, "=")
		if value == "x" {
			t.Errorf("%s is given", variable)
		}
		if (name == "HOME" || strings.HasPrefix(name, "XDG_")) && !strings.HasPrefix(value, home) {
			t.Errorf("%s is not below %s", variable, home)
		}
	}
	if e, err := Run(t.Context(), Command{Args: []string{"sh", "-c", "cd \"$XDG_DATA_HOME\" && cd \"$HOME\" && cd \"$TMPDIR\" && echo there"}, Env: Minimal(home), Writes: []string{home}}); err != nil || !slices.Equal(e.Tail, []string{"there"}) {
		t.Errorf("%+v, %v", e, err)
	}
}
