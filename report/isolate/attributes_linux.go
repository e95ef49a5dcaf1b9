package isolate

import "syscall"

// attributes have the process killed when the thread ends that started it.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
