// Package confine runs untrusted programs within limits: builds of games, and games that replay a recording from an
// unknown source. Such a program has no terminal, no input, no screen unless it is given one, and its own environment.
// It ends, with all processes that it started, when its time, disk space or memory is used up.
//
// The restrictions depend on the system, and Ended.Confined lists the missing ones:
//
//	           children                network             writing            reading    memory
//	Linux      PID namespace           network namespace   mounts, Landlock   mounts     watched
//	  without  PR_SET_CHILD_SUBREAPER  –                   Landlock           Landlock   watched
//	Windows    job                     –                   –                  –          job
//	others     process group           –                   –                  –          –
//
// The second line applies to Linux without user namespaces, as in most containers. There, too, all processes that a
// program has started are ended, except processes that killed its guard before.
//
// On Linux this program starts itself again, with Commanded as its only argument. That process enters the namespaces,
// gives up its own permissions there, starts the program, ends its remaining processes, and dies with this one. Package
// confine takes over such a process before main begins, so programs and tests need no code for it.
//
// # What a confined program may do on Linux
//
// It may read whatever the user may read, except Command.Private, such as the user's home; below these only
// Command.Reads, Command.Writes and its working folder. If Network is not set, the data that it reads can leave only in
// its output and the files that it writes. It may write only below
// Command.Writes and to its own /dev/shm, of 256 MiB at most, so not to /tmp: Minimal sets TMPDIR. It has only devices
// without state, and devices for graphics: no disk, no sound, no camera, no keyboard. Sockets at which other programs
// listen when it starts (D-Bus, Wayland, tmux, key agents) are hidden from it, except the socket of the display in
// Command.Env. Terminals and other processes are hidden too. Inside, the user root is 1000, because many games refuse
// to run as root.
//
// Without namespaces, only Landlock restricts writing. It does not restrict changes of modes and owners, and shared
// memory is shared with all programs.
package confine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/internal/sandbox"
)

// Command is a program with its permissions.
type Command struct {
	Args []string // the program and its arguments, never run by a shell
	Dir  string   // its working folder, the first of Writes if empty
	// Env is the whole environment, "NAME=value"; Minimal returns a base. Its XDG_… folders below Writes are created.
	Env    []string
	Writes []string // folders that it may write to
	// Private are folders that it may not read, except Reads, Writes, Dir, and the folder of the program. Missing ones
	// are ignored.
	Private []string
	Reads   []string      // files and folders below Private that it may read; missing ones, and all of one, are ignored
	Time    time.Duration // wall clock, 0 for no limit
	// Disk is how many bytes Writes may grow in total, 0 for no limit; no single file may be larger either. Files
	// without names count if a disk has less than 1 GiB left.
	Disk    int64
	Memory  int64 // bytes of memory of its processes, checked every quarter of a second, 0 for no limit
	Network bool  // whether it may use the network; otherwise it gets its own loopback where possible
	// Line receives each line of stdout and stderr as it arrives, unchanged, its first 4096 bytes. It is called from
	// one goroutine.
	Line func(line string)
	Log  io.Writer // all of stdout and stderr, at most Disk bytes; may be nil
}

// Limit is the limit that ended a program.
type Limit string

// The limits.
const (
	None        Limit = ""
	Time        Limit = "time"
	Disk        Limit = "disk"
	Memory      Limit = "memory"
	Processes   Limit = "processes"
	Interrupted Limit = "interrupted" // the context was done
)

// Restrictions that a system may not support.
const (
	Children = "children" // processes that leave its process group may continue
	Network  = "network"  // the network is reachable
	Writing  = "writing"  // files elsewhere can be written
	Reading  = "reading"  // Command.Private can be read
	Reaching = "sockets"  // other programs are reachable
	Weighing = "memory"   // it may use more than Command.Memory
)

// Ended describes how a program ended.
type Ended struct {
	Code   int    // exit status, -1 if it was killed
	Signal string // the signal that killed it, "segmentation fault"; empty if it exited
	Limit  Limit  // the limit that ended it; None if it ended by itself
	// Why is the effect of Limit, after "it": "ran longer than 5m0s", "wrote more than 2 GiB", "was interrupted". It is
	// empty if the program ended by itself.
	Why      string
	Tail     []string // its last lines, at most 20, in printable form
	Confined []string // restrictions that the system lacks: "network", "children"; empty if it has all
}

// grace is how long a program may take to end after it was asked to.
var grace = 3 * time.Second

// patience is how long to wait for events that should happen soon.
const patience = 10 * time.Second

// maxProcesses is the maximum number of a program's processes and threads.
const maxProcesses = 4096

// outcome is how a program ended by itself, or when it was killed.
type outcome struct {
	code   int
	signal string
	full   bool  // a file has reached its maximum size
	err    error // why the end is not known
}

// process is a program that was started, on a particular system.
type process interface {
	// wait returns when the program and all of its processes have ended, as far as the system can ensure that.
	wait() outcome
	// end asks the program to end, and after grace kills it and its children.
	end()
	// kill kills the program and its children.
	kill()
	// usage returns the bytes of memory of the program and its children, and the number of their threads, false if the
	// system does not report it.
	usage() (held int64, threads int, known bool)
	// missing are the restrictions that the system does not support.
	missing() []string
}

// isFolder returns an error unless path is a folder.
func isFolder(path string) error {
	stat, err := os.Stat(path)
	if err == nil && !stat.IsDir() {
		err = fmt.Errorf("%s: expected a folder", path)
	}
	return err
}

// furnish creates the folders below Writes that programs expect in their home.
func (c *Command) furnish() error {
	for _, variable := range c.Env {
		name, dir, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "XDG_") || !slices.ContainsFunc(c.Writes, func(top string) bool { return strings.HasPrefix(dir, top+string(filepath.Separator)) }) {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// Run runs a program to its end. When it returns, none of the program's processes runs, as far as the system can ensure
// that. An error without an Ended means that the program could not be started. An error with an Ended means that the
// end is not fully known, or that writing to Log failed.
func Run(ctx context.Context, c Command) (*Ended, error) {
	if err := c.settle(); err != nil {
		return nil, err
	}
	before, err := weigh(c.Writes)
	if err != nil {
		return nil, err
	}
	links := linksIn(c.Writes)
	if ctx.Err() != nil {
		return &Ended{Code: -1, Limit: Interrupted, Why: "was interrupted"}, nil
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	p, err := start(&c, to)
	to.Close()
	if err != nil {
		return nil, err
	}
	out := newOutput(&c)
	read := make(chan struct{})
	go func() { defer close(read); out.take(from) }()
	over := make(chan outcome, 1)
	go func() { over <- p.wait() }()
	watched, stop := context.WithCancel(context.Background())
	cut := make(chan breach, 2)
	watching := make(chan struct{})
	go func() { defer close(watching); c.watch(watched, p, before, cut) }()

	o, why := c.await(ctx, p, over, out.full, cut)
	stop()
	<-watching
	select {
	case <-read:
	case <-time.After(patience): // an escaped process has the pipe
		_ = from.SetReadDeadline(time.Now())
		<-read
	}
	e := &Ended{Code: o.code, Signal: o.signal, Limit: why.limit, Why: why.text, Tail: out.tail(), Confined: p.missing()}
	if e.Limit == None && o.full {
		e.Limit, e.Why = Disk, c.tooMuch()
	}
	if last := c.weighed(before); e.Limit == None && last.limit != None { // written since the last check
		e.Limit, e.Why = last.limit, last.text
	}
	for _, dir := range c.Writes {
		if err := files.Tidy(dir, links.has); err != nil {
			return e, errors.Join(o.err, out.err, unreadable(err))
		}
	}
	return e, errors.Join(o.err, out.err)
}

// unreadable is the error for data from a program that cannot be read. The program chose its name.
func unreadable(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = fmt.Errorf("%s: %w", prose.Path(at.Path), at.Err)
	}
	return fmt.Errorf("what the program has left cannot be read: %w", err)
}

// breach is a limit that was reached.
type breach struct {
	limit Limit
	text  string
}

// await waits for the end of a program, and ends it if necessary.
func (c *Command) await(ctx context.Context, p process, over <-chan outcome, full <-chan struct{}, cut <-chan breach) (outcome, breach) {
	var late <-chan time.Time
	if c.Time > 0 {
		timer := time.NewTimer(c.Time)
		defer timer.Stop()
		late = timer.C
	}
	var why breach
	select {
	case o := <-over:
		return o, breach{}
	case <-ctx.Done():
		why = breach{Interrupted, "was interrupted"}
	case <-late:
		why = breach{Time, fmt.Sprintf("ran longer than %v", c.Time)}
	case <-full:
		why = breach{Disk, fmt.Sprintf("printed more than %s", sandbox.Size(c.Disk))}
	case why = <-cut:
	}
	if why.limit == Interrupted || why.limit == Time {
		p.end()
		select {
		case o := <-over:
			return o, why
		case <-full: // or whatever it does with the time that is left
		case <-cut:
		}
	}
	p.kill()
	return <-over, why
}

// tooMuch reports that a program has written too much.
func (c *Command) tooMuch() string { return "wrote more than " + sandbox.Size(c.Disk) }

// settle checks a command and makes its paths absolute.
func (c *Command) settle() error {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return errors.New("no program is given")
	}
	writes := make([]string, len(c.Writes))
	for i, dir := range c.Writes {
		whole, err := filepath.Abs(dir)
		if err == nil {
			whole, err = filepath.EvalSymlinks(whole)
		}
		if err != nil {
			return err
		}
		if err := isFolder(whole); err != nil {
			return err
		}
		writes[i] = whole
	}
	c.Writes = writes
	if c.Dir == "" {
		if len(writes) == 0 {
			return errors.New("neither a working folder nor one that may be written is given")
		}
		c.Dir = writes[0]
	}
	var err error
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return err
	}
	if err := isFolder(c.Dir); err != nil {
		return err
	}
	if c.Env == nil {
		c.Env = []string{} // empty, not the environment of this process
	}
	if err := c.furnish(); err != nil {
		return err
	}
	c.Args = append([]string{}, c.Args...)
	if c.Args[0], err = program(c.Args[0]); err != nil {
		return err
	}
	c.settlePrivate()
	return nil
}
