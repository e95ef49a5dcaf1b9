// Package confine runs programs of others within limits: games that replay a recording which a stranger has
// made, builds of games. Such a program has no terminal, no input, no screen but one that it is given, an environment
// of its own, and ends with all that it started when its time, its disk space or its memory is used up.
//
// What holds depends on the system, and Ended.Confined says what did not:
//
//	           children                network             writing            memory
//	Linux      PID namespace           network namespace   mounts, Landlock   watched
//	  without  PR_SET_CHILD_SUBREAPER  –                   Landlock           watched
//	Windows    job                     –                   –                  job
//	others     process group           –                   –                  –
//
// The second line is of Linux where user namespaces are refused, as in most containers. There all that a program has
// started is ended as well, but for what has killed its guard before.
//
// On Linux this program starts itself again, with Commanded as its only argument: that process enters the namespaces,
// gives up what it may do there, starts the program, ends what is left of it, and dies with this one. Package confine
// takes over such a process before main begins, so a program, or a test, has nothing to do for it.
//
// # What a confined program may do on Linux
//
// It may read whatever the user may read, its home folder included, since games are installed there: with Network unset
// nothing that it reads can leave, but in what it prints and writes. It writes only below Command.Writes and to a /dev/shm
// of its own, of 256 MiB at most, so not to /tmp: Minimal has TMPDIR. Of the devices it has those without a state and those
// for pictures, so no disk, no sound, no camera, no keyboard. Sockets at which other programs listen when it starts (D-Bus,
// Wayland, tmux, agents of keys) are hidden from it, but for that of the display in Command.Env; so are terminals and other
// processes. The user root is
// called 1000 in there, since many games refuse to run as root.
//
// Without namespaces Landlock alone restricts writing: a change of mode or owner is none, and shared memory is that of all.
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

// Command is a program and what it may do.
type Command struct {
	Args    []string          // the program and its arguments, never through a shell
	Dir     string            // its working folder, the first of Writes if empty
	Env     []string          // the whole environment, "NAME=value"; Minimal returns a base. Its XDG_… folders below Writes are made
	Writes  []string          // folders that it may write to
	Time    time.Duration     // wall clock, 0 for no limit
	Disk    int64             // bytes by which Writes may grow altogether, 0 for no limit; no single file becomes larger either. Files without names count where a disk has less than 1 GiB left
	Memory  int64             // bytes that its processes hold in memory, looked at every quarter of a second, 0 for no limit
	Network bool              // whether it may reach the network; else it has a loopback of its own where the system can
	Line    func(line string) // each line of stdout and stderr as it comes, as it is, its first 4096 bytes; called from one goroutine
	Log     io.Writer         // all of stdout and stderr, at most Disk bytes; may be nil
}

// Limit is what ended a program.
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

// What a system may be unable to restrict.
const (
	Children = "children" // those that leave its process group may go on running
	Network  = "network"  // it can be reached
	Writing  = "writing"  // files elsewhere can be written
	Reaching = "sockets"  // other programs can be talked to
	Weighing = "memory"   // it may take more than Command.Memory
)

// Ended says how a program ended.
type Ended struct {
	Code     int           // exit status, -1 if it was killed
	Signal   string        // what killed it, "segmentation fault"; empty if it exited
	Limit    Limit         // the limit that ended it; None if it ended by itself
	Why      string        // what came of Limit, after "it": "ran longer than 5m0s", "wrote more than 2 GiB", "was interrupted"; empty if it ended by itself
	Tail     []string      // its last lines, at most 20, fit to be shown
	Confined []string      // what the system could not restrict: "network", "children"; empty if it could everything
	Took     time.Duration // for progress only, never for results
}

// grace is how long a program has to end once it was told to.
var grace = 3 * time.Second

// patience is how long is waited for what must happen soon.
const patience = 10 * time.Second

// maxProcesses is how many processes and threads a program may have.
const maxProcesses = 4096

// outcome is how a program ended by itself, or when it was killed.
type outcome struct {
	code   int
	signal string
	full   bool  // a file had reached its largest size
	err    error // it is not known
}

// process is a program that was started, as a system has it.
type process interface {
	// wait returns when the program has ended and nothing of it runs, as far as the system can do that.
	wait() outcome
	// end tells the program to end, and ends it and its children by force after grace.
	end()
	// kill ends the program and its children by force.
	kill()
	// usage returns the bytes that the program and its children hold in memory, and how many threads they have;
	// false if the system does not say.
	usage() (held int64, threads int, known bool)
	// missing are the kinds of things that the system could not restrict.
	missing() []string
}

// isFolder returns an error for what is not a folder.
func isFolder(path string) error {
	stat, err := os.Stat(path)
	if err == nil && !stat.IsDir() {
		err = fmt.Errorf("%s: expected a folder", path)
	}
	return err
}

// furnish makes the folders below Writes that programs expect in their home.
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

// Run runs a program to its end. Nothing of it runs when Run returns, as far as the system can ensure that. An error
// without an Ended says that the program could not be started; one beside it, that how it ended is not known, or that Log
// did not take what it printed.
func Run(ctx context.Context, c Command) (*Ended, error) {
	begun := time.Now()
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
	case <-time.After(patience): // somebody who got away has the pipe
		_ = from.SetReadDeadline(time.Now())
		<-read
	}
	e := &Ended{Code: o.code, Signal: o.signal, Limit: why.limit, Why: why.text, Tail: out.tail(), Confined: p.missing(), Took: time.Since(begun)}
	if e.Limit == None && o.full {
		e.Limit, e.Why = Disk, c.tooMuch()
	}
	if last := c.weighed(before); e.Limit == None && last.limit != None { // which it wrote since the last look
		e.Limit, e.Why = last.limit, last.text
	}
	for _, dir := range c.Writes {
		if err := files.Tidy(dir, links.has); err != nil {
			return e, errors.Join(o.err, out.err, unreadable(err))
		}
	}
	return e, errors.Join(o.err, out.err)
}

// unreadable says that something which a program has left cannot be read. Its name is the program's.
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

// await waits for the end of a program, and ends it where it must.
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
		case <-full: // or what it does with the time that is left
		case <-cut:
		}
	}
	p.kill()
	return <-over, why
}

// tooMuch says that a program has written too much.
func (c *Command) tooMuch() string { return "wrote more than " + sandbox.Size(c.Disk) }

// settle checks a command and makes its paths whole.
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
		c.Env = []string{} // nothing, not that of this process
	}
	if err := c.furnish(); err != nil {
		return err
	}
	c.Args = append([]string{}, c.Args...)
	c.Args[0], err = program(c.Args[0])
	return err
}
