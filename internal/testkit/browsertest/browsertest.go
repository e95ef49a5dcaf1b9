// Package browsertest shows pages in a headless Chromium, for tests. It returns pictures, results of scripts,
// complaints of the browser, and its requests.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// Variable is an environment variable; unless it is 1, tests in a browser are skipped. PicturesVariable names a folder
// for their pictures; without it, no pictures are stored.
const (
	Variable         = "DESYNCTOOL_BROWSER_TESTS"
	PicturesVariable = "DESYNCTOOL_SCREENSHOTS"
)

// patience is how long a test in a browser may take.
const patience = 10 * time.Minute

// shared starts the browser that the tests of a process share. Main ends it.
var shared = sync.OnceValues(func() (context.Context, error) {
	program, err := exec.LookPath("chromium")
	if err != nil {
		return nil, err
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program),
		chromedp.Flag("no-sandbox", true), chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(ctx)
	endShared = func() { end(); stop() }
	return ctx, chromedp.Do(ctx)
})

var endShared = func() {}

// Main runs the tests of a package that opens windows, and ends the browser.
func Main(m *testing.M) int {
	code := m.Run()
	endShared()
	return code
}

// Window is a window of the browser. A type that embeds one can be used wherever a window can.
type Window struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	trouble  []string
	requests []string
}

// Held is a window, or a type that embeds one.
type Held interface{ window() *Window }

func (w *Window) window() *Window { return w }

// Open opens a window that is closed with the test. It skips the test unless Variable is 1.
func Open(t testing.TB) *Window {
	t.Helper()
	if !effort.Asked(Variable) {
		t.Skip(Variable + " is not 1, or it is not the turn of the package")
	}
	ctx, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := chromedp.NewContext(ctx)
	t.Cleanup(stop)
	ctx, cancel := context.WithTimeout(ctx, patience)
	t.Cleanup(cancel)
	w := &Window{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, w.listen); err != nil {
		t.Fatal(err)
	}
	Call(w, network.Enable, network.EnableParams{})
	Call(w, log.Enable, cdp.Empty{})
	Call(w, runtime.Enable, cdp.Empty{})
	Call(w, audits.Enable, cdp.Empty{})
	return w
}

func (w *Window) listen(event any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		w.trouble = append(w.trouble, fmt.Sprintf("console: %+v", e))
	case *runtime.EventExceptionThrown:
		w.trouble = append(w.trouble, fmt.Sprintf("exception: %+v", e.ExceptionDetails))
	case *log.EventEntryAdded:
		if !strings.HasSuffix(e.Entry.URL, "/favicon.ico") { // the browser requests it automatically
			w.trouble = append(w.trouble, "log: "+e.Entry.Text+" "+e.Entry.URL)
		}
	case *audits.EventIssueAdded:
		w.trouble = append(w.trouble, fmt.Sprintf("issue: %+v %+v", e.Issue.Code, e.Issue.Details.GenericIssueDetails))
	case *network.EventRequestWillBeSent:
		w.requests = append(w.requests, e.Request.URL)
	}
}

// Quiet fails the test for each complaint of the browser, and for each requested address that is not expected.
func (w *Window) Quiet(expected func(address string) bool) {
	w.t.Helper()
	for _, text := range w.Trouble() {
		w.t.Error(text)
	}
	for _, address := range w.Requests() {
		if !expected(address) {
			w.t.Errorf("the page asked for %s", address)
		}
	}
}

// Trouble returns the complaints of the browser.
func (w *Window) Trouble() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.trouble)
}

// Requests returns the addresses that the browser requested.
func (w *Window) Requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.requests)
}

// Forget discards the browser's requests so far.
func (w *Window) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests = nil
}

// Do performs steps in the window.
func (w *Window) Do(steps ...chromedp.Action[chromedp.Void]) {
	w.t.Helper()
	if err := chromedp.Do(w.ctx, steps...); err != nil {
		w.t.Fatal(err)
	}
}

// Call sends a protocol command to the window.
func Call[P, R any](h Held, command cdp.Command[P, R], params P) {
	w := h.window()
	w.t.Helper()
	if _, err := chromedp.Call(w.ctx, command, params); err != nil {
		w.t.Fatal(err)
	}
}

// Eval returns the value of an expression in the page. It waits for a promise.
func Eval[T any](h Held, expression string) T {
	w := h.window()
	w.t.Helper()
	v, err := chromedp.Run(w.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		w.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// Until waits until an expression is true in the page.
func (w *Window) Until(expression string) {
	w.t.Helper()
	for range 500 {
		if v, err := chromedp.Run(w.ctx, chromedp.Evaluate[bool](expression)); err == nil && v {
			return
		}
		w.Do(chromedp.Sleep(20 * time.Millisecond))
	}
	w.t.Fatalf("%s does not become true on %s", expression, Eval[string](w, `location.href`))
}

// Look sets the width of the window and the preferred colours of the system, light or dark. It asks for reduced motion.
func (w *Window) Look(width int64, scheme string) {
	w.t.Helper()
	w.Do(chromedp.EmulateViewport(width, 1000))
	Call(w, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// Picture returns the whole page as PNG. It also stores it under a name in the folder of PicturesVariable, if that is
// set.
func (w *Window) Picture(name string) []byte {
	w.t.Helper()
	shot, err := chromedp.Run(w.ctx, chromedp.FullScreenshot(100))
	if dir := os.Getenv(PicturesVariable); err == nil && dir != "" {
		err = os.WriteFile(filepath.Join(dir, name+".png"), shot, 0o666)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return shot
}
