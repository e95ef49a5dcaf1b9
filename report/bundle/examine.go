package bundle

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// examined is a file and the facts in it.
type examined struct {
	document.CheckedFile
	file   *File
	group  string // path of the folder or file that belongs to one peer, empty if the file is next to them
	format *engine.Format
	size   int64

	seed    *uint64 // nil if the file does not contain it
	session string  // the engine's own name of the match, empty if the file does not contain it
	peers   map[string][]document.Coverage
	facts   []fact
	points  []uint64 // of the states in it
	systems bool     // it has checkpoints inside ticks
	start   bool     // it begins with the match
	copied  bool     // another folder has the same file of the same peer
}

// fact is something that a file states; peer is the peer that it is about, empty for the file's own peer.
type fact struct {
	peer, name, value string
	must              bool
}

func (x *examined) know(peer, name, value string, must bool) {
	if value != "" {
		x.facts = append(x.facts, fact{peer, name, value, must})
	}
}

func (x *examined) meta(meta map[string]string) {
	for _, name := range GameFacts {
		x.know("", name, meta[name], true)
	}
	for _, name := range MachineFacts {
		x.know("", name, meta[name], false)
	}
}

// trouble notes what is wrong, once: when a limit ends the reading of a file, none of its states can be opened.
func (x *examined) trouble(kind, format string, args ...any) {
	t := document.FileTrouble{Kind: kind, Text: fmt.Sprintf(format, args...)}
	if n := len(x.Trouble); n == 0 || x.Trouble[n-1] != t {
		x.Trouble = append(x.Trouble, t)
	}
}

// failed notes an error that reading the file ended with. The note does not contain the file's path.
func (x *examined) failed(err error) {
	kind := "corrupt"
	switch {
	case errors.As(err, new(*limits.Error)):
		kind = "limit"
	case errors.As(err, new(*fs.PathError)): // the system, or a link that is not followed: not its content
		kind = "not opened"
	case errors.Is(err, frame.ErrTorn) || errors.Is(err, io.ErrUnexpectedEOF):
		kind = "truncated"
	case errors.Is(err, frame.ErrLacking):
		kind = "lacking"
	case errors.Is(err, frame.ErrUnrecognized) || errors.Is(err, frame.ErrVersion):
		kind = "unreadable"
	}
	x.trouble(kind, "%s", strings.TrimPrefix(strings.TrimPrefix(err.Error(), x.Path), ": "))
}

// covered adds what the file covers for a peer, for its own peer if the name is empty.
func (x *examined) covered(peer string, c document.Coverage) {
	if c.Count == 0 {
		return
	}
	if x.peers == nil {
		x.peers = map[string][]document.Coverage{}
	}
	x.peers[peer] = append(x.peers[peer], c)
	x.Covers = append(x.Covers, c)
}

// span counts numbers and keeps the least and the largest.
type span struct {
	first, last, count uint64
}

func (s *span) add(n uint64) {
	if s.count == 0 || n < s.first {
		s.first = n
	}
	s.last = max(s.last, n)
	s.count++
}

func (s *span) as(what string) document.Coverage {
	return document.Coverage{What: what, First: s.first, Last: s.last, Count: s.count}
}

// examine reads a file to its end.
func (d *doctor) examine(f *File) *examined {
	x := &examined{CheckedFile: document.CheckedFile{Path: f.Path}, file: f, format: f.Format, size: f.Size}
	if f.ownLog && f.Format == nil && (f.place == nil || f.place.loose() != nil) {
		// Its peer shows only in comparison with the others, see doctor.gameLogs.
	} else if f.place != nil && !f.place.shared {
		x.group = f.place.path
	} else if f.given {
		x.group = f.Path
	}
	if x.format != nil {
		x.Format, x.What = x.format.Name, x.format.Title
	}
	switch {
	case f.Err != nil:
		x.failed(f.Err)
	case f.other:
		x.trouble("unreadable", "not a regular file")
	case f.Size == 0:
		x.trouble("empty", "it has no content")
	case x.format == nil:
		x.unknown(d.s)
	default:
		x.read(d.s)
		if x.group == "" && x.Peer == "" && f.place != nil { // as [Session.Peers] names it
			if i := slices.IndexFunc(f.place.set.Entries, func(e *snapshot.Entry) bool { return filepath.Join(e.Dir, e.Base) == f.Path }); i >= 0 {
				x.Peer = f.place.set.Entries[i].Peer
			}
		}
		if x.format.Native && !f.isState() && namedState(filepath.Base(x.Path)) { // then it is lost as a state
			x.trouble("unreadable", "by its name it is a state, its content is of another kind: %s", x.format.Title)
		}
	}
	if len(x.Trouble) == 0 {
		if err := d.s.unpacks(f); err != nil {
			x.failed(err)
		}
	}
	return x
}

// unknown reports what a file without a known format should be.
func (x *examined) unknown(s *Session) {
	if log := x.file.log(s.tree); log != nil {
		if x.What = "log with messages of " + log.Dialect.Engine; log.Dialect.Engine == "" {
			x.What = "text with a message about a desync"
		}
		x.claimed(log)
		return
	}
	if x.file.ownLog && x.file.expected("") == "" {
		x.What = "log of a game"
		return
	}
	if head, err := formats.Head(s.tree, x.Path); err == nil && archive.Unread(head) != "" {
		x.trouble("unreadable", "a %s archive, which is not read; unpack it to a folder", archive.Unread(head))
	} else if what := x.file.expected(s.game); what != "" {
		x.trouble("unreadable", "at offset 0: by its name it is %s, its content has no known format", what)
	}
}

// read reads what is in the file.
func (x *examined) read(s *Session) {
	f := x.format
	x.know("", "game", f.Game, true)
	if f.Snapshot != nil {
		x.states(s.tree)
	}
	if f.Log != nil {
		x.log(s.tree)
	}
	if f.Signatures {
		x.chain(s)
		return
	}
	switch {
	case f.Trace != nil:
		x.checkpoints(s)
	case f.Snapshot == nil && f.Log == nil && (x.file.given || x.file.hasTrace(s.tree)): // else no command would find it
		x.trace(s)
	}
}

// states opens the states in the file, and compares states in our format with their hashes.
func (x *examined) states(tree files.Tree) {
	sets, err := snapshot.Find(tree, x.Path, []snapshot.Format{*x.format.Snapshot})
	if err != nil {
		x.failed(err)
		return
	}
	for _, set := range sets {
		var s span
		for _, e := range set.Entries {
			state, err := e.Open()
			if err != nil && state == nil {
				x.failed(err)
				continue
			}
			info := state.Info()
			if x.format.Native {
				err = snapshot.Check(state)
			}
			state.Close()
			if err != nil {
				x.failed(err)
				continue
			}
			if info.Seed != 0 || x.format.Native { // others have none where the game has none
				x.seed = &info.Seed
			}
			x.meta(info.Meta)
			if x.Peer == "" && len(sets) == 1 {
				x.Peer = info.Peer
			}
			s.add(info.Point.Tick)
			x.points = append(x.points, info.Point.Tick)
			x.start = x.start || info.Point.Tick == 0
			if parse := x.format.Snapshot.ParseName; parse != nil && len(set.Entries) == 1 {
				if n, ok := parse(filepath.Base(x.Path)); ok && !n.NoEvidence && (n.Seed != info.Seed || !info.Point.Same(n.Point)) {
					x.trouble("misnamed", "its content is state point %s of seed %016x", info.Point, info.Seed)
				}
			}
		}
		x.covered(set.Peer, s.as("states"))
	}
}

// log adds what an order log covers, and the facts in its header.
func (x *examined) log(tree files.Tree) {
	r := x.file.read
	if r == nil {
		r = readLog(tree, x.file)
		x.file.read = r
	}
	if r.Foreign {
		x.session = r.Session
	} else {
		x.seed = &r.Header.Seed
	}
	h := &r.Header
	x.Peer = h.Peer
	x.start = h.FirstPoint == 0 && r.Ticks.Count > 0
	x.know("", "build", h.Build, true)
	x.know("", TickRate, h.TickRate.String(), true)
	if !h.Start.IsZero() && h.FirstPoint == 0 {
		x.know("", "start state", h.Start.String(), true)
	}
	if x.format.Native {
		for name, value := range h.Params {
			x.know("", parameter+name, value, true)
		}
	}
	if r.Err != nil {
		x.failed(r.Err)
	}
	x.covered(x.Peer, r.Ticks)
	x.covered(x.Peer, r.Hashes)
}

// LogRead is the content of an order log that was read to its end.
type LogRead struct {
	Header        orderlog.Header
	Foreign       bool      // an engine's
	Session       string    // the engine's own name of the match, empty if the log does not contain it
	Recorded      time.Time // when the log was begun as it states, else zero
	Ticks, Hashes document.Coverage
	Err           error // that it ended with, nil at a clean end
	// Said are its game's messages about desyncs.
	Said tracediff.ClaimLog

	last  uint64 // the tick read last, if began
	began bool
}

// WasRead keeps what was read from an order log for later callers.
func (f *File) WasRead(r LogRead) { f.read = &r }

// readLog reads an order log to its end.
func readLog(tree files.Tree, f *File) *LogRead {
	r := &LogRead{}
	source, closer, err := openLog(tree, f, nil)
	if err != nil {
		r.Err = err
		return r
	}
	defer closer.Close()
	r.Header = source.Header()
	var dialect orderlog.Dialect
	if foreign, ok := source.(orderlog.Foreign); ok {
		dialect = foreign.Dialect()
		r.Foreign, r.Session, r.Recorded = true, dialect.Session, dialect.Recorded
	}
	var ticks, hashes span
	for {
		rec, err := source.Next()
		if err != nil {
			if err != io.EOF {
				r.Err = err
			}
			break
		}
		r.Hear(f.Path, &rec, dialect)
		observed := rec.Observed
		if rec.Tick != nil {
			ticks.add(rec.Tick.Number)
			observed = rec.Tick.Hashes
		}
		for i := range observed {
			hashes.add(observed[i].Point)
		}
	}
	r.Ticks, r.Hashes = ticks.as("orders"), hashes.as("hashes")
	return r
}

// chain verifies a chain of tick signatures, and compares the peer's files with it.
func (x *examined) chain(s *Session) {
	list, err := s.VerifySigned(x.file)
	if err != nil {
		x.failed(err)
	}
	for _, v := range list {
		if c := v.Chain; c != nil {
			x.seed, x.Peer = &c.Header.Seed, s.names.peer(c.Header.Peer)
			x.covered(x.Peer, document.Coverage{What: "signatures", First: c.First, Last: c.Last, Count: c.Entries})
		}
		if v.Err != nil {
			x.trouble("contradicted", "%s", oneReason(v.Err))
		}
	}
}

// trace reads one of our traces, or lines of text, to the end.
func (x *examined) trace(s *Session) {
	o := s.openTrace(x.file, TraceOptions{})
	if o.err != nil {
		x.failed(o.err)
		return
	}
	for _, t := range o.ours {
		x.traceOf(t, len(o.ours) > 1)
	}
	f, err := s.tree.Open(x.Path)
	if err != nil {
		x.failed(err)
		return
	}
	defer f.Close()
	content, err := formats.Content(f, x.Path)
	var r *tracediff.Reader
	if err == nil {
		defer content.Close()
		r, err = tracediff.NewReader(content, x.Path, tracediff.ReadOptions{})
	}
	if err != nil {
		x.failed(err)
		return
	}
	defer r.Close()
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return
		}
		if err != nil && !errors.As(err, new(*tracediff.SyntaxError)) {
			x.failed(err)
			return
		}
		x.systems = x.systems || rec != nil && rec.Checkpoint != nil && rec.Checkpoint.System != ""
	}
}

// checkpoints reads an engine's checkpoints and what it claims.
func (x *examined) checkpoints(s *Session) {
	o := s.openTrace(x.file, TraceOptions{})
	if log := o.claims; log != nil {
		if log.Trouble != "" {
			x.trouble("truncated", "%s", log.Trouble)
		}
		if log.Lost != "" {
			x.trouble("several", "%s", strings.TrimPrefix(log.Lost, x.Path+": "))
		}
		x.claimed(log)
		x.session = log.Dialect.Session
		x.meta(log.Facts)
		for peer, values := range log.Start {
			for name, value := range values {
				x.know(peer, name, value, true)
			}
		}
		if x.Peer == "" {
			x.Peer = log.Peer
		}
	}
	if o.err != nil {
		if len(x.Trouble) == 0 {
			x.failed(o.err)
		}
		return
	}
	for _, t := range o.foreign {
		x.traceOf(t, t.Shared)
		if t.Dialect.Session != "" {
			x.session = t.Dialect.Session
		}
	}
}

// claimed adds the desyncs that the engine itself wrote of.
func (x *examined) claimed(log *tracediff.ClaimLog) {
	var s span
	for i := range log.Claims {
		if c := &log.Claims[i]; c.HasTick {
			s.add(c.Tick)
		} else {
			s.count++
		}
	}
	x.covered(log.Peer, s.as("claims"))
}

// traceOf adds what a trace covers; shared reports whether the file contains traces of several peers.
func (x *examined) traceOf(t *tracediff.Trace, shared bool) {
	peer, of := t.Header.Peer, "" // the trace's peer, and the peer that its facts are about
	if shared {
		peer, of = t.Name, t.Name
	} else if x.Peer == "" {
		x.Peer = peer
	}
	if t.Header.HasSeed {
		x.seed = &t.Header.Seed
	}
	x.know(of, "build", t.Header.Build, true)
	x.know(of, TickRate, orderlog.Rate{Num: t.Header.RateNum, Den: t.Header.RateDen}.String(), true)
	x.meta(t.Header.Meta)
	e, err := t.Extent()
	if err != nil {
		x.failed(err)
	}
	if e.Any {
		x.covered(peer, document.Coverage{What: "checkpoints", First: e.First, Last: e.Last, Count: e.Last - e.First + 1})
	}
	if err == nil && !e.Whole && len(x.Trouble) == 0 && x.format.Native {
		x.trouble("truncated", "it breaks off after tick %d", e.Last)
	}
}
