package confine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// act is the environment variable that makes a test binary a program that misbehaves.
const act = "DESYNCTOOL_TEST_ACT"

func TestMain(m *testing.M) {
	what, arguments, _ := strings.Cut(os.Getenv(act), " ")
	if what == "" {
		grace = 200 * time.Millisecond // which programs here use up
		os.Exit(m.Run())
	}
	acts[what](strings.Fields(arguments))
	os.Exit(0)
}

var acts = map[string]func(args []string){"reach": reach, "write": writeAbroad, "read": readAbroad, "eat": eat, "guard": attackGuard, "run": runAnother, "nest": nest, "show": show}

// done prints the name of what could be done.
func done(what string, err error) {
	if err == nil {
		fmt.Println(what)
	}
}

// reach connects to addresses, each after its kind and a colon, and to its own server.
func reach(args []string) {
	for _, arg := range args {
		kind, address, _ := strings.Cut(arg, ":")
		c, err := net.DialTimeout(kind, address, 5*time.Second)
		if err == nil && kind == "udp" { // which connects to anything: that something comes back shows
			_ = c.SetDeadline(time.Now().Add(5 * time.Second))
			_, _ = c.Write([]byte("x"))
			_, err = c.Read(make([]byte, 1))
		}
		done("reached "+arg, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		_, err = net.Dial("tcp", l.Addr().String())
	}
	done("own loopback", err)
}

// writeAbroad writes in ways that it should not: below args[0], which is not its folder, and in the system. With a
// second argument it changes mounts, which belong to a namespace and not to the system.
func writeAbroad(args []string) {
	outside := args[0]
	write := func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) }
	done("here", write("here"))
	done("null", func() error {
		f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err == nil {
			_, err = f.Write([]byte("x"))
		}
		return err
	}())
	done("shared memory", write(sharedMemory+"/desynctool-test"))
	done("beside", write(filepath.Join(outside, "made")))
	done("over", write(filepath.Join(outside, "there")))
	done("truncate", os.Truncate(filepath.Join(outside, "there"), 0))
	done("remove", os.Remove(filepath.Join(outside, "there")))
	done("mode", os.Chmod(filepath.Join(outside, "there"), 0o777))
	done("rename in", os.Rename(filepath.Join(outside, "there"), "stolen"))
	done("rename out", os.Rename("here", filepath.Join(outside, "put")))
	done("link", os.Link(filepath.Join(outside, "there"), "linked"))
	done("tmp", write(filepath.Join(os.TempDir(), "desynctool-made-by-test")))
	done("symlink", errors.Join(os.Symlink(filepath.Join(outside, "by-link"), "sym"), write("sym")))
	done("root of init", write("/proc/1/root"+filepath.Join(outside, "by-root")))
	done("root of itself", write("/proc/self/root"+filepath.Join(outside, "by-root")))
	for _, path := range []string{"/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/self/root/proc/sys/kernel/panic", "/sys/power/state", "/dev/mem", "/dev/kmsg"} {
		done(path, opens(path))
	}
	devices, _ := os.ReadDir("/dev")
	for _, d := range devices {
		if d.Type()&os.ModeDevice != 0 && d.Type()&os.ModeCharDevice == 0 {
			done("disk", opens("/dev/"+d.Name()))
		}
	}
	if len(args) < 2 {
		return
	}
	done("remount", unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, ""))
	done("unmount", unix.Unmount(".", unix.MNT_DETACH))
	// In its own user namespace it may do everything, except for what was locked.
	cmd := exec.Command("/bin/sh", "-c", `mount -o remount,rw,bind / 2>/dev/null; umount -l "$0" 2>/dev/null; echo x > "$0/nested"`, outside)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	done("nested namespaces", cmd.Run())
}

// opens opens a file for writing, and writes nothing.
func opens(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		f.Close()
	}
	return err
}

// eat takes 400 MiB.
func eat([]string) {
	b := make([]byte, 400<<20)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	time.Sleep(time.Hour)
	fmt.Println(b[0])
}

// attackGuard sends its guard signals, the last one being args[0].
func attackGuard(args []string) {
	if args[0] == "first" { // before the guard can report that the program has started
		_ = syscall.Kill(os.Getppid(), syscall.SIGSTOP)
		time.Sleep(time.Hour)
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGPIPE, syscall.SIGABRT, syscall.SIGSEGV} {
		_ = syscall.Kill(os.Getppid(), s)
	}
	time.Sleep(50 * time.Millisecond)
	fmt.Println("sent")
	switch args[0] {
	case "stop":
		_ = syscall.Kill(os.Getppid(), syscall.SIGSTOP)
		time.Sleep(time.Hour)
	case "kill":
		_ = syscall.Kill(os.Getppid(), syscall.SIGKILL)
	}
	time.Sleep(50 * time.Millisecond)
	fmt.Println("alive")
}

// nest makes folders in folders until their path is longer than the system can name.
func nest([]string) {
	name := strings.Repeat("n", 200)
	for range 30 {
		if os.Mkdir(name, 0o700) != nil || os.Chdir(name) != nil {
			return
		}
	}
	_ = os.WriteFile("deep", make([]byte, 1<<20), 0o600)
	time.Sleep(time.Hour)
}

// show prints what the program is.
func show([]string) {
	var core unix.Rlimit
	_ = unix.Getrlimit(unix.RLIMIT_CORE, &core)
	session, _ := unix.Getsid(0)
	privileges, _ := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)
	var caps [2]unix.CapUserData
	_ = unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &caps[0])
	in, _ := os.Readlink("/proc/self/fd/0")
	short, _ := os.ReadFile("/proc/self/oom_score_adj")
	open, _ := os.ReadDir("/proc/self/fd")
	var others []string
	for _, e := range open {
		if to, _ := os.Readlink("/proc/self/fd/" + e.Name()); e.Name() > "2" && !strings.HasPrefix(to, "anon_inode:") && !strings.HasPrefix(to, "/proc/") && !strings.HasPrefix(to, "/sys/fs/cgroup/") /* Go reads these */ && to != "" {
			others = append(others, to)
		}
	}
	fmt.Printf("core %d, where memory is short %s, session leader %v, no new privileges %d, capabilities %v, stdin %s, others %q, environment %q\n",
		core.Max, bytes.TrimSpace(short), session == os.Getpid(), privileges, caps[0].Effective|caps[0].Permitted|caps[0].Inheritable|caps[1].Permitted != 0, in, others, os.Environ())
}

// runAnother has Run run the given arguments, and is killed while it does.
func runAnother(args []string) {
	script := daemon
	if args[0] != "with" {
		namespaces = func() bool { return false }
	}
	if args[0] == "stopped" {
		script += "kill -STOP $PPID\n"
	}
	_, _ = Run(context.Background(), Command{Args: []string{"/bin/sh", "-c", script + ": > " + args[2] + "/begun; sleep 1000"}, Env: []string{args[1], path}, Writes: args[2:3], Disk: 1 << 20})
}

const path = "PATH=/usr/bin:/bin"

// daemon is a script that leaves processes in separate sessions, which ignore what can be ignored.
const daemon = `
	setsid sh -c 'trap "" TERM HUP INT QUIT; while :; do sleep 0.05; done' &
	(setsid sh -c 'trap "" TERM; sleep 1000 & sleep 1000; sleep 1000' </dev/null >/dev/null 2>&1 &)
	trap "" TERM HUP
	echo ready
`

// modes are the ways to run a program here, by name: whether it has namespaces.
func modes(t *testing.T, test func(t *testing.T, spaces bool)) {
	t.Run("without namespaces", func(t *testing.T) {
		can := namespaces
		defer func() { namespaces = can }()
		namespaces = func() bool { return false }
		test(t, false)
	})
	t.Run("namespaces", func(t *testing.T) {
		if !namespaces() {
			cmd := exec.Command("/bin/mount", "-t", "tmpfs", "none", "/mnt")
			cmd.SysProcAttr = &syscall.SysProcAttr{
				Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWIPC,
				UidMappings: []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}},
			}
			if err := cmd.Run(); err == nil {
				t.Fatal("user namespaces are not refused here, and are not used")
			}
			t.Skip("user namespaces are refused here")
		}
		test(t, true)
	})
}

// token returns an environment variable by which processes are found that have it, and a function that returns those.
func token(t *testing.T) (variable string, alive func() []string) {
	variable = fmt.Sprintf("DESYNCTOOL_TEST_TOKEN=%s-%d-%d", strings.ReplaceAll(t.Name(), " ", ""), os.Getpid(), time.Now().UnixNano())
	return variable, func() (list []string) {
		paths, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil || len(paths) == 0 {
			t.Fatal("no processes are seen", err)
		}
		for _, path := range paths {
			if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(variable)) {
				list = append(list, path)
			}
		}
		return list
	}
}

// acting returns a command that runs this test binary as a program that misbehaves.
func acting(t *testing.T, what string) Command {
	dir := t.TempDir()
	return Command{Args: []string{os.Args[0]}, Env: []string{act + "=" + what, path, "TMPDIR=/tmp"}, Writes: []string{dir}, Time: time.Minute}
}

func ran(t *testing.T, c Command) *Ended {
	t.Helper()
	e, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestNothingSurvives: when Run returns nothing runs that the program has started, however the program ended.
func TestNothingSurvives(t *testing.T) {
	effort.Whole(t)
	modes(t, func(t *testing.T, spaces bool) {
		for name, c := range map[string]struct {
			script    string
			time      time.Duration
			interrupt bool
			limit     Limit
		}{
			"exits":       {script: daemon + "exit 3"},
			"time":        {script: daemon + "sleep 1000", time: 300 * time.Millisecond, limit: Time},
			"interrupted": {script: daemon + "sleep 1000", interrupt: true, limit: Interrupted},
			"disk":        {script: daemon + "while :; do i=x$i; head -c 100000 /dev/zero > $i; done", limit: Disk},
		} {
			variable, alive := token(t)
			ctx, cancel := context.WithCancel(t.Context())
			dir := t.TempDir()
			seen := 0
			e, err := Run(ctx, Command{
				Args: []string{"/bin/sh", "-c", c.script}, Env: []string{variable, path}, Writes: []string{dir}, Time: c.time, Disk: 1 << 20,
				Line: func(line string) {
					if line == "ready" {
						seen = len(alive())
						if c.interrupt {
							cancel()
						}
					}
				},
			})
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			if left := alive(); len(left) > 0 {
				t.Errorf("%s: %q are left", name, left)
			}
			if e.Limit != c.limit || (c.limit == None) != (e.Code == 3) || c.interrupt && seen < 2 {
				t.Errorf("%s: %+v, %d processes seen", name, e, seen)
			}
			if !spaces && !slices.Equal(e.Confined, []string{Children, Network, Reaching}) || spaces && len(e.Confined) > 0 {
				t.Errorf("%s: not confined: %q", name, e.Confined)
			}
		}
	})
}

// TestKilled: when this process is killed its programs end, with namespaces, without, and where the program has stopped its guard.
func TestKilled(t *testing.T) {
	for _, mode := range []string{"with", "without", "stopped"} {
		variable, alive := token(t)
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0])
		cmd.Env = []string{act + "=run " + mode + " " + variable + " " + dir, path}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		begun := func() bool {
			_, err := os.Stat(filepath.Join(dir, "begun"))
			return err == nil && len(alive()) >= 5 // the runner itself has it in another variable
		}
		for began := time.Now(); !begun(); time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > time.Minute {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				t.Fatalf("%s: %q run", mode, alive())
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		for began := time.Now(); len(alive()) > 0; time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > time.Minute {
				t.Fatalf("%s: %q are left", mode, alive())
			}
		}
	}
}

// TestReach: servers outside cannot be reached, its own server can. With Network the servers of the network can.
func TestReach(t *testing.T) {
	dir := t.TempDir()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	go func() {
		b := make([]byte, 1)
		for {
			_, from, err := udp.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = udp.WriteTo(b, from)
		}
	}()
	named, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer named.Close()
	abstract, err := net.Listen("unix", fmt.Sprintf("@desynctool-test-%d", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer abstract.Close()
	targets := []string{"tcp:" + tcp.Addr().String(), "udp:" + udp.LocalAddr().String(), "unix:" + named.Addr().String(), "unix:" + abstract.Addr().String()}
	want := func(n int) string {
		return strings.Join(append(slices.Clone(targets[:n]), "own loopback"), "\n")
	}
	modes(t, func(t *testing.T, spaces bool) {
		for network, out := range map[bool]string{false: want(0), true: strings.Join([]string{targets[0], targets[1], targets[3], "own loopback"}, "\n")} {
			if !spaces {
				out = want(4)
			}
			c := acting(t, "reach "+strings.Join(targets, " "))
			c.Network = network
			e := ran(t, c)
			if got := strings.ReplaceAll(strings.Join(e.Tail, "\n"), "reached ", ""); got != out {
				t.Errorf("network %v: reached\n%s\nwant\n%s", network, got, out)
			}
			if slices.Contains(e.Confined, Network) != (!spaces && !network) || slices.Contains(e.Confined, Reaching) == spaces {
				t.Errorf("network %v: not confined: %q", network, e.Confined)
			}
		}
	})
}

// TestWrites: nothing is written elsewhere.
func TestWrites(t *testing.T) {
	modes(t, func(t *testing.T, spaces bool) {
		outside := t.TempDir()
		if err := os.WriteFile(filepath.Join(outside, "there"), []byte("theirs"), 0o600); err != nil {
			t.Fatal(err)
		}
		what := "write " + outside
		if spaces {
			what += " mounts"
		}
		e := ran(t, acting(t, what))
		if slices.Contains(e.Confined, Writing) {
			t.Skip("the system has no Landlock")
		}
		allowed := []string{"here", "null", "shared memory"}
		if !spaces {
			allowed = append(allowed, "mode") // Landlock has no right of that
		}
		if !slices.Equal(e.Tail, allowed) {
			t.Errorf("it could %q, want %q", e.Tail, allowed)
		}
		text, err := os.ReadFile(filepath.Join(outside, "there"))
		names, _ := os.ReadDir(outside)
		if err != nil || string(text) != "theirs" || len(names) != 1 {
			t.Errorf("%q, %v, %d files", text, err, len(names))
		}
		if spaces {
			if _, err := os.Stat(sharedMemory + "/desynctool-test"); err == nil {
				t.Error("its shared memory is that of all")
			}
		}
		os.Remove(sharedMemory + "/desynctool-test")
	})
}

// TestTerminal: there is no terminal, neither its own nor another's.
func TestTerminal(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer master.Close()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Skip(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Skip(err)
	}
	script := fmt.Sprintf(`(: < /dev/tty) 2>/dev/null && echo terminal; [ -e /dev/pts/%d ] && echo another; [ -t 0 ] && echo stdin; cat; echo end`, number)
	modes(t, func(t *testing.T, spaces bool) {
		dir := t.TempDir()
		want := []string{"end"}
		if !spaces {
			want = []string{"another", "end"}
		}
		if e := ran(t, Command{Args: []string{"/bin/sh", "-c", script}, Env: Minimal(dir), Writes: []string{dir}, Time: time.Minute}); !slices.Equal(e.Tail, want) {
			t.Errorf("%q, want %q", e.Tail, want)
		}
	})
}

// TestDisk: no more is written than may be.
func TestDisk(t *testing.T) {
	dark := "made a folder that cannot be looked into"
	if os.Geteuid() == 0 { // who looks into it
		dark = ""
	}
	modes(t, func(t *testing.T, _ bool) {
		for name, c := range map[string]struct {
			args []string
			want string
		}{
			"a file":       {[]string{"/usr/bin/head", "-c", "10G", "/dev/zero"}, "wrote more than 4 MiB"},
			"many files":   {[]string{"/bin/sh", "-c", `while :; do i=x$i; head -c 100000 /dev/zero > "$i" || exit; [ ${#i} -lt 200 ] || i=; done`}, "wrote more than 4 MiB"},
			"at once":      {[]string{"/bin/sh", "-c", `for i in 1 2 3 4 5 6; do head -c 1000000 /dev/zero > $i; done`}, "wrote more than 4 MiB"},
			"holes":        {[]string{"/usr/bin/truncate", "-s", "1T", "sparse"}, "wrote more than 4 MiB"},
			"a few":        {[]string{"/usr/bin/head", "-c", "4000000", "/dev/zero"}, ""},
			"in the depth": {nil, "made a folder that cannot be looked into"},
			"in the dark":  {[]string{"/bin/sh", "-c", "mkdir dark; chmod 0 dark"}, dark},
		} {
			dir := t.TempDir()
			command := Command{Args: c.args, Env: []string{path}, Writes: []string{dir}, Time: time.Minute, Disk: 4 << 20}
			if c.args == nil {
				command.Args, command.Env = []string{os.Args[0]}, []string{act + "=nest"}
			}
			if c.args != nil && c.args[0] == "/usr/bin/head" {
				command.Args = []string{"/bin/sh", "-c", "exec head -c " + c.args[2] + " /dev/zero > file"}
			}
			e := ran(t, command)
			if e.Why != c.want || (c.want != "") != (e.Limit == Disk) {
				t.Errorf("%s: %+v", name, e)
			}
			if stat, err := os.Stat(filepath.Join(dir, "sparse")); err == nil && stat.Size() > 0 {
				t.Errorf("%s: %d bytes", name, stat.Size())
			}
			if stat, err := os.Stat(filepath.Join(dir, "file")); err == nil && stat.Size() > 4<<20+1 {
				t.Errorf("%s: %d bytes", name, stat.Size())
			}
		}
	})
}

// TestMemory: a program that takes too much is ended.
func TestMemory(t *testing.T) {
	c := acting(t, "eat")
	c.Memory = 100 << 20
	if e := ran(t, c); e.Limit != Memory || e.Why != "took more than 100 MiB of memory" || e.Code != -1 {
		t.Errorf("%+v", e)
	}
}

// TestGraceOfDisk: a process that is asked to end because of the time cannot use the rest of the time to fill the disk.
func TestGraceOfDisk(t *testing.T) {
	usual := grace
	defer func() { grace = usual }()
	grace = 30 * time.Second
	began := time.Now()
	e := ran(t, Command{
		Args: []string{"/bin/sh", "-c", `trap 'while :; do i=x$i; head -c 100000 /dev/zero > "$i" || i=; [ ${#i} -lt 200 ] || i=; done' TERM; while :; do sleep 0.01; done`},
		Env:  []string{path}, Writes: []string{t.TempDir()}, Time: 500 * time.Millisecond, Disk: 4 << 20,
	})
	if e.Limit != Time || time.Since(began) > grace {
		t.Errorf("%+v", e)
	}
}

// TestPrints: endless output is ended where it is kept, and takes no memory.
func TestPrints(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	c := Command{Args: []string{"/bin/cat", "/dev/zero"}, Env: []string{path}, Writes: []string{dir}, Disk: 1 << 20, Log: &log, Time: time.Minute}
	e := ran(t, c)
	if e.Limit != Disk || e.Why != "printed more than 1 MiB" || log.Len() != 1<<20 {
		t.Errorf("%+v, %d bytes", e.Limit, log.Len())
	}
	if len(e.Tail) != 1 || !strings.HasPrefix(e.Tail[0], `\x00\x00`) || len(e.Tail[0]) > 4*maxColumns {
		t.Errorf("%q", e.Tail)
	}
	c.Log, c.Time = nil, 200*time.Millisecond
	if e := ran(t, c); e.Limit != Time {
		t.Errorf("%+v", e)
	}
	c.Log = writer(func(b []byte) (int, error) { return 0, io.ErrShortWrite })
	if e, err := Run(t.Context(), c); !errors.Is(err, io.ErrShortWrite) || e == nil {
		t.Errorf("%+v, %v", e, err)
	}
}

type writer func(b []byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// TestGuard: a program cannot end its guard where it has namespaces, and is ended where it stops it.
func TestGuard(t *testing.T) {
	modes(t, func(t *testing.T, spaces bool) {
		if e := ran(t, acting(t, "guard none")); !slices.Equal(e.Tail, []string{"sent", "alive"}) {
			t.Errorf("%+v", e)
		}
		c := acting(t, "guard kill")
		e, err := Run(t.Context(), c)
		if spaces && (err != nil || !slices.Equal(e.Tail, []string{"sent", "alive"})) {
			t.Errorf("%+v, %v", e, err)
		}
		if !spaces && (err == nil || err.Error() != "how the program ended is not known: something ended its guard") {
			t.Errorf("%+v, %v", e, err)
		}
		for range 5 {
			c := acting(t, "guard first")
			c.Time = 50 * time.Millisecond
			if e := ran(t, c); e.Limit != Time {
				t.Errorf("%+v", e)
			}
		}
		c = acting(t, "guard stop")
		c.Time = 500 * time.Millisecond
		variable, alive := token(t)
		c.Env = append(c.Env, variable)
		if e := ran(t, c); e.Limit != Time || len(alive()) > 0 {
			t.Errorf("%+v, %q are left", e, alive())
		}
	})
}

// TestShow: what a program is given, and what it is not given.
func TestShow(t *testing.T) {
	t.Setenv("SECRET_TOKEN", "x")
	left, err := os.Open("/etc/passwd")
	if err != nil {
		t.Fatal(err)
	}
	defer left.Close()
	if _, err := unix.FcntlInt(left.Fd(), unix.F_SETFD, 0); err != nil { // as something that others have opened
		t.Fatal(err)
	}
	modes(t, func(t *testing.T, spaces bool) {
		c := acting(t, "show")
		want := fmt.Sprintf("core 0, where memory is short 1000, session leader true, no new privileges 1, capabilities %v, stdin /dev/null, others [], environment %q", !spaces && os.Geteuid() == 0, c.Env)
		var got string
		c.Line = func(line string) { got += line }
		if ran(t, c); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	})
}

// TestLinks: the files that are left cannot lead their reader elsewhere, or have it wait; links that were there before
// stay.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	for name, to := range map[string]string{"data": "/usr/share", "mine": "/usr/share"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	ran(t, Command{
		Args: []string{"/bin/sh", "-c", "echo x > real; ln -s real inside; ln -s /etc/passwd log; mkfifo pipe; ln -sfn /etc mine; mkdir dark; echo x > dark/y; chmod 0 dark"},
		Env:  []string{path}, Writes: []string{dir}, Time: time.Minute,
	})
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, []string{"dark", "data", "inside", "real"}) {
		t.Errorf("%q", names)
	}
	if _, err := os.ReadFile(filepath.Join(dir, "dark", "y")); err != nil {
		t.Error(err)
	}
}

// TestTwo: programs run side by side.
func TestTwo(t *testing.T) {
	errs := make(chan error, 8)
	for i := range cap(errs) {
		go func() {
			dir := t.TempDir()
			e, err := Run(t.Context(), Command{Args: []string{"/bin/sh", "-c", fmt.Sprintf("sleep 0.1; exit %d", i)}, Env: []string{path}, Writes: []string{dir}, Disk: 1 << 20})
			if err == nil && e.Code != i {
				err = fmt.Errorf("%d ended with %+v", i, e)
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// TestLeavesNothing: runs leave no open files, goroutines, processes or temporary files in this process.
func TestLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	count := func() string {
		open, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		left, _ := os.ReadDir(dir)
		list, _ := below(os.Getpid())
		return fmt.Sprintf("%d files, %d goroutines, %d processes, %d temporary files", len(open), runtime.NumGoroutine(), len(list), len(left))
	}
	one := func() {
		work := filepath.Join(dir, "work")
		if err := os.MkdirAll(work, 0o700); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := Command{Args: []string{"/bin/sh", "-c", "echo ready; exec sleep 1000"}, Env: []string{path}, Writes: []string{work}, Line: func(string) { cancel() }}
		for _, args := range [][]string{c.Args, {"/bin/true"}, {"/bin/sh", "-c", "head -c 5000 /dev/zero > x"}, {"/proc/self/maps"}} {
			c.Args, c.Disk = args, 1<<10
			_, _ = Run(ctx, c)
			ctx, cancel = context.WithCancel(t.Context())
			defer cancel()
		}
	}
	one()
	before := count()
	for range 5 {
		one()
	}
	for began := time.Now(); count() != before; time.Sleep(10 * time.Millisecond) { // goroutines end a little later
		if time.Since(began) > time.Minute {
			t.Fatalf("%s, before %s", count(), before)
		}
	}
}

// BenchmarkRun is what it costs to run a program that does nothing.
func BenchmarkRun(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		if _, err := Run(b.Context(), Command{Args: []string{"/bin/true"}, Env: []string{path}, Writes: []string{dir}, Disk: 1 << 20}); err != nil {
			b.Fatal(err)
		}
	}
}
