package gdb

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/processgroup"
	"github.com/desynctool/desynctool/orderlog"
)

// Terminal is where a person uses gdb.
type Terminal struct {
	In, Out, Err *os.File
	// Typed reports whether In is a terminal.
	Typed bool
}

// longest is how long a person may use gdb.
const longest = 24 * time.Hour

// Debug lets a person use gdb on the second of two builds, which depart in a tick. The program waits at the beginning of
// the system after which the states differ, or of the tick, with its orders; gdb watches the first values that differ.
// Debug returns when gdb ends.
func Debug(log *orderlog.Log, programs [2]Program, tick uint64, opts Options, terminal Terminal) error {
	f, err := newFinder(log, programs, tick, opts)
	if err != nil {
		return err
	}
	if err := f.depart(); err != nil {
		return err
	}
	dir, remove, err := files.TemporaryFolder("")
	if err != nil {
		return err
	}
	defer remove()
	d := &desk{dir: dir, gdb: f.gdb, terminal: terminal}
	b := &build{}
	if b.sim, err = programs[1].Sim(d.under, longest); err != nil {
		return err
	}
	if b.spot, err = bisect.Reach(log, b.sim, tick, opts.Trial); err != nil {
		return err
	}
	defer func() { _ = b.spot.Close() }() // gdb has ended
	systems := f.systems
	if systems > 0 {
		s := b.spot.Simulator.(bisect.Stepper)
		if err := s.Begin(b.spot.Orders); err != nil {
			return err
		}
		for range systems - 1 {
			if _, _, err := s.Next(); err != nil {
				return err
			}
		}
	}
	if err := d.hand(f, b); err != nil {
		return err
	}
	go func() { // the program is stopped, and takes the request when the person lets it go on
		if systems > 0 {
			_, _, _ = b.spot.Simulator.(bisect.Stepper).Next()
		} else {
			_ = b.spot.Step(b.spot.Orders)
		}
	}()
	return d.wait()
}

// desk is a gdb that a person uses.
type desk struct {
	dir, gdb string
	terminal Terminal
	cmd      *exec.Cmd
}

func (d *desk) file(name string) string { return filepath.Join(d.dir, name) }

// under starts a command under gdb. A script runs it, and goes on once desynctool has stopped it, whose number a wrapper
// leaves in a file.
func (d *desk) under(cmd *exec.Cmd) (func(error), error) {
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	var args []string
	for _, arg := range cmd.Args[1:] {
		args = append(args, shellQuote(arg))
	}
	script := strings.Join([]string{
		"set confirm off", "set pagination off", "set startup-with-shell on", "set disable-randomization on",
		"set exec-wrapper /bin/sh -c 'echo $$ >" + d.file("pid") + "; exec \"$@\"' sh",
		"set args " + strings.Join(append(args, "</dev/null", ">/dev/null"), " "),
		"run", "source " + d.file("stopped"), "",
	}, "\n")
	if err := os.WriteFile(d.file("script"), []byte(script), 0o600); err != nil {
		return nil, err
	}
	cmd.Path, cmd.Args = d.gdb, append([]string{d.gdb}, append(plain(), "-x", d.file("script"), cmd.Path)...)
	cmd.Env = append(cmd.Env, "SHELL=/bin/sh")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = d.terminal.In, d.terminal.Out, d.terminal.Err
	if d.terminal.Typed {
		processgroup.Foreground(cmd, d.terminal.In)
	}
	d.cmd = cmd
	return func(error) {}, nil
}

// hand stops the program and lets gdb set its watchpoints.
func (d *desk) hand(f *finder, b *build) error {
	text := fmt.Sprintf("echo \\ndesynctool: the program is before tick %d", f.tick)
	if f.systems > 0 {
		text = fmt.Sprintf("echo \\ndesynctool: the program is in tick %d, before %s", f.tick, strings.Map(printable, f.out.System))
	}
	lines := []string{"set language c", text + " plays. `continue` plays it up to the next change of\\n"}
	for i := range f.candidates {
		c := &f.candidates[i]
		p, err := b.where(c)
		if err != nil {
			if p = c.ends[1]; p.address == 0 {
				continue
			}
		}
		lines = append(lines, fmt.Sprintf("echo \\ \\ %s\\n", strings.Map(printable, c.Field.String())), "watch "+p.expression())
	}
	lines = append(lines, "set language auto", "shell : >"+d.file("ready"), "")
	if err := os.WriteFile(d.file("stopped"), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		return err
	}
	number, err := os.ReadFile(d.file("pid"))
	if err != nil {
		return errors.New("gdb did not start the program")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(number)))
	if err != nil {
		return err
	}
	process, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	if err := process.Signal(os.Interrupt); err != nil {
		return fmt.Errorf("the program cannot be stopped: %w", err)
	}
	for begun := time.Now(); time.Since(begun) < answer; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(d.file("ready")); err == nil {
			return nil
		}
		if d.ended() {
			return errEnded
		}
	}
	return fmt.Errorf("gdb did not stop the program within %v", answer)
}

// printable drops what a script of gdb would not print as it is.
func printable(r rune) rune {
	if r < ' ' || r > '~' || r == '\\' {
		return '?'
	}
	return r
}

func (d *desk) ended() bool {
	return errors.Is(d.cmd.Process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// wait waits until gdb has ended.
func (d *desk) wait() error {
	for begun := time.Now(); time.Since(begun) < longest; time.Sleep(50 * time.Millisecond) {
		if d.ended() {
			return nil
		}
	}
	return errors.New("gdb was used for more than a day")
}
