package isolate

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/desynctool/desynctool/internal/sandbox"
)

// TestNamespaces: the process shares no namespace of users, network, IPC and, without C code, processes with this one,
// and starts without where the system refuses them, as it does in a second run of this test.
func TestNamespaces(t *testing.T) {
	const refusing = "DESYNCTOOL_TEST_NO_NAMESPACES"
	refused := os.Getenv(refusing) != ""
	if refused {
		if err := refuseNamespaces(); err != nil {
			t.Fatal(err)
		}
	}
	try := exec.Command("true")
	one := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
	}
	try.SysProcAttr = &syscall.SysProcAttr{Cloneflags: namespaces, UidMappings: one(os.Geteuid()), GidMappings: one(os.Getegid())}
	given := try.Run() == nil
	if given && refused {
		t.Fatal("the system does not refuse namespaces")
	}

	r, process := as("hangs"), as("hangs").Process
	var cmd *exec.Cmd
	r.Process = func() (_ *exec.Cmd, err error) { cmd, err = process(); return cmd, err }
	enough := errors.New("enough")
	r.State = func(s sandbox.State) error {
		if slices.Contains(s.Holds, "namespaces") != given {
			t.Errorf("the system gives namespaces: %v, the process reports %q", given, s.Holds)
		}
		for kind, flag := range map[string]uintptr{"user": syscall.CLONE_NEWUSER, "net": syscall.CLONE_NEWNET, "ipc": syscall.CLONE_NEWIPC, "pid": pids} {
			here, err := os.Readlink("/proc/self/ns/" + kind)
			its, err2 := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", cmd.Process.Pid, kind))
			if err != nil || err2 != nil || (here != its) != (given && flag != 0) {
				t.Errorf("%s: of the process %s, of this one %s: %v, %v", kind, its, here, err, err2)
			}
		}
		return enough
	}
	if _, _, err := r.Ask(t.Context(), asked(), nil); !errors.Is(err, enough) {
		t.Error(err)
	}
	if !refused {
		again := exec.Command(os.Args[0], "-test.run=^TestNamespaces$")
		again.Env = append(os.Environ(), refusing+"=1")
		if out, err := again.CombinedOutput(); err != nil || !bytes.HasPrefix(out, []byte("PASS")) {
			t.Errorf("where the system refuses namespaces: %v, %s", err, out)
		}
	}
}

// refuseNamespaces has the system refuse this process new user namespaces from now on, as many containers do.
func refuseNamespaces() error {
	runtime.LockOSThread()
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_CLONE, Jf: 3},
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 16}, // its first argument
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: unix.CLONE_NEWUSER, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); err != 0 {
		return err
	}
	return nil
}
