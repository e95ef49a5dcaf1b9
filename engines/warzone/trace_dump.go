package warzone

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/frame"

	"github.com/desynctool/desynctool/tracediff"
)

// dump is the trace of one dump: a checkpoint for each line.
type traceDump struct {
	in   *Dump
	peer string
	file string

	open   string // scope of the object that is being updated, empty if none is
	buffer []byte

	rec tracediff.Record
	at  tracediff.Checkpoint
}

func readDump(r io.Reader, name string, _ int) (tracediff.Source, error) {
	in, err := NewDump(r, name)
	if err != nil {
		return nil, err
	}
	d := &traceDump{in: in, peer: dumpPeer(name), file: name}
	d.rec.Checkpoint = &d.at
	if in.Part() == nil {
		d.at.Seal = fmt.Sprintf("0x%08X", in.Head().CRC)
	}
	d.at.Tick = uint64(in.Head().Time / TickLength)
	if n, ok := ParseDumpName(compression.PlainName(filepath.Base(name))); ok && in.Part() != nil && !in.Part().Timed {
		d.at.Tick = uint64(n.Time / TickLength)
	}
	return d, nil
}

// verifyDump reads a dump to its end, which its CRC follows. It returns an
// error for one that is damaged, but not for one that is cut off.
func verifyDump(r io.Reader, name string) error {
	in, err := NewDump(r, name)
	for err == nil {
		_, err = in.Next()
	}
	if err == io.EOF || errors.Is(err, frame.ErrTorn) {
		return nil
	}
	return err
}

func (d *traceDump) Header() tracediff.Header {
	h := tracediff.Header{Peer: d.peer, RateNum: 1000 / TickLength, RateDen: 1}
	if part := d.in.Part(); part != nil {
		h.Meta = map[string]string{tracediff.PasteMeta: cmp.Or(part.Head.Paste, d.file)}
	}
	return h
}

func (d *traceDump) Dialect() tracediff.Dialect {
	return tracediff.Dialect{
		Engine: "Warzone 2100", File: "Warzone 2100 sync dump", TickName: TickName, AtPoint: true, Values: true,
		Covers: "lines that the game prints about objects, power and orders in one tick: droids, structures, features and projectiles " +
			"in the order of their updates; not the map, research, or the state of the random number generator",
	}
}

// Span returns the one tick of the dump.
func (d *traceDump) Span() (first, last uint64) { return d.at.Tick, d.at.Tick }

// Next returns the next line. Lines that may differ between peers in sync are skipped.
func (d *traceDump) Next() (*tracediff.Record, error) {
	for {
		e, err := d.in.Next()
		if err != nil {
			return nil, err
		}
		if e.Gap != nil {
			d.open = ""
		}
		if e.MayDiffer() {
			continue
		}
		d.rec.Pos = tracediff.Position{Line: e.Line, Offset: e.Offset}
		d.at.System, d.at.Scope = d.system(e), d.scope(e)
		d.at.Sums = d.at.Sums[:0]
		for i := range e.Values {
			if v := &e.Values[i]; len(v.Text) > 0 {
				d.at.Sums = append(d.at.Sums, tracediff.Sum{Name: v.Name, Value: v.Text})
			}
		}
		d.at.HasCount = len(d.at.Sums) == 0
		return &d.rec, nil
	}
}

// system returns the function, and of the line of an object the mark after it:
// "droidUpdate >".
func (d *traceDump) system(e *Entry) string {
	if e.Mark == 0 || !e.About() {
		return e.Function
	}
	d.buffer = append(append(d.buffer[:0], e.Function...), ' ', e.Mark)
	return d.in.intern(d.buffer)
}

// scope returns what a line is about: "droid 288", "economy1". Lines without one belong to the object that is being
// updated.
func (d *traceDump) scope(e *Entry) string {
	if !e.About() {
		if len(e.Subject) == 0 {
			return d.open
		}
		d.buffer = append(d.buffer[:0], e.Subject...)
		return d.in.intern(d.buffer)
	}
	d.buffer = append(d.buffer[:0], e.Kind...)
	if e.HasID {
		d.buffer = append(d.buffer, ' ')
		d.buffer = strconv.AppendUint(d.buffer, uint64(e.ID), 10)
	}
	scope := d.in.intern(d.buffer)
	switch {
	case e.Mark == '<':
		d.open = scope
	case e.Mark == '>' && scope == d.open:
		d.open = ""
	}
	return scope
}
