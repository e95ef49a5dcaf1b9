// Package loglines finds what engines write about desyncs into their logs, one line
// among others: claims without a trace.
//
//	GGRS       Detected checksum mismatch during rollback on frame 308, mismatched frames: [305, 306]
//	           MismatchedChecksum { current_frame: 308, mismatched_frames: [305, 306] }
//	           DesyncDetected { frame: 100, local_checksum: 123, remote_checksum: 456, addr: 127.0.0.1:7001 }
//	           Desync on frame 100. Local checksum: 7B, remote checksum: 1C8
//	FAF        Checksum for beat 1950 mismatched: 00cc…d1fb (sim) != afb4…19d9 (PhilipJFry).
//	Warzone    Found CRC error when receiving GAME_GAME_TIME for player: 0 (checkTime: 49902, checkCrc: 6239)
//	Stratagus  Network out of sync seed: 87654321!=87654321 , hash: 3118210E!=31182108 Cycle 145
//
// Anything may stand before and after them on the line, lines may be of any
// length, and the rest of the log may be anything. A value whose peer the line does
// not name has an empty name; so does that of the log's own peer, which none of
// them names.
//
// A number that the file's end cuts off is not trusted: the log's Trouble says
// that it breaks off there.
package loglines

import (
	"bytes"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/tracediff"
)

// engine is what one engine writes.
type engine struct {
	name, title string
	dialect     tracediff.Dialect
	forms       []form
}

// form is one shape of a claim.
type form struct {
	literal string // that it begins with

	// common says that other programs may also write the literal, so that nothing
	// is wrong with a log that has it and no claim.
	common bool

	// parse reads what follows the literal.
	parse func(c *cursor) finding
}

// finding is what a claim says.
type finding struct {
	tick    uint64
	hasTick bool
	// selfTest is Claim.SelfTest.
	selfTest bool
	peers    []string
	values   []tracediff.ClaimedValue
	players  map[uint32]string
}

// engines returns the table of all engines.
func engines() []engine { return []engine{ggrs(), faf(), stratagus(), warzone()} }

// Formats returns one format for each engine. They have only claims. Sniff
// reports whether one of the engine's lines stands in the leading bytes; Scan
// finds them anywhere.
func Formats() []tracediff.Format {
	var out []tracediff.Format
	for _, e := range engines() {
		out = append(out, tracediff.Format{
			Name: e.name, Title: e.title, Sniff: e.sniff,
			Claims: func(r io.Reader, name string) (*tracediff.ClaimLog, error) { return scan(r, name, []engine{e}) },
		})
	}
	return out
}

// Scan looks for the lines of all engines in a whole log. The name is what claims
// and errors call it. The dialect is that of the first claim; without any the
// ClaimLog is empty. At most 65536 claims are kept.
func Scan(r io.Reader, name string) (*tracediff.ClaimLog, error) { return scan(r, name, engines()) }

// sniff reports whether a claim stands in some bytes.
func (e *engine) sniff(head []byte) bool {
	for i := range e.forms {
		f := &e.forms[i]
		for rest := head; ; {
			at := bytes.Index(rest, []byte(f.literal))
			if at < 0 {
				break
			}
			rest = rest[at+len(f.literal):]
			c := cursor{text: rest[:min(len(rest), maxClaim)]}
			if f.parse(&c); !c.failed {
				return true
			}
		}
	}
	return false
}

// named returns the list of one peer, if it has a name.
func named(peer string) []string {
	if peer == "" {
		return nil
	}
	return []string{peer}
}

// tickName returns a function that puts an engine's word before the number.
func tickName(word string) func(tick uint64) string {
	return func(tick uint64) string { return fmt.Sprintf("%s %d", word, tick) }
}
