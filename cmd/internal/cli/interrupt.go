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

// ErrInterrupted is the end of a command that was asked to end before it had a result.
var ErrInterrupted = errors.New("interrupted")

// endings are the signals that end a command properly: results are written, and started processes are ended. A second
// signal ends it at once.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// listened returns the signals to handle: all except signals that the process was started to ignore, as by nohup.
func listened() []os.Signal { return slices.DeleteFunc(slices.Clone(endings), signal.Ignored) }

// interrupts records whether the process was asked to end.
type interrupts struct {
	ctx     context.Context // done as soon as it was, with ErrInterrupted as its cause
	signals chan os.Signal
	got     atomic.Int32 // number of the signal, 0 for none
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

// ignore restores the default: the next signal ends the process.
func (i *interrupts) ignore() { signal.Stop(i.signals) }

// IgnoreSignals restores the default, so that the next signal ends the process. It is for commands that leave nothing
// behind, and wait for others.
func (e *Env) IgnoreSignals() {
	if e.interrupts != nil {
		e.interrupts.ignore()
	}
}

// Interrupted returns the exit status of a command that was asked to end, 0 if it was not.
func (e *Env) Interrupted() int { return e.interrupts.status() }

// status returns the exit status of a command that was asked to end, as in a shell: 128 plus the number of the signal.
// It returns 0 if it was not, or if signals are not handled.
func (i *interrupts) status() int {
	if i == nil {
		return 0
	}
	if n := int(i.got.Load()); n > 0 {
		return 128 + n
	}
	return 0
}
