package main

import (
	"os"
	"sync"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/desynctool/desynctool/tracediff"
)

// progressAfter is how long something takes before it shows a bar.
const progressAfter = time.Second

// progress makes opts report to a bar on stderr if that is a terminal. The bar
// appears after a second; done removes it.
func (e *env) progress(opts *tracediff.Options) (done func()) {
	f, ok := e.stderr.(*os.File)
	if !ok || !isatty.IsTerminal(f.Fd()) {
		return func() {}
	}
	start := time.Now()
	var bars *mpb.Progress
	var bar *mpb.Bar
	var mu sync.Mutex
	opts.Progress = func(at, total int64) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(start) < progressAfter {
			return
		}
		if bar == nil {
			bars = mpb.New(mpb.WithOutput(f), mpb.WithWidth(40))
			bar = bars.New(total, mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]"),
				mpb.BarRemoveOnComplete(),
				mpb.PrependDecorators(decor.Name("comparing ")),
				mpb.AppendDecorators(decor.Percentage(), decor.Name(" "), decor.AverageSpeed(decor.SizeB1024(0), "%.0f")))
		}
		bar.SetTotal(total, false)
		bar.SetCurrent(at)
	}
	return func() {
		mu.Lock()
		defer mu.Unlock()
		if bar != nil {
			bar.Abort(true)
			bars.Wait()
		}
	}
}
