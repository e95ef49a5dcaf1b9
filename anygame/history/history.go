// Package history reads a document with the checksums of many ticks as a trace:
//
//	{"match": 77, "checksums": {"0": "f4dbdf21", "5": "83dcefb7", …}}
//	[[0, 3720207379], [1, 2212294583], …]
//	<log><turn n="0" hash="f4dbdf21"/><turn n="1" hash="83dcefb7"/>…</log>
//	{"hashes": [3720207379, 2212294583, …]}
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
	mostSeries = 64 // of a document
	mostOther  = 16 // scalars that belong to no series
	deepest    = 4  // maps that contain a series
)

// History is how a document with checksums is read. It does not change once it is learned.
type History struct {
	notation *notation.Notation
	word     string   // for a tick
	counted  bool     // ticks are places in a list
	peers    []string // with a series each, nil if all belong to one peer
	first    map[string]uint64
}

// Learn returns how a document is read by its text, which may be cut. It is nil if the text has anything else than the
// checksums of ticks and a few scalars.
func Learn(n *notation.Notation, text []byte) *History {
	found, _ := seriesIn(n, text)
	if len(found) == 0 {
		return nil
	}
	h := &History{notation: n, word: "tick", first: map[string]uint64{}}
	players := 0
	for _, s := range found {
		h.counted = h.counted || s.counted
		if s.word != "" && vocabulary.Of(s.word) == vocabulary.Tick {
			h.word = s.word
		}
		if isPeer(s.name) {
			players++
		}
		for i, r := range s.rows {
			for _, c := range r.cells {
				key := string(c.value)
				if _, again := h.first[key]; again {
					h.first[key] = 0
				} else if len(h.first) < 1<<16 {
					h.first[key] = uint64(i) + 1
				}
			}
		}
	}
	if players > 1 && players == len(found) {
		h.peers = lists.Map(found, func(s *series) string { return s.name })
	}
	return h
}

// Shifted reports whether several checksums of two lists have other places in one than in the other: then their places are
// no ticks.
func (h *History) Shifted(other *History) bool {
	const fewest = 3
	elsewhere := 0
	for value, place := range h.first {
		if at := other.first[value]; place > 0 && at > 0 && at != place {
			elsewhere++
		}
	}
	return h.counted && other.counted && elsewhere >= fewest
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
	found, fault := seriesIn(h.notation, text)
	out := &source{history: h, end: io.EOF}
	switch {
	case fault != nil:
		out.end = fault.In(name, text)
	case len(found) == 0:
		return nil, fmt.Errorf("%s: no checksums of ticks", name)
	}
	for _, s := range found {
		if h.peers != nil && s.name != h.peers[peer] {
			continue
		}
		scope := s.name
		if len(found) == 1 || h.peers != nil {
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
	line, before := int64(1), 0
	for i := range out.list {
		if at := min(out.list[i].at, len(text)); at >= before && bytes.IndexByte(text[:min(len(text), 512)], 0) < 0 {
			line += int64(bytes.Count(text[before:at], []byte("\n")))
			out.list[i].line, before = line, at
		}
	}
	return out, nil
}

// checkpoint is a checkpoint with its place in the text.
type checkpoint struct {
	tracediff.Checkpoint
	at   int
	line int64
}

// source returns the checkpoints of a document.
type source struct {
	history *History
	list    []checkpoint
	record  tracediff.Record
	end     error
}

func (s *source) Header() tracediff.Header { return tracediff.Header{} }

func (s *source) Dialect() tracediff.Dialect {
	return tracediff.Dialect{
		Engine: "any game", File: "document with checksums", TickName: messages.TickName(s.history.word), Endless: true, Lossy: true, AtPoint: true,
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

// isPeer reports whether a name is that of a peer: player_2, p1, host.
func isPeer(name string) bool {
	short := len(name) > 1 && strings.Trim(name[1:], "0123456789") == "" && strings.ContainsAny(name[:1], "pP")
	return short || vocabulary.Of(name) == vocabulary.Player || slices.Contains([]string{"host", "server", "local", "remote"}, strings.ToLower(name))
}
