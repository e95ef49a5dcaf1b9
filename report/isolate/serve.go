package isolate

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/desynctool/desynctool/internal/sandbox"
)

// Asked is a Request as the process sees it that is to answer.
type Asked struct {
	Request
	Context context.Context // done when the command is interrupted
	Stdin   io.Reader       // read for the path -
	// Progress shows progress; nil if it is not shown.
	Progress func(what, unit string, done, total int64)
}

// errAlone reports that the process which asked is gone.
var errAlone = errors.New("the process that started this process is gone")

// Serve restricts this process and answers the request that comes in by first, then for other matches by other, and
// writes copies by copies, nil for a process that writes none; these are not called at once. Interrupted is the cause
// with which the context ends. When Serve returns the process is to end, even if these still run.
func Serve(in io.Reader, out io.Writer, interrupted error, first func(*Asked) *Answer, other func(match int) *Answer, copies func(out io.Writer) (left []string, err error)) error {
	buffered := bufio.NewReaderSize(in, chunk)
	kind, content, err := next(buffered)
	if err != nil || kind != request {
		return fmt.Errorf("%s is started by triage --isolate, and reads its request from stdin", Command)
	}
	var a Asked
	if err := msgpack.NewDecoder(bytes.NewReader(content)).Decode(&a.Request); err != nil {
		return err
	}
	to := &wire{w: out}
	if err := to.sendJSON(state, sandbox.Enter(a.Rules)); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	a.Context = ctx
	stdin, feed := io.Pipe()
	a.Stdin = stdin
	if a.Request.Progress {
		a.Progress = showing(to)
	}
	ended := make(chan error, 2)
	matches := make(chan int)
	go func() {
		ended <- listen(buffered, feed, matches, func() { cancel(interrupted) })
	}()
	go func() {
		err := to.answer(first(&a))
		stdin.Close()
		for err == nil {
			if match := <-matches; match == aCopy {
				err = to.copy(copies)
			} else {
				err = to.answer(other(match))
			}
		}
		ended <- err
	}()
	return <-ended
}

// aCopy is the number of a copy among the numbers of matches.
const aCopy = -1

// errNoCopies reports that a process was asked for a copy and cannot write one.
var errNoCopies = errors.New("this process writes no copies")

// copy sends a copy, and how it ended.
func (w *wire) copy(write func(out io.Writer) ([]string, error)) error {
	if write == nil {
		return w.sendJSON(copyEnd, copied{Failure: errNoCopies.Error()})
	}
	out := bufio.NewWriterSize(copying{w}, chunk)
	left, err := write(out)
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return w.sendJSON(copyEnd, copied{Failure: line(err.Error())})
	}
	return w.sendJSON(copyEnd, copied{Left: left})
}

// copying sends what is written to it, in frames.
type copying struct{ to *wire }

func (c copying) Write(b []byte) (n int, err error) {
	for len(b) > n && err == nil {
		part := b[n:min(len(b), n+chunk)]
		if err = c.to.send(copyFrame, part); err == nil {
			n += len(part)
		}
	}
	return n, err
}

// answer sends an answer.
func (w *wire) answer(a *Answer) error {
	if a.Report != nil {
		if err := w.sendJSON(reportFrame, a.Report); err != nil {
			return err
		}
	}
	return w.sendJSON(answer, a)
}

// listen takes the frames after the request, until there are no more.
func listen(r io.Reader, feed *io.PipeWriter, matches chan<- int, stop func()) error {
	for {
		kind, content, err := next(r)
		if err != nil {
			return errAlone
		}
		switch kind {
		case data:
			_, _ = feed.Write(content) // fails once the reader has stopped
		case end:
			feed.Close()
		case another:
			number, err := strconv.Atoi(string(content))
			if err != nil {
				return err
			}
			if number < 1 {
				return fmt.Errorf("there is no match %d", number)
			}
			matches <- number
		case copyFrame:
			matches <- aCopy
		case interrupt:
			feed.CloseWithError(io.ErrUnexpectedEOF)
			stop()
		}
	}
}

// showing returns what sends progress, a few times a second.
func showing(to *wire) func(what, unit string, done, total int64) {
	var last time.Time
	now := ""
	return func(what, unit string, done, total int64) {
		if what == now && time.Since(last) < 100*time.Millisecond {
			return
		}
		now, last = what, time.Now()
		_ = to.sendJSON(progress, moment{what, unit, done, total}) // nothing depends on it
	}
}
