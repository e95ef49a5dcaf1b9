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

// watchEvery is how long is waited between two looks at what a program uses. Where a look takes long the pause is
// twenty times as long as that, so that looking costs a twentieth of a processor at most.
const watchEvery = 250 * time.Millisecond

// maxEntries is how many files and folders a program may make. More are a disk that is full of names.
const maxEntries = 1 << 20

// spare is how much of a disk stays free: a program that has less left, and may be the cause, is ended.
const spare = 1 << 30

// weight is what folders hold.
type weight struct {
	bytes   int64
	entries int
	left    int64 // bytes that are free on the fullest of their disks; 0 if that is not known
}

// errHidden says that a folder cannot be looked into.
var errHidden = errors.New("a folder cannot be looked into")

// weigh adds up the sizes of all that is below some folders. What is gone meanwhile counts nothing. A folder that is
// not to be looked into, or is too deep for that, is errHidden.
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
			case err != nil: // it is gone, or something else
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

// links are those that were there before a program ran, by their paths, and what they lead to.
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

// has reports whether a link is one of these, and leads to where it did.
func (l links) has(path string) bool {
	was, there := l[path]
	to, err := os.Readlink(path)
	return there && err == nil && to == was
}

// watch looks at what a program uses until ctx is done, and sends the limits that it passes.
func (c *Command) watch(ctx context.Context, p process, before weight, cut chan<- breach) {
	for {
		began := time.Now()
		b := c.look(p, before)
		if b.limit != None {
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

// look returns the limit that a program has passed, if any.
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

// weighed is look for the disk alone.
func (c *Command) weighed(before weight) breach {
	if c.Disk == 0 {
		return breach{}
	}
	now, err := weigh(c.Writes)
	return c.passed(before, now, err)
}

// passed returns the limit of the disk between two weights, with the error of the second one.
func (c *Command) passed(before, now weight, err error) breach {
	switch {
	case now.bytes-before.bytes > c.Disk:
		return breach{Disk, c.tooMuch()}
	case now.entries-before.entries > maxEntries:
		return breach{Disk, fmt.Sprintf("made more than %d files", maxEntries)}
	case errors.Is(err, errHidden):
		return breach{Disk, "made a folder that cannot be looked into"}
	case before.left-now.left > c.Disk && now.left < spare: // in files that have no names any longer
		return breach{Disk, c.tooMuch()}
	}
	return breach{}
}
