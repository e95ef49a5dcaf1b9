package tracediff

import (
	"bytes"
	"io"
	"slices"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
)

// reading are the sizes for a Reader outside a comparison. It never steps back.
var reading = sizes{window: maxLine + 256<<10, line: maxLine, head: 256 << 10}

// OpenReader opens the trace in the file at path. [Reader.Close] closes the file. It is like [NewReader] for a file,
// and lets [Reader.SeekTick] search the file.
func OpenReader(tree files.Tree, path string, opts ReadOptions) (*Reader, error) {
	return openReader(tree, path, opts, reading)
}

func openReader(tree files.Tree, path string, opts ReadOptions, z sizes) (*Reader, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		r, err := NewReader(f, path, opts)
		if err != nil {
			f.Close()
			return nil, err
		}
		r.closers = append(r.closers, f)
		return r, nil
	}
	packing, err := packingOf(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return readFile(f, path, packing, opts, opening{names: new(names), sizes: z})
}

// packingOf returns how an open file is compressed, "" if it is not.
func packingOf(f files.File) (string, error) {
	head := make([]byte, compression.MagicLen)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return "", err
	}
	return compression.Packing(head[:n]), nil
}

// SeekTick skips the records before the first one with this tick or a later one; Next returns that record next. If
// there is none, Next returns io.EOF. Skipped data is not checked, except for the checksums of a binary trace. If Next
// would return an error that ends reading, so does SeekTick.
//
// Uncompressed text in a file opened by [OpenReader] is searched by bisection if its lines have ticks. SeekTick assumes
// that ticks ascend, unless the lines that it samples go back. In that case, and in all other traces, it reads
// everything that it skips. After a search, records have no line numbers.
func (r *Reader) SeekTick(tick uint64) error {
	if b := r.binary; b != nil {
		b.from = tick
		defer func() { b.from = 0 }()
	}
	begun, last, ascending := r.offset(), uint64(0), r.searchable()
	for {
		rec, err := r.read()
		switch {
		case err == io.EOF:
			return nil
		case err != nil && r.err != nil:
			return err
		case err != nil:
			continue // a malformed line
		case rec.Tick() >= tick:
			r.ahead = rec
			return nil
		}
		clear(r.visited)
		if !ascending {
			continue
		}
		ascending = rec.Event == nil && rec.Checkpoint.Phase == Confirmed && rec.Tick() >= last
		last = rec.Tick()
		if ascending && r.win.offset()-begun >= r.win.sizes.head {
			ascending = false // only once
			if at := (&search{r: r, tick: tick}).find(last); at > r.win.offset() {
				if err := r.win.seek(at); err != nil {
					r.err = err
					return err
				}
				r.line, r.jumped = 0, true
			}
		}
	}
}

// offset returns how far a text was read.
func (r *Reader) offset() int64 {
	if r.win == nil {
		return 0
	}
	return r.win.offset()
}

// searchable reports whether a line in r means the same wherever reading begins, and whether any part of the file can
// be read.
func (r *Reader) searchable() bool {
	if r.win == nil || r.win.file == nil || r.binary != nil {
		return false
	}
	switch r.grammar.kind {
	case Pairs, Table:
		return true
	case Pattern:
		return slices.ContainsFunc(r.grammar.groups, func(g group) bool { return g.key == keyTick })
	}
	return false
}

const (
	searchSamples = 32      // places at which ticks must ascend
	searchBlock   = 8 << 10 // bytes to read at a place, more if no line with a tick begins in them
	searchLimit   = 1 << 20 // maximum number of bytes to read
)

// search looks for a tick in a text.
type search struct {
	r     *Reader
	tick  uint64
	block []byte

	// The target begins roughly between the offsets low and high. Ticks that were seen before low are first at most;
	// ticks after high are last at least.
	low, high   int64
	first, last uint64
}

// lineTicks describes the lines that begin in a block.
type lineTicks struct {
	first, last uint64 // ticks
	below       int64  // start of the last line with a tick before the wanted one, -1 if there is none
}

// find returns the offset of a line that lies at most a few blocks before the wanted tick; all ticks before that line
// are lower than the wanted one. It returns 0 if ticks do not ascend, as far as was seen. last is the tick before the
// current position.
func (s *search) find(last uint64) int64 {
	s.low, s.high, s.first, s.last = s.r.win.offset(), s.r.win.size, last, ^uint64(0)
	step := max((s.high-s.low)/searchSamples, 2*searchBlock)
	for at := s.low + step; at < s.r.win.size; at += step {
		x, ok := s.sample(at)
		if !ok || x.first < last {
			return 0
		}
		last = x.last
		s.narrow(at, x)
	}
	for s.high-s.low > 4*searchBlock {
		mid := s.low + (s.high-s.low)/2
		x, ok := s.sample(mid)
		if !ok || x.first < s.first || x.last > s.last {
			return 0
		}
		s.narrow(mid, x)
	}
	return s.low
}

// narrow uses a sample at an offset between low and high, or after them.
func (s *search) narrow(at int64, x lineTicks) {
	if x.below >= 0 {
		s.low, s.first = x.below, min(x.last, s.tick)
	}
	if x.last >= s.tick && at < s.high {
		s.last = x.last
		if s.high = at; x.below >= 0 {
			s.high = x.below
		}
	}
}

// sample reads the lines that begin after offset at. It returns false if they are not lines of a trace with ascending
// ticks.
func (s *search) sample(at int64) (x lineTicks, ok bool) {
	x.below = -1
	records := 0
	left := s.r.win.size - at
	for size := int64(searchBlock); ; size *= 4 {
		size = min(size, left)
		s.block = slices.Grow(s.block[:0], int(size))[:size]
		if n, err := s.r.win.file.ReadAt(s.block, at); int64(n) < size || err != nil && err != io.EOF {
			return x, false
		}
		begin := bytes.IndexByte(s.block, '\n') + 1
		for begin > 0 {
			n := bytes.IndexByte(s.block[begin:], '\n')
			if n < 0 {
				break
			}
			if tick, is := s.tickOf(trimReturn(s.block[begin : begin+n])); is {
				if s.r.rec.Event != nil || s.r.f.c.Phase != Confirmed || records > 0 && tick < x.last {
					return x, false
				}
				if records == 0 {
					x.first = tick
				}
				x.last = tick
				records++
				if tick < s.tick {
					x.below = at + int64(begin)
				}
			}
			begin += n + 1
		}
		switch {
		case records > 0:
			return x, true
		case size == left: // only the end: the target is before it
			x.first, x.last = ^uint64(0), ^uint64(0)
			return x, true
		case size >= searchLimit:
			return x, false
		}
	}
}

// tickOf returns the tick of a line. It returns false if the line is not a record.
func (s *search) tickOf(line []byte) (uint64, bool) {
	if s.r.grammar.kind == Pairs && len(line) > 0 && line[0] == '%' {
		return 0, false // a line that ends a trace has an effect when it is read
	}
	is, err := s.r.parse(line)
	return s.r.f.c.Tick, is && err == nil
}
