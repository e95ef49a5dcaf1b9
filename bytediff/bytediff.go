// Package bytediff compares two files byte by byte, whatever they contain.
package bytediff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// MaxRanges is how many ranges a Result keeps. All are counted.
const MaxRanges = 1000

// MaxBytes is how many bytes of a range are kept of each side.
const MaxBytes = 64

const (
	blockSize = 1 << 20 // read at once
	chunkSize = 4 << 10 // compared at once
	gap       = 8       // ranges with fewer equal bytes between them are one
)

// File is one of two files to compare.
type File struct {
	Name string // for errors
	io.ReaderAt
	Size int64
}

// Result is how two files differ. The first of two values belongs to the first file.
type Result struct {
	Sizes          [2]int64
	Prefix, Suffix int64 // bytes that are equal at the begin, and from the end of both; they do not overlap in either

	// Bytes and Count cover the bytes that both files have at the same offset: bytes that differ, and their ranges.
	// Ranges has the first of them.
	Bytes, Count int64
	Ranges       []Range
	Stride       *Stride // nil if the ranges do not repeat

	Text     *Text       // of two texts, else nil
	Programs *[2]Program // of two programs, else nil
}

// Range is a range of bytes that differ, except for single bytes in it.
type Range struct {
	Offset, Length int64
	Raw            [2][]byte // the first MaxBytes
	Numbers        []Number  // the bytes at its begin as numbers
}

// Diverged reports whether the files differ, and none of them may be cut.
func (r *Result) Diverged() bool { return r.Bytes > 0 }

// Incomplete reports whether one file is the beginning of the other, so that it may be cut.
func (r *Result) Incomplete() bool { return r.Bytes == 0 && r.Sizes[0] != r.Sizes[1] }

// Inserted reports whether the files are equal except for bytes that one of them has in addition, and returns the
// number of that file.
func (r *Result) Inserted() (file int, ok bool) {
	if r.Sizes[1] > r.Sizes[0] {
		file = 1
	}
	return file, r.Sizes[0] != r.Sizes[1] && r.Prefix+r.Suffix == min(r.Sizes[0], r.Sizes[1])
}

// Compare compares two files. It needs memory for two blocks and for its result.
func Compare(a, b File) (*Result, error) {
	r := &Result{Sizes: [2]int64{a.Size, b.Size}}
	pair := [2]File{a, b}
	if err := r.scan(pair); err != nil {
		return nil, err
	}
	if !r.Diverged() && !r.Incomplete() {
		r.Prefix = a.Size
		return r, nil
	}
	if err := r.scanBack(pair); err != nil {
		return nil, err
	}
	r.Stride = strideOf(r.Ranges)
	for i := range r.Ranges {
		if err := r.Ranges[i].fill(pair, r.Stride); err != nil {
			return nil, err
		}
	}
	r.Programs = programsOf(pair)
	var err error
	r.Text, err = textOf(pair, r)
	return r, err
}

// scan compares the files from their begin.
func (r *Result) scan(pair [2]File) error {
	end := min(r.Sizes[0], r.Sizes[1])
	r.Prefix = end
	var last Range // not kept yet
	blocks := [2][]byte{make([]byte, min(end, blockSize)), make([]byte, min(end, blockSize))}
	for at := int64(0); at < end; {
		n := min(end-at, blockSize)
		for i, f := range pair {
			if err := f.read(blocks[i][:n], at); err != nil {
				return err
			}
		}
		r.block(blocks[0][:n], blocks[1][:n], at, &last)
		at += n
	}
	r.keep(last)
	return nil
}

// block adds the differences of two blocks of the same length.
func (r *Result) block(a, b []byte, at int64, last *Range) {
	if bytes.Equal(a, b) {
		return
	}
	for from := 0; from < len(a); from += chunkSize {
		to := min(from+chunkSize, len(a))
		if bytes.Equal(a[from:to], b[from:to]) {
			continue
		}
		for i := from; i < to; i++ {
			if a[i] == b[i] {
				continue
			}
			r.Bytes++
			offset := at + int64(i)
			if last.Length == 0 || offset-last.Offset-last.Length >= gap {
				r.keep(*last)
				*last = Range{Offset: offset}
			}
			last.Length = offset + 1 - last.Offset
		}
	}
}

// keep adds a range.
func (r *Result) keep(last Range) {
	if last.Length == 0 {
		return
	}
	if r.Count == 0 {
		r.Prefix = last.Offset
	}
	if r.Count++; len(r.Ranges) < MaxRanges {
		r.Ranges = append(r.Ranges, last)
	}
}

// scanBack compares the files from their end.
func (r *Result) scanBack(pair [2]File) error {
	end := min(r.Sizes[0], r.Sizes[1]) - r.Prefix
	blocks := [2][]byte{make([]byte, min(end, blockSize)), make([]byte, min(end, blockSize))}
	for r.Suffix < end {
		n := min(end-r.Suffix, blockSize)
		for i, f := range pair {
			if err := f.read(blocks[i][:n], f.Size-r.Suffix-n); err != nil {
				return err
			}
		}
		equal := int64(0)
		if bytes.Equal(blocks[0][:n], blocks[1][:n]) {
			equal = n
		}
		for equal < n && blocks[0][n-1-equal] == blocks[1][n-1-equal] {
			equal++
		}
		if r.Suffix += equal; equal < n {
			break
		}
	}
	return nil
}

// read fills block with the bytes at an offset of the file.
func (f File) read(block []byte, at int64) error {
	n, err := f.ReadAt(block, at)
	switch {
	case n == len(block):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return fmt.Errorf("%s: became shorter while it was read: at offset %d, expected %d bytes", f.Name, at+int64(n), f.Size)
	}
	return fmt.Errorf("%s: at offset %d: %w", f.Name, at+int64(n), err)
}

// fill reads the bytes of a range, and their values as numbers.
func (g *Range) fill(pair [2]File, stride *Stride) error {
	for i, f := range pair {
		g.Raw[i] = make([]byte, min(g.Length, MaxBytes))
		if err := f.read(g.Raw[i], g.Offset); err != nil {
			return err
		}
	}
	const around = 8
	from := max(0, g.Offset-around)
	var near [2][]byte
	for i, f := range pair {
		near[i] = make([]byte, min(g.Offset+2*around, pair[0].Size, pair[1].Size)-from)
		if err := f.read(near[i], from); err != nil {
			return err
		}
	}
	g.Numbers = numbers(g.Offset, from, near, stride)
	return nil
}

// Stride is set if ranges begin at one offset of every so many bytes.
type Stride struct {
	Distance int64 `json:"distance"`
	Offset   int64 `json:"offset"` // ranges begin at Offset + n × Distance
	Ranges   int   `json:"ranges"` // so many of those that are kept do
}

// Bounds of strides. With three ranges, distances have one common divisor by chance more often.
const (
	leastDistance = gap + 1
	leastRanges   = 3
	leastPercent  = 60
	maxCandidates = 64
)

// strideOf returns the stride of ranges, nil if they have none.
func strideOf(ranges []Range) *Stride {
	count := map[int64]int{} // of distances that may be the stride
	for i := 1; i < len(ranges); i++ {
		d := ranges[i].Offset - ranges[i-1].Offset
		count[d]++
		if i > 1 {
			count[gcd(d, ranges[i-1].Offset-ranges[i-2].Offset)]++
		}
	}
	var candidates []int64
	for d := range count {
		if d >= leastDistance {
			candidates = append(candidates, d)
		}
	}
	slices.SortFunc(candidates, func(a, b int64) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return int(min(max(b-a, -1), 1))
	})
	var best *Stride
	for _, d := range candidates[:min(len(candidates), maxCandidates)] {
		s := supported(ranges, d)
		if best == nil || 10*s.Ranges > 11*best.Ranges || 10*s.Ranges >= 9*best.Ranges && s.Distance > best.Distance {
			best = s
		}
	}
	if best == nil || best.Ranges < leastRanges || 100*best.Ranges < leastPercent*len(ranges) ||
		best.Ranges == leastRanges && best.Distance%4 != 0 {
		return nil
	}
	return best
}

// supported returns the offset at which most ranges begin, of every so many bytes.
func supported(ranges []Range, distance int64) *Stride {
	best := &Stride{Distance: distance}
	at := map[int64]int{}
	for _, g := range ranges {
		offset := g.Offset % distance
		if at[offset]++; at[offset] > best.Ranges {
			best.Offset, best.Ranges = offset, at[offset]
		}
	}
	return best
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
