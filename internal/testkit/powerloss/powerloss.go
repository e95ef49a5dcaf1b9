// Package powerloss simulates a disk that loses its power, for tests of the state that a program leaves.
//
// It records the system calls of a program with strace, and repeats them on files in memory that have a cache as disks
// do: what was written is in the cache until the file is synced, and a name until its folder is. When the power is lost,
// the disk has what was synced, and any part of the rest. Single writes may be torn. A disk may also lie: it reports a
// sync that it did not make.
package powerloss

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// inode is a file or a folder.
type inode struct {
	folder  bool
	now     []byte   // as the program sees it
	synced  []byte   // on the disk
	pending []change // since synced
}

// change is a write at an offset, or, without data, a new size.
type change struct {
	at   int64
	data []byte
}

func (c change) apply(b []byte) []byte {
	if c.data == nil {
		if c.at < int64(len(b)) {
			return b[:c.at]
		}
		return append(b, make([]byte, c.at-int64(len(b)))...)
	}
	if end := c.at + int64(len(c.data)); end > int64(len(b)) {
		b = append(b, make([]byte, end-int64(len(b)))...)
	}
	copy(b[c.at:], c.data)
	return b
}

func (i *inode) change(c change) {
	i.now = c.apply(i.now)
	i.pending = append(i.pending, c)
}

func (i *inode) sync() { i.synced, i.pending = bytes.Clone(i.now), nil }

// naming is a change of names that happens as a whole, such as a rename; nil removes a name.
type naming map[string]*inode

func (n naming) apply(names map[string]*inode) {
	for path, i := range n {
		if i == nil {
			delete(names, path)
		} else {
			names[path] = i
		}
	}
}

// in reports whether a name in the folder changes.
func (n naming) in(folder string) bool {
	for path := range n {
		if filepath.Dir(path) == folder {
			return true
		}
	}
	return false
}

// open is an open file of the program.
type open struct {
	*inode
	path   string
	at     int64
	append bool
}

// disk is the state of a folder and of its disk at a moment of the program.
type disk struct {
	root    string
	names   map[string]*inode // as the program sees them
	synced  map[string]*inode // on the disk
	pending []naming          // since then
	open    map[int]*open
	printed bytes.Buffer
	lies    *rand.Rand // nil for a disk that syncs what it says
}

func newDisk(root string, lies *rand.Rand) *disk {
	d := &disk{root: root, names: map[string]*inode{root: {folder: true}}, open: map[int]*open{}, lies: lies}
	d.synced = maps.Clone(d.names)
	return d
}

func (d *disk) name(n naming) {
	n.apply(d.names)
	d.pending = append(d.pending, n)
}

// sync syncs a file, or the names in a folder.
func (d *disk) sync(o *open) {
	if d.lies != nil && d.lies.IntN(2) == 0 {
		return
	}
	if !o.folder {
		o.sync()
		return
	}
	d.pending = slices.DeleteFunc(d.pending, func(n naming) bool {
		in := n.in(o.path)
		if in {
			n.apply(d.synced)
		}
		return in
	})
}

// Loss is what a disk loses of that which was not synced.
type Loss string

// Losses: everything; nothing but half of the last write; any part.
const (
	All  Loss = "all"
	Last Loss = "last"
	Any  Loss = "any"
)

// Losses are all kinds.
var Losses = []Loss{All, Last, Any}

// sector is the size of the pieces that a disk writes as a whole.
const sector = 512

// Crash is a moment of a program at which the power is lost.
type Crash struct {
	Step int // number of the system call before which it is lost, from 0
	disk *disk
	last *inode // with the last write
}

// Printed returns the lines that the program has printed.
func (c Crash) Printed() []string {
	text := c.disk.printed.String()
	text = text[:strings.LastIndexByte(text, '\n')+1]
	return strings.Fields(text)
}

// Leave makes the folder as it is found after the power is back, in dir, which must not exist.
func (c Crash) Leave(dir string, loss Loss) error {
	random := rand.New(rand.NewPCG(uint64(c.Step), uint64(len(loss))))
	names := maps.Clone(c.disk.synced)
	pending := c.disk.pending
	switch loss {
	case All:
		pending = nil
	case Any: // names are kept in the order in which they changed, as in a journal
		pending = pending[:random.IntN(len(pending)+1)]
	}
	for _, n := range pending {
		n.apply(names)
	}
	for _, path := range slices.Sorted(maps.Keys(names)) {
		if parent := names[filepath.Dir(path)]; path != c.disk.root && (parent == nil || !parent.folder) {
			delete(names, path) // its folder is lost
			continue
		}
		rest, err := filepath.Rel(c.disk.root, path)
		if err != nil {
			return err
		}
		i, to := names[path], filepath.Join(dir, rest)
		if i.folder {
			err = os.MkdirAll(to, 0o700)
		} else {
			err = os.WriteFile(to, c.content(i, loss, random), 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// content is what is left of a file.
func (c Crash) content(i *inode, loss Loss, random *rand.Rand) []byte {
	b := bytes.Clone(i.synced)
	for n, x := range i.pending {
		switch {
		case loss == All, loss == Any && random.IntN(3) == 0:
			continue
		case x.data != nil && loss == Last && i == c.last && n == len(i.pending)-1:
			x.data = x.data[:len(x.data)/2]
		case x.data != nil && loss == Any && random.IntN(2) == 0:
			x.data = x.data[:min(len(x.data), sector*random.IntN(len(x.data)/sector+2))]
		}
		if x.data == nil || len(x.data) > 0 {
			b = x.apply(b)
		}
	}
	return b
}

// Each loses the power before each every-th system call of a recorded program that changes something, and after the
// last. If lies is not 0, the disk syncs only half of what it says, and lies chooses which half.
func (r *Recording) Each(every int, lies uint64, f func(Crash) error) error {
	var random *rand.Rand
	if lies != 0 {
		random = rand.New(rand.NewPCG(lies, 0))
	}
	d := newDisk(r.root, random)
	var last *inode
	for n, c := range append(slices.Clone(r.calls), call{name: "exit"}) {
		if n%every == 0 || n == len(r.calls) {
			if err := f(Crash{n, d, last}); err != nil {
				return fmt.Errorf("power lost before call %d of %d, %s: %w", n, len(r.calls), c.name, err)
			}
		}
		wrote, err := d.run(c)
		if err != nil {
			return fmt.Errorf("call %d: %s: %w", n, c.line, err)
		}
		if wrote != nil {
			last = wrote
		}
	}
	return nil
}

// Len is the number of system calls that were recorded.
func (r *Recording) Len() int { return len(r.calls) }

var errNotSimulated = errors.New("it is not simulated")
