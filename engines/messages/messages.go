// Package messages finds what engines write about desyncs into their logs, one line
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
package messages

import (
	"bytes"
	"fmt"
	"io"
	"maps"

	"github.com/desynctool/desynctool/tracediff"
)

// Grammar is what one engine writes.
type Grammar struct {
	Name, Title string // of the format of logs with them
	Dialect     tracediff.Dialect
	Forms       []Form

	// Leads are what the program writes before its messages on a line, besides what
	// logs of all programs have there. What stands after anything else may be a quotation.
	Leads []string
}

// Form is one shape of a claim.
type Form struct {
	Literal string // that it begins with

	// Common says that other programs may also write the literal, so that nothing
	// is wrong with a log that has it and no claim.
	Common bool

	// Context says that it is not a claim: the tick that it names is that of the claims
	// after it that name none.
	Context bool

	// Fact says that it is not a claim: what it says of the game and the machine counts if
	// the log has a claim of the engine.
	Fact bool

	// Needs is what must stand before it on its line, in lower case, since other programs
	// may well write the same.
	Needs string

	// before, if not nil, reads the part of a message that stands before the literal from what
	// stands there on the line, and returns what stands before the message.
	Before func(lead []byte, f *Finding) (rest []byte, ok bool)

	// Weak says that it says less than the engine's other messages, and is repeated: it is
	// kept only where a log has no claim before it.
	Weak bool

	// Parse reads what follows the literal.
	Parse func(c *Cursor) Finding
}

// Finding is what a claim says.
type Finding struct {
	Tick    uint64
	HasTick bool
	Peers   []string
	Values  []tracediff.ClaimedValue
	Players map[uint32]string

	Facts map[string]string

	By       string // who wrote it, as Claim.By
	SelfTest bool
}

// Format returns the format of a log with the engine's messages. It has only claims. Its Sniff reports whether one
// of the messages stands in the leading bytes; [Grammar.Read] finds them anywhere.
func (g *Grammar) Format() tracediff.Format {
	return tracediff.Format{Name: g.Name, Title: g.Title, Sniff: g.sniff, Claims: g.Read}
}

// Read looks for the engine's messages in a whole log. The name is what claims and errors call it.
func (g *Grammar) Read(r io.Reader, name string) (*tracediff.ClaimLog, error) {
	return Scan(r, name, []*Grammar{g})
}

// Scan looks for the messages of some engines in a whole log. The name is what claims
// and errors call it. The dialect is that of the first claim; without any the
// ClaimLog is empty. At most 65536 claims are kept.
func Scan(r io.Reader, name string, list []*Grammar) (*tracediff.ClaimLog, error) {
	logs, err := scan(r, name, list)
	if err != nil {
		return nil, err
	}
	return logs[0], nil
}

// ScanEach reads a log once for what [Scan] returns and for what [Grammar.Read] does of each engine, by the
// names of the grammars.
func ScanEach(r io.Reader, name string, list []*Grammar) (all *tracediff.ClaimLog, each map[string]*tracediff.ClaimLog, err error) {
	lists := [][]*Grammar{list}
	for i := range list {
		lists = append(lists, list[i:i+1])
	}
	logs, err := scan(r, name, lists...)
	if err != nil {
		return nil, nil, err
	}
	each = map[string]*tracediff.ClaimLog{}
	for i := range list {
		each[list[i].Name] = logs[1+i]
	}
	return logs[0], each, nil
}

// sniff reports whether a claim stands in some bytes.
func (e *Grammar) sniff(head []byte) bool {
	for i := range e.Forms {
		f := &e.Forms[i]
		if f.Context || f.Fact {
			continue
		}
		for from := 0; ; {
			at := bytes.Index(head[from:], []byte(f.Literal))
			if at < 0 {
				break
			}
			at += from
			from = at + len(f.Literal)
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
	Finding
	ok   bool // it is a message of the form
	own  bool // and the program's own, as far as what stands before it shows
	cut  bool // it is not, because the text ends
	size int  // from the literal on
	back int  // bytes of it before the literal
}

// match reads a message. The lead is what stands before the literal on its line, nil if that is
// too long.
func (e *Grammar) match(f *Form, lead, text []byte) matched {
	c := Cursor{text: text[:min(len(text), MaxClaim)], pos: len(f.Literal)}
	m := matched{ok: true}
	if f.Before != nil {
		rest, ok := f.Before(lead, &m.Finding)
		if !ok {
			return matched{}
		}
		m.back = len(lead) - len(rest)
		lead = rest
	}
	read := f.Parse(&c)
	read.join(&m.Finding)
	m.Finding, m.ok, m.cut, m.size = read, !c.failed, c.cut, c.pos
	m.own = lead != nil && e.owns(lead)
	if f.Needs != "" && !bytes.Contains(bytes.ToLower(lead), []byte(f.Needs)) {
		m.ok, m.cut = false, false
	}
	return m
}

// join adds what was read before the literal.
func (f *Finding) join(before *Finding) {
	if before.HasTick {
		f.Tick, f.HasTick = before.Tick, true
	}
	if before.Peers != nil {
		f.Peers = before.Peers
	}
	if before.Facts != nil && f.Facts != nil {
		maps.Copy(f.Facts, before.Facts)
	}
}

// Named returns the list of one peer, if it has a name.
func Named(peer string) []string {
	if peer == "" {
		return nil
	}
	return []string{peer}
}

// TickName returns a function that puts an engine's word before the number.
func TickName(word string) func(tick uint64) string {
	return func(tick uint64) string { return fmt.Sprintf("%s %d", word, tick) }
}
