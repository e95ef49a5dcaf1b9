// Package openclonk reads the two lines that OpenClonk, and LegacyClonk, write into a client's log when it is out of
// sync, as two traces of one frame:
//
//	FATAL ERROR: Network: Synchronization loss!
//	FATAL ERROR: Network: Host Frm 100 Ctrl 50 Rnc 98213 Cpx 116852 PXS 593 MMi 630 Obc 1703 Oei 1825 Sct 2655
//	FATAL ERROR: Network: Client Frm 100 Ctrl 50 Rnc 99071 Cpx 76260 PXS 600 MMi 553 Obc 1705 Oei 1827 Sct 2654
//
// Each side has a checkpoint with its sums by name. In a replay the side "Rec" is the recording.
package openclonk

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/tracediff"
)

// sums are the names of the sums in the order of a line. Rn3 is lacking in older versions.
var sums = []string{"Rnc", "Rn3", "Cpx", "PXS", "MMi", "Obc", "Oei", "Sct"}

// sides are the two sides by the names in a line, and their names as peers.
var sides = []struct{ mark, peer string }{{"Host Frm ", "host"}, {"Client Frm ", "client"}, {"Rec  Frm ", "recording"}}

// Formats returns the format of a log with these lines near its begin.
func Formats() []tracediff.Format {
	return []tracediff.Format{{
		Name: "openclonk", Title: "OpenClonk log with the sums of both sides", Sniff: sniff, Peers: peers,
		Read: func(r io.Reader, name string, peer int) (tracediff.Source, error) {
			return &reader{lines: orderlog.NewLines(r, name), side: peer}, nil
		},
	}}
}

func sniff(head []byte) bool {
	var seen [len("HCR")]bool
	n := 0
	for line := range bytes.Lines(head) {
		if line, whole := bytes.CutSuffix(line, []byte("\n")); whole {
			if c, ok := parse(line); ok && !seen[c.side] {
				seen[c.side] = true
				n++
			}
		}
	}
	return n > 1
}

// peers returns the sides whose lines a log has.
func peers(r io.Reader, name string) ([]string, error) {
	names := make([]string, len(sides))
	lines := orderlog.NewLines(r, name)
	for {
		line, err := lines.Next()
		if err != nil {
			if err == io.EOF || errors.As(err, new(*frame.Error)) {
				return names, nil
			}
			return nil, err
		}
		if c, ok := parse(line); ok {
			names[c.side] = sides[c.side].peer
		}
	}
}

// check is what a line says of one side.
type check struct {
	side  int
	frame uint64
	sums  []tracediff.Sum
}

// parse parses a line, whatever stands before "Network: ".
func parse(line []byte) (c check, ok bool) {
	at := bytes.Index(line, []byte("Network: "))
	if at < 0 {
		return c, false
	}
	line = bytes.TrimRight(line[at+len("Network: "):], " \r")
	c.side = -1
	for i := range sides {
		if rest, is := bytes.CutPrefix(line, []byte(sides[i].mark)); is {
			c.side, line = i, rest
			break
		}
	}
	if c.side < 0 {
		return c, false
	}
	fields := bytes.Fields(line)
	if len(fields) < 3 || string(fields[1]) != "Ctrl" || !number(fields[2]) {
		return c, false
	}
	n, err := strconv.ParseUint(string(fields[0]), 10, 31)
	if err != nil {
		return c, false
	}
	c.frame = n
	fields = fields[3:]
	for _, name := range sums {
		if len(fields) < 2 || string(fields[0]) != name {
			if name == "Rn3" {
				continue
			}
			return c, false
		}
		if !number(fields[1]) {
			return c, false
		}
		c.sums = append(c.sums, tracediff.Sum{Name: name, Value: bytes.Clone(fields[1])})
		fields = fields[2:]
	}
	return c, len(fields) == 0
}

// number reports whether a text is a decimal number of 32 bits, perhaps with a sign.
func number(b []byte) bool {
	_, err := strconv.ParseInt(string(b), 10, 33)
	return err == nil && b[0] != '+'
}

type reader struct {
	lines *orderlog.Lines
	side  int
	rec   tracediff.Record
	at    tracediff.Checkpoint
	err   error
}

func (r *reader) Header() tracediff.Header { return tracediff.Header{Peer: sides[r.side].peer} }

func (r *reader) Dialect() tracediff.Dialect {
	return tracediff.Dialect{
		Engine: "OpenClonk", File: "OpenClonk log", Values: true,
		TickName: func(tick uint64) string { return "frame " + strconv.FormatUint(tick, 10) },
		Covers:   "counts and few positions: random numbers drawn, the crew's positions, pixels, mass movers, objects, the last object's number, sectors",
	}
}

func (r *reader) Next() (*tracediff.Record, error) {
	for r.err == nil {
		line, err := r.lines.Next()
		if errors.Is(err, frame.ErrTorn) {
			err = io.EOF // any line of a log may be cut off
		}
		if err != nil {
			r.err = err
			break
		}
		c, ok := parse(line)
		if !ok || c.side != r.side {
			continue
		}
		r.at = tracediff.Checkpoint{Tick: c.frame, Scope: "sync check", Sums: c.sums}
		r.rec = tracediff.Record{Pos: tracediff.Position{Line: r.lines.Number(), Offset: r.lines.Offset()}, Checkpoint: &r.at}
		return &r.rec, nil
	}
	return nil, r.err
}
