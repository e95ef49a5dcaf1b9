package sandbox

import "golang.org/x/sys/unix"

// auditArch is the architecture in the filter's input.
const auditArch = unix.AUDIT_ARCH_AARCH64

// callsOfArch are the harmless calls that other architectures lack, or have under another name.
var callsOfArch = []uint32{unix.SYS_NEWFSTATAT, unix.SYS_GETRLIMIT}
