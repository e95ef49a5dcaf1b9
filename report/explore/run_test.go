package explore

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/desynctool/desynctool/report/document"
)

// lockedBuffer is what a program writes to.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.b.String(), text)
}

// TestRun ends with the reports, with what went wrong, or interrupted, and leaves nothing running.
func TestRun(t *testing.T) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt) // so that what waits for signals runs before and after
	defer signal.Stop(signals)
	before := runtime.NumGoroutine()
	shown := func(func(string, int64, int64)) ([]*document.Report, error) { return []*document.Report{{}}, nil }
	for _, c := range []struct {
		name  string
		load  Load
		await string
		want  string
	}{
		{"shown", shown, "[tree]", ""},
		{"failed", func(func(string, int64, int64)) ([]*document.Report, error) { return nil, os.ErrNotExist }, "", os.ErrNotExist.Error()},
		{"interrupted", nil, "comparing  40 %", ErrInterrupted.Error()},
		{"panicked", func(func(string, int64, int64)) ([]*document.Report, error) { panic("on purpose") }, "", fmt.Sprintf("%v: %v", tea.ErrProgramKilled, tea.ErrProgramPanic)},
	} {
		hold, over := make(chan bool), make(chan bool)
		if c.load == nil {
			c.load = func(progress func(string, int64, int64)) ([]*document.Report, error) {
				progress("comparing", 2, 5)
				<-hold
				return nil, nil
			}
		}
		in, keys := io.Pipe()
		out := new(lockedBuffer)
		go func() {
			for c.await == "" || !out.has(c.await) {
				select {
				case <-over:
					return
				case <-time.After(10 * time.Millisecond):
				}
			}
			_, _ = keys.Write([]byte("q"))
		}()
		reports, err := New(c.load, Options{}).run(in, out, tea.WithWindowSize(80, 24))
		close(hold)
		close(over)
		in.Close()
		if got := fmt.Sprint(err); c.want == "" && (err != nil || len(reports) != 1) || c.want != "" && got != c.want {
			t.Errorf("%s: %v, %d reports", c.name, err, len(reports))
		}
		for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?1002h": "\x1b[?1002l", "\x1b[?1006h": "\x1b[?1006l", "\x1b[?25l": "\x1b[?25h"} {
			all := out.b.String()
			if c.name == "shown" && !strings.Contains(all, on) {
				t.Errorf("%q is not used", on)
			}
			if strings.LastIndex(all, on) > strings.LastIndex(all, off) {
				t.Errorf("%s: %q is left on the terminal", c.name, on)
			}
		}
	}
	for range 500 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	stacks := make([]byte, 1<<16)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
}
