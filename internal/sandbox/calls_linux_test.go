//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// reference is the same filter as a library assembles it from the names of the calls.
func reference(t *testing.T, r Rules, pid int) []bpf.Instruction {
	on, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range []string{
		"read", "readv", "pread64", "preadv", "write", "writev", "pwrite64", "close", "lseek",
		"fstat", "newfstatat", "fstatat", "statx", "stat", "lstat", "fstatfs", "getdents64", "readlink", "readlinkat", "getcwd", "fadvise64",
		"munmap", "mremap", "madvise", "mincore", "brk",
		"futex", "set_robust_list", "get_robust_list", "rseq", "membarrier", "sched_yield", "sched_getaffinity", "arch_prctl",
		"nanosleep", "clock_nanosleep", "clock_gettime", "clock_getres", "gettimeofday", "time",
		"epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait", "eventfd2", "poll", "ppoll",
		"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "restart_syscall",
		"getpid", "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid", "getrandom", "uname", "sysinfo", "getrusage", "getrlimit",
		"exit", "exit_group",
	} {
		if _, known := on.SyscallNames[name]; known {
			names = append(names, name)
		}
	}
	when := func(name string, conditions ...seccomp.Condition) seccomp.NameWithConditions {
		return seccomp.NameWithConditions{Name: name, Conditions: conditions}
	}
	conditions := []seccomp.NameWithConditions{
		when("openat", seccomp.Condition{Argument: 2, Operation: seccomp.BitsNotSet, Value: unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC}),
		when("clone", seccomp.Condition{Argument: 0, Operation: seccomp.BitsSet, Value: unix.CLONE_THREAD}),
		when("tgkill", seccomp.Condition{Argument: 0, Operation: seccomp.Equal, Value: uint64(pid)}),
		when("prlimit64", seccomp.Condition{Argument: 0, Operation: seccomp.Equal}, seccomp.Condition{Argument: 2, Operation: seccomp.Equal}),
	}
	for _, command := range []uint64{unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_DUPFD_CLOEXEC} {
		conditions = append(conditions, when("fcntl", seccomp.Condition{Argument: 1, Operation: seccomp.Equal, Value: command}))
	}
	if r.Code {
		names = append(names, "mmap", "mprotect")
	} else {
		none := seccomp.Condition{Argument: 2, Operation: seccomp.BitsNotSet, Value: unix.PROT_EXEC}
		conditions = append(conditions, when("mmap", none), when("mprotect", none))
	}
	p := seccomp.Policy{DefaultAction: seccomp.ActionErrno, Syscalls: []seccomp.SyscallGroup{
		{Names: names, NamesWithCondtions: conditions, Action: seccomp.ActionAllow},
		{Names: []string{"clone3"}, Action: seccomp.Action(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS))},
	}}
	steps, err := p.Assemble()
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

// TestFilter: the filter decides every call as the one of a library does: each number, with arguments in which any of
// the bits are set that a condition looks at, and others.
func TestFilter(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, r := range []Rules{{}, {Code: true}} {
		const pid = 12345
		run := func(steps []bpf.Instruction) func(data []byte) int {
			vm, err := bpf.NewVM(steps)
			if err != nil {
				t.Fatal(err)
			}
			return func(data []byte) int {
				action, err := vm.Run(data)
				if err != nil {
					t.Fatal(err)
				}
				return action
			}
		}
		var steps []bpf.Instruction
		for _, step := range program(r, pid) {
			steps = append(steps, bpf.RawInstruction{Op: step.Code, Jt: step.Jt, Jf: step.Jf, K: step.K}.Disassemble())
		}
		ours, theirs := run(steps), run(reference(t, r, pid))
		values := []uint32{0, 1, 2, 3, 4, unix.PROT_EXEC | 1, unix.CLONE_THREAD, unix.CLONE_THREAD | 1, unix.O_CREAT, unix.O_TRUNC, unix.O_CLOEXEC, unix.F_DUPFD_CLOEXEC, pid, pid + 1, 1 << 31}
		decided := map[int]int{}
		try := func(call, machine uint32, arguments [12]uint32) {
			// A filter of the kernel reads words in the machine's order, and the library's machine in the network's.
			var data []byte
			for _, w := range append([]uint32{call, machine, 0, 0}, arguments[:]...) {
				data = binary.BigEndian.AppendUint32(data, w)
			}
			got, want := ours(data), theirs(data)
			if got != want {
				t.Fatalf("code %v: call %d of %#x with %#x: %#x, expected %#x", r.Code, call, machine, arguments, got, want)
			}
			decided[got]++
		}
		for call := range uint32(600) {
			for range 200 {
				var arguments [12]uint32
				for i := range arguments {
					if i%2 == 0 || random.IntN(8) == 0 { // high halves are 0 most of the time
						arguments[i] = values[random.IntN(len(values))]
					}
				}
				try(call, auditArch, arguments)
			}
			try(call|1<<30, auditArch, [12]uint32{})
			try(call, auditArch+1, [12]uint32{})
		}
		if decided[unix.SECCOMP_RET_ALLOW] < 1000 || decided[unix.SECCOMP_RET_ERRNO|int(unix.EPERM)] < 1000 || decided[unix.SECCOMP_RET_ERRNO|int(unix.ENOSYS)] < 500 {
			t.Errorf("decisions: %v", decided)
		}
	}
}
