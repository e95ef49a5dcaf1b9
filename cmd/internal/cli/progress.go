package cli

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progressAfter is how long something takes before it shows a bar.
const progressAfter = time.Second

// Progress returns a function that takes how much of the total is done, and
// one that ends it. Unit is what is counted, empty if how many of it a second are of no
// interest. On a terminal a bar appears on stderr after a second, and is
// gone at the end; elsewhere report is nil.
func (e *Env) Progress(what, unit string) (report func(done, total int64), end func()) {
	if !IsTerminal(e.Stderr) {
		return nil, func() {}
	}
	b := &progressBar{what: what, unit: unit, file: e.Stderr.(*os.File), start: time.Now()}
	return b.report, b.end
}

// progressBar is a bar that appears late.
type progressBar struct {
	what  string
	unit  string
	file  *os.File
	start time.Time

	mu   sync.Mutex
	bars *mpb.Progress
	bar  *mpb.Bar
	over bool
}

func (b *progressBar) report(done, total int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over || time.Since(b.start) < progressAfter || total <= 0 {
		return
	}
	if b.bar == nil {
		b.bars = mpb.New(mpb.WithOutput(b.file), mpb.WithWidth(60))
		b.bar = b.bars.New(total, mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]"),
			mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.Name(b.what+" ")),
			mpb.AppendDecorators(decor.Percentage(), decor.Name(" "), decor.Elapsed(decor.ET_STYLE_MMSS), decor.Any(b.rate)))
	}
	b.bar.SetTotal(max(total, done+1), false)
	b.bar.SetCurrent(done)
}

// rate is how many of the unit are done in a second.
func (b *progressBar) rate(s decor.Statistics) string {
	if b.unit == "" {
		return ""
	}
	return fmt.Sprintf(" %.0f %s/s", float64(s.Current)/time.Since(b.start).Seconds(), b.unit)
}

func (b *progressBar) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	if b.bar != nil {
		b.bar.Abort(true)
		b.bars.Wait()
		b.bar = nil
	}
}
