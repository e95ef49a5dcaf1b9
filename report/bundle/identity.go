package bundle

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/tracediff"
)

// identity is what a file states about its match.
type identity struct {
	game  string  // empty for files that may be of any game
	id    string  // the engine's own name of the match, empty if the file has none
	seed  *uint64 // nil if the file does not contain it
	peer  string  // the file's peer, empty if the file does not name it
	log   *logHead
	known bool // it is evidence, whatever it contains

	said []tracediff.Claim // its messages, of a part of a file that these split
}

// logHead is what an order log contains before its first order.
type logHead struct {
	build, peers, params string
	start                merkle.Hash
	first                uint64 // state point
	native               bool
}

// part is a stretch of a file, or several, with their identity.
type part struct {
	identity
	spans  []archive.Span // nil for a whole file
	line   int64          // where it begins
	format *engine.Format // nil if it is the file's
}

// identify returns what a file states about its match: one part, or several with their spans if it has data of several
// matches. It reads the head of the file; it reads text logs whole.
func (s *Session) identify(f *File) []part {
	one := part{identity: identity{known: f.isEvidence() || f.ofOnePeer() || f.table}}
	if f.Format != nil {
		one.game = f.Format.Game
	}
	switch {
	case f.Err != nil || f.other || f.Size == 0:
	case f.isReport():
		if rest, ok := strings.CutPrefix(compression.PlainName(filepath.Base(f.Path)), "desync_report_"); ok {
			digits, _, _ := strings.Cut(rest, "_")
			if seed, err := strconv.ParseUint(digits, 16, 64); err == nil {
				one.seed = &seed
			}
		}
	case f.IsLog():
		s.identifyLog(f, &one.identity)
	case f.isState():
		return s.identifyStates(f, one)
	case f.isChain():
		if r, closer, err := formats.OpenChain(s.tree, f.Path); err == nil {
			h := r.Header()
			one.peer, one.seed = s.names.peer(h.Peer), &h.Seed
			closer.Close()
		}
	case f.Format != nil && f.Format.Matches != nil:
		if list := s.matchParts(f); len(list) > 0 {
			return list
		}
	case f.Format == nil && !f.ownTrace() && !f.table, f.Format != nil && isMessage(f):
		return s.identifyMessages(f, one)
	case f.ownTrace():
		if h, ok := s.traceHeader(f); ok {
			one.peer = h.Peer
			if h.HasSeed {
				one.seed = &h.Seed
			}
		}
	}
	one.seedByID()
	return []part{one}
}

// seedByID gives an id of 32 hex digits the seed that states of such a match have: its first
// eight bytes.
func (i *identity) seedByID() {
	if i.seed == nil && len(i.id) == 32 {
		if n, err := strconv.ParseUint(i.id[:16], 16, 64); err == nil {
			i.seed = &n
		}
	}
}

// identifyLog reads the header of an order log.
func (s *Session) identifyLog(f *File, out *identity) {
	file, err := s.tree.Open(f.Path)
	if err != nil {
		return
	}
	defer file.Close()
	content, _, err := compression.Unpack(file, 0)
	if err != nil {
		return
	}
	if c, ok := content.(io.Closer); ok {
		defer c.Close()
	}
	source, err := f.Format.Log(bufio.NewReaderSize(content, 1<<14), f.Path)
	if err != nil {
		return
	}
	h := source.Header()
	out.peer = h.Peer
	out.log = &logHead{build: h.Build, peers: strings.Join(h.Peers, "\x00"), start: h.Start, first: h.FirstPoint, native: f.Format.Native}
	var params []string
	for name, value := range h.Params {
		params = append(params, name+"="+value)
	}
	slices.Sort(params)
	out.log.params = strings.Join(params, "\x00")
	if h.Seed != 0 || f.Format.Native {
		out.seed = &h.Seed
	}
	if foreign, ok := source.(orderlog.Foreign); ok {
		out.id = foreign.Dialect().Session
	}
}

// identifyStates reads the heads of the states in a file.
func (s *Session) identifyStates(f *File, one part) []part {
	sets, err := snapshot.FindFile(s.tree, f.Path, formats.SnapshotsOf(s.list))
	if err != nil {
		return []part{one}
	}
	for _, set := range sets {
		for _, e := range set.Entries {
			if e.Seed != 0 || f.Format.Native {
				seed := e.Seed
				one.seed = &seed
			}
			one.peer = cmp.Or(one.peer, e.Peer)
		}
	}
	return []part{one}
}

// traceHeader reads the header of one of our traces.
func (s *Session) traceHeader(f *File) (h tracediff.Header, ok bool) {
	file, err := s.tree.Open(f.Path)
	if err != nil {
		return h, false
	}
	defer file.Close()
	content, err := formats.Content(file, f.Path)
	if err != nil {
		return h, false
	}
	defer content.Close()
	r, err := tracediff.NewReader(content, f.Path, tracediff.ReadOptions{})
	if err != nil {
		return h, false
	}
	defer r.Close()
	return s.names.traceHeader(r.Header()), true
}

// matchParts returns the parts of a file that may be of several matches.
func (s *Session) matchParts(f *File) (list []part) {
	content, err := tracediff.OpenContent(s.tree, f.Path)
	if err != nil {
		return nil
	}
	defer content.Close()
	found, err := f.Format.Matches(content, f.Path)
	if err != nil {
		return nil
	}
	head := s.firstLine(f)
	for _, g := range found {
		p := part{identity: identity{game: f.Format.Game, id: g.ID, known: true}, line: g.Line}
		p.seedByID()
		i := -1
		if g.ID != "" {
			i = slices.IndexFunc(list, func(q part) bool { return q.id == g.ID })
		}
		if i < 0 {
			if g.From > 0 && head > 0 {
				p.spans = append(p.spans, archive.Span{To: head}) // it shows what the file is
			}
			i = len(list)
			list = append(list, p)
		}
		list[i].spans = append(list[i].spans, archive.Span{From: g.From, To: g.To})
	}
	if len(list) == 1 {
		list[0].spans = nil
	}
	return list
}

// firstLine returns how many bytes the first line of a log has, with the bytes before it; 0 if it is long, or may be of
// interest itself.
func (s *Session) firstLine(f *File) int64 {
	head, err := formats.Head(s.tree, f.Path)
	if err != nil {
		return 0
	}
	at := 0
	for line := range bytes.Lines(head) {
		at += len(line)
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if line[len(line)-1] != '\n' || bytes.Contains(line, []byte("GameID")) || bytes.Contains(line, []byte("ync")) {
			return 0
		}
		return int64(at)
	}
	return 0
}

// isMessage reports whether a file has a format with lines that may be in any log.
func isMessage(f *File) bool {
	return slices.ContainsFunc(formats.Messages(), func(m engine.Format) bool { return m.Name == f.Format.Name })
}

// identifyMessages looks for the messages of engines anywhere in a log. Messages of several games belong to as many
// matches.
func (s *Session) identifyMessages(f *File, one part) []part {
	if f.Format == nil {
		if f.log(s.tree) == nil {
			return []part{one}
		}
		one.known = true
	}
	type spot struct {
		at, line int64
		format   string
		game     string
	}
	if f.each == nil {
		var err error
		if _, f.each, err = formats.ReadMessages(s.tree, f.Path, tracediff.ReadOptions{}); err != nil {
			return []part{one}
		}
		s.names.messages(nil, f.each)
	}
	var spots []spot
	for _, m := range formats.Messages() {
		log := f.each[m.Name]
		for _, c := range log.Claims {
			spots = append(spots, spot{c.Pos.Offset, c.Pos.Line, m.Name, gameOfEngine(log.Dialect.Engine)})
		}
	}
	lists.SortStable(spots, func(a, b spot) int { return cmp.Compare(a.at, b.at) })
	list := []part{}
	last := ""
	for i, sp := range spots {
		if sp.game == last {
			continue
		}
		from := sp.at
		if i == 0 {
			from = 0
		}
		if last != "" {
			k := slices.IndexFunc(list, func(p part) bool { return p.game == last })
			list[k].spans[len(list[k].spans)-1].To = from
		}
		k := slices.IndexFunc(list, func(p part) bool { return p.game == sp.game })
		if k < 0 {
			k = len(list)
			list = append(list, part{identity: identity{game: sp.game, known: true}, line: sp.line, format: s.formatOf(sp.format)})
		}
		list[k].spans = append(list[k].spans, archive.Span{From: from, To: math.MaxInt64})
		last = sp.game
	}
	switch len(list) {
	case 0:
		return []part{one}
	case 1:
		list[0].spans, list[0].format = nil, nil
	}
	return list
}

// gameOfEngine returns the game of an engine as formats name it, else the engine.
func gameOfEngine(engine string) string {
	for _, f := range formats.All() {
		if f.Game != "" && strings.HasPrefix(engine, f.Game) {
			return f.Game
		}
	}
	return engine
}

// library reports whether a game is a library that many games use.
func library(game string) bool {
	return game != "" && !slices.ContainsFunc(formats.All(), func(f engine.Format) bool { return f.Game == game })
}
