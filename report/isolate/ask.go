package isolate

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/internal/sandbox"
	"github.com/desynctool/desynctool/report/document"
)

// grace is how long a process may take to answer once it was asked to end.
const grace = 10 * time.Second

// Reader starts processes that read.
type Reader struct {
	// Process returns one that calls Serve, not yet started; nil is Process.
	Process func() (*exec.Cmd, error)
	// State takes what holds for a process, before it opens anything that is not trusted. If it
	// returns an error the process is ended, and that error is the result. Nil takes everything.
	State func(sandbox.State) error
	// Progress takes how far something is, nil to hear nothing.
	Progress func(what, unit string, done, total int64)
}

// environment are the variables that a process gets: the variables of the Go runtime, and the places of temporary
// files. Others, such as the tokens of a CI system, are not its business.
var environment = []string{"GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG", "TMPDIR", "TMP", "TEMP", "SystemRoot"}

// Process returns this program, as a process that calls Serve.
func Process() (*exec.Cmd, error) {
	path := "/proc/self/exe" // which stays the same program where its file is replaced meanwhile
	if _, err := os.Stat(path); runtime.GOOS != "linux" || err != nil {
		if path, err = os.Executable(); err != nil { // /proc is not mounted
			if path, err = exec.LookPath(os.Args[0]); err != nil {
				return nil, err
			}
		}
	}
	cmd := Program(path)
	cmd.Args[0] = os.Args[0]
	return cmd, nil
}

// Program returns another program, as a process that calls Serve.
func Program(path string) *exec.Cmd {
	cmd := exec.Command(path, Command)
	cmd.Env = []string{}
	for _, name := range environment {
		if value, set := os.LookupEnv(name); set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	return cmd
}

// Asking is a process that was asked, and may be asked on.
type Asking struct {
	reader     Reader
	limits     sandbox.Limits
	cmd        *exec.Cmd
	namespaces uintptr // its own
	to         *wire
	in         io.WriteCloser
	pipe       io.ReadCloser
	out        *bufio.Reader
	begun      bool // it has said what holds for it
	stderr     head
	killed     atomic.Pointer[DiedError] // why this process ended it
	stop       func() bool
	once       sync.Once
}

// Ask starts a process and has it answer a request. Stdin is read for the path -. When ctx is done the process is asked
// to end, and may still answer. If the process fails, the error is a *DiedError. If it could not do the request, the
// error is a *Failure, which comes with the answer. Other errors come from this process. Without an error the caller
// must Close the process, in the same goroutine.
func (r Reader) Ask(ctx context.Context, q *Request, stdin io.Reader) (*Asking, *Answer, error) {
	process := r.Process
	if process == nil {
		process = Process
	}
	p := &Asking{reader: r, limits: q.Rules.Limits}
	cmd, err := process()
	if err == nil && p.start(cmd, namespaces) != nil { // the system may give none
		if cmd, err = process(); err == nil {
			err = p.start(cmd, 0)
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--isolate: this program cannot be started again: %w", err)
	}
	p.stop = context.AfterFunc(ctx, func() {
		time.AfterFunc(grace, func() { p.kill(died("did not end on request")) })
		_ = p.to.send(interrupt, nil) // it may be gone
	})
	go p.tell(q, stdin)
	a, err := p.answer(q.Match, q.OfSeveral)
	if err != nil {
		return nil, a, err
	}
	return p, a, nil
}

// Another has the process report on another one of several matches. After an error the process is
// closed.
func (p *Asking) Another(match int) (*Answer, error) {
	_ = p.to.send(another, strconv.AppendInt(nil, int64(match), 10)) // that it does not take it shows in the answer
	return p.answer(match, true)
}

// mostLeft is how many lines are kept that list where in a copy names may be left.
const mostLeft = 10_000

// Copy has the process write a copy of the evidence, of at most that many bytes, and returns where in the copy names
// may be left, a line each. If the process could not copy, the error is a *CopyError, and the process may be asked
// again; after other errors it is closed. If the process failed, the error is a *DiedError. After an error, discard
// what was written to out.
func (p *Asking) Copy(out io.Writer, most int64) (left []string, err error) {
	wall := time.AfterFunc(p.limits.Wall, func() { p.kill(died("took longer than %v", p.limits.Wall)) })
	_ = p.to.send(copyFrame, nil) // that it does not take it shows in the answer
	end, err := p.hearCopy(out, most)
	if err != nil {
		return nil, p.failed(err, wall)
	}
	wall.Stop()
	if end.Failure != "" {
		return nil, &CopyError{line(end.Failure)}
	}
	for i, l := range end.Left {
		if i == mostLeft {
			left = append(left, fmt.Sprintf("and %d more", len(end.Left)-i))
			break
		}
		left = append(left, document.Safe(prose.Shorten(prose.OneLine(l), 400)))
	}
	return left, nil
}

// hearCopy takes the frames of a copy.
func (p *Asking) hearCopy(out io.Writer, most int64) (*copied, error) {
	for {
		kind, content, err := next(p.out)
		if err != nil {
			return nil, err
		}
		switch kind {
		case progress: // of the answer before
		case copyFrame:
			if most -= int64(len(content)); most < 0 {
				return nil, errors.New("a copy that is too large")
			}
			if _, err := out.Write(content); err != nil {
				return nil, refused{err}
			}
		case copyEnd:
			end := &copied{}
			return end, json.Unmarshal(content, end)
		default:
			return nil, fmt.Errorf("a frame %q instead of a copy", kind)
		}
	}
}

// Close ends the process.
func (p *Asking) Close() error {
	p.once.Do(func() {
		p.stop()
		p.kill(nil) // it will send nothing more
		_ = p.cmd.Wait()
		runtime.UnlockOSThread()
	})
	return nil
}

// start starts the process, with namespaces of its own; 0 for none.
func (p *Asking) start(cmd *exec.Cmd, own uintptr) error {
	p.cmd, p.namespaces = cmd, own
	cmd.SysProcAttr = attributes(own)
	cmd.Stderr = &p.stderr
	cmd.WaitDelay = grace
	var err error
	if p.in, err = cmd.StdinPipe(); err != nil {
		return err
	}
	if p.pipe, err = cmd.StdoutPipe(); err != nil {
		return err
	}
	p.to, p.out = &wire{w: p.in}, bufio.NewReaderSize(p.pipe, chunk)
	runtime.LockOSThread() // with which the process ends, where the system does that
	if err := cmd.Start(); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	return nil
}

// kill ends the process. The first reason counts.
func (p *Asking) kill(why *DiedError) {
	p.killed.CompareAndSwap(nil, why)
	_ = p.cmd.Process.Kill() // it may have ended
}

// tell sends the request and the data that it needs. If the process does not take it, its answer shows that.
func (p *Asking) tell(q *Request, stdin io.Reader) {
	if p.to.request(q) != nil || stdin == nil {
		return
	}
	b := make([]byte, chunk)
	for {
		n, err := stdin.Read(b)
		if n > 0 && p.to.send(data, b[:n]) != nil {
			return
		}
		if err != nil {
			_ = p.to.send(end, nil)
			return
		}
	}
}

// request sends a request.
func (w *wire) request(q *Request) error {
	var b bytes.Buffer
	if err := msgpack.NewEncoder(&b).Encode(q); err != nil {
		return err
	}
	return w.send(request, b.Bytes())
}

// refused is an error of this process, which a process is not at fault for.
type refused struct{ error }

// hear takes the frames of the process up to its answer.
func (p *Asking) hear() (*Answer, error) {
	var saved *document.Report
	for {
		kind, content, err := next(p.out)
		if err != nil {
			return nil, err
		}
		if p.begun == (kind == state) {
			return nil, fmt.Errorf("a frame %q out of order", kind)
		}
		switch kind {
		case state:
			p.begun = true
			var s sandbox.State
			if err := json.Unmarshal(content, &s); err != nil {
				return nil, err
			}
			if p.namespaces != 0 {
				s.Holds = append(s.Holds, "namespaces")
			}
			if p.reader.State != nil {
				if err := p.reader.State(s); err != nil {
					return nil, refused{err}
				}
			}
		case progress:
			var m moment
			if err := json.Unmarshal(content, &m); err != nil {
				return nil, err
			}
			if p.reader.Progress != nil {
				p.reader.Progress(document.Safe(prose.Shorten(m.What, 40)), document.Safe(prose.Shorten(m.Unit, 10)), m.Done, m.Total)
			}
		case reportFrame:
			if saved, err = document.ParseReport(content, "the report"); err != nil {
				return nil, err
			}
		case answer:
			a := &Answer{}
			if err := json.Unmarshal(content, a); err != nil {
				return nil, err
			}
			a.Report = saved
			return a, nil
		default:
			return nil, fmt.Errorf("an unknown frame %q", kind)
		}
	}
}

// answer returns the answer of the process within its time, or how it failed.
func (p *Asking) answer(match int, ofSeveral bool) (*Answer, error) {
	wall := time.AfterFunc(p.limits.Wall, func() { p.kill(died("took longer than %v", p.limits.Wall)) })
	a, err := p.hear()
	if err == nil {
		err = a.check(match, ofSeveral)
	}
	if err == nil {
		wall.Stop()
		if a.Failure != nil {
			return a, errors.Join(a.Failure, p.Close())
		}
		return a, nil
	}
	return nil, p.failed(err, wall)
}

// failed ends a process that gave no answer because of err, and returns how it failed.
func (p *Asking) failed(err error, wall *time.Timer) error {
	var ours refused
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, os.ErrClosed) {
		p.kill(died("did not answer as it should: %s", line(err.Error())))
	}
	p.in.Close()
	waited := p.cmd.Wait()
	wall.Stop()
	why := p.killed.Load()
	_ = p.Close()
	if errors.As(err, &ours) {
		return ours.error
	}
	if why == nil {
		why = p.how(waited)
	}
	if ended := p.cmd.ProcessState; ended != nil {
		why.CPU = ended.UserTime() + ended.SystemTime()
	}
	return why
}

// how describes how a process ended that this process did not end.
func (p *Asking) how(waited error) *DiedError {
	said := p.stderr.String()
	for _, text := range []string{"out of memory", "cannot allocate memory", "failed to create new OS thread"} {
		if strings.Contains(said, text) {
			return died("needed more memory than it may have, %s; --limit heap=BYTES sets it for each MiB", sandbox.Size(cmp.Or(p.limits.Heap, p.limits.Memory)))
		}
	}
	if strings.Contains(said, sandbox.OutOfTime) {
		return died("needed more processor time than it may have; --limit cpu=TIME sets it for each MiB")
	}
	how := "without an answer"
	if waited != nil {
		how += " (" + line(waited.Error()) + ")"
	}
	for text := range strings.Lines(said) {
		if strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ") {
			how += ": " + line(text)
			break
		}
	}
	return died("ended %s", how)
}

// line cuts a process's output to a line of a report.
func line(s string) string { return document.Safe(prose.Shorten(strings.TrimSpace(s), 160)) }

// check returns an error for an answer to something that was not asked.
func (a *Answer) check(match int, ofSeveral bool) error {
	given := lists.Count([]bool{a.Report != nil, a.Matches != nil, a.Failure != nil}, func(has bool) bool { return has })
	if given != 1 {
		return fmt.Errorf("an answer with %d of a report, a list and a failure", given)
	}
	switch {
	case a.Matches != nil:
		if match > 0 || len(a.Matches) < 2 {
			return errors.New("a list of matches that was not asked for")
		}
		for i := range a.Matches {
			if a.Matches[i].Number != i+1 {
				return fmt.Errorf("match %d of its list has the number %d", i+1, a.Matches[i].Number)
			}
		}
	case a.Failure != nil:
		if f := a.Failure; ofSeveral || f.Whole == "" || len(f.Lines) == 0 || !slices.Contains([]document.Status{document.Failed, document.Inconclusive}, f.Status) {
			return errors.New("a failure without a reason")
		}
	case ofSeveral && (a.Report.Match == nil || a.Report.Match.Number != match):
		return fmt.Errorf("a report that is not of match %d", match)
	case !ofSeveral && a.Report.Match != nil:
		return errors.New("a report of one of several matches that was not asked for")
	case a.Report.Status != a.Report.Status.Known():
		return errors.New("a report with an unknown status")
	}
	return nil
}

// head keeps the first bytes that are written to it.
type head struct{ kept []byte }

func (h *head) Write(b []byte) (int, error) {
	const most = 8 << 10
	h.kept = append(h.kept, b[:min(len(b), most-len(h.kept))]...)
	return len(b), nil
}

func (h *head) String() string { return string(h.kept) }
