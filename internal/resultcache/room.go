package resultcache

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/desynctool/desynctool/internal/file/files"
)

const (
	newPrefix  = "new-"
	usePrefix  = "use-"
	oldPrefix  = "old-"
	heldSuffix = ".held"
)

// lockWaits is how long to wait for the lock. It is held for a few renames.
const lockWaits = 10 * time.Second

// lock locks the folder for one user, in this process or another.
func (c *Cache) lock() (unlock func(), err error) {
	for began := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		f, err := files.Hold(filepath.Join(c.dir, "lock"))
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, files.ErrInUse) || time.Since(began) > lockWaits {
			return nil, err
		}
	}
}

// unique creates a file with a unique name, locked by this process.
func (c *Cache) unique(prefix, suffix string) (*os.File, error) {
	for {
		f, err := files.Hold(filepath.Join(c.dir, fmt.Sprintf("%s%016x%s", prefix, rand.Uint64(), suffix)))
		if !errors.Is(err, files.ErrInUse) {
			return f, err
		}
	}
}

// sweep finds data of killed processes, and returns the folders to remove.
func (c *Cache) sweep() (gone []string, err error) {
	unlock, err := c.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	names, err := files.Disk.Names(c.dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		path := filepath.Join(c.dir, name)
		switch {
		case strings.HasPrefix(name, oldPrefix):
			gone = append(gone, path)
		case strings.HasPrefix(name, usePrefix):
			c.stale(path)
		case strings.HasPrefix(name, newPrefix) && strings.HasSuffix(name, heldSuffix):
			c.stale(path)
		case strings.HasPrefix(name, newPrefix):
			if c.stale(path + heldSuffix) {
				gone = append(gone, path)
			}
		}
	}
	return gone, nil
}

// stale reports whether no process has a file locked. If so, it removes the file.
func (c *Cache) stale(path string) bool {
	f, err := files.Hold(path)
	if err == nil {
		drop(f)
	}
	return err == nil
}

// used reports whether any process reads an entry.
func (c *Cache) used(key string) bool {
	uses, _ := filepath.Glob(filepath.Join(escape(c.dir), usePrefix+key+"-*"))
	used := false
	for _, path := range uses {
		used = !c.stale(path) || used
	}
	return used
}

// escape escapes the wildcards in a path.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// retire takes an unused entry out of the cache and returns the folder to remove. The caller must have the lock.
func (c *Cache) retire(key string) (gone []string) {
	if c.used(key) {
		return nil
	}
	path := filepath.Join(c.dir, fmt.Sprintf("%s%016x", oldPrefix, rand.Uint64()))
	if os.Rename(filepath.Join(c.dir, key), path) != nil {
		return nil
	}
	return []string{path}
}

// entry is an existing entry.
type entry struct {
	key  string
	size int64
	used time.Time
}

// makeRoom takes out the least recently used entries until the others have room, and returns the folders to remove. The
// caller must have the lock.
func (c *Cache) makeRoom() (gone []string) {
	names, err := files.Disk.Names(c.dir)
	if err != nil {
		return nil
	}
	var all []entry
	var total int64
	for _, name := range names {
		if raw, err := hex.DecodeString(name); err != nil || len(raw) != len(Key{}) {
			continue
		}
		stat, err := os.Lstat(filepath.Join(c.dir, name))
		if err != nil {
			continue
		}
		size, err := sizeOf(filepath.Join(c.dir, name), name)
		if err != nil {
			gone = append(gone, c.retire(name)...)
			continue
		}
		all = append(all, entry{name, size, stat.ModTime()})
		total += size
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(a.used.Compare(b.used), strings.Compare(a.key, b.key)) })
	for _, e := range all {
		if total <= c.max {
			break
		}
		if out := c.retire(e.key); out != nil {
			gone = append(gone, out...)
			total -= e.size
		}
	}
	return gone
}
