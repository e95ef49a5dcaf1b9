package openttd

import (
	"sync"

	"github.com/desynctool/desynctool/snapshot"
)

// scratch is memory that decoders use one after another. Nothing in it belongs to their results, except names.
type scratch struct {
	content []byte // the file's
	body    []byte // the unpacked content of the container

	saves  int // that were read with it
	chunks map[[4]byte]*chunk
	tables []snapshot.Table
	order  []int
}

// chunk is what is known of a chunk from the save before, if that had it.
type chunk struct {
	id   string
	save int // the one that had it last

	// The description that the layout was made of, how many names it has and how deep it is. Nil if the
	// records did not describe themselves.
	description []byte
	names       int
	depth       int
	layout      *layout
}

// maxScratch is how many bytes of each kind are kept for the next decoder: of a file, of a body, of rows
// with their descriptions.
const maxScratch = 4 << 20

// About how many bytes a chunk and the parts of a layout take.
const (
	chunkSize  = 128
	layoutSize = 256
	columnSize = 256 // with its field and its name
	restSize   = 32
)

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// free gives the memory to the next decoder.
func (s *scratch) free() {
	s.clean()
	scratches.Put(s)
}

// clean removes all data of the save, and memory beyond the limits.
func (s *scratch) clean() {
	if cap(s.content) > maxScratch {
		s.content = nil
	}
	if cap(s.body) > maxScratch {
		s.body = nil
	}
	size := 0
	for _, c := range s.chunks {
		size += chunkSize + cap(c.description)
		if c.layout != nil {
			clear(c.layout.rest)
			c.layout.rest = c.layout.rest[:0]
			size += c.layout.size()
		}
	}
	if size > maxScratch {
		s.chunks = nil
	}
	clear(s.tables)
	s.tables = s.tables[:0]
}

// chunk returns what is known of the chunk of that id, and whether this save has had it.
func (s *scratch) chunk(id [4]byte) (c *chunk, again bool) {
	if c = s.chunks[id]; c != nil {
		again = c.save == s.saves
		c.save = s.saves
		return c, again
	}
	if s.chunks == nil {
		s.chunks = map[[4]byte]*chunk{}
	}
	c = &chunk{id: string(id[:]), save: s.saves}
	s.chunks[id] = c
	return c, false
}

// maxCopied is how many collected values are copied, so that their memory is used again. Longer lists become part of a
// table without a copy.
const maxCopied = 64 << 10

// exact is the memory of some tables. Each one takes the part that it needs.
type exact struct {
	columns []snapshot.Column
	keys    []uint64
	ends    []uint32
	data    []byte
}

// copied returns how many of the collected values are copied.
func copied[T any](collected []T) int {
	if len(collected) > maxCopied {
		return 0
	}
	return len(collected)
}

// take returns what was collected, or a copy of it from memory that is large enough. It leaves nothing
// that is not its own to be used again.
func take[T any](from *[]T, collected *[]T) []T {
	n := len(*collected)
	switch {
	case n == 0:
		return nil
	case copied(*collected) == 0:
		all := (*collected)[:n:n]
		*collected = nil
		return all
	}
	part := (*from)[:n:n]
	*from = (*from)[n:]
	copy(part, *collected)
	return part
}
