package extsim

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// Options configures how targets are started and talked to.
type Options struct {
	Transport Transport
	// Timeout is how long a target may take to answer one request; 0 means
	// DefaultTimeout.
	Timeout time.Duration
	// Dir is the folder that a target is started in; a relative path to its program is relative to it. Empty is the
	// current folder. Env are variables that it gets in addition to this process's environment.
	Dir string
	Env []string

	// Under, if not nil, changes the command so that it runs under another program, such as a debugger, which may take its
	// stdin and stdout: for a socket. The function that it returns is called once the command was started, or was not.
	Under func(cmd *exec.Cmd) (started func(err error), err error)

	// Host reports whether the command is a program that runs the target. Such a program ends with the status
	// HostFailed when the target ends; the last line on its stderr describes how.
	Host bool

	leave time.Duration // to leave by itself; 0 means leaveTimeout
}

func (o Options) timeout() time.Duration {
	if o.Timeout > 0 {
		return o.Timeout
	}
	return DefaultTimeout
}

func (o Options) grace() time.Duration {
	if o.leave > 0 {
		return o.leave
	}
	return leaveTimeout
}

// HostFailed is the exit status of a host with a target that ended.
const HostFailed = 3

// New returns the simulator that a command serves. Each instance is a separate process, killed when ctx is done.
func New(ctx context.Context, name string, argv []string, opts Options) (*bisect.Sim, error) {
	if len(argv) == 0 {
		return nil, errors.New("no command")
	}
	return over(name, opts, func() (link, error) { return startProcess(ctx, argv, opts) }), nil
}

// Call answers the value of a request with the value of a reply. An error describes how the target ended. Release frees
// its resources. If Image and SetImage are not nil, they save and restore the target's whole state; the target is not
// asked.
type Call struct {
	Do       func(request []byte, timeout time.Duration) (reply []byte, err error)
	Release  func() error
	Image    func() ([]byte, error)
	SetImage func([]byte) error
}

// Over returns the simulator that speaks the protocol through function calls, such as a
// target that was loaded into this process.
func Over(name string, opts Options, start func() (*Call, error)) *bisect.Sim {
	return over(name, opts, dialCall(start))
}

func dialCall(start func() (*Call, error)) func() (link, error) {
	return func() (link, error) {
		c, err := start()
		if err != nil {
			return nil, err
		}
		return &called{Call: c}, nil
	}
}

func over(name string, opts Options, dial func() (link, error)) *bisect.Sim {
	begin := func(h *orderlog.Header, w *snapshot.World) (_ bisect.Simulator, err error) {
		s := &simulator{name: name, origin: origin{header: h}, dial: dial, timeout: opts.timeout()}
		if w != nil {
			if s.origin.state, err = snapshot.Encode(w, snapshot.WriteOptions{Plain: true}); err != nil {
				return nil, err
			}
		}
		if err := s.connect(); err != nil {
			return nil, err // the caller adds the name
		}
		return s, nil
	}
	return &bisect.Sim{
		Name:   name,
		Start:  func(h *orderlog.Header) (bisect.Simulator, error) { return begin(h, nil) },
		Resume: func(w *snapshot.World, h *orderlog.Header) (bisect.Simulator, error) { return begin(h, w) },
	}
}

// called is a link to a target in this process.
type called struct {
	*Call
	gone bool
}

func (c *called) call(frame []byte, limit uint32, timeout time.Duration) ([]byte, error) {
	if c.gone {
		return nil, c.breaks(Died, "it is not running")
	}
	b, err := c.Do(frame[lengthSize:], timeout)
	if err != nil {
		kind := Died
		if errors.As(err, new(SilentError)) {
			kind = Silent
		}
		return nil, c.breaks(kind, err.Error())
	}
	if uint64(len(b)) > uint64(limit) {
		return nil, c.broken(fmt.Sprintf("a reply of %d bytes, at most %d were expected", len(b), limit))
	}
	return b, nil
}

func (c *called) hasImage() bool              { return c.Image != nil }
func (c *called) image() ([]byte, error)      { return c.Image() }
func (c *called) setImage(image []byte) error { return c.SetImage(image) }

func (c *called) broken(msg string) error { return c.breaks(Malformed, msg) }

func (c *called) breaks(kind BrokenKind, msg string) error {
	return errors.Join(&BrokenError{Kind: kind, Msg: msg}, c.close())
}

func (c *called) close() error {
	if c.gone {
		return nil
	}
	c.gone = true
	return c.Release()
}
