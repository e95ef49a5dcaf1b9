package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/landlock-lsm/go-landlock/landlock"
	abi "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

func host() means {
	return means{limit: limit, limitMemory: limitMemory, files: restrictFiles, calls: restrictCalls}
}

// limitMemory limits the address space to what the process has already and as much more. Go reserves
// far more addresses than it uses, most of them when it starts, so the limit counts from there.
func limitMemory(l Limits) error {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	var pages uint64
	if _, err := fmt.Sscan(string(text), &pages); err != nil {
		return fmt.Errorf("/proc/self/statm: %w", err)
	}
	return lower(unix.RLIMIT_AS, pages*uint64(os.Getpagesize())+uint64(l.Memory))
}

// restrictFiles has Landlock deny all files but those of the rules, TCP and signals to other processes, as
// far as the kernel knows these.
func restrictFiles(r Rules) (string, error) {
	version, err := abi.LandlockGetABIVersion()
	switch {
	case errors.Is(err, unix.ENOSYS):
		return "", errors.New("the kernel is older than 5.13, or was built without it")
	case errors.Is(err, unix.EOPNOTSUPP):
		return "", errors.New("it was not enabled when the system started")
	case err != nil:
		return "", err
	}
	var rules []landlock.Rule
	for _, path := range r.Read {
		stat, err := os.Stat(path)
		if err != nil {
			continue // whoever opens it says so
		}
		rights := landlock.AccessFSSet(abi.AccessFSReadFile)
		if stat.IsDir() {
			rights |= abi.AccessFSReadDir
		}
		rules = append(rules, landlock.PathAccess(rights, path).IgnoreIfMissing())
	}
	if err := landlock.V9.BestEffort().Restrict(rules...); err != nil {
		return "", err
	}
	return fmt.Sprintf("Landlock %d", version), nil
}

// Calls that need no conditions: they act on the memory, the threads and the open files of the process
// itself, or describe files. A list of what is allowed, not of what is denied: what the kernel learns in
// later versions is then denied too. Calls that an architecture lacks are left out.
var harmless = strings.Fields(`
	read readv pread64 preadv write writev pwrite64 close lseek
	fstat newfstatat fstatat statx stat lstat fstatfs getdents64 readlink readlinkat getcwd fadvise64
	munmap mremap madvise mincore brk
	futex set_robust_list get_robust_list rseq membarrier sched_yield sched_getaffinity arch_prctl
	nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time
	epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd2 poll ppoll
	rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack restart_syscall
	getpid gettid getppid getuid geteuid getgid getegid getrandom uname sysinfo getrusage getrlimit
	exit exit_group`)

// policy returns the filter of system calls for an architecture. What it does not name fails with
// EPERM.
func policy(r Rules, on *arch.Info) seccomp.Policy {
	var names []string
	for _, name := range harmless {
		if _, known := on.SyscallNames[name]; known {
			names = append(names, name)
		}
	}
	when := func(name string, argument uint32, op seccomp.Operation, value uint64) seccomp.NameWithConditions {
		return seccomp.NameWithConditions{Name: name, Conditions: seccomp.ArgumentConditions{{Argument: argument, Operation: op, Value: value}}}
	}
	conditions := []seccomp.NameWithConditions{
		when("openat", 2, seccomp.BitsNotSet, unix.O_WRONLY|unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC),
		when("clone", 0, seccomp.BitsSet, unix.CLONE_THREAD),
		when("tgkill", 0, seccomp.Equal, uint64(os.Getpid())), // the runtime stops its own threads
		{Name: "prlimit64", Conditions: seccomp.ArgumentConditions{ // its own limits are read, and none is set
			{Argument: 0, Operation: seccomp.Equal, Value: 0}, {Argument: 2, Operation: seccomp.Equal, Value: 0},
		}},
	}
	for _, command := range []uint64{unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_DUPFD_CLOEXEC} {
		conditions = append(conditions, when("fcntl", 1, seccomp.Equal, command)) // others have signals sent
	}
	if r.Code {
		names = append(names, "mmap", "mprotect")
	} else {
		conditions = append(conditions, when("mmap", 2, seccomp.BitsNotSet, unix.PROT_EXEC), when("mprotect", 2, seccomp.BitsNotSet, unix.PROT_EXEC))
	}
	return seccomp.Policy{
		DefaultAction: seccomp.ActionErrno,
		Syscalls: []seccomp.SyscallGroup{
			{Names: names, NamesWithCondtions: conditions, Action: seccomp.ActionAllow},
			// Its flags are in memory, where a filter cannot look; a C library then takes clone.
			{Names: []string{"clone3"}, Action: seccomp.Action(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS))},
		},
	}
}

// restrictCalls filters the system calls of all threads.
func restrictCalls(r Rules) error {
	on, err := arch.GetInfo("")
	if err != nil {
		return fmt.Errorf("no filter for %s: %w", runtime.GOARCH, err)
	}
	if !seccomp.Supported() {
		return errors.New("the kernel was built without it")
	}
	runtime.LockOSThread() // NoNewPrivs is of the thread; the flag copies it to the others
	defer runtime.UnlockOSThread()
	return seccomp.LoadFilter(seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: policy(r, on)})
}
