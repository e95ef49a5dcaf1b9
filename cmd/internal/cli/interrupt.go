package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"
)

// ErrInterrupted is how a command ends that was told to end before it had anything to say.
var ErrInterrupted = errors.New("interrupted")

// endings are the signals that end a command in good order: what was found is written, and what it
// started is ended. A second one ends it at once.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// listened returns the signals to listen for: all but those that the process was started to ignore, as by nohup.
func listened() []os.Signal { return slices.DeleteFunc(slices.Clone(endings), signal.Ignored) }

// interrupts is whether the process was told to end.
type interrupts struct {
	ctx     context.Context // done as soon as it was, with ErrInterrupted as its cause
	signals chan os.Signal
	got     atomic.Int32 // the number of the signal, 0 for none
}

// listen begins to listen for signals; stop ends that.
func listen() (i *interrupts, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	i = &interrupts{ctx: ctx, signals: make(chan os.Signal, 1)}
	signal.Notify(i.signals, listened()...)
	over := make(chan struct{})
	go func() {
		select {
		case s := <-i.signals:
			number, _ := s.(syscall.Signal)
			i.got.Store(int32(number))
			i.ignore()
			cancel(ErrInterrupted)
		case <-over:
		}
	}()
	return i, func() {
		i.ignore()
		close(over)
		cancel(nil)
	}
}

// ignore has the next signal end the process, as if nobody had listened.
func (i *interrupts) ignore() { signal.Stop(i.signals) }

// IgnoreSignals has the next signal end the process, as if nobody had listened: for commands that
// leave nothing behind, and wait for others.
func (e *Env) IgnoreSignals() {
	if e.interrupts != nil {
		e.interrupts.ignore()
	}
}

// Interrupted returns the exit status of a command that was told to end, 0 if it was not.
func (e *Env) Interrupted() int { return e.interrupts.status() }

// status returns the exit status of a command that was told to end, as a shell has it: 128 and the
// number of the signal; 0 if it was not, or if nobody listens.
func (i *interrupts) status() int {
	if i == nil {
		return 0
	}
	if n := int(i.got.Load()); n > 0 {
		return 128 + n
	}
	return 0
}
