package engine

import (
	"bytes"
	"errors"
	"io"
	"iter"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/tracediff"
)

// Lines is a format of text logs that have checkpoints on some of their lines, and anything on the others.
type Lines struct {
	Name, Title string
	Sniff       func(head []byte) bool
	// Peers are the peers of a log with the checkpoints of several; see tracediff.Format.
	Peers func(r io.Reader, name string) ([]string, error)
	// PeerName returns the name of a peer by its number in Peers. Nil means that the log does not name it.
	PeerName func(peer int) string
	Dialect  func(peer int) tracediff.Dialect
	// Parser returns a function that reads the lines of one log, one after the other. It reports whether a line is a
	// checkpoint, and sets the checkpoint; the memory of its sums may be used again. The line is valid until it
	// returns.
	Parser func(peer int) func(line []byte, to *tracediff.Checkpoint) bool
}

// Format returns the format of such logs, without claims.
func (l Lines) Format() tracediff.Format {
	return tracediff.Format{
		Name: l.Name, Title: l.Title, Sniff: l.Sniff, Peers: l.Peers,
		Read: func(r io.Reader, name string, peer int) (tracediff.Source, error) {
			s := &lineSource{lines: orderlog.NewLines(r, name), dialect: l.Dialect(peer), parse: l.Parser(peer)}
			if l.PeerName != nil {
				s.header.Peer = l.PeerName(peer)
			}
			return s, nil
		},
	}
}

// lineSource is one log that is read.
type lineSource struct {
	lines   *orderlog.Lines
	header  tracediff.Header
	dialect tracediff.Dialect
	parse   func(line []byte, to *tracediff.Checkpoint) bool
	rec     tracediff.Record
	at      tracediff.Checkpoint
}

func (s *lineSource) Header() tracediff.Header   { return s.header }
func (s *lineSource) Dialect() tracediff.Dialect { return s.dialect }

func (s *lineSource) Next() (*tracediff.Record, error) {
	for {
		line, err := NextLine(s.lines)
		if err != nil {
			return nil, err
		}
		if s.parse(line, &s.at) {
			s.rec = tracediff.Record{Pos: PositionOf(s.lines), Checkpoint: &s.at}
			return &s.rec, nil
		}
	}
}

// NextLine returns the next line of a log that programs write until they are ended: any line may be cut off, and is
// then left out.
func NextLine(lines *orderlog.Lines) ([]byte, error) {
	line, err := lines.Next()
	if err != nil && errors.Is(err, frame.ErrTorn) {
		err = io.EOF
	}
	return line, err
}

// EachLine calls a function with the lines of a log and where they are, up to where the log is damaged, until it
// returns false.
func EachLine(r io.Reader, name string, each func(line []byte, pos tracediff.Position) bool) error {
	lines := orderlog.NewLines(r, name)
	for {
		line, err := lines.Next()
		if err == io.EOF || errors.As(err, new(*frame.Error)) {
			return nil
		}
		if err != nil {
			return err
		}
		if !each(line, PositionOf(lines)) {
			return nil
		}
	}
}

// PositionOf returns where the current line is.
func PositionOf(lines *orderlog.Lines) tracediff.Position {
	return tracediff.Position{Line: lines.Number(), Offset: lines.Offset()}
}

// WholeLines returns the lines of the leading bytes of a file that have a line end, without the line end.
func WholeLines(head []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for line := range bytes.Lines(head) {
			if line, whole := bytes.CutSuffix(line, []byte("\n")); whole && !yield(bytes.TrimSuffix(line, []byte("\r"))) {
				return
			}
		}
	}
}

// LogTrace returns the entry of a format of checkpoints that programs write into their logs among much else. Gives is
// the evidence that they contain in addition.
func LogTrace(f tracediff.Format, gives ...string) Format {
	entry := Trace(f, "*.log, *.txt", append([]string{"checkpoints"}, gives...)...)
	entry.Amid = true
	return entry
}
