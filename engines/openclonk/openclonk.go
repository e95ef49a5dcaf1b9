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
	"io"
	"strconv"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/messages"
	"github.com/desynctool/desynctool/tracediff"
)

// sums are the names of the sums in the order of a line. Rn3 is lacking in older versions.
var sums = []string{"Rnc", "Rn3", "Cpx", "PXS", "MMi", "Obc", "Oei", "Sct"}

// sides are the two sides by the names in a line, and their names as peers.
var sides = []struct{ mark, peer string }{{"Host", "host"}, {"Client", "client"}, {"Rec ", "recording"}}

// Format returns the format of a log with these lines near its begin.
func Format() tracediff.Format {
	return engine.Lines{
		Name: "openclonk", Title: "OpenClonk log with the sums of both sides", Sniff: sniff, Peers: peers,
		PeerName: func(side int) string { return sides[side].peer },
		Dialect: func(int) tracediff.Dialect {
			return tracediff.Dialect{Engine: "OpenClonk", File: "OpenClonk log", Values: true, TickName: messages.TickName("frame"), Covers: covers}
		},
		Parser: func(side int) func([]byte, *tracediff.Checkpoint) bool {
			return func(line []byte, to *tracediff.Checkpoint) bool {
				c, ok := parse(line)
				*to = tracediff.Checkpoint{Tick: c.frame, Scope: "sync check", Sums: c.sums}
				return ok && c.side == side
			}
		},
	}.Format()
}

const covers = "counts and few positions: random numbers drawn, the crew's positions, pixels, mass movers, objects, the last object's number, sectors"

func sniff(head []byte) bool {
	seen := map[int]bool{}
	for line := range engine.WholeLines(head) {
		if c, ok := parse(line); ok {
			seen[c.side] = true
		}
	}
	return len(seen) > 1
}

// peers returns the sides whose lines a log has.
func peers(r io.Reader, name string) ([]string, error) {
	names := make([]string, len(sides))
	return names, engine.EachLine(r, name, func(line []byte, _ tracediff.Position) bool {
		if c, ok := parse(line); ok {
			names[c.side] = sides[c.side].peer
		}
		return true
	})
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
		if rest, is := bytes.CutPrefix(line, []byte(sides[i].mark+" Frm ")); is {
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
