package sandbox

import "golang.org/x/sys/unix"

// auditArch is the architecture in the filter's input.
const auditArch = unix.AUDIT_ARCH_X86_64

// callsOfArch are the harmless calls that arm64 does not have.
var callsOfArch = []uint32{
	unix.SYS_NEWFSTATAT, unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_READLINK, unix.SYS_ARCH_PRCTL, unix.SYS_TIME, unix.SYS_EPOLL_WAIT, unix.SYS_POLL, unix.SYS_GETRLIMIT,
}
