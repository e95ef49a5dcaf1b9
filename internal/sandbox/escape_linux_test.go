package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// plan is the task of the restricted process of a test.
type plan struct {
	Rules
	Do      string
	Address string // of a listener
	Outside string // a file that it may not read
	Inside  string // one that it may
}

// restricted is the environment variable with the plan for a test binary that runs as the restricted process.
const restricted = "DESYNCTOOL_TEST_RESTRICTED"

func TestMain(m *testing.M) {
	text := os.Getenv(restricted)
	if text == "" {
		os.Exit(m.Run())
	}
	var p plan
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		panic(err)
	}
	for range 8 { // threads that are there before, which the rules must reach
		go func() { runtime.LockOSThread(); select {} }()
	}
	time.Sleep(10 * time.Millisecond)
	tasks, _ := filepath.Glob("/proc/self/task/*/status")
	for _, path := range tasks {
		if f, err := os.Open(path); err == nil {
			threads = append(threads, f)
		}
	}
	s := Enter(p.Rules)
	if len(s.Missing) > 0 {
		fmt.Println("missing:", strings.Join(s.Missing, "; "))
	}
	for name, err := range acts[p.Do](p) {
		switch {
		case err == nil:
			fmt.Println(name + ": done")
		case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.ENOSYS):
			fmt.Println(name + ": denied")
		default:
			fmt.Printf("%s: %v\n", name, err)
		}
	}
	os.Exit(0)
}

// threads are the states of the threads that were there before.
var threads []*os.File

type tried = map[string]error

var acts = map[string]func(plan) tried{"escape": escape, "work": work, "memory": eat, "limited": limited}

// errno returns the error of a system call.
func errno(call uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	if _, _, e := unix.Syscall6(call, a[0], a[1], a[2], a[3], a[4], a[5]); e != 0 {
		return e
	}
	return nil
}

func opened(path string, flags int) error {
	f, err := os.OpenFile(path, flags, 0o600)
	if err == nil {
		f.Close()
	}
	return err
}

// escape tries to get at what the process has no business with.
func escape(p plan) tried {
	name, _ := unix.BytePtrFromString(p.Outside)
	path := uintptr(unsafe.Pointer(name))
	connect := func(kind, address string) error {
		c, err := net.Dial(kind, address)
		if err == nil {
			c.Close()
		}
		return err
	}
	t := tried{
		"read /etc/passwd":   opened("/etc/passwd", os.O_RDONLY),
		"read beside":        opened(p.Outside, os.O_RDONLY),
		"read the parent":    opened(fmt.Sprintf("/proc/%d/environ", os.Getppid()), os.O_RDONLY),
		"read itself":        opened("/proc/self/mem", os.O_RDONLY),
		"list /":             func() error { _, err := os.ReadDir("/"); return err }(),
		"write what is read": opened(p.Inside, os.O_WRONLY),
		"truncate":           opened(p.Inside, os.O_RDONLY|os.O_TRUNC),
		"truncate by path":   os.Truncate(p.Inside, 0),
		"append":             opened(p.Inside, os.O_WRONLY|os.O_APPEND),
		"write in cwd":       opened("made-by-test", os.O_WRONLY|os.O_CREATE),
		"write in /tmp":      opened("/tmp/desynctool-made-by-test", os.O_WRONLY|os.O_CREATE),
		"write beside":       opened(filepath.Join(filepath.Dir(p.Inside), "new"), os.O_WRONLY|os.O_CREATE),
		"remove":             os.Remove(p.Inside),
		"rename":             os.Rename(p.Inside, p.Inside+"2"),
		"link":               os.Link(p.Inside, filepath.Join(filepath.Dir(p.Inside), "link")),
		"symlink":            os.Symlink(p.Outside, filepath.Join(filepath.Dir(p.Inside), "symlink")),
		"folder":             os.Mkdir(filepath.Join(filepath.Dir(p.Inside), "folder"), 0o700),
		"mode":               os.Chmod(p.Inside, 0o777),
		"owner":              os.Chown(p.Inside, 1, 1),
		"times":              os.Chtimes(p.Inside, time.Unix(0, 0), time.Unix(0, 0)),
		"connect by TCP":     connect("tcp", p.Address),
		"connect by UDP":     connect("udp", p.Address),
		"listen":             errors.Join(func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err }()),
		"pair of sockets":    func() error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err }(),
		"unix socket":        func() error { _, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err }(),
		"netlink":            func() error { _, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, 0); return err }(),
		"run a program":      exec.Command("/bin/true").Run(),
		"execve":             syscall.Exec("/bin/true", []string{"true"}, nil),
		"execveat":           errno(unix.SYS_EXECVEAT, 0, path, 0, 0, 0),
		"fork":               errno(unix.SYS_CLONE, uintptr(unix.SIGCHLD)),
		"clone3":             errno(unix.SYS_CLONE3, path, 64),
		"vfork":              errno(unix.SYS_CLONE, uintptr(unix.CLONE_VM|unix.CLONE_VFORK|unix.SIGCHLD)),
		"new namespace":      unix.Unshare(unix.CLONE_NEWUSER),
		"ptrace itself":      unix.PtraceSeize(os.Getppid()),
		"trace me":           errno(unix.SYS_PTRACE, 0),
		"kill the parent":    unix.Kill(os.Getppid(), 0),
		"thread of parent":   unix.Tgkill(os.Getppid(), os.Getppid(), 0),
		"tkill":              errno(unix.SYS_TKILL, uintptr(os.Getppid()), 0),
		"queue a signal":     errno(unix.SYS_RT_SIGQUEUEINFO, uintptr(os.Getppid()), 0, path),
		"pidfd":              func() error { _, err := unix.PidfdOpen(os.Getppid(), 0); return err }(),
		"memory of parent":   errno(unix.SYS_PROCESS_VM_READV, uintptr(os.Getppid()), 0, 0, 0, 0),
		"limits of parent":   unix.Prlimit(os.Getppid(), unix.RLIMIT_CORE, nil, &unix.Rlimit{}),
		"signals by fcntl":   func() error { _, err := unix.FcntlInt(0, unix.F_SETOWN, os.Getppid()); return err }(),
		"machine code": func() error {
			_, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE)
			return err
		}(),
		"code made later":     madeLater(),
		"terminal input":      unix.IoctlSetInt(0, unix.TIOCSTI, 0),
		"io_uring":            errno(unix.SYS_IO_URING_SETUP, 8, path),
		"bpf":                 errno(unix.SYS_BPF, 0, path, 8),
		"perf":                errno(unix.SYS_PERF_EVENT_OPEN, path, 0, 0, 0, 0),
		"userfaultfd":         errno(unix.SYS_USERFAULTFD, 0),
		"keys":                errno(unix.SYS_ADD_KEY, path, path, 0, 0, 0),
		"memory as a file":    func() error { _, err := unix.MemfdCreate("x", 0); return err }(),
		"splice":              errno(unix.SYS_SPLICE, 0, 0, 0, 0, 1, 0),
		"pipe":                unix.Pipe2(make([]int, 2), 0),
		"mount":               unix.Mount("none", "/tmp", "tmpfs", 0, ""),
		"root":                unix.Chroot("/"),
		"open by handle":      errno(unix.SYS_OPEN_BY_HANDLE_AT, 0, path, 0),
		"openat2":             errno(unix.SYS_OPENAT2, 0, path, path, 24),
		"shared memory":       errno(unix.SYS_SHMGET, 0, 4096, 0o1600),
		"another filter":      errno(unix.SYS_SECCOMP, 1, 0, 0),
		"new privileges":      unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0),
		"files of the parent": func() error { _, err := unix.PidfdGetfd(0, 0, 0); return err }(),
	}
	for i := range 8 { // threads of before among them
		done := make(chan error)
		go func() { runtime.LockOSThread(); done <- opened("/etc/passwd", os.O_RDONLY) }()
		t[fmt.Sprintf("thread %d", i)] = <-done
	}
	return t
}

// madeLater makes memory that was written to code.
func madeLater() error {
	b, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return err
	}
	return unix.Mprotect(b, unix.PROT_READ|unix.PROT_EXEC)
}

// work does what reading evidence takes.
func work(p plan) tried {
	t := tried{}
	_, t["read"] = os.ReadFile(p.Inside)
	_, t["list"] = os.ReadDir(filepath.Dir(p.Inside))
	t["map"] = func() error {
		f, err := os.Open(p.Inside)
		if err != nil {
			return err
		}
		defer f.Close()
		b, err := unix.Mmap(int(f.Fd()), 0, 1, unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			return err
		}
		return unix.Munmap(b)
	}()
	t["threads"] = func() error {
		const n = 32
		done := make(chan int)
		for range n {
			go func() {
				runtime.LockOSThread()
				x := make([]byte, 1<<20)
				for i := range x {
					x[i] = byte(i)
				}
				runtime.GC()
				done <- len(x)
			}()
		}
		for range n {
			<-done
		}
		return nil
	}()
	return t
}

// eat takes more memory than the process may have.
func eat(p plan) tried {
	var all [][]byte
	for range 64 {
		b := make([]byte, p.Limits.Memory/16)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		all = append(all, b)
	}
	runtime.KeepAlive(all)
	return tried{"memory": nil}
}

// limited reports which limits hold, one of them by an error that is not a failure.
func limited(plan) tried {
	t := tried{"capabilities": fmt.Errorf("none of %d threads", len(threads))}
	for _, f := range threads {
		status, err := io.ReadAll(f)
		for _, name := range []string{"CapEff:", "CapPrm:", "CapInh:", "CapAmb:"} {
			_, value, _ := strings.Cut(string(status), name)
			bits, wrong := strconv.ParseUint(strings.Fields(value + " ?")[0], 16, 64)
			if err = errors.Join(err, wrong); err != nil || bits&^(1<<unix.CAP_DAC_READ_SEARCH) != 0 {
				t["capabilities"] = fmt.Errorf("%s %x %v", name, bits, err)
			}
		}
	}
	for name, resource := range map[string]int{"core": unix.RLIMIT_CORE, "files": unix.RLIMIT_NOFILE, "size": unix.RLIMIT_FSIZE, "cpu": unix.RLIMIT_CPU} {
		var r unix.Rlimit
		if t[name] = unix.Getrlimit(resource, &r); t[name] == nil {
			t[name] = fmt.Errorf("%d of %d", r.Cur, r.Max)
		}
		r.Cur, r.Max = r.Cur+1, r.Max+1
		if unix.Setrlimit(resource, &r) == nil || unix.Prlimit(0, resource, &r, nil) == nil {
			t[name] = errors.New("raised")
		}
	}
	return t
}

// try runs a plan in a separate process, and returns how each attempt ended, and what else the process wrote.
func try(t *testing.T, p plan) (ended map[string]string, stderr string, err error) {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), restricted+"="+string(text))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	ended = map[string]string{}
	for line := range strings.Lines(out.String()) {
		name, how, _ := strings.Cut(strings.TrimSpace(line), ": ")
		ended[name] = how
	}
	if left, _ := os.ReadDir(cmd.Dir); len(left) > 0 {
		t.Errorf("it made %s", left[0].Name())
	}
	return ended, errs.String(), err
}

// newPlan returns a plan with a folder that may be read and one file in it.
func newPlan(t *testing.T, do string) plan {
	t.Helper()
	p := plan{Do: do}
	p.Read, p.Limits = []string{t.TempDir()}, Defaults()
	p.Inside, p.Outside = filepath.Join(p.Read[0], "a"), filepath.Join(t.TempDir(), "b")
	for _, path := range []string{p.Inside, p.Outside} {
		if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// skipWithout skips a test where the kernel cannot do what it is about. The state must report that.
func skipWithout(t *testing.T, ended map[string]string) {
	t.Helper()
	if missing := ended["missing"]; missing != "" {
		t.Skip("here is missing: " + missing)
	}
}

// TestEscape: whatever code runs in the process cannot get at other files, the network and other
// processes.
func TestEscape(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p := newPlan(t, "escape")
	p.Address = l.Addr().String()
	ended, stderr, err := try(t, p)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	skipWithout(t, ended)
	if len(ended) < 40 {
		t.Errorf("only %d attempts were made", len(ended))
	}
	for name, how := range ended {
		if how != "denied" {
			t.Errorf("%s: %s", name, how)
		}
	}
	if b, err := os.ReadFile(p.Inside); err != nil || string(b) != "text" {
		t.Errorf("the file now holds %q, %v", b, err)
	}
}

// TestWork: what reading evidence takes still works, and code where it is asked for.
func TestWork(t *testing.T) {
	ended, stderr, err := try(t, newPlan(t, "work"))
	if err != nil || len(ended) < 4 {
		t.Fatalf("%v, %v\n%s", ended, err, stderr)
	}
	for name, how := range ended {
		if how != "done" && name != "missing" {
			t.Errorf("%s: %s", name, how)
		}
	}
	p := newPlan(t, "escape")
	p.Code = true
	ended, stderr, err = try(t, p)
	if err != nil || ended["machine code"] != "done" || ended["code made later"] != "done" {
		t.Errorf("with code: %v, %v\n%s", ended, err, stderr)
	}
}

// TestLimits: a process that takes too much ends, and reports why if it can.
func TestLimits(t *testing.T) {
	p := newPlan(t, "memory")
	p.Limits.Memory = 192 << 20
	ended, stderr, err := try(t, p)
	raced := strings.Contains(stderr, "for -race mode") || strings.Contains(stderr, "ThreadSanitizer")
	if err == nil || ended["memory"] != "" || !strings.Contains(stderr, "out of memory") && !raced {
		t.Errorf("memory: %v, %v\n%s", ended, err, stderr)
	}
	p = newPlan(t, "limited")
	p.Limits = Limits{Memory: 1 << 30, Wall: time.Minute, CPU: 2500 * time.Millisecond, Files: 64, Written: 4096}
	ended, stderr, err = try(t, p)
	if got := ended["capabilities"]; ended["missing"] == "" && !strings.HasPrefix(got, "none of ") || got == "none of 0 threads" {
		t.Errorf("capabilities: %q", got)
	}
	for name, want := range map[string]string{"core": "0 of 0", "files": "64 of 64", "size": "4096 of 4096", "cpu": "3 of 4"} {
		if ended[name] != want {
			t.Errorf("%s: %q, want %q (%v)\n%s", name, ended[name], want, err, stderr)
		}
	}
}
