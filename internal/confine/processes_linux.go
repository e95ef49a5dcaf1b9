package confine

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// below returns the ids of all direct and indirect children of a process, and the number of their threads.
func below(ancestor int) (list []int, threads int) {
	for next := children(ancestor); len(next) > 0 && len(list) <= maxProcesses; next = next[1:] {
		pid := next[0]
		list = append(list, pid)
		threads += len(tasks(pid))
		next = append(next, children(pid)...)
	}
	return list, threads
}

// tasks returns the ids of a process's threads, as texts; none if it has ended.
func tasks(pid int) []string {
	dir, err := os.Open(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(2 * maxProcesses) // it may end meanwhile
	return names
}

// children returns the ids of a process's children.
func children(pid int) (list []int) {
	for _, task := range tasks(pid) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task))
		if err != nil {
			continue // it has ended
		}
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				list = append(list, child)
			}
		}
	}
	return list
}

// usage returns the bytes of memory of all processes below one, and the number of their threads. Shared memory counts
// once, with the amount of the process that shares most.
func usage(ancestor int) (held int64, threads int, known bool) {
	list, threads := below(ancestor)
	var most int64
	for _, pid := range list {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if err != nil {
			continue // it has ended
		}
		var size, resident, shared int64
		if _, err := fmt.Sscan(string(text), &size, &resident, &shared); err != nil {
			continue
		}
		held += resident - shared
		most = max(most, shared)
	}
	return (held + most) * int64(os.Getpagesize()), threads, len(list) > 0
}
