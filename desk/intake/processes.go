package intake

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// Command is the only argument of a process that calls Serve.
const Command = "read-bundles"

// Processes is a Copier that reads in other processes, each one bundle after another. A process ends if it takes more
// processor time or memory than a command may that is given the bundle; the error is then an AsideError.
type Processes struct {
	// Start returns a process that calls Serve, not yet started.
	Start func() (*exec.Cmd, error)
	// Names is the key of the pseudonyms of players, empty to leave their names.
	Names string

	mu   sync.Mutex
	idle []*process
}

// process is a started process.
type process struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	request *msgpack.Encoder
	answers *msgpack.Decoder
	said    strings.Builder
}

// request is what a process is asked.
type request struct {
	Path, Name, Names string
	Copy              bool
	Limits            []string // those that are not the defaults
}

// answer is a part of the answer to a request. The last part has Done.
type answer struct {
	Copy    []byte // bytes of the copy
	Done    bool
	Reports [][]byte
	Copied  bool
	Left    []string
	Err     string // about this machine
	Over    string // the limit that the process has reached
	Last    bool   // the process ends
}

// Read reads a bundle.
func (p *Processes) Read(ctx context.Context, path, name string) ([]*document.Report, error) {
	list, _, _, err := p.ReadCopy(ctx, path, name, nil)
	return list, err
}

// ReadCopy reads a bundle, and writes a copy of it unless out is nil.
func (p *Processes) ReadCopy(ctx context.Context, path, name string, out io.Writer) (list []*document.Report, copied bool, left []string, err error) {
	c, err := p.take()
	if err != nil {
		return nil, false, nil, fmt.Errorf("this program cannot be started again: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.cmd.Process.Kill() }) // it may have ended
	a, err := c.ask(&request{path, name, p.Names, out != nil, limits.Given()}, out)
	switch {
	case stop() && err == nil && !a.Last:
		p.mu.Lock()
		p.idle = append(p.idle, c)
		p.mu.Unlock()
	default:
		ended := c.end()
		if cause := context.Cause(ctx); cause != nil {
			return nil, false, nil, cause
		}
		if err == errDied {
			err = &AsideError{"the process that read it ended " + prose.OneLine(ended)}
		}
	}
	switch {
	case err != nil:
		return nil, false, nil, err
	case a.Over != "":
		return nil, false, nil, &AsideError{a.Over}
	case a.Err != "":
		return nil, false, nil, errors.New(a.Err)
	}
	for _, content := range a.Reports {
		r, err := document.ParseReport(content, name)
		if err != nil {
			return nil, false, nil, err
		}
		list = append(list, r)
	}
	return list, a.Copied, a.Left, nil
}

// Close ends all processes. None may be reading.
func (p *Processes) Close() {
	for _, c := range p.idle {
		c.end()
	}
	p.idle = nil
}

// take returns an idle process, or starts one.
func (p *Processes) take() (*process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return c, nil
	}
	cmd, err := p.Start()
	if err != nil {
		return nil, err
	}
	c := &process{cmd: cmd}
	cmd.Args, cmd.Stderr = []string{cmd.Args[0], Command}, &c.said
	if c.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.request, c.answers = msgpack.NewEncoder(c.in), msgpack.NewDecoder(bufio.NewReaderSize(out, chunk))
	return c, cmd.Start()
}

// errDied reports that a process ended without an answer.
var errDied = errors.New("the process ended")

// ask sends a request and writes the copy in the answer to out. The error is errDied, or comes from out.
func (c *process) ask(q *request, out io.Writer) (*answer, error) {
	if c.request.Encode(q) != nil {
		return nil, errDied
	}
	for a := (&answer{}); ; {
		if c.answers.Decode(a) != nil {
			return nil, errDied
		}
		if a.Done {
			return a, nil
		}
		if _, err := out.Write(a.Copy); err != nil {
			return nil, err
		}
	}
}

// end ends the process and returns how it ended.
func (c *process) end() string {
	_ = c.in.Close() // with which it ends
	err := c.cmd.Wait()
	for text := range strings.Lines(c.said.String()) {
		if strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ") {
			return "without an answer: " + text
		}
	}
	return fmt.Sprintf("without an answer (%v)", err)
}

// chunk is how many bytes of a copy are sent at once.
const chunk = 64 << 10

// Bundle is a bundle that a process is asked to read.
type Bundle struct {
	Path, Names string
	// Limits are the limits that are not the defaults, as limits.Given has them.
	Limits []string
}

// Serve reads bundles for the process that started this one, until that ends. begin returns what reads a bundle, and a
// function that ends it and returns whether the process may read another. If over is called meanwhile, the process
// reports the limit and ends.
func Serve(in io.Reader, out io.Writer, begin func(b *Bundle, over func(error)) (c Copier, end func() (more bool), err error), exit func()) {
	requests := make(chan *request)
	go func() {
		defer exit() // also while a bundle is read
		from := msgpack.NewDecoder(in)
		for {
			q := &request{}
			if from.Decode(q) != nil {
				return
			}
			requests <- q
		}
	}()
	to := &answers{to: msgpack.NewEncoder(out)}
	for q := range requests {
		a := &answer{Done: true}
		c, end, err := begin(&Bundle{q.Path, q.Names, q.Limits}, func(err error) {
			to.send(&answer{Done: true, Over: err.Error(), Last: true})
			exit()
		})
		if err == nil {
			a.read(c, q, to)
			a.Last = !end()
		} else {
			a.Err, a.Last = err.Error(), true
		}
		to.send(a)
	}
}

// read reads a bundle.
func (a *answer) read(c Copier, q *request, to *answers) {
	var list []*document.Report
	var err error
	if q.Copy {
		w := bufio.NewWriterSize(to, chunk)
		list, a.Copied, a.Left, err = c.ReadCopy(context.Background(), q.Path, q.Name, w)
		_ = w.Flush() // a process that does not listen has ended
	} else {
		list, err = c.Read(context.Background(), q.Path, q.Name)
	}
	for _, r := range list {
		if err == nil {
			var content []byte
			content, err = json.Marshal(r)
			a.Reports = append(a.Reports, content)
		}
	}
	if err != nil {
		a.Err = err.Error()
	}
}

// answers sends answers.
type answers struct {
	mu sync.Mutex
	to *msgpack.Encoder
}

func (w *answers) send(a *answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.to.Encode(a) // nobody listens: this process ends
}

// Write sends a part of a copy.
func (w *answers) Write(b []byte) (int, error) {
	w.send(&answer{Copy: b})
	return len(b), nil
}
