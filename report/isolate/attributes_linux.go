package isolate

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// namespaces are those that the process has of its own, where the system gives them.
const namespaces = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | pids

// attributes have the process killed when the thread ends that started it. If it gets namespaces, all users of this
// process are in the namespaces of a process of root, which reads the files of others.
func attributes(own uintptr) *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Cloneflags: own}
	if own != 0 {
		a.UidMappings, a.GidMappings = ids("uid", os.Geteuid()), ids("gid", os.Getegid())
	}
	return a
}

// ids returns the ids of users or groups in the namespace: this one, or for root all that this process sees.
func ids(kind string, own int) (list []syscall.SysProcIDMap) {
	text, _ := os.ReadFile("/proc/self/" + kind + "_map")
	for line := range strings.Lines(string(text)) {
		var first, outside, n int
		if _, err := fmt.Sscan(line, &first, &outside, &n); err == nil && os.Geteuid() == 0 {
			list = append(list, syscall.SysProcIDMap{ContainerID: first, HostID: first, Size: n})
		}
	}
	if len(list) == 0 {
		list = []syscall.SysProcIDMap{{ContainerID: own, HostID: own, Size: 1}}
	}
	return list
}
