package tracediff

import (
	"errors"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/internal/lists"
)

// Join returns the trace of a peer with checkpoints in several files of an engine that follow each other, such as one
// file a tick. They follow each other by their first ticks, or as [Dialect.Part] shows.
func Join(parts []*Trace) (*Trace, error) {
	type span struct {
		t     *Trace
		first uint64
	}
	var spans []span
	for _, t := range parts {
		x, err := t.Extent()
		if err != nil {
			return nil, err
		}
		if x.Any {
			spans = append(spans, span{t, x.First})
		}
	}
	if len(spans) == 0 {
		return parts[0], nil
	}
	lists.SortStable(spans, func(a, b span) int {
		if a.t.Dialect.Part > 0 && b.t.Dialect.Part > 0 {
			return a.t.Dialect.Part - b.t.Dialect.Part
		}
		return Tick{Number: a.first}.compare(Tick{Number: b.first})
	})
	joined := *spans[0].t
	rest := lists.Map(spans, func(s span) *Trace { return s.t })
	if len(rest) > 1 {
		joined.File = fmt.Sprintf("%s and %d more", rest[0].File, len(rest)-1)
	}
	joined.open = func(how opening) (*Reader, error) {
		first, err := rest[0].open(how)
		if err != nil {
			return nil, err
		}
		s := &joinedSource{parts: rest[1:], how: how, now: first, file: rest[0].File}
		return &Reader{name: joined.File, header: first.header, grammar: grammar{kind: Engine}, source: s, names: how.names, visited: map[visit]uint32{}, closers: []io.Closer{s}}, nil
	}
	return &joined, nil
}

// Extent is the range of ticks in a trace.
type Extent struct {
	First, Last uint64
	Any         bool // the trace has at least one readable record
	Whole       bool // the trace could be read to its end
}

// Extent returns the trace's range of ticks. It reads all of the trace unless the source is a Spanner.
func (t *Trace) Extent() (Extent, error) {
	if t.span {
		return Extent{t.first, t.last, true, true}, nil
	}
	var x Extent
	r, err := t.open(opening{names: new(names), sizes: usual})
	if err != nil {
		return x, err
	}
	for {
		rec, err := r.read()
		if err != nil && errors.As(err, new(*SyntaxError)) {
			continue
		}
		if err != nil {
			x.Whole = err == io.EOF || errors.Is(err, ErrRunning)
			return x, r.Close()
		}
		if x.Last = rec.Tick(); !x.Any {
			x.First, x.Any = x.Last, true
		}
	}
}

// Damage reads the trace to its end and describes why it is not whole, "" if it is.
func (t *Trace) Damage() string {
	r, err := t.open(opening{names: new(names), sizes: usual})
	if err != nil {
		return err.Error()
	}
	defer r.Close()
	for {
		switch _, err := r.read(); {
		case err == nil || errors.As(err, new(*SyntaxError)):
		case errors.Is(err, ErrRunning):
			return ""
		case err == io.EOF:
			return r.cutOff()
		default:
			return err.Error()
		}
	}
}

// joinedSource reads files one after another.
type joinedSource struct {
	parts []*Trace // still to read
	how   opening
	now   *Reader
	file  string
	torn  error // error of a part before the last one
	broke bool  // the part before the next record breaks off, so checkpoints may be lost
}

// broke reports, once, whether checkpoints may be lost before the last record that was read.
func (r *Reader) broke() bool {
	s, ok := r.source.(*joinedSource)
	if !ok || !s.broke {
		return false
	}
	s.broke = false
	return true
}

func (s *joinedSource) Header() Header   { return s.now.header }
func (s *joinedSource) Dialect() Dialect { return s.now.source.Dialect() }

// Next returns the next record. If a file is torn, the next files are still read, but then the end of the last file is
// not a clean end.
func (s *joinedSource) Next() (*Record, error) {
	for {
		rec, err := s.now.read()
		if err == nil || errors.As(err, new(*SyntaxError)) {
			return rec, err
		}
		if err != io.EOF {
			s.broke = true
			if s.torn == nil {
				s.torn = err
			}
		}
		if len(s.parts) == 0 {
			if s.torn != nil {
				return nil, s.torn
			}
			return nil, err
		}
		next, err := s.parts[0].open(s.how)
		if err != nil {
			return nil, err
		}
		s.file = s.parts[0].File
		s.parts = s.parts[1:]
		old := s.now
		s.now = next
		if err := old.Close(); err != nil {
			return nil, err
		}
	}
}

// Close closes the current file.
func (s *joinedSource) Close() error { return s.now.Close() }

// file returns the current file of a trace that is joined from several, else "".
func (r *Reader) file() string {
	if s, ok := r.source.(*joinedSource); ok {
		return s.file
	}
	return ""
}
