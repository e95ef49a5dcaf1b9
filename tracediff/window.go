package tracediff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/desynctool/desynctool/internal/file/files"
)

// maxLine is the longest line that is read as a record. It is shorter than the part of a window after its position.
const maxLine = 1 << 20

// sizes are in bytes. Tests use small ones.
type sizes struct {
	// window is how much of a file is in memory at a time. It is more than margin, line and files.MapUnit together.
	window int
	// margin is how much already read data stays in memory. A comparison needs it to step back to the start of a tick
	// and to show the lines before a difference.
	margin int
	// line is the longest line.
	line int
	// head is how much of the traces is read record by record even where they are equal. This shows which checkpoints
	// they have, and whether they predict.
	head int64
	// skip is the shortest run of equal bytes that is skipped. far is how long a run must be before all processors work
	// on the rest of it.
	skip, far int64
}

var usual = sizes{window: 4 << 20, margin: 1 << 20, line: maxLine, head: 256 << 10, skip: 4 << 10, far: 8 << 20}

// errCut reports that a file became shorter while it was mapped.
var errCut = errors.New("file was cut while it was read")

// window is the part of a file or stream that is in memory. It moves forward.
type window struct {
	name string
	sizes

	// file and size are set for data that can be read at any offset. size is the size when the file was opened; data
	// written after it is ignored.
	file   files.File
	size   int64
	mapped bool

	stream io.Reader // if file is nil

	buf  []byte // bytes of the file from base on
	base int64
	pos  int   // in buf
	eof  bool  // buf reaches the end
	cut  bool  // the file ended before its size
	torn error // error of a stream that breaks off, such as a compressed file

	moved func() // called before the window moves, if not nil

	own []byte // memory of a window that is not mapped
}

// fileWindow returns a window for an open file. It maps the file if the system can.
func fileWindow(f files.File, name string, mapped bool, z sizes) (*window, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return &window{name: name, sizes: z, stream: f}, nil
	}
	return &window{name: name, sizes: z, file: f, size: info.Size(), mapped: mapped && files.CanMap}, nil
}

func (w *window) offset() int64 { return w.base + int64(w.pos) }

// rest returns the bytes in memory from the position on.
func (w *window) rest() []byte { return w.buf[w.pos:] }

// fill reads more bytes into memory, or sets eof. Slices that were returned before become invalid.
func (w *window) fill() error {
	if w.eof {
		return nil
	}
	if w.moved != nil {
		w.moved()
	}
	end := w.base + int64(len(w.buf))
	if w.file != nil {
		if err := w.seek(w.offset()); err != nil {
			return err
		}
		if !w.eof && w.base+int64(len(w.buf)) == end {
			return w.full()
		}
		return nil
	}
	keep := max(0, w.pos-w.margin)
	if free := cap(w.own) - (len(w.buf) - keep); free <= cap(w.own)/2 && cap(w.own) < w.window {
		grown := make([]byte, min(max(64<<10, 2*cap(w.own)), w.window))
		w.buf = grown[:copy(grown, w.buf[keep:])]
		w.own = grown
	} else {
		w.buf = w.own[:copy(w.own, w.buf[keep:])]
	}
	w.base += int64(keep)
	w.pos -= keep
	if len(w.buf) == cap(w.own) {
		return w.full()
	}
	for have := len(w.buf); len(w.buf) == have; {
		n, err := w.stream.Read(w.own[have:cap(w.own)])
		w.buf = w.own[:have+n]
		if err == io.EOF {
			w.eof = true
			return nil
		} else if errors.Is(err, io.ErrUnexpectedEOF) {
			w.eof, w.torn = true, fmt.Errorf("%s: reading at offset %d: %w", w.name, w.base+int64(len(w.buf)), err)
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: reading at offset %d: %w", w.name, w.base+int64(len(w.buf)), err)
		}
	}
	return nil
}

// end returns how the file or stream ended: io.EOF, or an error that wraps io.ErrUnexpectedEOF.
func (w *window) end() error {
	if w.torn != nil {
		return w.torn
	}
	return io.EOF
}

func (w *window) full() error {
	return fmt.Errorf("%s: more than %d bytes are needed at offset %d", w.name, w.window, w.offset())
}

// seek moves the window of a file so that it contains offset at and its surroundings.
func (w *window) seek(at int64) error {
	begin := max(0, at-int64(w.margin))
	if w.mapped {
		begin &^= files.MapUnit - 1
	}
	length := int(min(int64(w.window), w.size-begin))
	w.eof = begin+int64(length) >= w.size
	if w.mapped {
		if err := w.remap(begin, length); err == nil {
			w.base, w.pos = begin, int(at-begin)
			return nil
		}
		w.mapped = false // and do not try again
	}
	if cap(w.own) < length {
		w.own = make([]byte, length)
	}
	n, err := w.file.ReadAt(w.own[:length], begin)
	if err == io.EOF || err == io.ErrUnexpectedEOF || err == nil && n < length {
		w.eof, w.cut, w.size = true, true, begin+int64(n)
	} else if err != nil {
		return fmt.Errorf("%s: reading at offset %d: %w", w.name, begin, err)
	}
	w.buf, w.base = w.own[:n], begin
	w.pos = int(min(at-begin, int64(n)))
	return nil
}

func (w *window) remap(begin int64, length int) error {
	w.unmap()
	if length == 0 {
		return nil
	}
	buf, err := files.Map(w.file, begin, length)
	if err == nil {
		w.buf = buf
	}
	return err
}

func (w *window) unmap() {
	if w.mapped && len(w.buf) > 0 {
		files.Unmap(w.buf)
	}
	w.buf = nil
}

// line returns the next line without its end, and whether it had one. A line longer than sizes.line is skipped and
// returned in part; ok is then false. At the end of the file it returns io.EOF.
func (w *window) line() (line []byte, ended, ok bool, err error) {
	scanned := 0
	for {
		rest := w.rest()
		if i := bytes.IndexByte(rest[scanned:], '\n'); i >= 0 {
			i += scanned
			w.pos += i + 1
			return trimReturn(rest[:i]), true, i <= w.sizes.line, nil
		}
		scanned = len(rest)
		if w.eof {
			if scanned == 0 {
				return nil, false, true, w.end()
			}
			w.pos += scanned
			return trimReturn(rest), false, scanned <= w.sizes.line, nil
		}
		if scanned > w.sizes.line {
			return w.longLine()
		}
		if err := w.fill(); err != nil {
			return nil, false, true, err
		}
	}
}

// wholeLine returns the next line without its line feed if all of it is in memory, else nil. It does not move the
// window.
func (w *window) wholeLine() []byte {
	rest := w.rest()
	i := bytes.IndexByte(rest, '\n')
	if i < 0 || i > w.sizes.line {
		return nil
	}
	return rest[:i]
}

// longLine skips a line that is longer than sizes.line. The part of the line that it returns is a copy.
func (w *window) longLine() (line []byte, ended, ok bool, err error) {
	line = bytes.Clone(w.rest()[:min(64, len(w.rest()))])
	for {
		if i := bytes.IndexByte(w.rest(), '\n'); i >= 0 {
			w.pos += i + 1
			return line, true, false, nil
		}
		w.pos = len(w.buf)
		if w.eof {
			return line, false, false, nil
		}
		if err := w.fill(); err != nil {
			return nil, false, false, err
		}
	}
}

func trimReturn(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

// equalPrefix returns how many bytes at the start of a and b are equal. It compares blocks of growing size, so it is
// fast for few bytes and for many.
func equalPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	done, block := 0, 64
	for done < n {
		end := min(n, done+block)
		if !bytes.Equal(a[done:end], b[done:end]) {
			break
		}
		done = end
		block = min(4*block, 64<<10)
	}
	if done == n {
		return n
	}
	// The difference is inside a block, so bisect the block.
	end := min(n, done+block)
	for end-done > 16 {
		if mid := done + (end-done)/2; bytes.Equal(a[done:mid], b[done:mid]) {
			done = mid
		} else {
			end = mid
		}
	}
	for done < end && a[done] == b[done] {
		done++
	}
	return done
}

// equalAhead returns how many bytes after their positions are equal in all windows, which must be windows of files. If
// count is set, it also returns how many lines end in them. It uses all processors and does not move the windows.
func equalAhead(windows []*window, count bool) (n, lines int64, err error) {
	limit := windows[0].size - windows[0].offset()
	for _, w := range windows[1:] {
		limit = min(limit, w.size-w.offset())
	}
	var equal atomic.Int64 // a difference is known to begin here
	equal.Store(limit)
	offset := windows[0].offset() % chunkSize
	counts := make([]int64, limit/chunkSize+2) // number of lines, by chunk
	err = chunks(windows[0].offset(), limit, func(begin, end int64) (bool, error) {
		if begin >= equal.Load() {
			return false, nil
		}
		n, lines, err := equalChunk(windows, begin, end-begin, count)
		counts[(begin+offset)/chunkSize] = lines
		if err != nil || n == end-begin {
			return true, err
		}
		for {
			if old := equal.Load(); begin+n >= old || equal.CompareAndSwap(old, begin+n) {
				return false, nil
			}
		}
	})
	n = equal.Load()
	// Another processor may have counted a chunk or two after the difference.
	for i, c := range counts {
		if int64(i)*chunkSize-offset < n {
			lines += c
		}
	}
	return n, lines, err
}

// equalChunk is equalAhead for n bytes, starting begin bytes after the positions.
func equalChunk(windows []*window, begin, n int64, count bool) (equal, lines int64, err error) {
	first, release, err := windows[0].chunk(begin, n)
	if err != nil {
		return 0, 0, err
	}
	defer release()
	others := make([][]byte, len(windows)-1)
	for i, w := range windows[1:] {
		b, release, err := w.chunk(begin, n)
		if err != nil {
			return 0, 0, err
		}
		defer release()
		others[i] = b
	}
	for equal < n {
		const piece = 128 << 10 // stays in the cache until it is counted
		end := min(n, equal+piece)
		same := int(end - equal)
		for _, b := range others {
			same = equalPrefix(first[equal:equal+int64(same)], b[equal:])
		}
		if count {
			lines += int64(bytes.Count(first[equal:equal+int64(same)], newline))
		}
		equal += int64(same)
		if equal < end {
			break
		}
	}
	return equal, lines, nil
}

// countLines returns the number of line ends in n bytes from w's position on. w must be the window of a file.
func countLines(w *window, n int64) (int64, error) {
	var lines atomic.Int64
	err := chunks(w.offset(), n, func(begin, end int64) (bool, error) {
		b, release, err := w.chunk(begin, end-begin)
		if err != nil {
			return false, err
		}
		defer release()
		lines.Add(int64(bytes.Count(b, newline)))
		return true, nil
	})
	return lines.Load(), err
}

var newline = []byte{'\n'}

// chunkSize is the piece of a file that one processor takes at a time.
const chunkSize = files.MapUnit

// chunks calls f for the pieces of n bytes until f returns false. Several goroutines call it, each with ascending
// pieces. The first piece begins at offset at and ends at an aligned offset.
func chunks(at, n int64, f func(begin, end int64) (bool, error)) error {
	workers := min(runtime.GOMAXPROCS(0), 4)
	errs := make([]error, workers)
	var next atomic.Int64
	next.Store(-(at % chunkSize))
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() {
			defer guard(&errs[i])()
			for {
				begin := next.Add(chunkSize) - chunkSize
				if begin >= n {
					return
				}
				if more, err := f(max(0, begin), min(n, begin+chunkSize)); err != nil || !more {
					errs[i] = err
					return
				}
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// chunk returns n bytes, starting begin bytes after the position. They are valid until release is called.
func (w *window) chunk(begin, n int64) (b []byte, release func(), err error) {
	begin += w.offset()
	if w.mapped {
		start := begin &^ (files.MapUnit - 1)
		if b, err := files.Map(w.file, start, int(begin-start+n)); err == nil {
			return b[begin-start:], func() { files.Unmap(b) }, nil
		}
	}
	b = make([]byte, n)
	if got, err := w.file.ReadAt(b, begin); int64(got) < n {
		if err == io.EOF {
			err = errCut
		}
		return nil, nil, fmt.Errorf("%s: reading at offset %d: %w", w.name, begin, err)
	}
	return b, func() {}, nil
}

// guard turns a fault into an error. The system raises such faults when a mapped file has become shorter. Use it as
// "defer guard(&err)()".
func guard(err *error) func() {
	old := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(old)
		switch p := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			*err = errCut
		default:
			panic(p)
		}
	}
}

// capture returns the line at offset, up to n lines before it and up to n lines after it, as far as they are in memory.
// Lines are valid until the next fill.
func (w *window) capture(offset int64, n int) (lines [][]byte, before int) {
	if offset < w.base || offset > w.base+int64(len(w.buf)) {
		return nil, 0
	}
	at := int(offset - w.base)
	begin := at
	for before < n && begin > 0 {
		i := bytes.LastIndexByte(w.buf[:begin-1], '\n')
		if i < 0 && w.base > 0 || begin-i > w.sizes.line {
			break
		}
		begin = i + 1
		before++
	}
	for text := w.buf[begin:]; len(text) > 0 && len(lines) < before+1+n; {
		line, rest, _ := bytes.Cut(text, newline)
		lines = append(lines, trimReturn(line))
		text = rest
	}
	return lines, before
}
