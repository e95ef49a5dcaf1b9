package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	abi "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// loopback brings the network's only interface up.
func loopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, lo)
}

// userFolder is the folder with the sockets of desktop programs.
const userFolder = "/run/user"

// sharedMemory is the folder of named shared memory.
const sharedMemory = "/dev/shm"

// devices are the devices that a program may use: the ones that all programs need, and the ones for graphics. A game
// that root runs could write to others, such as disks.
var devices = []string{"null", "zero", "full", "random", "urandom", "dri", "dxg", "nvidia*"}

// mount gives the program a view of the file system in which only Writes is writable, with the allowed devices, only
// the processes in the namespace, and no sockets or terminals. The second error means that something could not be
// hidden.
func (w *warden) mount() (written, hidden error) {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("separate mounts: %w", err), err
	}
	var kept []*os.File // because mounts over them may hide them
	for _, path := range slices.Concat(w.Reads, w.Writes) {
		f, err := open(path)
		if err != nil {
			return err, nil
		}
		defer f.Close()
		kept = append(kept, f)
	}
	reads, writes := kept[:len(w.Reads)], kept[len(w.Reads):]
	if stat, err := os.Stat(userFolder); err == nil && stat.IsDir() && !slices.Contains(w.Writes, userFolder) && len(nested(userFolder, w.Writes)) == 0 {
		hidden = unix.Mount("none", userFolder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "size=4k,mode=0755")
	}
	for _, socket := range w.Hide {
		if _, err := os.Lstat(socket); err == nil { // not below a hidden folder
			hidden = errors.Join(hidden, unix.Mount(os.DevNull, socket, "", unix.MS_BIND, ""))
		}
	}
	if err := conceal(w.Private, reads); err != nil {
		return fmt.Errorf("a view without private files: %w", err), hidden
	}
	if err := mountDevices(); err != nil {
		return fmt.Errorf("separate devices: %w", err), hidden
	}
	for _, f := range writes {
		if err := bind(f); err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err), hidden
		}
	}
	// If a container hides parts of its own /proc, the kernel refuses another one.
	_ = unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("a read-only view of files: %w", err), hidden
	}
	for _, dir := range append([]string{sharedMemory}, w.Writes...) {
		if err := unix.MountSetattr(unix.AT_FDCWD, dir, 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return fmt.Errorf("%s: %w", dir, err), hidden
		}
	}
	return nil, hidden
}

// mountDevices mounts a folder with only some of the devices, and separate shared memory.
func mountDevices() error {
	var all []*os.File
	for _, path := range devicePaths() {
		if f, err := open(path); err == nil {
			defer f.Close()
			all = append(all, f)
		}
	}
	if err := unix.Mount("none", "/dev", "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "size=64k,mode=0755"); err != nil {
		return err
	}
	for _, f := range all {
		stat, err := f.Stat()
		if err != nil {
			return err
		}
		if stat.IsDir() {
			err = os.Mkdir(f.Name(), 0o700)
		} else {
			err = os.WriteFile(f.Name(), nil, 0o600)
		}
		if err == nil {
			err = unix.Mount(byDescriptor(f), f.Name(), "", unix.MS_BIND|unix.MS_REC, "")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	for link, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"} {
		if err := os.Symlink(to, filepath.Join("/dev", link)); err != nil {
			return err
		}
	}
	if err := os.Mkdir(sharedMemory, 0o700); err != nil {
		return err
	}
	return unix.Mount("none", sharedMemory, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=256m,mode=1777")
}

// devicePaths returns the paths of the existing devices.
func devicePaths() (paths []string) {
	for _, name := range devices {
		found, _ := filepath.Glob(filepath.Join("/dev", name))
		paths = append(paths, found...)
	}
	return paths
}

// open opens a path as a location, not for reading or writing.
func open(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// byDescriptor returns a path that leads to an open file whatever is mounted over it.
func byDescriptor(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

// restrict makes Landlock deny writing except below Writes, and reading in private folders except Reads, in all threads.
func (w *warden) restrict(private []string) error {
	const modify = abi.AccessFSWriteFile | abi.AccessFSRemoveDir | abi.AccessFSRemoveFile | abi.AccessFSMakeChar | abi.AccessFSMakeDir |
		abi.AccessFSMakeReg | abi.AccessFSMakeSock | abi.AccessFSMakeFifo | abi.AccessFSMakeBlock | abi.AccessFSMakeSym | abi.AccessFSRefer | abi.AccessFSTruncate
	config := landlock.Config{HandledAccessFS: modify}
	if version, err := abi.LandlockGetABIVersion(); err != nil || version < 1 {
		return errors.Join(errors.New("the system has no Landlock"), err)
	}
	rules := []landlock.Rule{
		landlock.PathAccess(abi.AccessFSWriteFile|abi.AccessFSTruncate, devicePaths()...).IgnoreIfMissing(),
		landlock.PathAccess(modify, sharedMemory).IgnoreIfMissing(),
	}
	for _, dir := range w.Writes {
		rules = append(rules, landlock.PathAccess(modify, dir))
	}
	if len(private) > 0 {
		const read, list = abi.AccessFSExecute | abi.AccessFSReadFile, abi.AccessFSReadDir
		config.HandledAccessFS |= read | list
		for _, top := range append([]string{"/"}, slices.Concat(w.Reads, w.Writes)...) {
			paths, err := besides(top, nested(top, private))
			if err != nil {
				return err
			}
			for _, path := range paths {
				if isFolder(path) == nil {
					rules = append(rules, landlock.PathAccess(read|list, path).IgnoreIfMissing())
				} else {
					rules = append(rules, landlock.PathAccess(read, path).IgnoreIfMissing())
				}
			}
		}
	}
	return config.BestEffort().RestrictPaths(rules...)
}

// sockets returns the paths of the sockets at which programs on this system listen, except sockets below c.Writes and
// the socket of the command's display.
func sockets(c *Command) []string {
	text, err := os.ReadFile("/proc/net/unix")
	if err != nil {
		return nil
	}
	keep := ""
	for _, variable := range c.Env {
		if display, is := strings.CutPrefix(variable, "DISPLAY=:"); is {
			number, _, _ := strings.Cut(display, ".")
			keep = filepath.Join(displays, "X"+number)
		}
	}
	var list []string
	for line := range strings.Lines(string(text)) {
		at := strings.Index(line, " /")
		if at < 0 {
			continue
		}
		path := strings.TrimSuffix(line[at+1:], "\n")
		if path == keep || slices.ContainsFunc(c.Writes, func(dir string) bool { return strings.HasPrefix(path, dir+"/") }) {
			continue
		}
		if stat, err := os.Lstat(path); err == nil && stat.Mode().Type() == os.ModeSocket {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
