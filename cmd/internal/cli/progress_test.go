package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// screen is a terminal of one line and those above it.
type screen struct {
	above []string
	line  []byte
	at    int
}

func (s *screen) Write(text []byte) (int, error) {
	for _, c := range text {
		switch c {
		case '\r':
			s.at = 0
		case '\n':
			s.above = append(s.above, strings.TrimRight(string(s.line), " "))
			s.line, s.at = nil, 0
		default:
			if s.at == len(s.line) {
				s.line = append(s.line, 0)
			}
			s.line[s.at] = c
			s.at++
		}
	}
	return len(text), nil
}

func TestProgressLine(t *testing.T) {
	for _, c := range []struct {
		unit        string
		columns     int
		done, total int64
		elapsed     time.Duration
		want        string
	}{
		{"", 200, 0, 10, time.Second, "reading [" + strings.Repeat(" ", 58) + "] 0 % 00:01"},
		{"", 200, 5, 10, 75 * time.Second, "reading [" + strings.Repeat("=", 28) + ">" + strings.Repeat(" ", 29) + "] 50 % 01:15"},
		{"ticks", 200, 10, 10, 4 * time.Second, "reading [" + strings.Repeat("=", 58) + "] 100 % 00:04 2 ticks/s"},
		{"ticks", 48, 999, 1000, 100 * time.Minute, "reading [=============> ] 99 % 100:00 0 ticks/s"},
		{"", 40, 12, 10, time.Second, "reading [=================] 100 % 00:01"},
		{"", 22, 5, 10, time.Second, "reading 50 % 00:01"},
		{"", 10, 5, 10, time.Second, "reading 5"},
		{"", 1, 5, 10, time.Second, ""},
	} {
		b := progressBar{what: "reading", unit: c.unit, columns: c.columns, done: c.done, total: c.total}
		if got := b.line(c.elapsed); got != c.want {
			t.Errorf("%d of %d in %d columns:\n got %q\nwant %q", c.done, c.total, c.columns, got, c.want)
		}
	}
}

func TestProgress(t *testing.T) {
	var to screen
	b := &progressBar{what: "reading", to: &to, columns: 80, start: time.Now()}
	e := &Env{Stderr: &to, bar: b}
	b.report(1, 10)
	if len(to.line) > 0 {
		t.Errorf("%q at once", to.line)
	}
	b.start = b.start.Add(-time.Minute)
	b.report(3, 0)
	b.report(5, 10)
	e.Note("a: stored")
	b.redraw()
	b.mu.Lock()
	line := string(to.line)
	b.mu.Unlock()
	if !strings.HasPrefix(line, "reading [==") || !strings.Contains(line, "> ") || !strings.HasSuffix(line, "] 50 % 01:00") {
		t.Errorf("%q", line)
	}
	b.end()
	b.report(6, 10)
	b.redraw()
	e.Note("b: stored")
	if got := strings.Join(to.above, "\n"); got != "a: stored\nb: stored" || len(bytes.TrimSpace(to.line)) > 0 {
		t.Errorf("%q, and below %q", got, to.line)
	}
	if report, end := e.Progress("reading", ""); report != nil {
		t.Error("a bar where there is no terminal")
	} else {
		end()
	}
}
