package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"
)

// errInterrupted is how a command ends that was told to end before it had anything to say.
var errInterrupted = errors.New("interrupted")

// endings are the signals that end a command in good order: what was found is written, and what it
// started is ended. A second one ends it at once.
var endings = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

// interrupts is whether the process was told to end.
type interrupts struct {
	ctx     context.Context // done as soon as it was, with errInterrupted as its cause
	signals chan os.Signal
	got     atomic.Int32 // the number of the signal, 0 for none
}

// listen begins to listen for signals; stop ends that. A signal that the process was started to
// ignore, as by nohup, is ignored.
func listen() (i *interrupts, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	i = &interrupts{ctx: ctx, signals: make(chan os.Signal, 1)}
	signal.Notify(i.signals, slices.DeleteFunc(slices.Clone(endings), signal.Ignored)...)
	over := make(chan struct{})
	go func() {
		select {
		case s := <-i.signals:
			number, _ := s.(syscall.Signal)
			i.got.Store(int32(number))
			i.ignore()
			cancel(errInterrupted)
		case <-over:
		}
	}()
	return i, func() {
		i.ignore()
		close(over)
		cancel(nil)
	}
}

// ignore has the next signal end the process, as if nobody had listened: for commands that
// leave nothing behind, and wait for others.
func (i *interrupts) ignore() { signal.Stop(i.signals) }

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
