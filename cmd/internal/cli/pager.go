package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/internal/shellwords"
	"github.com/desynctool/desynctool/report/document"
)

// pagerCommand returns the words of the pager's command, nil for none. The variable DESYNCTOOL_PAGER decides if it is
// set, else PAGER if it is set, else the pager is less. An empty value or cat switches the pager off.
func pagerCommand() []string {
	line := "less"
	for _, name := range []string{"DESYNCTOOL_PAGER", "PAGER"} {
		if set, ok := os.LookupEnv(name); ok {
			line = set
			break
		}
	}
	words, err := shellwords.Split(line)
	if err != nil || len(words) == 0 || words[0] == "cat" {
		return nil
	}
	return words
}

// Paged lets write write to stdout. It uses a pager if stdout is a terminal and the text is longer than the screen.
func (e *Env) Paged(write func(w io.Writer) error) error {
	words := pagerCommand()
	if e.noPager || words == nil || !IsTerminal(e.Stdout) || os.Getenv("TERM") == "dumb" {
		return write(e.Stdout)
	}
	p := &pager{words: words, stdout: e.Stdout.(*os.File), begins: e.IgnoreSignals}
	p.columns, p.rows = terminalSize(e.Stdout)
	return errors.Join(write(p), p.Close())
}

// pager shows a text on a terminal: directly if it fits the screen, otherwise in a program. Output after that program
// has ended is discarded without an error, because the user does not want more.
type pager struct {
	words         []string
	stdout        *os.File
	columns, rows int // of the terminal

	held   []byte         // the text while it fits the screen
	to     io.WriteCloser // the destination after that
	cmd    *exec.Cmd      // nil if the program cannot be started; the destination is then stdout
	ended  bool           // the program no longer reads
	over   func()         // handles Ctrl-C again
	begins func()         // stops handling it
}

func (p *pager) Write(b []byte) (int, error) {
	if p.to == nil {
		p.held = append(p.held, b...)
		if p.lines() < p.rows { // the prompt needs a line
			return len(b), nil
		}
		p.start()
		_, err := p.pass(p.held)
		p.held = nil
		return len(b), err
	}
	return p.pass(b)
}

// lines returns how many lines of the terminal the held text takes.
func (p *pager) lines() (n int) {
	for line := range bytes.Lines(p.held) {
		n++
		if len(line) > p.columns {
			n += max(0, prose.Columns(document.WithoutColours(string(bytes.TrimRight(line, "\n"))))-1) / p.columns
		}
	}
	return n
}

// start starts the program.
func (p *pager) start() {
	cmd := exec.Command(p.words[0], p.words[1:]...)
	cmd.Stdout, cmd.Stderr = p.stdout, os.Stderr
	cmd.Env = os.Environ()
	for name, value := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		if _, ok := os.LookupEnv(name); !ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	p.to = p.stdout
	in, err := cmd.StdinPipe()
	if err != nil {
		return
	}
	if err := cmd.Start(); err != nil {
		return
	}
	p.to, p.cmd = in, cmd
	interrupts := make(chan os.Signal, 1)
	p.begins()
	signal.Notify(interrupts, os.Interrupt) // it is for the program, in which it may be a command
	p.over = func() { signal.Stop(interrupts) }
}

// pass writes to the program, or to stdout if there is none.
func (p *pager) pass(b []byte) (int, error) {
	if p.ended {
		return len(b), nil
	}
	n, err := p.to.Write(b)
	if err != nil && p.cmd != nil {
		p.ended = true
		return len(b), nil
	}
	return n, err
}

// Close waits until the program has ended.
func (p *pager) Close() error {
	switch {
	case p.to == nil:
		_, err := p.stdout.Write(p.held)
		return err
	case p.cmd == nil:
		return nil
	}
	_ = p.to.Close()
	_ = p.cmd.Wait() // its exit status is not the command's
	p.over()
	return nil
}
