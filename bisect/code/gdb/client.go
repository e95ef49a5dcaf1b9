package gdb

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// client talks to a gdb over its machine interface.
type client struct {
	in      io.WriteCloser
	stopped chan record // each stop of the program
	ended   chan struct{}

	mu      sync.Mutex
	token   int
	waiting map[string]chan record
	pid     int
	text    strings.Builder // that gdb printed since the last command
}

// longestLine is the longest line of gdb that is read, in bytes; longer ones are skipped.
const longestLine = 1 << 20

// answer is how long gdb may take for one command. Reading the symbols of a large program takes seconds.
const answer = time.Minute

// newClient reads what gdb prints until it ends.
func newClient(in io.WriteCloser, out io.Reader) *client {
	c := &client{in: in, stopped: make(chan record, 16), ended: make(chan struct{}), waiting: map[string]chan record{}}
	go c.read(out)
	return c
}

func (c *client) read(out io.Reader) {
	defer close(c.ended)
	defer close(c.stopped)
	r := bufio.NewReaderSize(out, longestLine)
	for {
		line, err := r.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			line = nil
			_, err = r.ReadSlice('\n')
		}
		if rec, bad := parseRecord(strings.TrimRight(string(line), "\r\n")); bad == nil {
			c.take(rec)
		}
		if err != nil {
			return
		}
	}
}

func (c *client) take(r record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case r.kind == '^':
		if to := c.waiting[r.token]; to != nil {
			delete(c.waiting, r.token)
			to <- r
		}
	case r.kind == '=' && r.class == "thread-group-started":
		c.pid, _ = strconv.Atoi(r.fields.str("pid"))
	case (r.kind == '~' || r.kind == '&') && c.text.Len() < longestLine:
		c.text.WriteString(r.class)
	case r.kind == '*' && r.class == "stopped":
		select {
		case c.stopped <- r:
		default: // nobody continues a program that stops again without being continued
		}
	}
}

// do sends a command and returns the fields of its result. An error of gdb is its message.
func (c *client) do(format string, args ...any) (value, error) {
	reply := make(chan record, 1)
	c.mu.Lock()
	c.token++
	token := strconv.Itoa(c.token)
	c.waiting[token] = reply
	c.text.Reset()
	c.mu.Unlock()
	command := fmt.Sprintf(format, args...)
	if strings.ContainsAny(command, "\r\n") {
		return value{}, errors.New("gdb cannot be given a line break")
	}
	if _, err := io.WriteString(c.in, token+command+"\n"); err != nil {
		return value{}, c.gone()
	}
	timer := time.NewTimer(answer)
	defer timer.Stop()
	select {
	case r := <-reply:
		if r.class == "error" {
			return value{}, errors.New(firstLine(r.fields.str("msg")))
		}
		return r.fields, nil
	case <-c.ended:
		return value{}, c.gone()
	case <-timer.C:
		name, _, _ := strings.Cut(command, " ")
		return value{}, fmt.Errorf("gdb did not answer %s within %v", name, answer)
	}
}

// all sends commands up to the first that fails.
func (c *client) all(commands ...string) error {
	for _, command := range commands {
		if _, err := c.do("%s", command); err != nil {
			return err
		}
	}
	return nil
}

// errEnded is the error of a command to a gdb that has ended.
var errEnded = errors.New("gdb has ended")

// gone describes a gdb that ended, by the last that it printed.
func (c *client) gone() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if text := firstLine(c.text.String()); text != "" {
		return fmt.Errorf("%w: %s", errEnded, text)
	}
	return errEnded
}

// process returns the number of the program's process, 0 if there is none.
func (c *client) process() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pid
}

// quit lets gdb kill the program and end. It does not wait.
func (c *client) quit() {
	_, _ = io.WriteString(c.in, "-gdb-exit\n")
	c.in.Close()
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// pipes are the standard input and output of a gdb: its own ends, and the other ones.
type pipes struct{ in, out, ours, theirs *os.File }

func newPipes() (p pipes, err error) {
	if p.in, p.ours, err = os.Pipe(); err != nil {
		return p, err
	}
	if p.theirs, p.out, err = os.Pipe(); err != nil {
		p.in.Close()
		p.ours.Close()
	}
	return p, err
}
