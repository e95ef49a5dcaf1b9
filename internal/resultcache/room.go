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

// lockWaits is how long the lock is waited for. It is held for the time of some renames.
const lockWaits = 10 * time.Second

// lock has the folder for one of its users, of this process or others.
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

// unique makes a file of a name that nobody else has, which this process holds.
func (c *Cache) unique(prefix, suffix string) (*os.File, error) {
	for {
		f, err := files.Hold(filepath.Join(c.dir, fmt.Sprintf("%s%016x%s", prefix, rand.Uint64(), suffix)))
		if !errors.Is(err, files.ErrInUse) {
			return f, err
		}
	}
}

// sweep finds what killed processes have left, and returns the folders that are to be removed.
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

// stale reports whether nobody holds a file, which is gone then.
func (c *Cache) stale(path string) bool {
	f, err := files.Hold(path)
	if err == nil {
		drop(f)
	}
	return err == nil
}

// used reports whether some process reads an entry.
func (c *Cache) used(key string) bool {
	uses, _ := filepath.Glob(filepath.Join(escape(c.dir), usePrefix+key+"-*"))
	used := false
	for _, path := range uses {
		used = !c.stale(path) || used
	}
	return used
}

// escape returns a path in which a pattern has no wildcards.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// retire takes an entry that nobody reads out of the cache, for who has the lock, and returns the folder that is to be
// removed.
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

// entry is one that is there.
type entry struct {
	key  string
	size int64
	used time.Time
}

// makeRoom takes out the entries that were not used for the longest time until the others have room, for who has the
// lock, and returns the folders that are to be removed.
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
