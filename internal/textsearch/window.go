package textsearch

import (
	"bytes"
	"fmt"
	"io"
)

const (
	// Before and Behind are how many bytes around a place to be searched a Window has at least, as far as the text has
	// them. Of a line that begins earlier it has LongLine bytes.
	Before, Behind, LongLine = 1 << 10, 16 << 10, 64 << 10

	// WindowSize is how many bytes of a text are in memory.
	WindowSize  = 256 << 10
	firstWindow = 8 << 10 // as long as no more is known to be there: small logs may be many
	maxLines    = 1 << 7  // that are searched at a time
)

// Window moves over a text, for searchers for some lines of it. It leaves out lines of a shape of which all searchers
// know that they find nothing in them, see [Shape].
type Window struct {
	Buf  []byte
	Base int64 // offset of Buf in the text
	EOF  bool  // Buf has the end of the text

	// Lines are to be searched next. They end before To.
	Lines []Line
	To    int
	// Searched is how many bytes all lines had that were to be searched.
	Searched int64

	in    io.Reader
	name  string
	end   int // of the lines in Buf that have enough behind them
	all   uint8
	whole bool
	dull  Forms[uint8]
}

// Line is where a line is in a window, or lines of unknown shape.
type Line struct {
	From, To int // with its end
	dull     *uint8
}

// NewWindow returns a window before the beginning of a text. Errors use the name.
func NewWindow(in io.Reader, name string) *Window {
	return &Window{in: in, name: name, Buf: make([]byte, 0, firstWindow), dull: Forms[uint8]{Zeros: true}}
}

// Join adds a searcher, before the first lines are read. Another number than zero is for Dull. With zero all lines are
// to be searched.
func (w *Window) Join(judges bool) uint8 {
	if !judges {
		w.whole = true
		return 0
	}
	w.all = w.all<<1 | 1
	return w.all &^ (w.all >> 1)
}

// Dull notes that a searcher finds nothing in lines of the shape of a line.
func (l *Line) Dull(searcher uint8) {
	if l.dull != nil {
		*l.dull |= searcher
	}
}

// IsDull reports whether that was noted, MayBeDull whether it can be and was not.
func (l *Line) IsDull(searcher uint8) bool    { return l.dull != nil && *l.dull&searcher != 0 }
func (l *Line) MayBeDull(searcher uint8) bool { return l.dull != nil && *l.dull&searcher == 0 }

// Next goes on to the next lines. It returns io.EOF at the end of the text.
func (w *Window) Next() error {
	w.Lines = w.Lines[:0]
	if w.To == w.end {
		if w.EOF {
			return io.EOF
		}
		if err := w.fill(); err != nil {
			return err
		}
	}
	if w.whole && w.To < w.end {
		w.Lines = append(w.Lines, Line{From: w.To, To: w.end})
		w.Searched += int64(w.end - w.To)
		w.To = w.end
	}
	for w.To < w.end && len(w.Lines) < maxLines {
		from := w.To
		line, dull := w.dull.Line(w.Buf[from:w.end])
		if line == nil {
			w.To = w.end
			w.Lines = append(w.Lines, Line{From: from, To: w.end})
			w.Searched += int64(w.end - from)
			break
		}
		w.To += len(line) + 1
		if dull == nil || *dull != w.all {
			w.Lines = append(w.Lines, Line{from, w.To, dull})
			w.Searched += int64(len(line) + 1)
		}
	}
	return nil
}

// fill moves the window on.
func (w *Window) fill() error {
	if w.dull.Full() {
		w.dull.Reset()
	}
	begin := max(0, w.To-LongLine) // of the line that is not over
	if n := bytes.LastIndexByte(w.Buf[begin:w.To], '\n'); n >= 0 {
		begin += n + 1
	}
	drop := max(0, begin-Before)
	w.Base += int64(drop)
	w.Buf = w.Buf[:copy(w.Buf, w.Buf[drop:])]
	w.To -= drop
	for len(w.Buf) < WindowSize {
		if len(w.Buf) == cap(w.Buf) {
			w.Buf = append(make([]byte, 0, WindowSize), w.Buf...)
		}
		n, err := w.in.Read(w.Buf[len(w.Buf):cap(w.Buf)])
		w.Buf = w.Buf[:len(w.Buf)+n]
		if err == io.EOF {
			w.EOF = true
			break
		}
		if err != nil {
			return fmt.Errorf("%s: reading at offset %d: %w", w.name, w.Base+int64(len(w.Buf)), err)
		}
	}
	if w.end = len(w.Buf); !w.EOF {
		w.end -= Behind
		if n := bytes.LastIndexByte(w.Buf[w.To:w.end], '\n'); n >= 0 {
			w.end = w.To + n + 1
		}
	}
	return nil
}

// Together calls a function with lines that follow each other, and all bytes of them: those of a long line that is not
// over have the bytes behind them, too.
func (w *Window) Together(search func(lines []Line, text []byte)) {
	for lines := w.Lines; len(lines) > 0; {
		n := 1
		for n < len(lines) && lines[n].From == lines[n-1].To {
			n++
		}
		end := lines[n-1].To
		if w.Buf[end-1] != '\n' {
			end = len(w.Buf)
		}
		search(lines[:n], w.Buf[lines[0].From:end])
		lines = lines[n:]
	}
}

// Cursor counts the lines of a text up to a place in a window.
type Cursor struct {
	Line  int64 // number of the line at the place, from 1
	Start int64 // offset of that line
	at    int64
}

// Pass goes on to a place in a window, or stays where it is.
func (c *Cursor) Pass(w *Window, to int) {
	from := int(c.at - w.Base)
	if to <= from {
		return
	}
	part := w.Buf[from:to]
	if last := bytes.LastIndexByte(part, '\n'); last >= 0 {
		c.Line += int64(bytes.Count(part, []byte{'\n'}))
		c.Start = c.at + int64(last) + 1
	}
	c.at = w.Base + int64(to)
}
