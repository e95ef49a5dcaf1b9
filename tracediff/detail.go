package tracediff

import (
	"errors"
	"fmt"
	"io"
)

// Detail is a line with more information about a checkpoint than its sums, such as a frame of a call stack. Details are
// shown next to a difference but never compared to find one, because peers in sync may have different details.
type Detail struct {
	Text string
	// Aside is information about the line that may differ although the lines are the same, such as a place in a method.
	Aside string
}

// MaxDetails is the maximum number of details of a checkpoint. MaxDetail is the maximum length in bytes of a detail's
// text or aside.
const (
	MaxDetails = 256
	MaxDetail  = 4 << 10
)

// DetailKind is the kind of details in an engine's checkpoints.
type DetailKind string

// Kinds of details.
const (
	NoDetails DetailKind = ""
	// Stack: frames of the call stack that made the checkpoint, innermost first.
	Stack DetailKind = "call-stack"
	// Path: the path to a difference in the state, outermost first, and then the value there.
	Path DetailKind = "path"
)

// Side is one peer's part of the first difference, with the file that contains it, from the file's start.
type Side struct {
	Name  string // of the file
	In    io.Reader
	Value *Value
}

// narrow lets the traces' format add details to the first difference by reading the files side by side.
func (c *comparer) narrow() {
	d := c.result.First
	if d == nil || d.Kind != Changed {
		return
	}
	f := c.list[0].Format
	for _, t := range c.list {
		if f == nil || f.Narrow == nil || t.Format == nil || t.Format.Name != f.Name {
			return
		}
	}
	var sides []Side
	var at []int
	var opened []io.Closer
	defer func() {
		for _, in := range opened {
			in.Close()
		}
	}()
	for i := range d.Values {
		v := &d.Values[i]
		if !v.Present {
			continue
		}
		path := c.list[i].File
		if v.File != "" {
			path = v.File
		}
		in, err := openContent(c.list[i].tree, path, 0)
		if err != nil {
			c.warn("%v", err)
			return
		}
		opened = append(opened, in)
		sides, at = append(sides, Side{path, in, v}), append(at, i)
	}
	details, err := f.Narrow(sides)
	if err != nil {
		c.warn("what differs inside it is not known: %v", err)
	}
	for i, list := range details {
		d.Values[at[i]].Detail = list
	}
}

// SkipTo passes everything before an offset, from where In is.
func (s *Side) SkipTo(offset int64) error {
	skip := func(n int64) (int64, error) { return io.CopyN(io.Discard, s.In, n) }
	if c, ok := s.In.(*content); ok {
		skip = c.skip
	}
	n, err := skip(offset)
	if errors.Is(err, io.EOF) || err == nil && n < offset {
		return fmt.Errorf("%s: the file ends at offset %d, expected what was there before, up to %d", s.Name, n, offset)
	}
	if err != nil {
		return fmt.Errorf("%s: offset %d: %w", s.Name, n, err)
	}
	return nil
}

// FirstOther returns the index of the first line in which lists of details differ, from 0, and false if they do not
// differ. Asides count only if all texts are the same.
func FirstOther(lists [][]Detail) (line int, ok bool) {
	for _, same := range []func(a, b Detail) bool{
		func(a, b Detail) bool { return a.Text == b.Text },
		func(a, b Detail) bool { return a == b },
	} {
		first := -1
		for _, list := range lists[min(1, len(lists)):] {
			n := 0
			for n < min(len(list), len(lists[0])) && same(list[n], lists[0][n]) {
				n++
			}
			if (n < len(list) || n < len(lists[0])) && (first < 0 || n < first) {
				first = n
			}
		}
		if first >= 0 {
			return first, true
		}
	}
	return 0, false
}
