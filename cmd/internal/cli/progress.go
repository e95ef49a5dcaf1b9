package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

const (
	progressAfter = time.Second            // how long something takes before a bar appears
	redrawAfter   = 100 * time.Millisecond // minimum time between updates of a bar
	barWidth      = 60                     // maximum, including brackets
)

// Progress returns a function that reports how much of the total is done, and a function that ends it. unit is the unit
// of the count, empty if the rate is not shown. On a terminal a bar appears on stderr after a second, and disappears at
// the end; otherwise report is nil.
func (e *Env) Progress(what, unit string) (report func(done, total int64), end func()) {
	if !IsTerminal(e.Stderr) {
		return nil, func() {}
	}
	columns, _ := terminalSize(e.Stderr)
	e.bar = &progressBar{what: what, unit: unit, to: e.Stderr, columns: columns, start: time.Now()}
	return e.bar.report, e.bar.end
}

// Note prints a line on stderr, above the bar if there is one.
func (e *Env) Note(line string) {
	if b := e.bar; b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.draw("")
	}
	fmt.Fprintln(e.Stderr, line)
}

// progressBar is a bar that appears late. It is erased with blanks, which work on every terminal and console.
type progressBar struct {
	what    string
	unit    string
	to      io.Writer
	columns int // of the terminal
	start   time.Time

	mu          sync.Mutex
	done, total int64
	timer       *time.Timer // redraws the bar; nil before the bar appears
	drawn       string      // the last line, empty if there is no bar
	over        bool
}

func (b *progressBar) report(done, total int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over || time.Since(b.start) < progressAfter || total <= 0 {
		return
	}
	b.done, b.total = done, total
	if b.timer == nil {
		b.draw(b.line(time.Since(b.start)))
		b.timer = time.AfterFunc(redrawAfter, b.redraw)
	}
}

// redraw draws the bar and sets the timer again.
func (b *progressBar) redraw() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		b.draw(b.line(time.Since(b.start)))
		b.timer.Reset(redrawAfter)
	}
}

// draw replaces the previous line. An empty line leaves the cursor in the first column.
func (b *progressBar) draw(line string) {
	if line == b.drawn {
		return
	}
	out := "\r" + line + strings.Repeat(" ", max(0, len(b.drawn)-len(line)))
	if line == "" {
		out += "\r"
	}
	b.drawn = line
	_, _ = io.WriteString(b.to, out) // the terminal may be gone
}

// line returns the bar after some time. It is narrower than the terminal, so that the cursor stays in its line.
func (b *progressBar) line(elapsed time.Duration) string {
	part := min(max(float64(b.done)/float64(b.total), 0), 1)
	seconds := int(elapsed.Seconds())
	after := fmt.Sprintf(" %d %% %02d:%02d", int(100*part), seconds/60, seconds%60)
	if b.unit != "" {
		after += fmt.Sprintf(" %.0f %s/s", float64(b.done)/elapsed.Seconds(), b.unit)
	}
	line := b.what + after
	if inside := min(barWidth, b.columns-len(line)-2) - 2; inside > 2 {
		filled := int(part * float64(inside))
		full := strings.Repeat("=", filled)
		if filled > 0 && filled < inside {
			full = full[1:] + ">"
		}
		line = fmt.Sprintf("%s [%-*s]%s", b.what, inside, full, after)
	}
	return line[:max(0, min(len(line), b.columns-1))]
}

func (b *progressBar) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	if b.timer != nil {
		b.timer.Stop()
	}
	b.draw("")
}
