package flow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func Example() {
	_, err := Read(strings.NewReader("a saved game"), 12, "branches-1")
	fmt.Println(err)
	// Output: branches-1: offset 8: not a recording of branches: expected "DSBR" and version 1
}

// written is what a recorder writes of some branches, by the specification: each run of guessed branches, and then the
// one that was not the first guess.
func written(branches []Address) []byte {
	b := append([]byte("DSBR\x01\x00\x00\x00"), 1, 0, 0, 0, 4, 0)
	b = append(b, "game\x02\xab\xcd"...)
	var tokens []byte
	type pair [2]Address
	guesses := map[uint32]pair{}
	var context uint32
	var hash, run uint64
	var last Address
	for _, at := range branches {
		g := guesses[context]
		switch at {
		case g[0]:
			run++
		case g[1]:
			tokens = binary.AppendUvarint(tokens, run<<1|1)
			guesses[context], run = pair{at, g[0]}, 0
		default:
			tokens = binary.AppendUvarint(tokens, run<<1)
			tokens = binary.AppendVarint(tokens, int64(at-last))
			guesses[context], run = pair{at, g[0]}, 0
		}
		hash = (hash ^ uint64(at)) * 0x9e3779b97f4a7c15
		hash ^= hash >> 32
		last = at
		context = (context<<5 ^ (uint32(at)*0x9e3779b1)>>16) & 0xffff
	}
	if len(tokens) > 0 {
		half := len(tokens) / 2
		for _, part := range [][]byte{tokens[:half], tokens[half:]} {
			b = binary.LittleEndian.AppendUint32(b, 3)
			b = binary.LittleEndian.AppendUint32(b, uint32(len(part)))
			b = append(b, part...)
		}
	}
	b = binary.LittleEndian.AppendUint32(b, noThread)
	b = binary.LittleEndian.AppendUint32(b, 1)
	b = binary.LittleEndian.AppendUint32(b, 3)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(branches)))
	b = binary.LittleEndian.AppendUint64(b, hash)
	b = binary.LittleEndian.AppendUint32(b, 1)
	return binary.LittleEndian.AppendUint64(b, 77)
}

func all(r *Recording, number uint32, size int) (list []Address, err error) {
	b := r.Branches(r.Thread(number))
	buf := make([]Address, size)
	for n := b.Next(buf); n > 0; n = b.Next(buf) {
		list = append(list, buf[:n]...)
	}
	return list, b.Err()
}

// TestReadBack: branches that are written by the specification are read as they were.
func TestReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		place := rapid.Custom(func(t *rapid.T) Address {
			return Address(rapid.SampledFrom([]uint64{1, 5, 900, 1<<48 + 7, 1<<48 - 1, 0xffff<<48 | 3}).Draw(t, "at"))
		})
		branches := rapid.SliceOfN(place, 1, 300).Draw(t, "branches")
		content := written(branches)
		r, err := Read(bytes.NewReader(content), int64(len(content)), "r")
		if err != nil {
			t.Fatal(err)
		}
		got, err := all(r, 3, rapid.IntRange(1, 50).Draw(t, "size"))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(branches) {
			t.Fatalf("%v, %v, expected %v", got, err, branches)
		}
		if r.Modules[0].Path != "game" || len(r.Stack) != 1 || r.Stack[0] != 77 || r.Thread(9).Count != 0 {
			t.Fatalf("%+v", r)
		}
	})
}

// TestSameModules: programs without a build id are the same only as one file.
func TestSameModules(t *testing.T) {
	libc := Module{Path: "/lib/libc.so.6", BuildID: []byte{1}}
	of := func(m Module) *Recording { return &Recording{Modules: []Module{m, libc}} }
	a, b := of(Module{Path: "/a"}), of(Module{Path: "/b"})
	if sameModules([2]*Recording{a, b}) || !sameModules([2]*Recording{a, a}) {
		t.Error("programs without a build id")
	}
	if !sameModules([2]*Recording{of(Module{Path: "/a", BuildID: []byte{2}}), of(Module{Path: "/b", BuildID: []byte{2}})}) {
		t.Error("copies of one build")
	}
}

// TestDamagedRecordings: a recording with one other byte, or with a cut, is an error or has the same branches.
func TestDamagedRecordings(t *testing.T) {
	branches := []Address{4, 8, 15, 4, 8, 15, 4, 8, 16, 23, 4, 8, 15, 42, 4, 8, 15}
	content := written(branches)
	read := func(b []byte) ([]Address, error) {
		r, err := Read(bytes.NewReader(b), int64(len(b)), "r")
		if err != nil {
			return nil, err
		}
		if r.Thread(3).Count > 1<<20 {
			return nil, errors.New("a claim that costs seconds, and is refused in the end")
		}
		return all(r, 3, 5)
	}
	for i := range content {
		if _, err := read(content[:i]); err == nil {
			t.Errorf("a recording that is cut after %d of %d bytes is read", i, len(content))
		}
		for bit := range 8 {
			other := bytes.Clone(content)
			other[i] ^= 1 << bit
			got, err := read(other)
			if err == nil && len(got) > 0 && fmt.Sprint(got) != fmt.Sprint(branches) {
				t.Errorf("byte %d, bit %d: read as %v", i, bit, got)
			}
		}
	}
}

// FuzzRecording reads anything.
func FuzzRecording(f *testing.F) {
	f.Add(written([]Address{4, 8, 15, 4, 8, 15, 4, 8, 16}))
	f.Fuzz(func(t *testing.T, content []byte) {
		r, err := Read(bytes.NewReader(content), int64(len(content)), "r")
		if err != nil {
			return
		}
		for _, thread := range r.Threads {
			if thread.Count > 1<<20 {
				continue // a claim that costs seconds and is refused in the end
			}
			_, _ = all(r, thread.Number, 100)
		}
	})
}

// BenchmarkBranches reads branches of which one in 20 is not guessed.
func BenchmarkBranches(b *testing.B) {
	var branches []Address
	x := uint32(1)
	for i := range 1 << 20 {
		x = x*1664525 + 1013904223
		at := Address(i%7*16 + 1000)
		if x>>16%20 == 0 {
			at += 8
		}
		branches = append(branches, at)
	}
	content := written(branches)
	buf := make([]Address, window)
	b.SetBytes(int64(len(branches)))
	for b.Loop() {
		r, err := Read(bytes.NewReader(content), int64(len(content)), "r")
		if err != nil {
			b.Fatal(err)
		}
		s := r.Branches(r.Thread(3))
		for s.Next(buf) > 0 {
		}
		if s.Err() != nil {
			b.Fatal(s.Err())
		}
	}
}
