package tracediff

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
)

// Source is an engine's file, read as checkpoints. Sub-packages pass it to [OpenForeign].
//
// Next returns the next record with its position. The record and its byte slices are valid until the next call; strings
// stay valid. A malformed part gives a [*SyntaxError] if reading can continue after it. Next returns io.EOF at the end,
// and a *frame.Error if the file is torn (frame.ErrTorn) or corrupt. After one of these it returns the same error
// again. Occurrences are not set.
type Source interface {
	Header() Header
	Dialect() Dialect
	Next() (*Record, error)
}

// ErrRunning is wrapped by the final error of a Source if its file ends like the file of a running game: it breaks off,
// but nothing is wrong with it.
var ErrRunning = errors.New("file of a running game")

// Skipper is a Source that skips records faster than Next. Skip skips all records of the ticks that end before a byte
// offset. It returns the last tick that it skipped, false if there was none. Sources of the same kind must return the
// same records for the same bytes at the start.
type Skipper interface {
	Source
	Skip(offset int64) (last uint64, passed bool, err error)
}

// Passer is a Source that passes what is before a byte offset without reading it, except what the records behind it need.
type Passer interface {
	Source
	Pass(offset int64)
}

// Straight is a Source that holds records back, because later ones may show that they were predicted. After Straight it
// returns them at once, and [ErrBack] where its file goes back to an earlier tick.
type Straight interface {
	Source
	Straight()
	// Lead makes other sources wait while this one is read, as long as their bytes are equal from the start on: then
	// they have read what this one has. It reports false if it cannot.
	Lead(others []Source) bool
	// Leading reports whether the others wait.
	Leading() bool
	// Confirm returns ErrBack if the file goes back soon after the last record.
	Confirm() error
}

// ErrBack is the error of a [Straight] whose file must be read with records held back.
var ErrBack = errors.New("file goes back to an earlier tick")

// Spanner is a Source that knows its first and last tick without being read.
type Spanner interface {
	Source
	Span() (first, last uint64)
}

// Dialect describes an engine's ticks and checksums. The zero Dialect describes desynctool's own trace: full checksums,
// independent for each tick.
type Dialect struct {
	Engine string // "Widelands"
	File   string // "Widelands sync stream"

	// TickName returns the engine's own name of a tick. It is nil if that is the number.
	TickName func(tick uint64) string
	// Unit is the unit of ticks if they are not steps of the sim: "ms".
	Unit string

	// Session identifies the match, such as a game id. It is empty if the file does not contain one.
	Session string

	// AtPoint means that a checkpoint of tick T belongs to state point T, not to the end of step T.
	AtPoint bool
	// Endless means that files have no mark at their end, so the last tick may lack checkpoints.
	Endless bool
	// Lossy means that files may lack lines, for example because logs have different levels or are rotated. If only one
	// peer has a checkpoint, the other lost it; that is not a difference.
	Lossy bool
	// Relative means that peer names depend on the peer that wrote the files, such as "local". The same name in two
	// folders means different peers.
	Relative bool
	// Epochs are the epochs of a file with several matches. Other files may have other matches. Nil means that the first
	// is 0. Where the file goes back to an earlier tick, the next of them begins, and after the last one the next number.
	Epochs []uint64
	// Restarts means that the file goes back to an earlier tick only where another match begins, and never rolls back.
	Restarts bool
	// Match, if not nil, returns the name of the match that an epoch is, such as "match 2".
	Match func(epoch uint64) string
	// Part is the place of the file among the files of its peer that follow each other, from 1; 0 if ticks show it.
	Part int
	// Values means that sums are values from the game, not checksums of them.
	Values bool
	// Partial means that the sums are the values that were recognized, and others are not compared: where all are equal,
	// the peers may differ nevertheless.
	Partial bool
	// Exists means that the count of a checkpoint without sums is 1 if its scope exists and 0 if not.
	Exists bool
	// Running means that the checkpoints of a tick are successive moments in it, and each shows whether the peers have
	// diverged by then. If one checkpoint in a tick is equal, the peers agreed when the tick began.
	Running bool
	// Cumulative means that each checksum covers everything before it, so peers that diverged never agree again.
	Cumulative bool
	// Reset, if not 0, means that a checksum continues from tick to tick and restarts after each tick that is a
	// multiple of Reset. One difference affects all ticks up to there, and equal checksums after it prove nothing.
	Reset uint64
	// Noise, if not nil, takes the name of a sum. It reports whether the engine's developers know the sum to differ
	// between peers in sync. Such sums are counted, but they are not differences.
	Noise func(sum string) bool
	// Arbiter means that claims come from a server that compares the peers' checksums. A value without a peer is the
	// one that the server considers right, not the value of the machine that wrote the file.
	Arbiter bool
	// Replay means that the second of the two peers replayed the recording of the first. They are FirstRun and
	// SecondRun.
	Replay bool
	// Covers describes the data that a checksum covers and does not cover, if it does not cover everything.
	Covers string
	// Detail is the kind of the checkpoints' details, if there are any.
	Detail DetailKind
}

// name returns the engine's own name of a tick, else its number.
func (d *Dialect) name(t Tick) string {
	if d.TickName == nil && d.Unit == "" {
		return t.String()
	}
	s := strconv.FormatUint(t.Number, 10) + " " + d.Unit
	if d.TickName != nil {
		s = d.TickName(t.Number)
	}
	if d.Match != nil {
		s += " of " + d.Match(t.Epoch)
	} else if t.Epoch > 0 {
		s += fmt.Sprintf(" of epoch %d", t.Epoch)
	}
	return s
}

// UnknownTick is the name of the tick in a file that does not contain its tick. The number of such a tick means
// nothing.
const UnknownTick = "an unknown tick"

// NoTick is the Dialect.TickName for such a file.
func NoTick(uint64) string { return UnknownTick }

// NameOf returns the engine's own name of a tick, empty if it has none.
func (d *Dialect) NameOf(tick uint64) string {
	one, t := *d, Tick{Number: tick}
	one.Match = nil
	if name := one.name(t); name != t.String() {
		return name
	}
	return ""
}

// Format is a file format of an engine. Formats are values; callers pass the list of formats they know.
type Format struct {
	Name, Title string

	// Sniff reports whether the first bytes of a file, at most SniffLen, show this format.
	Sniff func(head []byte) bool

	// Folder means that a peer's checkpoints are in many files in a folder for this peer, such as one file for each
	// tick. The files need not name the peer.
	Folder bool

	// Peers returns the peers with checkpoints in the file, if it contains several. Nil means that the file belongs to
	// one peer. An empty name means a peer without checkpoints. The function may be nil.
	Peers func(r io.Reader, name string) ([]string, error)

	// Read starts reading the checkpoints of one peer: an index in Peers, or 0. It is nil if files in this format
	// contain only claims.
	Read func(r io.Reader, name string, peer int) (Source, error)

	// ReadAt is Read for a file whose tick, peer or facts are in the files next to it, or in their names. It may be
	// nil.
	ReadAt func(tree files.Tree, path string, r io.Reader, peer int) (Source, error)

	// Narrow reads the peers' files side by side, from the first checkpoint at which their values differ. For each file
	// it returns the details for Value.Detail, as far as it gets. It is nil if the checkpoint already contains
	// everything in the file.
	Narrow func(sides []Side) ([][]Detail, error)

	// Verify reads a file and checks it against its own checksums, if these follow the data that they cover. Nil means
	// that there are none.
	Verify func(r io.Reader, name string) error

	// Claims reads the engine's messages about desyncs, for the first match in the file. The field is nil if files in
	// this format have no such messages. The function may return nil for a file that is evidence of another kind and
	// has none.
	Claims func(r io.Reader, name string) (*ClaimLog, error)

	// Check recomputes the checksums of a file from files next to it. It returns a description of the result, "" if
	// there is nothing to check them with, and a *MisfitError if they do not match. It is nil if no such files exist.
	Check func(tree files.Tree, path string) (string, error)
}

// MisfitError reports that two files of one peer contradict each other: the checksums in File do not match the content
// of Beside.
type MisfitError struct {
	File, Beside string
	Msg          string
}

func (e *MisfitError) Error() string { return e.Msg }

// SniffLen is how many bytes at the start of a file a Format needs at most.
const SniffLen = 4096

// OpenForeign opens a file in an engine's format, which may be compressed. It returns a trace for each peer in the
// file, or none if the format has only claims.
func OpenForeign(tree files.Tree, path string, f *Format, opts ReadOptions) ([]*Trace, error) {
	if f.Read == nil {
		return nil, nil
	}
	if f.Verify != nil {
		in, err := openContent(tree, path, opts.MaxUnpacked)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(f.Verify(in, path), in.Close()); err != nil {
			return nil, err
		}
	}
	var peers []string
	if f.Peers != nil {
		in, err := openContent(tree, path, opts.MaxUnpacked)
		if err != nil {
			return nil, err
		}
		peers, err = f.Peers(in, path)
		if err = errors.Join(err, in.Close()); err != nil {
			return nil, err
		}
	}
	one := len(peers) == 0
	if one {
		peers = []string{""}
	}
	var list []*Trace
	for i, peer := range peers {
		if peer == "" && !one {
			continue
		}
		open := func(how opening) (*Reader, error) {
			in, err := openContent(tree, path, opts.MaxUnpacked)
			if err != nil {
				return nil, err
			}
			source, err := f.read(tree, path, in, i)
			if err != nil {
				in.Close()
				return nil, err
			}
			if s, ok := source.(Straight); ok && how.straight {
				s.Straight()
			}
			return &Reader{
				name: path, header: source.Header(), grammar: grammar{kind: Engine}, source: source, in: in.in,
				names: how.names, visited: map[visit]uint32{}, closers: []io.Closer{in},
			}, nil
		}
		r, err := open(opening{names: new(names), sizes: usual})
		if err != nil {
			return nil, err
		}
		t := &Trace{
			Name: r.header.Peer, File: path, Column: i, Header: r.header, Grammar: Engine, Dialect: r.source.Dialect(), Format: f,
			Packing: packing(tree, path), tree: tree, open: open,
		}
		if s, ok := r.source.(Spanner); ok {
			t.first, t.last = s.Span()
			t.span = true
		}
		if !one {
			t.Name, t.Shared = peer, true
		}
		t.Name = cmp.Or(t.Name, path)
		if err := r.Close(); err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// read starts reading the checkpoints of a peer.
func (f *Format) read(tree files.Tree, path string, in io.Reader, peer int) (Source, error) {
	if f.ReadAt != nil {
		return f.ReadAt(tree, path, in, peer)
	}
	return f.Read(in, path, peer)
}

// packing returns how the file at path is compressed.
func packing(tree files.Tree, path string) string {
	f, err := tree.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, compression.MagicLen)
	n, _ := io.ReadFull(f, head)
	return compression.Packing(head[:n])
}

// ReadClaims reads the claims in a file in an engine's format, which may be compressed.
func ReadClaims(tree files.Tree, path string, f *Format, opts ReadOptions) (*ClaimLog, error) {
	in, err := openContent(tree, path, opts.MaxUnpacked)
	if err != nil {
		return nil, err
	}
	log, err := f.Claims(in, path)
	if log != nil {
		log.File = path
	}
	return log, errors.Join(err, in.Close())
}

// content is the content of a file that may be compressed.
type content struct {
	io.Reader
	in      *counted
	file    io.ReaderAt // with this content, nil if it is compressed or its size is not known
	closers []io.Closer
}

// skip passes n bytes without reading them if possible. It returns how many there were.
func (c *content) skip(n int64) (int64, error) {
	ahead, ok := c.Reader.(*bufio.Reader)
	if c.file == nil || !ok {
		return io.CopyN(io.Discard, c.Reader, n)
	}
	at := c.in.n - int64(ahead.Buffered())
	n = min(n, max(0, c.in.size-at))
	c.Reader = io.NewSectionReader(c.file, at+n, c.in.size-at-n)
	return n, nil
}

func (c *content) Close() error {
	var err error
	for _, one := range c.closers {
		err = errors.Join(err, one.Close())
	}
	return err
}

// OpenContent opens a file that may be compressed.
func OpenContent(tree files.Tree, path string) (io.ReadCloser, error) {
	return openContent(tree, path, 0)
}

func openContent(tree files.Tree, path string, limit int64) (*content, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	in := &counted{Reader: f}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		in.size = info.Size()
	}
	r, packing, err := compression.Unpack(in, limit)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c := &content{Reader: r, in: in, closers: []io.Closer{f}}
	if packing == "" && in.size > 0 {
		c.file = f
	}
	if closer, ok := r.(io.Closer); ok && r != io.Reader(f) {
		c.closers = []io.Closer{closer, f}
	}
	return c, nil
}

// readSource is read for an engine's file.
func (r *Reader) readSource() (*Record, error) {
	rec, err := r.source.Next()
	if err != nil {
		if !errors.As(err, new(*SyntaxError)) {
			r.err = err
		}
		return nil, err
	}
	return rec, nil
}

// captureAgain keeps the records around a value, or around the record that p read last. It reads the file a second
// time.
func (p *peer) captureAgain(out *Context, v *Value, n int) {
	at, file := v.Pos, v.File
	if !v.Present {
		if p.rec == nil {
			return
		}
		at, file = p.rec.Pos, p.r.file()
	}
	const near = 64 << 10
	lines, before := p.around(at, file, n, near)
	if before < n && at.Offset > near {
		lines, before = p.around(at, file, n, at.Offset) // the records are further apart
	}
	out.keep(lines, before, 0)
}

// around returns up to n records before a position, the one there, and up to n behind it, as lines. Records that are
// more than some bytes before it are passed without being written.
func (p *peer) around(at Position, file string, n int, near int64) (lines [][]byte, before int) {
	r, err := p.trace.open(opening{names: new(names), sizes: usual})
	if err != nil {
		return nil, 0
	}
	defer r.Close()
	if s, ok := r.source.(Skipper); ok {
		if _, _, err := s.Skip(at.Offset); err != nil {
			return nil, 0
		}
	}
	if s, ok := r.source.(Passer); ok && p.settling == nil { // a rollback before may decide what records behind it are
		s.Pass(at.Offset - near)
	}
	kept := -1 // records kept from the current one on
	for kept < n {
		rec, err := r.read()
		if errors.As(err, new(*SyntaxError)) {
			continue
		}
		if err != nil {
			break
		}
		if kept < 0 && r.file() == file && (rec.Pos.Offset > at.Offset || rec.Pos == at) {
			lines = lines[max(0, len(lines)-n):]
			before, kept = len(lines), 0
		} else if kept >= 0 {
			kept++
		}
		if kept < 0 && len(lines) > 4*n {
			lines = append(lines[:0], lines[len(lines)-n:]...)
		}
		if kept >= 0 || r.file() != file || rec.Pos.Offset >= at.Offset-near {
			lines = append(lines, p.line(rec))
		}
	}
	return lines, before
}

// line returns a record of an engine's file as a line, with the engine's own name of the tick.
func (p *peer) line(rec *Record) []byte {
	line := appendPairs(nil, rec)
	d := &p.trace.Dialect
	number := tickPrefix + strconv.FormatUint(rec.Tick(), 10)
	if rest, ok := bytes.CutPrefix(line, []byte(number)); ok && (d.TickName != nil || d.Unit != "") {
		line = append([]byte(d.name(Tick{Number: rec.Tick()})), rest...)
	}
	return line
}

// WriteSource writes the text twin of an engine's checkpoints.
func WriteSource(w io.Writer, s Source) error {
	return WriteText(w, &Reader{header: s.Header(), grammar: grammar{kind: Engine}, source: s, names: new(names), visited: map[visit]uint32{}})
}
