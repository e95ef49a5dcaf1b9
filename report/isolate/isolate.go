// Package isolate has evidence read by a separate process, since hostile evidence may take over the process that reads
// it: it is restricted by package sandbox, it writes nothing but its answers, and these are distrusted as saved reports
// are.
//
// The program starts itself again, see Process, or another program, see Program. Both talk over the standard input and output of the
// second process, in frames of a letter, a length (4 bytes, big-endian) and that many bytes:
//
//	to the process     q  the Request, first, as MessagePack: paths need not be UTF-8
//	                   d  bytes of standard input, for the path -
//	                   e  the end of these
//	                   m  the number of another match, in decimal digits, after an Answer
//	                   c  a copy without names is asked for, after an Answer
//	                   i  the command was interrupted
//	from the process   s  the sandbox.State, first, before anything is opened that is not trusted
//	                   p  progress
//	                   r  a report, if the answer has one, as JSON
//	                   a  the Answer to the Request, and to each m
//	                   c  bytes of the copy
//	                   k  the end of the copy
//
// A process that dies, hangs, or answers with anything else or for another match is a DiedError, which becomes a
// report; for the next match there is another process. A process ends when its standard input does, and so with the
// process that started it.
package isolate

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/sandbox"
	"github.com/desynctool/desynctool/report/document"
)

// Command is the only argument of the process that calls Serve.
const Command = "read-isolated"

// Request is what a process is asked.
type Request struct {
	Paths []string
	// At, if not empty, is where the only path lies on the disk, which is a name then.
	At string
	// Game, if not empty, is the page that describes the game's files.
	Game string
	// Names, if not empty, is the key by which names of players are replaced.
	Names string
	// Match is the number of one of several matches, from 1; 0 for none. OfSeveral is set if the report belongs to a
	// list of all matches; otherwise a person named the match.
	Match     int
	OfSeveral bool

	Sim        string
	Own        string
	Replays    int
	Verify     bool
	SimTimeout time.Duration

	Count    bool // how much is read
	Progress bool // is shown

	Limits []string // those that are not the defaults, as limits.Given has them
	Rules  sandbox.Rules
}

// Answer is what comes of a Request: a report, a list of matches, or a failure.
type Answer struct {
	Report *document.Report `json:"-"`
	// Matches are the matches of the evidence if there are several and the request names none. Named are all of them in
	// one line.
	Matches []document.MatchDocument `json:"matches,omitempty"`
	Named   string                   `json:"named,omitempty"`
	Failure *Failure                 `json:"failure,omitempty"`
	// Usage is how much was read, if the request counts.
	Usage string `json:"usage,omitempty"`
}

// Failure is why there is no report, as an error.
type Failure struct {
	Status document.Status `json:"status"` // error or inconclusive
	Lines  []string        `json:"lines"`  // one at least, for a person
	Whole  string          `json:"whole"`  // on one line
}

func (f *Failure) Error() string { return f.Whole }

// Is reports whether evidence is lacking.
func (f *Failure) Is(target error) bool {
	return target == frame.ErrLacking && f.Status == document.Inconclusive
}

// CopyError is why a process wrote no copy.
type CopyError struct{ Why string }

func (e *CopyError) Error() string { return e.Why }

// DiedError is how a process ended that gave no answer. Evidence is lacking then.
type DiedError struct {
	How string
	CPU time.Duration // processor time that it used, as far as the system shows it
}

func (e *DiedError) Error() string { return "the isolated process " + e.How }

// Is reports whether evidence is lacking, which it is.
func (e *DiedError) Is(target error) bool { return target == frame.ErrLacking }

func died(format string, args ...any) *DiedError {
	return &DiedError{How: fmt.Sprintf(format, args...)}
}

// Frames.
const (
	request     = 'q'
	data        = 'd'
	end         = 'e'
	another     = 'm'
	copyFrame   = 'c'
	copyEnd     = 'k'
	interrupt   = 'i'
	state       = 's'
	progress    = 'p'
	reportFrame = 'r'
	answer      = 'a'
)

// most is how many bytes frames may have. The other process holds the reading process to this limit, and so allocates
// no more memory for its frames.
func most(kind byte) int64 {
	switch kind {
	case reportFrame, answer:
		return 64 << 20 // as a saved report
	case request:
		return 64 << 20
	case data, copyFrame:
		return chunk
	case copyEnd:
		return 16 << 20
	}
	return 64 << 10
}

// chunk is how much of the standard input a frame has.
const chunk = 64 << 10

// wire writes frames, of several goroutines.
type wire struct {
	mu sync.Mutex
	w  io.Writer
}

func (w *wire) send(kind byte, content []byte) error {
	if int64(len(content)) > most(kind) {
		return fmt.Errorf("%d bytes, at most %d are allowed", len(content), most(kind))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	head := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(content)))
	if _, err := w.w.Write(head); err != nil {
		return err
	}
	_, err := w.w.Write(content)
	return err
}

func (w *wire) sendJSON(kind byte, document any) error {
	b, err := json.Marshal(document)
	if err != nil {
		return err
	}
	return w.send(kind, b)
}

// next reads a frame. io.EOF is the end between two.
func next(r io.Reader) (kind byte, content []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	kind = head[0]
	size := int64(binary.BigEndian.Uint32(head[1:]))
	if size > most(kind) {
		return 0, nil, fmt.Errorf("%d bytes, at most %d are allowed", size, most(kind))
	}
	content, err = io.ReadAll(io.LimitReader(r, size)) // the buffer grows with the data that comes
	if err == nil && int64(len(content)) < size {
		err = io.ErrUnexpectedEOF
	}
	return kind, content, err
}

// copied is how a copy ended.
type copied struct {
	Left    []string `json:"left"`              // where in the copy names may be left, a line each
	Failure string   `json:"failure,omitempty"` // why there is none
}

// moment is how far something is.
type moment struct {
	What  string `json:"what"`
	Unit  string `json:"unit,omitempty"`
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
}
