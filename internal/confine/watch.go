package confine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/desynctool/desynctool/internal/sandbox"
)

// watchEvery is the pause between two checks of a program's usage. If a check takes long, the pause is twenty times as
// long, so that checks use at most a twentieth of a processor.
const watchEvery = 250 * time.Millisecond

// maxEntries is the maximum number of files and folders that a program may create. More would fill the disk with names.
const maxEntries = 1 << 20

// spare is how much of a disk stays free. If less is left and a program may be the cause, it is ended.
const spare = 1 << 30

// weight is the size of folders.
type weight struct {
	bytes   int64
	entries int
	left    int64 // free bytes on the fullest of their disks; 0 if unknown
}

// errHidden reports a folder that cannot be read.
var errHidden = errors.New("a folder cannot be looked into")

// weigh adds the sizes of everything below some folders. Files that disappear meanwhile count nothing. A folder that is
// not readable, or is too deep, gives errHidden.
func weigh(dirs []string) (w weight, err error) {
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			var info fs.FileInfo
			if err == nil && d.Type().IsRegular() {
				info, err = d.Info()
			}
			switch {
			case errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENAMETOOLONG):
				return fmt.Errorf("%w: %w", errHidden, err)
			case err != nil: // it is gone, or has been replaced
				return nil
			}
			w.entries++
			if info != nil {
				w.bytes += info.Size()
			}
			if w.entries > 2*maxEntries {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			return w, err
		}
		if left, known := available(dir); known && (w.left == 0 || left < w.left) {
			w.left = left
		}
	}
	return w, nil
}

// links are the links that existed before a program ran: paths and targets.
type links map[string]string

// linksIn returns the links below some folders.
func linksIn(dirs []string) links {
	l := links{}
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type() == fs.ModeSymlink {
				if to, err := os.Readlink(path); err == nil {
					l[path] = to
				}
			}
			return nil
		})
	}
	return l
}

// has reports whether a link is one of these, with the same target.
func (l links) has(path string) bool {
	was, there := l[path]
	to, err := os.Readlink(path)
	return there && err == nil && to == was
}

// watch checks the usage of a program until ctx is done, and sends the limits that it exceeds.
func (c *Command) watch(ctx context.Context, p process, before weight, cut chan<- breach) {
	for {
		began := time.Now()
		if b := c.look(p, before); b.limit != None {
			cut <- b
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(watchEvery, 20*time.Since(began))):
		}
	}
}

// look returns the limit that a program has exceeded, if any.
func (c *Command) look(p process, before weight) breach {
	if held, threads, known := p.usage(); known {
		switch {
		case c.Memory > 0 && held > c.Memory:
			return breach{Memory, "took more than " + sandbox.Size(c.Memory) + " of memory"}
		case threads > maxProcesses:
			return breach{Processes, fmt.Sprintf("had more than %d processes and threads", maxProcesses)}
		}
	}
	return c.weighed(before)
}

// weighed is look for the disk only.
func (c *Command) weighed(before weight) breach {
	if c.Disk == 0 {
		return breach{}
	}
	now, err := weigh(c.Writes)
	return c.passed(before, now, err)
}

// passed returns the disk limit that was exceeded between two weights. err is the error of the second one.
func (c *Command) passed(before, now weight, err error) breach {
	switch {
	case now.bytes-before.bytes > c.Disk:
		return breach{Disk, c.tooMuch()}
	case now.entries-before.entries > maxEntries:
		return breach{Disk, fmt.Sprintf("made more than %d files", maxEntries)}
	case errors.Is(err, errHidden):
		return breach{Disk, "made a folder that cannot be looked into"}
	case before.left-now.left > c.Disk && now.left < spare: // in files without names
		return breach{Disk, c.tooMuch()}
	}
	return breach{}
}
