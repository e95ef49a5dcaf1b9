// Package loglines finds what engines write about desyncs into their logs, one line
// among others: claims without a trace.
//
//	GGRS       Detected checksum mismatch during rollback on frame 308, mismatched frames: [305, 306]
//	           MismatchedChecksum { current_frame: 308, mismatched_frames: [305, 306] }
//	           DesyncDetected { frame: 100, local_checksum: 123, remote_checksum: 456, addr: 127.0.0.1:7001 }
//	           Desync on frame 100. Local checksum: 7B, remote checksum: 1C8
//	FAF        Checksum for beat 1950 mismatched: 00cc…d1fb (sim) != afb4…19d9 (Birchwater).
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
	"maps"
	"slices"

	"github.com/desynctool/desynctool/tracediff"
)

// engine is what one engine writes.
type engine struct {
	name, title string
	dialect     tracediff.Dialect
	forms       []form

	// leads are what the program writes before its messages on a line, besides what
	// logs of all programs have there. What stands after anything else may be a quotation.
	leads []string
}

// form is one shape of a claim.
type form struct {
	literal string // that it begins with

	// common says that other programs may also write the literal, so that nothing
	// is wrong with a log that has it and no claim.
	common bool

	// context says that it is not a claim: the tick that it names is that of the claims
	// after it that name none.
	context bool

	// fact says that it is not a claim: what it says of the game and the machine counts if
	// the log has a claim of the engine.
	fact bool

	// needs is what must stand before it on its line, in lower case, since other programs
	// may well write the same.
	needs string

	// before, if not nil, reads the part of a message that stands before the literal from what
	// stands there on the line, and returns what stands before the message.
	before func(lead []byte, f *finding) (rest []byte, ok bool)

	// weak says that it says less than the engine's other messages, and is repeated: it is
	// kept only where a log has no claim before it.
	weak bool

	// parse reads what follows the literal.
	parse func(c *cursor) finding
}

// finding is what a claim says.
type finding struct {
	tick    uint64
	hasTick bool
	peers   []string
	values  []tracediff.ClaimedValue
	players map[uint32]string

	facts map[string]string

	by       string // who wrote it, as Claim.By
	selfTest bool
}

// engines returns the table of all engines.
func engines() []engine {
	return []engine{ggrs(), faf(), stratagus(), warzone(), gekkonet(), openclonk(), clausewitz(), beaverbuddies(), openttd(), openra()}
}

// Formats returns one format for each engine. They have only claims. Sniff
// reports whether one of the engine's lines stands in the leading bytes; Scan
// finds them anywhere.
func Formats() []tracediff.Format {
	var out []tracediff.Format
	for _, e := range engines() {
		out = append(out, tracediff.Format{
			Name: e.name, Title: e.title, Sniff: e.sniff,
			Claims: func(r io.Reader, name string) (*tracediff.ClaimLog, error) { return scanFor(r, name, []engine{e}) },
		})
	}
	return out
}

// ReadOnly returns the function that reads one engine's messages in a log, by the name that [Formats] gives it.
func ReadOnly(name string) func(io.Reader, string) (*tracediff.ClaimLog, error) {
	list := Formats()
	return list[slices.IndexFunc(list, func(f tracediff.Format) bool { return f.Name == name })].Claims
}

// Scan looks for the lines of all engines in a whole log. The name is what claims
// and errors call it. The dialect is that of the first claim; without any the
// ClaimLog is empty. At most 65536 claims are kept.
func Scan(r io.Reader, name string) (*tracediff.ClaimLog, error) { return scanFor(r, name, engines()) }

// ScanEach reads a log once for what [Scan] returns and for what each of [Formats] does, by the
// names of these.
func ScanEach(r io.Reader, name string) (all *tracediff.ClaimLog, each map[string]*tracediff.ClaimLog, err error) {
	list := engines()
	lists := [][]engine{list}
	for i := range list {
		lists = append(lists, list[i:i+1])
	}
	logs, err := scan(r, name, lists...)
	if err != nil {
		return nil, nil, err
	}
	each = map[string]*tracediff.ClaimLog{}
	for i := range list {
		each[list[i].name] = logs[1+i]
	}
	return logs[0], each, nil
}

func scanFor(r io.Reader, name string, list []engine) (*tracediff.ClaimLog, error) {
	logs, err := scan(r, name, list)
	if err != nil {
		return nil, err
	}
	return logs[0], nil
}

// sniff reports whether a claim stands in some bytes.
func (e *engine) sniff(head []byte) bool {
	for i := range e.forms {
		f := &e.forms[i]
		if f.context || f.fact {
			continue
		}
		for from := 0; ; {
			at := bytes.Index(head[from:], []byte(f.literal))
			if at < 0 {
				break
			}
			at += from
			from = at + len(f.literal)
			lead := head[bytes.LastIndexByte(head[:at], '\n')+1 : at]
			if m := e.match(f, lead, head[at:]); m.ok && m.own {
				return true
			}
		}
	}
	return false
}

// matched is what a form reads at a place where its literal stands.
type matched struct {
	finding
	ok   bool // it is a message of the form
	own  bool // and the program's own, as far as what stands before it shows
	cut  bool // it is not, because the text ends
	size int  // from the literal on
	back int  // bytes of it before the literal
}

// match reads a message. The lead is what stands before the literal on its line, nil if that is
// too long.
func (e *engine) match(f *form, lead, text []byte) matched {
	c := cursor{text: text[:min(len(text), maxClaim)], pos: len(f.literal)}
	m := matched{ok: true}
	if f.before != nil {
		rest, ok := f.before(lead, &m.finding)
		if !ok {
			return matched{}
		}
		m.back = len(lead) - len(rest)
		lead = rest
	}
	read := f.parse(&c)
	read.join(&m.finding)
	m.finding, m.ok, m.cut, m.size = read, !c.failed, c.cut, c.pos
	m.own = lead != nil && e.owns(lead)
	if f.needs != "" && !bytes.Contains(bytes.ToLower(lead), []byte(f.needs)) {
		m.ok, m.cut = false, false
	}
	return m
}

// join adds what was read before the literal.
func (f *finding) join(before *finding) {
	if before.hasTick {
		f.tick, f.hasTick = before.tick, true
	}
	if before.peers != nil {
		f.peers = before.peers
	}
	if before.facts != nil && f.facts != nil {
		maps.Copy(f.facts, before.facts)
	}
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
