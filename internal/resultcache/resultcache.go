// Package resultcache stores folders of results on the disk, by a key of their inputs. A replay that a game has
// computed once need not be computed again.
//
// A cache is a folder that belongs to this user only. It contains
//
//	KEY/manifest         sizes and CRC-32C of all files below content, checked before they are given out
//	KEY/content/         what was kept; when KEY was used last is its time
//	new-N, new-N.held    an entry that is being made, and the lock of who makes it
//	use-KEY-N            the lock of a process that reads an entry
//	old-N                an entry that is being removed
//	lock                 held while entries come and go, by one process at a time
//
// The locks are locks of package internal/file/files, which end with their process. The next process removes data of
// killed processes. On a file system without locks, a process may remove an entry that another one reads.
package resultcache

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/desynctool/desynctool/internal/file/files"
)

// Key identifies the inputs of an entry.
type Key [sha256.Size]byte

// String returns a key as 64 hex digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// Of returns the key of some texts in this order: the SHA-256 of each text's length (8 bytes, big-endian) and bytes.
func Of(parts ...string) Key {
	h := sha256.New()
	for _, part := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		io.WriteString(h, part)
	}
	return Key(h.Sum(nil))
}

// OfFile returns the SHA-256 of a file's content. Its String can be a part of another key.
func OfFile(path string) (Key, error) {
	f, err := os.Open(path)
	if err != nil {
		return Key{}, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return Key{}, err
	}
	return Key(h.Sum(nil)), nil
}

// Cache is a folder of entries. It is safe for concurrent use, and several processes may use the folder at once.
type Cache struct {
	dir string // empty: nothing is stored
	max int64

	mu    sync.Mutex
	uses  map[Key]*os.File
	loose []func() error // functions that remove folders outside the cache
}

// Folder returns the folder of a kind of cache, below the user's cache folder.
func Folder(kind string) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "desynctool", kind), nil
}

// Open opens the cache in a folder, which is created if needed, and removes data of killed processes. All entries
// together may have max bytes. If the folder is not usable, the cache works but stores nothing; the error explains why
// and should be reported as a warning.
func Open(dir string, max int64) (*Cache, error) {
	c := None()
	if err := usable(dir); err != nil {
		return c, fmt.Errorf("nothing is kept: %w", err)
	}
	c.dir, c.max = dir, max
	gone, err := c.sweep()
	if err != nil {
		c.dir = ""
		return c, fmt.Errorf("nothing is kept: %w", err)
	}
	remove(gone)
	return c, nil
}

// None returns a cache that stores nothing.
func None() *Cache { return &Cache{uses: map[Key]*os.File{}} }

// usable creates a folder, and refuses one that other users may write to.
func usable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	stat, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if err := ownedAlone(stat); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// Get returns the folder of an entry, if it exists and is intact. It removes a damaged one. The folder stays until
// Release or Close, and must not be changed.
func (c *Cache) Get(key Key) (folder string, ok bool) {
	if c.dir == "" || !c.hold(key) {
		return "", false
	}
	entry := filepath.Join(c.dir, key.String())
	if err := check(entry, key); err == nil {
		return filepath.Join(entry, content), true
	}
	c.Release(key)
	if unlock, err := c.lock(); err == nil {
		gone := c.retire(key.String())
		unlock()
		remove(gone)
	}
	return "", false
}

// hold marks an entry as used by this process, and reports whether it exists.
func (c *Cache) hold(key Key) bool {
	unlock, err := c.lock()
	if err != nil {
		return false
	}
	defer unlock()
	return c.mark(key)
}

// mark is hold for a caller that has the lock.
func (c *Cache) mark(key Key) bool {
	entry := filepath.Join(c.dir, key.String())
	if stat, err := os.Lstat(entry); err != nil || !stat.IsDir() {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.uses[key] == nil {
		f, err := c.unique(usePrefix+key.String()+"-", "")
		if err != nil {
			return false
		}
		c.uses[key] = f
	}
	now := time.Now()
	_ = os.Chtimes(entry, now, now) // otherwise it is removed earlier
	return true
}

// Release reports that this process no longer reads an entry.
func (c *Cache) Release(key Key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.uses[key]; f != nil {
		drop(f)
		delete(c.uses, key)
	}
}

// Put calls fill to write an entry into an empty folder, stores it, and returns its folder, which stays until Release
// or Close. Links that lead out of the folder are omitted, and so is everything that is neither link nor file nor
// folder. If the entry cannot be stored, because it is larger than the cache, the disk is full or another process has
// stored it meanwhile, the folder is returned nevertheless. The error comes from fill, or means that there is no place
// for a temporary folder.
func (c *Cache) Put(key Key, fill func(dir string) error) (folder string, err error) {
	made, held, err := c.begin()
	if err != nil {
		return "", err
	}
	discard := func() error {
		err := os.RemoveAll(made)
		if held != nil {
			drop(held)
		}
		return err
	}
	folder = filepath.Join(made, content)
	if err := os.Mkdir(folder, 0o700); err != nil {
		return "", errors.Join(err, discard())
	}
	if err := fill(folder); err != nil {
		return "", errors.Join(err, discard())
	}
	size, err := seal(made, key)
	if err != nil {
		return "", errors.Join(err, discard())
	}
	if held != nil && size <= c.max {
		if c.publish(made, key) {
			drop(held)
			return filepath.Join(c.dir, key.String(), content), nil
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loose = append(c.loose, discard)
	return folder, nil
}

// begin creates a folder for an entry. If that is not possible in the cache, it creates one outside, without a lock.
func (c *Cache) begin() (made string, held *os.File, err error) {
	if c.dir != "" {
		if held, err = c.unique(newPrefix, heldSuffix); err == nil {
			made = strings.TrimSuffix(held.Name(), heldSuffix)
			if err = os.Mkdir(made, 0o700); err == nil {
				return made, held, nil
			}
			drop(held)
		}
	}
	made, removeIt, err := files.TemporaryFolder("")
	if err != nil {
		return "", nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loose = append(c.loose, removeIt)
	return made, nil, nil
}

// publish turns a folder into an entry that this process uses, and removes the oldest entries if there is no room.
func (c *Cache) publish(made string, key Key) bool {
	unlock, err := c.lock()
	if err != nil {
		return false
	}
	entry := filepath.Join(c.dir, key.String())
	if _, err := os.Lstat(entry); err == nil || os.Rename(made, entry) != nil {
		unlock()
		return false
	}
	if !c.mark(key) {
		_ = os.Rename(entry, made) // otherwise the entry is missing, which later users notice
		unlock()
		return false
	}
	gone := c.makeRoom()
	unlock()
	remove(gone)
	return true
}

// Close releases all entries and removes folders that could not be stored.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, f := range c.uses {
		drop(f)
		delete(c.uses, key)
	}
	var err error
	for _, discard := range slices.Backward(c.loose) {
		err = errors.Join(err, discard())
	}
	c.loose = nil
	return err
}

// drop releases a lock and removes its file.
func drop(f *os.File) {
	os.Remove(f.Name()) // while it is held, where the system can
	f.Close()
	os.Remove(f.Name())
}

// remove removes folders that no key leads to any more. The next process removes the rest.
func remove(folders []string) {
	for _, folder := range folders {
		os.RemoveAll(folder)
	}
}
