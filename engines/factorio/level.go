package factorio

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"path/filepath"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/tracediff"
)

// between is the scope of data outside of tags, before one.
const between = "between tags"

// sumSize is how many bytes of a SHA-256 a checkpoint has.
const sumSize = 8

// maxParts is how many parts of a file are read: as many as can be compared in a tick.
const maxParts = 100_000

// part is the content of a checkpoint: a tag that is not in another one, with everything in it, or a stretch of data
// before such a tag.
type part struct {
	scope string
	at    int64
	size  int64
	sum   hash.Hash
}

func (p *part) add(t token) {
	p.size += int64(len(t.bytes))
	p.sum.Write(t.bytes)
}

// level reads a state with tags as checkpoints.
type level struct {
	s      *scanner
	header tracediff.Header
	tick   uint64
	known  bool
	parts  int
	ahead  token // that was read and begins the next part
	have   bool
	hash   hash.Hash

	rec tracediff.Record
	at  tracediff.Checkpoint
	err error // once reading has ended
}

func newLevel(in io.Reader, name string) (*level, error) {
	l := &level{s: newScanner(in, name, 0), hash: sha256.New()}
	l.header.Peer = peerOf(name)
	l.tick, l.known = tickOf(filepath.Base(name))
	l.s.fill()
	if l.s.end == 0 {
		if l.s.err != nil && l.s.err != io.EOF {
			return nil, fmt.Errorf("%s: %w", name, l.s.err)
		}
		return nil, &frame.Error{Name: name, Err: frame.ErrUnrecognized, Msg: "empty file, expected a state of Factorio with tags"}
	}
	return l, nil
}

func (l *level) Header() tracediff.Header { return l.header }

func (l *level) Dialect() tracediff.Dialect {
	return dialect("Factorio state with tags", "the content of tags, and the text between them: bytes after the last tag are not compared, since nothing shows whether they are all", l.known)
}

// Span returns the file's one tick.
func (l *level) Span() (first, last uint64) { return l.tick, l.tick }

// Next returns a checkpoint for each part of the file, except bytes after the last tag. If a tag is not closed before
// the file ends, the file is torn there: the part may be incomplete.
func (l *level) Next() (*tracediff.Record, error) {
	if l.err != nil {
		return nil, l.err
	}
	p, err := l.part()
	if l.parts++; err == nil && l.parts > maxParts {
		err = &frame.Error{Name: l.s.name, Offset: p.at, Err: frame.ErrCorrupt, Msg: fmt.Sprintf("more than %d outermost tags, which is as many as are read", maxParts)}
	}
	if err != nil {
		l.err = err
		return nil, err
	}
	l.at = tracediff.Checkpoint{
		Tick: l.tick, Scope: p.scope, Sums: append(l.at.Sums[:0], tracediff.BytesSum("", p.sum.Sum(nil)[:sumSize])),
		Count: uint64(p.size), HasCount: true,
	}
	l.rec = tracediff.Record{Pos: tracediff.Position{Offset: p.at}, Checkpoint: &l.at}
	return &l.rec, nil
}

// token returns the next token, and whether a tag around it was open before.
func (l *level) token() (token, error) {
	if l.have {
		l.have = false
		return l.ahead, nil
	}
	return l.s.next()
}

func (l *level) part() (*part, error) {
	t, err := l.token()
	if err != nil {
		return nil, err
	}
	l.hash.Reset()
	p := &part{at: t.at, scope: between, sum: l.hash}
	p.add(t)
	if t.kind == open {
		p.scope = t.name
		for len(l.s.stack) > 0 {
			t, err := l.s.next()
			if err == io.EOF {
				return nil, &frame.Error{
					Name: l.s.name, Offset: p.at, Lost: p.size, Err: frame.ErrTorn,
					Msg: fmt.Sprintf("the file ends inside <%s>", p.scope),
				}
			}
			if err != nil {
				return nil, err
			}
			p.add(t)
		}
		return p, nil
	}
	for {
		t, err := l.s.next()
		switch {
		case err == io.EOF: // whether it is whole nothing shows
			return nil, io.EOF
		case err != nil:
			return nil, err
		case t.kind == open:
			l.ahead, l.have = t, true
			return p, nil
		}
		p.add(t)
	}
}
