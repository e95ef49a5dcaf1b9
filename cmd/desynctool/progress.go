package main

import (
	"os"
	"sync"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// progressAfter is how long something takes before it shows a bar.
const progressAfter = time.Second

// progress returns a function that takes how much of the total is done, and
// one that ends it. On a terminal a bar appears on stderr after a second, and is
// gone at the end; elsewhere report is nil.
func (e *env) progress(what string) (report func(done, total int64), end func()) {
	f, ok := e.stderr.(*os.File)
	if !ok || !isatty.IsTerminal(f.Fd()) {
		return nil, func() {}
	}
	b := &progressBar{what: what, file: f, start: time.Now()}
	return b.report, b.end
}

// progressBar is a bar that appears late.
type progressBar struct {
	what  string
	file  *os.File
	start time.Time

	mu   sync.Mutex
	bars *mpb.Progress
	bar  *mpb.Bar
}

func (b *progressBar) report(done, total int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if time.Since(b.start) < progressAfter || total <= 0 {
		return
	}
	if b.bar == nil {
		b.bars = mpb.New(mpb.WithOutput(b.file), mpb.WithWidth(60))
		b.bar = b.bars.New(total, mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]"),
			mpb.BarRemoveOnComplete(),
			mpb.PrependDecorators(decor.Name(b.what+" ")),
			mpb.AppendDecorators(decor.Percentage(), decor.Name(" "), decor.Elapsed(decor.ET_STYLE_MMSS)))
	}
	b.bar.SetTotal(max(total, done+1), false)
	b.bar.SetCurrent(done)
}

func (b *progressBar) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bar != nil {
		b.bar.Abort(true)
		b.bars.Wait()
		b.bar = nil
	}
}
