//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// The filter is a program that the kernel runs before each system call (seccomp(2), seccomp_data in linux/seccomp.h).
// Its input has these offsets in bytes. An argument has 64 bits, and the program reads 32 bits at a time; both
// architectures are little-endian.
const (
	callAt      = 0
	archAt      = 4
	argumentsAt = 16
	word        = 4
)

// Calls that need no conditions: they act on the memory, the threads and the open files of the process itself, or
// describe files. The list contains what is allowed, not what is denied, so that the filter also denies what later
// kernels add. callsOfArch has those that only one architecture has.
var harmless = []uint32{
	unix.SYS_READ, unix.SYS_READV, unix.SYS_PREAD64, unix.SYS_PREADV, unix.SYS_WRITE, unix.SYS_WRITEV, unix.SYS_PWRITE64, unix.SYS_CLOSE, unix.SYS_LSEEK,
	unix.SYS_FSTAT, unix.SYS_STATX, unix.SYS_FSTATFS, unix.SYS_GETDENTS64, unix.SYS_READLINKAT, unix.SYS_GETCWD, unix.SYS_FADVISE64,
	unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_BRK,
	unix.SYS_FUTEX, unix.SYS_SET_ROBUST_LIST, unix.SYS_GET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_MEMBARRIER, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY,
	unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_GETTIMEOFDAY,
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2, unix.SYS_PPOLL,
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
	unix.SYS_GETPID, unix.SYS_GETTID, unix.SYS_GETPPID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID,
	unix.SYS_GETRANDOM, unix.SYS_UNAME, unix.SYS_SYSINFO, unix.SYS_GETRUSAGE, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
}

// condition is a condition on an argument of a call: argument & mask == value.
type condition struct {
	argument    int
	mask, value uint64
}

const all = ^uint64(0)

func is(argument int, value uint64) condition     { return condition{argument, all, value} }
func hasNone(argument int, bits uint64) condition { return condition{argument, bits, 0} }
func hasAll(argument int, bits uint64) condition  { return condition{argument, bits, bits} }

// The instructions, as linux/bpf_common.h encodes them. A jump skips some steps if it holds, and others if it does not.
func load(offset int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: uint32(offset)}
}
func and(mask uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: mask}
}
func jump(condition uint16, value uint32, holds, not int) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | condition | unix.BPF_K, Jt: uint8(holds), Jf: uint8(not), K: value}
}
func result(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}
func callIs(call uint32) unix.SockFilter            { return jump(unix.BPF_JEQ, call, 0, 1) }
func unless(value uint32, skip int) unix.SockFilter { return jump(unix.BPF_JEQ, value, 0, skip) }
func fails(with unix.Errno) unix.SockFilter         { return result(unix.SECCOMP_RET_ERRNO | uint32(with)) }
func allowed() unix.SockFilter                      { return result(unix.SECCOMP_RET_ALLOW) }

// program returns the filter for the process with this number: calls that are allowed, and calls that are allowed where
// all conditions hold. All others fail with EPERM, as do calls by the interface of another architecture.
func program(r Rules, pid int) []unix.SockFilter {
	p := []unix.SockFilter{
		load(archAt),
		jump(unix.BPF_JEQ, auditArch, 1, 0),
		fails(unix.EPERM),
		load(callAt),
		// amd64: calls by the x32 interface have this bit. No call of arm64 has it.
		jump(unix.BPF_JGE, 1<<30, 0, 1),
		fails(unix.ENOSYS),
		// The flags of clone3 are in memory, which a filter cannot read. A C library then uses clone.
		callIs(unix.SYS_CLONE3),
		fails(unix.ENOSYS),
	}
	for _, call := range append(harmless[:len(harmless):len(harmless)], callsOfArch...) {
		p = append(p, callIs(call), allowed())
	}
	when := func(call uint32, conditions ...condition) {
		var test []unix.SockFilter
		for _, c := range conditions {
			for half, shift := range []int{0, 32} { // low half first
				if mask, value := uint32(c.mask>>shift), uint32(c.value>>shift); mask != 0 {
					test = append(test, load(argumentsAt+8*c.argument+word*half), and(mask), unless(value, 0))
				}
			}
		}
		test = append(test, allowed())
		for i, step := range test {
			if step.Code&0x07 == unix.BPF_JMP {
				test[i] = unless(step.K, len(test)-1-i)
			}
		}
		p = append(p, unless(call, len(test)+1))
		p = append(p, test...)
		p = append(p, load(callAt))
	}
	when(unix.SYS_OPENAT, hasNone(2, unix.O_WRONLY|unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC))
	when(unix.SYS_CLONE, hasAll(0, unix.CLONE_THREAD))
	when(unix.SYS_TGKILL, is(0, uint64(pid)))    // the runtime stops its own threads
	when(unix.SYS_PRLIMIT64, is(0, 0), is(2, 0)) // it reads its own limits, and sets none
	for _, command := range []uint64{unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_DUPFD_CLOEXEC} {
		when(unix.SYS_FCNTL, is(1, command)) // the other commands send signals
	}
	if r.Code {
		p = append(p, callIs(unix.SYS_MMAP), allowed(), callIs(unix.SYS_MPROTECT), allowed())
	} else {
		when(unix.SYS_MMAP, hasNone(2, unix.PROT_EXEC))
		when(unix.SYS_MPROTECT, hasNone(2, unix.PROT_EXEC))
	}
	return append(p, fails(unix.EPERM))
}

// restrictCalls filters the system calls of all threads.
func restrictCalls(r Rules) error {
	steps := program(r, os.Getpid())
	runtime.LockOSThread() // prctl sets the flag for one thread; TSYNC gives it to the others
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("capabilities: %w", err)
	}
	filter := unix.SockFprog{Len: uint16(len(steps)), Filter: &steps[0]}
	other, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter)))
	switch {
	case e == unix.ENOSYS || e == unix.EINVAL:
		return errors.New("the kernel was built without it")
	case e != 0:
		return e
	case other != 0:
		return fmt.Errorf("thread %d has another filter", other)
	}
	return nil
}

// dropCapabilities takes from all threads of a process of root what root may do, except to read the files of others:
// Landlock confines that to the evidence.
func dropCapabilities() error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var now [2]unix.CapUserData
	if err := unix.Capget(&header, &now[0]); err != nil {
		return err
	}
	const read = 1 << unix.CAP_DAC_READ_SEARCH
	kept := [2]unix.CapUserData{{Effective: now[0].Effective & read, Permitted: now[0].Permitted & read}}
	_, _, e := psx.Syscall3(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&kept[0])), 0)
	runtime.KeepAlive(&kept)
	if e != 0 {
		return e
	}
	return nil
}
