package widelands

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/desynctool/desynctool/internal/file/frame"

	"github.com/desynctool/desynctool/tracediff"
)

// entries reads the entries of a sync stream as checkpoints. It is a
// tracediff.Skipper.
//
// The tick is the stream's clock, 0 before the first RunQueue. An excerpt begins inside a tick: everything before the
// first RunQueue, and all of the first tick, is left out, so that excerpts that begin at different times have whole
// ticks only. The Desync entry is a claim, not a checkpoint.
type entries struct {
	stream *Stream
	header tracediff.Header
	ahead  *Entry // the next entry, if it has been read

	rec   tracediff.Record
	point tracediff.Checkpoint
	sums  [3]tracediff.Sum
	text  [64]byte
}

func newEntries(r io.Reader, name string) (*entries, error) {
	stream, err := NewStream(r, name)
	if err != nil {
		return nil, err
	}
	s := &entries{stream: stream, header: tracediff.Header{Peer: Peer(name)}}
	s.rec.Checkpoint = &s.point
	if x := stream.Excerpt(); x != nil {
		s.header.Build = x.Version + " " + x.Build
		s.ahead = secondTick(stream)
	}
	return s, nil
}

// secondTick returns the first entry of the second time in a stream, nil
// if it ends before that.
func secondTick(stream *Stream) *Entry {
	first, timed := uint32(0), false
	for {
		e, err := stream.Next()
		if err != nil {
			return nil // which Next returns again
		}
		if e.Timed && !timed {
			first, timed = e.Clock, true
		}
		if timed && e.Clock != first {
			kept := *e
			return &kept
		}
	}
}

func (s *entries) Header() tracediff.Header { return s.header }

func (s *entries) Dialect() tracediff.Dialect {
	file := "Widelands sync stream"
	if s.stream.Excerpt() != nil {
		file += " excerpt"
	}
	return tracediff.Dialect{
		Engine: title, File: file, Unit: unit, Values: true, Endless: s.stream.Excerpt() == nil,
		Covers: "the work of the simulation: commands run, objects acting, random numbers, positions given; not the state itself",
	}
}

// Next returns the next entry.
func (s *entries) Next() (*tracediff.Record, error) {
	e := s.ahead
	s.ahead = nil
	for e == nil || e.Kind == Desync {
		var err error
		if e, err = s.stream.Next(); err != nil {
			return nil, running(err)
		}
	}
	p := &s.point
	p.Tick = uint64(e.Clock)
	p.System = ""
	if e.Timed {
		p.System = CommandName(e.Command)
	}
	p.Scope = e.Kind.String()
	p.Sums = s.sums[:e.Kind.NumFields()]
	text := s.text[:0]
	for i := range p.Sums {
		begin := len(text)
		if t := e.Text(i); t != "" {
			text = append(text, t...)
		} else {
			text = strconv.AppendInt(text, e.Value(i), 10)
		}
		p.Sums[i] = tracediff.Sum{Name: e.Kind.FieldName(i), Value: text[begin:len(text):len(text)]}
	}
	s.rec.Pos.Offset = e.Offset
	return &s.rec, nil
}

// running marks the end of a copy that was made while the game was writing: it
// writes whole blocks.
func running(err error) error {
	var torn *frame.Error
	if errors.As(err, &torn) && torn.Err == frame.ErrTorn && (torn.Offset+torn.Lost)%Block == 0 {
		return fmt.Errorf("%w: %w", tracediff.ErrRunning, err)
	}
	return err
}

// Skip skips ticks. A tick is over if the RunQueue that begins the next one ends at the offset or before.
func (s *entries) Skip(offset int64) (last uint64, passed bool, err error) {
	clock, passed := s.stream.Skip(offset)
	if passed {
		s.ahead = nil
	}
	return uint64(clock), passed, nil
}

// streamClaims returns the Desync entries of a sync stream. They have no time: the
// host writes the entry once the reports of all peers have come, some time after
// the report that differs.
func streamClaims(r io.Reader, name string) (*tracediff.ClaimLog, error) {
	stream, err := NewStream(r, name)
	if err != nil {
		return nil, err
	}
	s := &entries{stream: stream}
	log := &tracediff.ClaimLog{Dialect: s.Dialect(), Peer: Peer(name)}
	for {
		e, err := stream.Next()
		if err == io.EOF {
			return log, nil
		}
		if errors.Is(err, frame.ErrTorn) {
			return log, nil // the reader of the entries reports that
		}
		if err != nil {
			return trouble(log, err)
		}
		if e.Kind != Desync || len(log.Claims) == maxClaims {
			continue
		}
		c := tracediff.Claim{File: name, Pos: tracediff.Position{Offset: e.Offset}, Text: fmt.Sprintf("Desync player=%d", e.Value(0))}
		if n := e.Value(0); n >= 0 {
			c.Peers = []string{accused(strconv.FormatInt(n, 10))}
		}
		log.Claims = append(log.Claims, c)
	}
}
