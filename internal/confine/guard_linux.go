package confine

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"golang.org/x/sys/unix"
)

// The process that guards a program is this program, started again. It takes over before main, so that every program
// and every test that links this package can be the guard.
func init() {
	if len(os.Args) == 2 && os.Args[1] == Commanded {
		os.Exit(stand())
	}
}

// warden is the guard's data about its program.
type warden struct {
	plan
	program int // its process id
}

// stand runs the guard. Everything happens in one thread: permissions that a thread gives up are missing in its
// children.
func stand() int {
	runtime.LockOSThread()
	asked, says := os.NewFile(3, "asked"), os.NewFile(4, "says")
	unix.CloseOnExec(3)
	unix.CloseOnExec(4)
	_ = unix.CloseRange(5, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) // inherited files; not before Linux 5.11
	read := bufio.NewReader(asked)
	w := &warden{}
	if err := msgpack.NewDecoder(read).Decode(&w.plan); err != nil {
		fmt.Fprintf(os.Stderr, "%s is for this program's own use: %v\n", Commanded, err)
		return 2
	}
	signal.Notify(make(chan os.Signal, 1)) // ignores all signals, which the program may send; it does not inherit this
	say := msgpack.NewEncoder(says)
	missing, err := w.begin()
	if err != nil {
		_ = say.Encode(event{Failed: err.Error()})
		return 1
	}
	if err := say.Encode(event{Missing: missing}); err != nil || w.Probe {
		return 1
	}
	go w.obey(read)
	status := w.reap()
	_ = say.Encode(event{Code: status.ExitStatus(), Signal: signalOf(status)})
	return 0
}

func signalOf(s syscall.WaitStatus) syscall.Signal {
	if s.Signaled() {
		return s.Signal()
	}
	return 0
}

// begin restricts the process and starts the program.
func (w *warden) begin() (missing []string, err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // its children are ended first if memory is short
	written := errors.New("no namespaces")
	if w.Loopback {
		if err := loopback(); err != nil {
			return nil, fmt.Errorf("a separate loopback: %w", err)
		}
	}
	if w.Namespaces {
		var hidden error
		if written, hidden = w.mount(); hidden != nil {
			missing = append(missing, Reaching)
		}
	}
	if w.Probe {
		return nil, written
	}
	if err := os.Chdir(w.Dir); err != nil { // even if another file system was mounted over it
		return nil, err
	}
	if err := w.limit(); err != nil {
		return nil, err
	}
	if err := surrender(); err != nil {
		return nil, err
	}
	concealed := w.Private
	if written == nil {
		concealed = nil // by mounts
	}
	if err := w.restrict(concealed); err != nil && written != nil {
		missing = append(missing, Writing)
		if len(concealed) > 0 {
			missing = append(missing, Reading)
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	w.program, err = syscall.ForkExec(w.Args[0], w.Args, &syscall.ProcAttr{
		Env: w.Env, Files: []uintptr{null.Fd(), 1, 2},
		Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return nil, cannotRun(w.Args[0], err)
	}
	slices.Sort(missing)
	return missing, nil
}

// limit sets the limits that the program inherits.
func (w *warden) limit() error {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0}
	if w.FileSize > 0 {
		limits[unix.RLIMIT_FSIZE] = uint64(w.FileSize) + 1 // one byte more shows that the limit was exceeded
	}
	for resource, most := range limits {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	return nil
}

// surrender gives up all capabilities of the thread, and any way to get others.
func surrender() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) { // older than 4.3
		return err
	}
	if os.Geteuid() == 0 {
		return nil // without namespaces the program keeps the user's permissions
	}
	var none [2]unix.CapUserData
	return unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
}

// obey executes the requests of the process that started this one.
func (w *warden) obey(asked *bufio.Reader) {
	for {
		if what, err := asked.ReadByte(); err != nil || what == askKill {
			for { // until there are none, which reap notices
				w.signal(syscall.SIGKILL)
				time.Sleep(5 * time.Millisecond)
			}
		}
		w.signal(syscall.SIGTERM)
		w.signal(syscall.SIGCONT)
		time.AfterFunc(w.Grace, func() { w.signal(syscall.SIGKILL) })
	}
}

// signal sends a signal to the program and all processes that it has started.
func (w *warden) signal(s syscall.Signal) {
	if w.Namespaces {
		_ = syscall.Kill(-1, s) // all but this one, which is the first in its namespace
		return
	}
	list, _ := below(os.Getpid())
	for _, pid := range list {
		_ = syscall.Kill(pid, s)
	}
}

// reap waits for the end of the program, then ends its remaining processes.
func (w *warden) reap() syscall.WaitStatus {
	var status, ended syscall.WaitStatus
	for {
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if pid == w.program {
			ended = status
			break
		}
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return 0xff00
		}
	}
	for {
		w.signal(syscall.SIGKILL)
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.ECHILD):
			return ended
		case pid == 0:
			time.Sleep(5 * time.Millisecond)
		}
	}
}
