package gdb

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/processgroup"
	"github.com/desynctool/desynctool/orderlog"
)

// Debugger is a debugger that a person uses.
type Debugger string

// The debuggers.
const (
	GDB  Debugger = "gdb"
	LLDB Debugger = "lldb"
)

// Terminal is where a person uses a debugger.
type Terminal struct {
	In, Out, Err *os.File
	// Typed reports whether In is a terminal.
	Typed bool
}

// longest is how long a person may use a debugger.
const longest = 24 * time.Hour

// Debug lets a person use a debugger on the second of two builds, which depart in a tick. The program waits at the
// beginning of the system after which the states differ, or of the tick, with its orders; the debugger watches the first
// values that differ. Debug returns when the debugger ends.
func Debug(log *orderlog.Log, programs [2]Program, tick uint64, debugger Debugger, opts Options, terminal Terminal) error {
	path, err := exec.LookPath(string(debugger))
	if err != nil {
		return missing(debugger)
	}
	under := "" // nothing
	if debugger == GDB {
		under = path // which loads programs at the same addresses each time
	}
	f, err := newFinder(under, log, programs, tick, opts)
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
	d := &desk{dir: dir, Debugger: debugger, path: path, terminal: terminal}
	b := &build{}
	if b.sim, err = programs[1].Sim(d.under, longest); err != nil {
		return err
	}
	if b.spot, err = bisect.Reach(log, b.sim, tick, opts.Trial); err != nil {
		return err
	}
	defer func() { _ = b.spot.Close() }() // the debugger has ended
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

// desk is a debugger that a person uses.
type desk struct {
	Debugger
	dir, path string
	terminal  Terminal
	cmd       *exec.Cmd
}

func (d *desk) file(name string) string { return filepath.Join(d.dir, name) }

// under starts a command under the debugger. A script runs it, and goes on once desynctool has stopped it, whose number a
// shell leaves in a file before it becomes the program.
func (d *desk) under(cmd *exec.Cmd) (func(error), error) {
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	begin := "echo $$ >" + d.file("pid") + "; exec \"$@\""
	var args, script []string
	switch d.Debugger {
	case GDB:
		quoted := lists.Map(cmd.Args[1:], shellQuote)
		script = []string{
			"set confirm off", "set pagination off", "set startup-with-shell on", "set disable-randomization on",
			"set exec-wrapper /bin/sh -c '" + begin + "' sh",
			"set args " + strings.Join(append(quoted, "</dev/null", ">/dev/null"), " "),
			"run", "source " + d.file("stopped"),
		}
		args = append(plain(), "-x", d.file("script"), cmd.Path)
	case LLDB:
		script = []string{
			"settings set auto-confirm true", "settings set target.process.stop-on-exec false", "settings set stop-line-count-before 0",
			"settings set target.input-path /dev/null", "settings set target.output-path /dev/null",
			"process launch", "command source " + d.file("stopped"),
		}
		if err := os.WriteFile(d.file("quiet"), []byte("settings set interpreter.echo-commands false\n"), 0o600); err != nil {
			return nil, err
		}
		args = append([]string{"--no-lldbinit", "--source-before-file", d.file("quiet"), "--source", d.file("script"), "--", "/bin/sh", "-c", begin, "sh", cmd.Path}, cmd.Args[1:]...)
	}
	if err := os.WriteFile(d.file("script"), []byte(strings.Join(append(script, ""), "\n")), 0o600); err != nil {
		return nil, err
	}
	cmd.Path, cmd.Args = d.path, append([]string{d.path}, args...)
	cmd.Env = append(cmd.Env, "SHELL=/bin/sh")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = d.terminal.In, d.terminal.Out, d.terminal.Err
	if d.terminal.Typed {
		processgroup.Foreground(cmd, d.terminal.In)
	}
	d.cmd = cmd
	return func(error) {}, nil
}

// stopped returns the script for the moment when the program is stopped: it prints a text and watches places, which are
// named.
func (d *desk) stopped(text string, places []place, names []string) string {
	var lines []string
	echo := func(line string) {
		line = strings.Map(printable, line)
		if d.Debugger == GDB {
			lines = append(lines, "echo "+strings.ReplaceAll(line, " ", "\\ ")+"\\n")
		} else {
			lines = append(lines, "platform shell echo "+shellQuote(line))
		}
	}
	echo(text)
	if d.Debugger == GDB && !triggers(d.path) {
		echo("(gdb steps the program, which is slow: watchpoints of the processor do not trigger here)")
		lines = append(lines, "set can-use-hw-watchpoints 0")
	}
	if d.Debugger == GDB {
		lines = append(lines, "set language c")
	}
	for i, p := range places {
		echo("  " + names[i])
		if d.Debugger == GDB {
			lines = append(lines, "watch "+p.expression())
		} else {
			lines = append(lines, fmt.Sprintf("watchpoint set expression -w write -s %d -- 0x%x", p.bytes, p.address))
		}
	}
	if d.Debugger == GDB {
		lines = append(lines, "set language auto", "shell touch "+d.file("ready"))
	} else {
		lines = append(lines, "platform shell touch "+d.file("ready"))
	}
	return strings.Join(append(lines, ""), "\n")
}

// hand stops the program and lets the debugger set its watchpoints.
func (d *desk) hand(f *finder, b *build) error {
	text := fmt.Sprintf("desynctool: the program is before tick %d", f.tick)
	if f.systems > 0 {
		text = fmt.Sprintf("desynctool: the program is in tick %d, before %s", f.tick, f.out.System)
	}
	var places []place
	var names []string
	for i := range f.candidates {
		c := &f.candidates[i]
		p, err := b.where(c)
		if err != nil && d.Debugger == GDB {
			p = c.ends[1]
		}
		if p.address != 0 {
			places, names = append(places, p), append(names, c.Field.String())
		}
	}
	script := d.stopped(text+" plays. The command \"continue\" plays it up to the next change of", places, names)
	if err := os.WriteFile(d.file("stopped"), []byte(script), 0o600); err != nil {
		return err
	}
	number, err := os.ReadFile(d.file("pid"))
	if err != nil {
		return fmt.Errorf("%s did not start the program", d.Debugger)
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
		ended := d.ended()
		if _, err := os.Stat(d.file("ready")); err == nil {
			return nil
		}
		if ended {
			return fmt.Errorf("%s has ended", d.Debugger)
		}
	}
	return fmt.Errorf("%s did not stop the program within %v", d.Debugger, answer)
}

// triggers reports whether the processor's watchpoints trigger, which they do not in some virtual machines. gdb watches the
// place where a program's first call leaves the address to return to. It is true where that cannot be tried.
func triggers(gdb string) bool {
	if runtime.GOARCH != "amd64" {
		return true
	}
	out, err := exec.Command(gdb, append(plain(), "-batch", "-ex", "starti", "-ex", "watch -l *(unsigned long long *)($sp-8)", "-ex", "continue",
		"--args", "/bin/sh", "-c", ":")...).Output()
	return err != nil || !bytes.Contains(out, []byte("Hardware watchpoint")) || bytes.Contains(out, []byte("New value"))
}

// printable drops what a debugger's script would not print as it is.
func printable(r rune) rune {
	if r < ' ' || r > '~' || r == '\\' {
		return '?'
	}
	return r
}

func (d *desk) ended() bool {
	return errors.Is(d.cmd.Process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// wait waits until the debugger has ended.
func (d *desk) wait() error {
	for begun := time.Now(); time.Since(begun) < longest; time.Sleep(50 * time.Millisecond) {
		if d.ended() {
			return nil
		}
	}
	return fmt.Errorf("%s was used for more than a day", d.Debugger)
}
