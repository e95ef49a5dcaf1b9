package tracediff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
)

// Source is a file of an engine, read as checkpoints. It is what sub-packages
// give to [OpenForeign].
//
// Next returns the next record with its position. The record and all bytes in it
// are valid until the next call, strings for good. A malformed part after which
// reading can go on gives a [*SyntaxError]. Next returns io.EOF at the end, and a
// *frame.Error where the file is torn (frame.ErrTorn) or corrupt; once it has
// returned one of these it returns the same again. Occurrences are not set.
type Source interface {
	Header() Header
	Dialect() Dialect
	Next() (*Record, error)
}

// ErrRunning is what the error at the end of a Source wraps whose file ends as
// that of a running game does: it breaks off, and nothing is wrong with it.
var ErrRunning = errors.New("file of a running game")

// Skipper is a Source that passes over records quicker than Next. Skip passes all
// records of the ticks that end before a byte offset and returns the last tick
// that it passed, false if it passed none. Sources of the same kind must make the
// same records of the same leading bytes.
type Skipper interface {
	Source
	Skip(offset int64) (last uint64, passed bool, err error)
}

// Spanner is a Source that knows its first and last tick without being read.
type Spanner interface {
	Source
	Span() (first, last uint64)
}

// Dialect says what an engine's ticks and checksums are. The zero Dialect is that
// of a trace of ours: full checksums of each tick by itself.
type Dialect struct {
	Engine string // "Widelands"
	File   string // "Widelands sync stream"

	// TickName returns the engine's own name of a tick, nil if that is the number.
	TickName func(tick uint64) string
	// Unit is what ticks count where they are not steps of the sim: "ms".
	Unit string

	// Session sets the match apart from others, such as a game id; empty if the file
	// does not say.
	Session string

	// AtPoint says that a checkpoint of tick T is of state point T, not of the end
	// of step T.
	AtPoint bool
	// Endless says that files have no mark of their end: the last tick may lack
	// checkpoints.
	Endless bool
	// Lossy is set if files may lack lines, as logs of different levels and rotated ones do. What only one peer
	// has is lost on the other, and no difference.
	Lossy bool
	// Relative says that peers are called by what they are to who wrote the files, such as local:
	// those of two folders are others.
	Relative bool
	// Values says that sums are values of the game and not checksums of them.
	Values bool
	// Exists says that the count of a checkpoint without sums is whether its scope is there: 1 or 0.
	Exists bool
	// Running says that the checkpoints of a tick are of moments in it, one after the other,
	// and each shows whether the peers have parted by then: where one of a tick is equal, they
	// agreed when it began.
	Running bool
	// Cumulative says that each checksum covers all that came before, so that
	// peers that have parted never agree again.
	Cumulative bool
	// Reset, if not 0, says that a checksum runs on from tick to tick and begins
	// anew after each tick that Reset divides: one difference taints the ticks up
	// to there, and that they are equal after it proves nothing.
	Reset uint64
	// Noise, if not nil, reports whether the engine's developers know a sum, by its name, to differ
	// between peers in sync. Such sums are counted, and are no differences.
	Noise func(sum string) bool
	// Arbiter says that claims are those of a server which holds the peers' checksums against
	// each other: a value without a peer is the one that it takes for right, not that of the
	// machine which wrote the file.
	Arbiter bool
	// Replay says that the second of the two peers replayed what the first recorded. They are
	// FirstRun and SecondRun.
	Replay bool
	// Covers says what a checksum covers and what not, where it is not everything.
	Covers string
	// Detail says what the details of checkpoints are, if there are any.
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
	if t.Epoch > 0 {
		s += fmt.Sprintf(" of epoch %d", t.Epoch)
	}
	return s
}

// UnknownTick is the name of the tick of a file that does not say which it is. Its number says
// nothing.
const UnknownTick = "an unknown tick"

// NoTick is the Dialect.TickName of such a file.
func NoTick(uint64) string { return UnknownTick }

// NameOf returns the engine's own name of a tick, empty if it has none.
func (d *Dialect) NameOf(tick uint64) string {
	t := Tick{Number: tick}
	if name := d.name(t); name != t.String() {
		return name
	}
	return ""
}

// Format is a file format of an engine. Formats are values, so that whoever knows
// them all hands them in.
type Format struct {
	Name, Title string

	// Sniff reports whether the leading bytes, at most SniffLen, are of the
	// format.
	Sniff func(head []byte) bool

	// Folder says that a peer's checkpoints are in many files of a folder of its own, such as one for
	// each tick, none of which needs to name the peer.
	Folder bool

	// Peers returns whose checkpoints the file holds, if it holds those of
	// several; nil means that it is a file of one peer, and an empty name one
	// without checkpoints. It may be nil itself.
	Peers func(r io.Reader, name string) ([]string, error)

	// Read begins to read the checkpoints of one peer, a number in Peers or 0.
	// It is nil if files of the format hold only claims.
	Read func(r io.Reader, name string, peer int) (Source, error)

	// ReadAt is Read for a file whose tick, peer or facts stand in the names of the files
	// beside it, or in these. It may be nil.
	ReadAt func(tree files.Tree, path string, r io.Reader, peer int) (Source, error)

	// Narrow reads the files of peers side by side from the first checkpoint that they do not
	// have the same value of, and returns for each what its Value.Detail is to be, as far as it
	// comes. It is nil if a checkpoint already says all that a file does.
	Narrow func(sides []Side) ([][]Detail, error)

	// Verify reads a file to find out whether its own checksums hold, where these
	// stand after what they cover. Nil means that there are none.
	Verify func(r io.Reader, name string) error

	// Claims reads what the engine itself wrote of desyncs, of the first match in the file. Nil
	// means that files of the format have no such thing; it may return nil for one that is
	// evidence of another kind and has none.
	Claims func(r io.Reader, name string) (*ClaimLog, error)

	// Check computes the checksums of a file again from what lies beside it. It
	// returns what it found, "" if there is nothing to check them by, and a
	// *MisfitError if they do not fit. It is nil where no such file exists.
	Check func(tree files.Tree, path string) (string, error)
}

// MisfitError says that two files of one peer contradict each other: the checksums
// in File are not those of the content of Beside.
type MisfitError struct {
	File, Beside string
	Msg          string
}

func (e *MisfitError) Error() string { return e.Msg }

// SniffLen is how many leading bytes of a file a Format needs at most.
const SniffLen = 4096

// OpenForeign opens a file of an engine's format, which may be compressed: a
// trace for each of its peers. There is none if the format has only claims.
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
		if t.Name == "" {
			t.Name = path
		}
		if err := r.Close(); err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// read begins to read the checkpoints of a peer.
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

// ReadClaims reads the claims of a file of an engine's format, which may be
// compressed.
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

// content is what is in a file that may be compressed.
type content struct {
	io.Reader
	in      *counted
	closers []io.Closer
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
	r, _, err := compression.Unpack(in, limit)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c := &content{Reader: r, in: in, closers: []io.Closer{f}}
	if closer, ok := r.(io.Closer); ok && r != io.Reader(f) {
		c.closers = []io.Closer{closer, f}
	}
	return c, nil
}

// readSource is read for a file of an engine.
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

// captureAgain keeps the records around a value, or around the one that p read
// last, by reading the file a second time.
func (p *peer) captureAgain(out *Context, v *Value, n int) {
	at, file := v.Pos, v.File
	if !v.Present {
		if p.rec == nil {
			return
		}
		at, file = p.rec.Pos, p.r.file()
	}
	r, err := p.trace.open(opening{names: new(names), sizes: usual})
	if err != nil {
		return
	}
	defer r.Close()
	if s, ok := r.source.(Skipper); ok {
		if _, _, err := s.Skip(at.Offset); err != nil {
			return
		}
	}
	var lines [][]byte
	kept := -1 // records kept from the one at hand on
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
			out.At, kept = len(lines), 0
		} else if kept >= 0 {
			kept++
		}
		if kept < 0 && len(lines) > 4*n {
			lines = append(lines[:0], lines[len(lines)-n:]...)
		}
		lines = append(lines, p.line(rec))
	}
	out.keep(lines, out.At, 0)
}

// line returns a record of an engine's file as a line, its tick by the engine's own
// name.
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
