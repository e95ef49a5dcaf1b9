package extsim

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/processgroup"
)

// process is a link to a command that was started for it.
type process struct {
	cmd  *exec.Cmd
	conn io.ReadWriteCloser
	r    *bufio.Reader
	buf  bytes.Buffer
	log  Tail
	done chan struct{} // closed once the command has ended and its log is complete
	err  error         // how it ended; read after done
	late atomic.Bool   // it was killed since it did not answer in time
	gone bool

	ctx   context.Context // of the whole simulator
	grace time.Duration   // to leave by itself
	host  bool            // see Options
	under func(cmd *exec.Cmd) (started func(err error), err error)
}

// startProcess starts a command in its own process group and connects to it.
func startProcess(ctx context.Context, argv []string, opts Options) (link, error) {
	p := &process{cmd: exec.CommandContext(ctx, argv[0], argv[1:]...), done: make(chan struct{}), ctx: ctx, grace: opts.grace(), host: opts.Host, under: opts.Under}
	p.cmd.Dir, p.cmd.Env = opts.Dir, append(cleanEnv(), opts.Env...)
	p.cmd.Stderr = &p.log
	p.cmd.WaitDelay = p.grace
	processgroup.Own(p.cmd)
	p.cmd.Cancel = func() error { _ = processgroup.Kill(p.cmd.Process); return nil }
	var err error
	if opts.Transport == Stdio {
		err = p.startPiped()
	} else {
		err = p.startConnected(opts.Transport, opts.timeout())
	}
	if err != nil {
		return nil, err
	}
	p.r = bufio.NewReaderSize(p.conn, 64<<10)
	return p, nil
}

// startPiped talks over stdin and stdout. It makes the pipes itself, since os/exec closes its pipes as soon as the
// command ends, even with data in them.
func (p *process) startPiped() error {
	toR, toW, err := os.Pipe()
	if err != nil {
		return err
	}
	fromR, fromW, err := os.Pipe()
	if err != nil {
		toR.Close()
		toW.Close()
		return err
	}
	p.cmd.Stdin, p.cmd.Stdout = toR, fromW
	err = p.start()
	toR.Close()
	fromW.Close()
	if err != nil {
		toW.Close()
		fromR.Close()
		return err
	}
	p.conn = pipes{fromR, toW}
	return nil
}

// start starts the command and waits for its end in the background.
func (p *process) start() error {
	started := func(error) {}
	if p.under != nil {
		var err error
		if started, err = p.under(p.cmd); err != nil {
			return err
		}
	}
	err := p.cmd.Start()
	started(err)
	if err != nil {
		return err
	}
	go func() {
		p.err = p.cmd.Wait()
		_ = processgroup.Kill(p.cmd.Process) // processes that it left running
		close(p.done)
	}()
	return nil
}

// pipes is a connection over two pipes.
type pipes struct {
	io.ReadCloser
	w io.WriteCloser
}

func (p pipes) Write(b []byte) (int, error) { return p.w.Write(b) }
func (p pipes) Close() error                { return errors.Join(p.w.Close(), p.ReadCloser.Close()) }

// call implements link.
func (p *process) call(frame []byte, limit uint32, timeout time.Duration) ([]byte, error) {
	if p.gone {
		return nil, p.breaks(Died, "it is not running")
	}
	timer := time.AfterFunc(timeout, func() {
		p.late.Store(true)
		_ = processgroup.Kill(p.cmd.Process)
		p.conn.Close() // a process outside of the group may hold the other end
	})
	defer timer.Stop()
	_, err := p.conn.Write(frame)
	if text := strayText(p.r, limit); text != "" && !p.late.Load() {
		return nil, p.broken(text)
	}
	if err != nil {
		return nil, p.lost(err, timeout)
	}
	b, err := readFrame(p.r, &p.buf, limit)
	if err != nil {
		return nil, p.lost(err, timeout)
	}
	return b, nil
}

// lost returns why a connection ended: most likely because the command did.
func (p *process) lost(err error, timeout time.Duration) error {
	if p.ctx.Err() != nil {
		return p.breaks(Died, "interrupted")
	}
	if p.late.Load() {
		return p.breaks(Silent, SilentError{timeout}.Error())
	}
	if !hungUp(err) {
		return p.broken(err.Error())
	}
	select {
	case <-p.done:
	case <-time.After(p.grace):
		return p.breaks(Died, "it closed the connection")
	}
	var exit *exec.ExitError
	if p.host && errors.As(p.err, &exit) && exit.ExitCode() == HostFailed {
		p.end(0)
		return &BrokenError{Kind: Died, Msg: p.log.Last()}
	}
	return p.breaks(Died, p.ended())
}

// hungUp reports whether an error means that the other end of a connection is gone.
func hungUp(err error) bool {
	var path *os.PathError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &path) || isReset(err)
}

// ended describes how the command ended.
func (p *process) ended() string {
	var exit *exec.ExitError
	switch {
	case errors.As(p.err, &exit) && exit.Exited():
		return fmt.Sprintf("it exited with status %d", exit.ExitCode())
	case errors.As(p.err, &exit):
		return "it was ended by " + exit.String() // "signal: segmentation fault"
	case p.err != nil:
		return p.err.Error()
	}
	return "it exited early, with status 0"
}

// broken implements link.
func (p *process) broken(msg string) error { return p.breaks(Malformed, msg) }

func (p *process) breaks(kind BrokenKind, msg string) error {
	p.end(0)
	return &BrokenError{Kind: kind, Msg: msg, Said: p.log.Last()}
}

// end lets the command exit, and kills it if that takes too long.
func (p *process) end(grace time.Duration) {
	p.gone = true
	p.conn.Close()
	select {
	case <-p.done:
		return
	case <-time.After(grace):
	}
	_ = processgroup.Kill(p.cmd.Process)
	<-p.done
}

// close implements link.
func (p *process) close() error {
	if !p.gone {
		p.end(p.grace)
	}
	return nil
}

// cleanEnv is this process's environment without the variables that would make a target connect to another process.
func cleanEnv() []string {
	return lists.Where(os.Environ(), func(v string) bool {
		return !strings.HasPrefix(v, AddressVar+"=") && !strings.HasPrefix(v, TokenVar+"=")
	})
}
