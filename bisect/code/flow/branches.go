package flow

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// contexts is the number of contexts in which the next branch is guessed.
const contexts = 1 << 16

// guess has the two branches that followed in a context, the later one first.
type guess struct{ first, second Address }

// Branches are the branches of a thread in their order. A recording has the branches that its recorder could not guess
// from the last few; Next guesses the others in the same way.
type Branches struct {
	name    string
	thread  *Thread
	in      *bufio.Reader
	guesses []guess
	context uint32
	hash    uint64
	last    Address
	read    uint64

	token  bool   // the next three are known
	run    uint64 // branches as guessed
	second bool   // and then the second guess, else
	delta  Address
	ended  bool // there are no more tokens: the rest is as guessed
	err    error
}

// Branches returns the branches of a thread of the recording.
func (r *Recording) Branches(t *Thread) *Branches {
	parts := make([]io.Reader, len(t.chunks))
	for i, c := range t.chunks {
		parts[i] = io.NewSectionReader(r.file, c.from, c.size)
	}
	return &Branches{name: r.Name, thread: t, in: bufio.NewReaderSize(io.MultiReader(parts...), 1<<16), guesses: make([]guess, contexts)}
}

// Err returns why the branches ended early: the recording is damaged.
func (b *Branches) Err() error { return b.err }

// Next fills list with the next branches and returns how many there were: 0 at the end, and after an error.
func (b *Branches) Next(list []Address) int {
	list = list[:min(uint64(len(list)), b.thread.Count-b.read)]
	hash, last, context := b.hash, b.last, b.context
	for n := range list {
		if !b.token && !b.ended {
			if b.err = b.take(); b.err != nil {
				return 0
			}
		}
		g := &b.guesses[context]
		switch {
		case b.ended:
		case b.run > 0:
			b.run--
		case b.second:
			g.first, g.second, b.token = g.second, g.first, false
		default:
			g.first, g.second, b.token = last+b.delta, g.first, false
		}
		at := g.first
		list[n] = at
		hash = (hash ^ uint64(at)) * 0x9e3779b97f4a7c15
		hash ^= hash >> 32
		last = at
		context = (context<<5 ^ uint32(at)*0x9e3779b1>>16) & (contexts - 1)
	}
	b.hash, b.last, b.context = hash, last, context
	if b.read += uint64(len(list)); b.read == b.thread.Count {
		b.err = b.finish()
	}
	if b.err != nil {
		return 0
	}
	return len(list)
}

// take reads a token.
func (b *Branches) take() error {
	v, err := binary.ReadUvarint(b.in)
	switch {
	case err == io.EOF:
		b.ended = true
		return nil
	case err != nil:
		return b.damaged(err)
	}
	b.token, b.run, b.second = true, v>>1, v&1 != 0
	if !b.second {
		if v, err = binary.ReadUvarint(b.in); err != nil {
			return b.damaged(err)
		}
		b.delta = Address(v>>1 ^ -(v & 1))
	}
	return nil
}

// finish checks that the branches are the recorded ones.
func (b *Branches) finish() error {
	if b.token {
		return b.damaged(errors.New("there are more branches than it counts"))
	}
	if _, err := b.in.ReadByte(); err != io.EOF {
		return b.damaged(errors.New("there are more branches than it counts"))
	}
	if b.hash != b.thread.Hash {
		return b.damaged(fmt.Errorf("the branches have hash %016x, it has %016x", b.hash, b.thread.Hash))
	}
	return nil
}

func (b *Branches) damaged(err error) error {
	return fmt.Errorf("%s: branch %d of thread %d: the recording is damaged: %w", b.name, b.read, b.thread.Number, err)
}
