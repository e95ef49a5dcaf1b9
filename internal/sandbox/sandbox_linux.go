package sandbox

import (
	"errors"
	"fmt"
	"os"

	"github.com/landlock-lsm/go-landlock/landlock"
	abi "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

func host() means {
	return means{limit: limit, limitMemory: limitMemory, files: restrictFiles, calls: restrictCalls}
}

// limitMemory limits the address space to its current size plus the limit. Go reserves far more addresses than it uses,
// most of them at the start, so the limit counts from there.
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

// restrictFiles makes Landlock deny all files except the ones in the rules, TCP, and signals to other processes, as far
// as the kernel supports this.
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
			continue // opening it reports the error
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
