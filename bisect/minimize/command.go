package minimize

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/processgroup"
	"github.com/desynctool/desynctool/internal/shellwords"
	"github.com/desynctool/desynctool/snapshot"
)

// Command is a Test by a command that is run on a file with the candidate, in the format
// of the game's own logs, so that the game needs no change.
//
// Its exit status is the verdict, as for git bisect run: 0 in sync, 1 to 124 diverges, 125 unknown; 126 and more, and a
// signal, end the search, since they mean that the command itself failed. With Diverges the output is the verdict, with
// Against whether two commands print the same; 125 and the statuses that end the search keep their meaning.
type Command struct {
	// Line is the command, in words as a shell has them; no shell runs it. {} is replaced by the path of the candidate.
	Line string
	// Against is a second command, of another build; its output is compared with the first one's.
	Against string
	// Diverges matches a line of the output if a candidate diverges, Keep the parts
	// of lines that are compared with Against. Without Keep all output is.
	Diverges, Keep *regexp.Regexp
	// Timeout is how long a command may take, 0 for no limit. A command that takes longer has no verdict.
	Timeout time.Duration

	// File is how candidates are written.
	File File
	// Dir is where the candidates are written, each in its own folder, which is removed after the test. Empty is the
	// system's folder for temporary files.
	Dir string
}

// Placeholder is replaced by the path of a candidate in a command line.
const Placeholder = "{}"

// words returns the words of a command line, with the path of a candidate.
func words(line, path string) ([]string, error) {
	list, err := shellwords.Split(line)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", line, err)
	}
	if len(list) == 0 {
		return nil, errors.New("an empty command")
	}
	found := false
	for i, w := range list {
		if strings.Contains(w, Placeholder) {
			found = true
			list[i] = strings.ReplaceAll(w, Placeholder, path)
		}
	}
	if !found {
		return nil, fmt.Errorf("%q: no %s, the placeholder for the path of the log", line, Placeholder)
	}
	return list, nil
}

// Check returns an error if something is wrong with the command lines.
func (c *Command) Check() error {
	if _, err := words(c.Line, ""); err != nil {
		return err
	}
	if c.Against == "" {
		return nil
	}
	_, err := words(c.Against, "")
	return err
}

// Name implements Test.
func (c *Command) Name() string {
	name := c.Line
	if c.Against != "" {
		name += " against " + c.Against
		if c.Keep != nil {
			name += fmt.Sprintf(", %q", c.Keep)
		}
	}
	if c.Diverges != nil {
		name += fmt.Sprintf(", diverges if %q", c.Diverges)
	}
	return name
}

// AbortError means that a command failed in a way that shows nothing about any candidate.
type AbortError struct {
	Command string
	Status  string // "exit status 127", "signal: killed"
	Output  string // the end of what it printed
}

func (e *AbortError) Error() string {
	s := fmt.Sprintf("%s: %s, which is not a verdict", e.Command, e.Status)
	if e.Output != "" {
		s += ": " + e.Output
	}
	return s
}

// Run implements Test. It takes no state.
func (c *Command) Run(ctx context.Context, candidate *Candidate, _ *snapshot.World) (o Outcome, err error) {
	dir, remove, err := files.TemporaryFolder(c.Dir)
	if err != nil {
		return Outcome{}, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	path := filepath.Join(dir, c.File.Name)
	if err := c.File.create(path, candidate); err != nil {
		return Outcome{}, err
	}
	ticks := candidate.Until() - candidate.in.First()
	first, err := c.run(ctx, c.Line, path)
	if err != nil {
		return Outcome{}, err
	}
	o = Outcome{Replays: 1, Ticks: ticks, Verdict: Unknown, Why: first.why}
	if first.why != "" {
		return o, nil
	}
	diverges := first.status != 0
	switch {
	case c.Against != "":
		second, err := c.run(ctx, c.Against, path)
		if err != nil {
			return Outcome{}, err
		}
		o.Replays, o.Ticks = 2, 2*ticks
		if second.why != "" {
			o.Why = second.why
			return o, nil
		}
		if c.Keep != nil && first.lines+second.lines == 0 {
			o.Why = fmt.Sprintf("no line that either command printed has a match of %q", c.Keep)
			return o, nil
		}
		diverges = first.sum != second.sum || first.status != second.status
	case c.Diverges != nil:
		diverges = first.lines > 0
	}
	o.Verdict = InSync
	if diverges {
		o.Verdict, o.Signature = Diverges, Signature{Kind: KindCommand}
	}
	return o, nil
}

// ran is what a command did.
type ran struct {
	status int
	why    string // it has no verdict
	sum    [sha256.Size]byte
	lines  int // that match
}

// statuses of a command that are not a verdict.
const (
	cannotTell = 125
	noVerdict  = 126
)

func (c *Command) run(ctx context.Context, line, path string) (*ran, error) {
	argv, err := words(line, path)
	if err != nil {
		return nil, err
	}
	limited := ctx
	if c.Timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, c.Timeout)
		defer cancel()
	}
	out := &output{sum: sha256.New(), match: c.Diverges}
	if c.Against != "" {
		out.match = c.Keep
	}
	cmd := exec.CommandContext(limited, argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = out, out // one pipe: in the order in which they were printed
	processgroup.Own(cmd)
	cmd.Cancel = func() error { return processgroup.Kill(cmd.Process) }
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	out.end()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return &ran{why: fmt.Sprintf("%s took longer than %v", argv[0], c.Timeout)}, nil
	case errors.Is(err, exec.ErrWaitDelay): // it ended, and processes that it started continue
		_ = processgroup.Kill(cmd.Process)
	case err != nil && !errors.As(err, &exit):
		return nil, err // it could not be started
	}
	r := &ran{status: cmd.ProcessState.ExitCode(), sum: [sha256.Size]byte(out.sum.Sum(nil)), lines: out.lines}
	switch {
	case r.status == cannotTell:
		r.why = fmt.Sprintf("%s: exit status %d", argv[0], cannotTell)
	case r.status < 0 || r.status >= noVerdict:
		return nil, &AbortError{argv[0], cmd.ProcessState.String(), out.tail()}
	}
	return r, nil
}

// output takes what a command prints, line by line, and keeps nothing but its end.
type output struct {
	match *regexp.Regexp // nil takes all
	sum   hash.Hash      // of the matching bytes
	lines int            // that match

	line []byte
	last []byte
}

// Limits on how much of an output is kept.
const (
	maxOutputLine = 1 << 20 // a line that is longer is taken in pieces
	maxOutputTail = 400
)

func (o *output) Write(p []byte) (int, error) {
	n := len(p)
	o.last = append(o.last, p[max(0, len(p)-maxOutputTail):]...)
	o.last = o.last[max(0, len(o.last)-maxOutputTail):]
	for len(p) > 0 {
		line, rest, whole := bytes.Cut(p, []byte{'\n'})
		o.line = append(o.line, line...)
		if p = rest; whole || len(o.line) > maxOutputLine {
			o.take()
		}
	}
	return n, nil
}

// take takes a line.
func (o *output) take() {
	line := bytes.TrimSuffix(o.line, []byte{'\r'})
	o.line = o.line[:0]
	if o.match == nil {
		o.lines++
		o.sum.Write(append(line, '\n'))
		return
	}
	for _, found := range o.match.FindAll(line, -1) {
		o.lines++
		o.sum.Write(append(found[:len(found):len(found)], '\n'))
	}
}

func (o *output) end() {
	if len(o.line) > 0 {
		o.take()
	}
}

func (o *output) tail() string { return strings.TrimSpace(string(o.last)) }
