// Package history reads a document with the checksums of many ticks as a trace:
//
//	{"match": 77, "checksums": {"0": "f4dbdf21", "5": "83dcefb7", …}}
//	[[0, 3720207379], [1, 2212294583], …]
//	<log><turn n="0" hash="f4dbdf21"/><turn n="1" hash="83dcefb7"/>…</log>
//	{"hashes": [3720207379, 2212294583, …]}
//	<table><tr><th>turn</th><th>hash</th></tr><tr><td>0</td><td>f4dbdf21</td></tr>…</table>
//
// The names of a map, or a number in each row, are the ticks. In a list of nothing but checksums, their places are.
package history

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/engines/engine/messages"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/tracediff"
)

const (
	mostSeries = 64      // of a document
	mostOther  = 16      // scalars that belong to no series
	deepest    = 4       // maps that contain a series
	mostPlaces = 1 << 16 // checksums that are compared with another document

	fewestAlike = 3 // checksums that two peers have in common
)

// History is how a document with checksums is read. It does not change once it is learned.
type History struct {
	notation *notation.Notation
	word     string   // for a tick
	peers    []string // with a series each, nil if all belong to one peer

	columns   []string          // their names, but those that a word names as checksums
	named     bool              // a word names some
	small     bool              // all of these columns have only numbers that are small for checksums
	counted   bool              // ticks are places in a list
	places    map[string]int    // the ticks of checksums, -1 for those that have several
	others    map[string]string // numbers next to the checksums
	forgotten bool
}

// Learn returns how a document is read by its text, which may be cut. It is nil if the text has anything else than the
// checksums of ticks and a few scalars.
func Learn(n *notation.Notation, text []byte) *History {
	found := searchIn(n, text)
	if len(found.series) == 0 {
		return nil
	}
	h := &History{notation: n, word: "tick", others: found.others, small: true}
	players := 0
	for _, s := range found.series {
		if s.word != "" && vocabulary.Of(s.word) == vocabulary.Tick {
			h.word = s.word
		}
		if isPeer(s.name) {
			players++
		}
		h.counted, h.named, h.small = h.counted || s.counted, h.named || s.sums, h.small && s.small
		h.columns = append(h.columns, s.columns...)
		h.note(s)
	}
	if players > 1 && players == len(found.series) && agree(found.series) {
		h.peers = lists.Map(found.series, func(s *series) string { return s.name })
	}
	return h
}

// agree reports whether two of several series have a few different checksums in common: peers have, and parts
// of the state that belong to players have not.
func agree(all []*series) bool {
	for i, s := range all {
		values := map[string]uint64{}
		for _, r := range s.rows {
			values[string(r.cells[0].value)] = r.tick
		}
		for _, other := range all[:i] {
			equal := map[uint64]bool{}
			for _, r := range other.rows {
				if tick, ok := values[string(r.cells[0].value)]; ok && tick == r.tick {
					equal[tick] = true
				}
			}
			if len(equal) >= fewestAlike {
				return true
			}
		}
	}
	return false
}

// note notes the ticks of checksums.
func (h *History) note(s *series) {
	if h.places == nil {
		h.places = map[string]int{}
	}
	for _, r := range s.rows[:min(len(s.rows), mostPlaces)] {
		key := s.name + "\x00" + string(r.cells[0].value)
		if _, again := h.places[key]; again {
			h.places[key] = -1
		} else {
			h.places[key] = int(r.tick)
		}
	}
}

// Shifted reports whether the places in two lists are not the same ticks: several checksums have other places in one than
// in the other, or the lists have none in common.
func (h *History) Shifted(other *History) bool {
	if !h.counted || !other.counted {
		return false
	}
	_, elsewhere := h.compare(other)
	return elsewhere >= fewestAlike || !h.shares(other)
}

// shares reports whether two documents have a checksum in common.
func (h *History) shares(other *History) bool {
	for value := range h.places {
		if _, ok := other.places[value]; ok {
			return true
		}
	}
	return false
}

// Agrees reports whether several checksums of two documents have the same ticks.
func (h *History) Agrees(other *History) bool {
	same, _ := h.compare(other)
	return same >= fewestAlike
}

// compare counts the checksums that have the same place in two documents, and those that have others.
func (h *History) compare(other *History) (same, elsewhere int) {
	for value, place := range h.places {
		switch at, ok := other.places[value]; {
		case !ok || at < 0 || place < 0:
		case at == place:
			same++
		default:
			elsewhere++
		}
	}
	return same, elsewhere
}

// Measures reports whether two documents have measurements of machines, and not checksums: no word names them as checksums,
// their names are of measurements or all numbers are small, and not one value is the same at the same tick.
func (h *History) Measures(other *History, isMeasure func(name string) bool) bool {
	of := func(h *History) bool {
		names := len(h.columns) > 0 && !slices.ContainsFunc(h.columns, func(name string) bool { return !isMeasure(name) })
		return !h.named && (h.small || names)
	}
	same, _ := h.compare(other)
	return of(h) && of(other) && same == 0 && slices.Equal(h.columns, other.columns)
}

// Forget leaves out all checksums.
func (h *History) Forget() { h.forgotten = true }

// Unlike returns the names of the numbers next to the checksums that two documents do not have in common.
func (h *History) Unlike(other *History) (names []string) {
	for name, value := range h.others {
		if theirs, ok := other.others[name]; ok && theirs != value {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Format returns the format of documents that are read so.
func (h *History) Format() tracediff.Format {
	f := tracediff.Format{
		Name: "sums", Title: "document with checksums of ticks",
		Sniff: func([]byte) bool { return false },
		Read:  h.read,
	}
	if h.peers != nil {
		f.Peers = func(io.Reader, string) ([]string, error) { return h.peers, nil }
	}
	return f
}

// read reads the checksums of a peer.
func (h *History) read(r io.Reader, name string, peer int) (tracediff.Source, error) {
	text, err := io.ReadAll(io.LimitReader(r, limits.State.Max()+1))
	if err == nil && limits.State.Over(int64(len(text))) {
		err = limits.State.Reached(name, int64(len(text)))
	}
	if err != nil {
		return nil, err
	}
	found := searchIn(h.notation, text)
	out := &source{word: h.word, end: io.EOF}
	switch {
	case h.forgotten:
		return out, nil
	case found.fault != nil:
		out.end = found.fault.In(name, text)
	case len(found.series) == 0:
		return nil, fmt.Errorf("%s: no checksums of ticks", name)
	}
	for _, s := range found.series {
		if h.peers != nil && s.name != h.peers[peer] {
			continue
		}
		scope := s.name
		if len(found.series) == 1 || h.peers != nil {
			scope = ""
		}
		for _, r := range s.rows {
			out.list = append(out.list, checkpoint{at: r.at, Checkpoint: tracediff.Checkpoint{
				Tick: r.tick, Scope: scope, Phase: tracediff.Confirmed,
				Sums: lists.Map(r.cells, func(c cell) tracediff.Sum { return tracediff.Sum{Name: c.name, Value: c.value} }),
			}})
		}
	}
	lists.SortStable(out.list, func(a, b checkpoint) int { return cmp.Compare(a.Tick, b.Tick) })
	if bytes.IndexByte(text, 0) < 0 {
		lines(out.list, text)
	}
	return out, nil
}

// lines finds the lines of checkpoints by their places in a text.
func lines(all []checkpoint, text []byte) {
	inOrder := lists.Map(all, func(c checkpoint) int { return min(c.at, len(text)) })
	slices.Sort(inOrder)
	at, line, of := 0, int64(1), map[int]int64{}
	for _, to := range inOrder {
		line += int64(bytes.Count(text[at:to], []byte("\n")))
		at, of[to] = to, line
	}
	for i := range all {
		all[i].line = of[min(all[i].at, len(text))]
	}
}

// checkpoint is a checkpoint with its place in the text.
type checkpoint struct {
	tracediff.Checkpoint
	at   int
	line int64
}

// source returns the checkpoints of a document.
type source struct {
	word   string // for a tick
	list   []checkpoint
	record tracediff.Record
	end    error
}

func (s *source) Header() tracediff.Header { return tracediff.Header{} }

func (s *source) Dialect() tracediff.Dialect {
	return tracediff.Dialect{
		Engine: "any game", File: "document with checksums", TickName: messages.TickName(s.word), Endless: true, Lossy: true, AtPoint: true,
		Detail: tracediff.Path,
	}
}

func (s *source) Next() (*tracediff.Record, error) {
	if len(s.list) == 0 {
		return nil, s.end
	}
	c := &s.list[0]
	s.list = s.list[1:]
	s.record = tracediff.Record{Pos: tracediff.Position{Line: c.line, Offset: int64(c.at)}, Checkpoint: &c.Checkpoint}
	return &s.record, nil
}

// isPeer reports whether a name means a peer: player_2, p1, host.
func isPeer(name string) bool {
	short := len(name) > 1 && strings.Trim(name[1:], "0123456789") == "" && strings.ContainsAny(name[:1], "pP")
	return short || vocabulary.Of(name) == vocabulary.Player || slices.Contains([]string{"host", "server", "local", "remote"}, strings.ToLower(name))
}
