package confine

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"golang.org/x/sys/unix"
)

// Commanded is the only argument of the guard process between this process and a confined program.
const Commanded = "run-confined"

// plan is the data for that process, as MessagePack on its file 3, because names need not be UTF-8. Single bytes
// follow, askEnd or askKill; the end of the file means askKill.
type plan struct {
	Args, Env, Writes []string
	Private, Reads    []string
	Dir               string
	FileSize          int64 // 0 for no limit
	Grace             time.Duration
	Namespaces        bool // it has its own namespaces: user, PID, mount, IPC
	Loopback          bool // and its own network namespace
	Hide              []string
	Probe             bool // nothing is run
}

const (
	askEnd  = 'e'
	askKill = 'k'
)

// event is a message of that process, as MessagePack on its file 4: one when the program has been started or could not
// be, and one when it has ended.
type event struct {
	Missing []string
	Failed  string // reason why it could not be started
	Code    int
	Signal  syscall.Signal
}

// guarded is a program with a guard process.
type guarded struct {
	cmd        *exec.Cmd
	namespaces bool
	to         *os.File
	from       *os.File
	events     *msgpack.Decoder
	lacking    []string
	over       chan struct{} // closed when the guard has ended
	killed     atomic.Bool
	once       sync.Once
}

// namespaces reports whether programs can have their own namespaces. It tries once.
//
// If they can, everything except hiding sockets was found to work.
var namespaces = sync.OnceValue(func() bool {
	g, err := guard(&plan{Probe: true, Namespaces: true, Loopback: true}, nil)
	if err != nil {
		return false
	}
	g.close()
	return true
})

func start(c *Command, out *os.File) (process, error) {
	p := &plan{Args: c.Args, Env: c.Env, Writes: c.Writes, Private: c.Private, Reads: c.Reads, Dir: c.Dir, FileSize: c.Disk, Grace: grace, Namespaces: namespaces()}
	p.Loopback = p.Namespaces && !c.Network
	if p.Namespaces {
		p.Hide = sockets(c)
	}
	g, err := guard(p, out)
	if err != nil {
		return nil, err
	}
	if !p.Namespaces {
		g.lacking = append(g.lacking, Children, Reaching) // children whose parent ends the guard first
		if !c.Network {
			g.lacking = append(g.lacking, Network)
		}
		slices.Sort(g.lacking)
	}
	return g, nil
}

// guard starts a guard process, which starts a program.
func guard(p *plan, out *os.File) (*guarded, error) {
	in, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	from, said, err := os.Pipe()
	if err != nil {
		to.Close()
		return nil, err
	}
	defer said.Close()
	cmd := exec.Command("/proc/self/exe") // stays the same program even if its file is replaced
	cmd.Args = []string{os.Args[0], Commanded}
	cmd.Env = []string{"GOMAXPROCS=1"}
	cmd.ExtraFiles = []*os.File{in, said}
	if out != nil {
		cmd.Stdout, cmd.Stderr = out, out
	}
	cmd.SysProcAttr = attributes(p)
	g := &guarded{cmd: cmd, namespaces: p.Namespaces, to: to, from: from, events: msgpack.NewDecoder(bufio.NewReader(from)), over: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the guard ends with this thread
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // the guard itself reports how the program ended
			close(g.over)
		}
	}()
	if err := <-started; err != nil {
		to.Close()
		from.Close()
		return nil, fmt.Errorf("this program cannot be started again: %w", err)
	}
	said.Close()
	if err := msgpack.NewEncoder(to).Encode(p); err != nil {
		g.close()
		return nil, err
	}
	var e event
	begun := make(chan struct{})
	go g.rouse(begun)
	err = g.events.Decode(&e)
	close(begun)
	if err != nil {
		g.close()
		return nil, fmt.Errorf("the guard of the program ended: %w", err)
	}
	if e.Failed != "" {
		g.close()
		return nil, errors.New(e.Failed)
	}
	g.lacking = e.Missing
	return g, nil
}

// startsWithin is how long a program may take to start. Most start within milliseconds.
const startsWithin = 30 * time.Second

// rouse continues the guard until it has reported that the program started, and kills it if it never does. Without
// namespaces the program can stop the guard before it reports anything.
func (g *guarded) rouse(begun <-chan struct{}) {
	late := time.After(startsWithin)
	for {
		select {
		case <-begun:
			return
		case <-late:
			_ = g.cmd.Process.Kill() // the report then ends
			return
		case <-time.After(50 * time.Millisecond):
			g.resume()
		}
	}
}

// resume continues the guard, which the program may have stopped. With namespaces the program cannot do that.
func (g *guarded) resume() {
	if !g.namespaces {
		_ = g.cmd.Process.Signal(syscall.SIGCONT)
	}
}

// attributes returns the attributes of the guard process.
func attributes(p *plan) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Setsid: true}
	if !p.Namespaces {
		a.Pdeathsig = syscall.SIGCONT // when this process ends, the guard ends the others, even if the program has stopped it
		return a
	}
	a.Pdeathsig = syscall.SIGKILL // all others die with it
	a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC
	if p.Loopback {
		a.Cloneflags |= unix.CLONE_NEWNET
	}
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: inside(os.Geteuid()), HostID: os.Geteuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: inside(os.Getegid()), HostID: os.Getegid(), Size: 1}}
	a.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN} // for the namespaces, until the program starts
	return a
}

// inside returns the id of a user or a group in a user namespace. Many games refuse to run as root.
func inside(id int) int {
	if id == 0 {
		return 1000
	}
	return id
}

func (g *guarded) wait() outcome {
	var e event
	err := g.events.Decode(&e)
	g.close()
	switch {
	case err == nil:
		return outcome{code: e.Code, signal: signalName(e.Signal), full: e.Signal == syscall.SIGXFSZ}
	case g.killed.Load():
		return outcome{code: -1, signal: signalName(syscall.SIGKILL)}
	case errors.Is(err, io.EOF):
		err = errors.New("something ended its guard")
	}
	return outcome{code: -1, err: fmt.Errorf("how the program ended is not known: %w", err)}
}

// close waits for the end of the guard, which ends when it can get no more requests.
func (g *guarded) close() {
	g.once.Do(func() {
		g.to.Close()
		select {
		case <-g.over:
		case <-time.After(patience):
			_ = g.cmd.Process.Kill() // it may have ended
			<-g.over
		}
		g.from.Close()
	})
}

func (g *guarded) end() { g.ask(askEnd, grace+patience) }

func (g *guarded) kill() {
	if g.namespaces { // all others in the namespace die with the guard
		g.killed.Store(true)
		_ = g.cmd.Process.Kill()
		return
	}
	g.ask(askKill, patience)
}

// ask sends a request to the guard, and kills the guard if it does not respond in time.
func (g *guarded) ask(what byte, within time.Duration) {
	g.resume()
	_, _ = g.to.Write([]byte{what}) // its messages show if it is gone
	time.AfterFunc(within, func() {
		select {
		case <-g.over:
		default:
			g.killed.Store(true)
			_ = g.cmd.Process.Kill()
		}
	})
}

func (g *guarded) missing() []string { return g.lacking }

func (g *guarded) usage() (held int64, threads int, known bool) {
	return usage(g.cmd.Process.Pid)
}
