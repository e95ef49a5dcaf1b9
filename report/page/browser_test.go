package page_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/desynctool/desynctool/internal/testkit/browsertest"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/page"
)

// browser is a report in Chromium.
type browser struct {
	*browsertest.Window
	t   *testing.T
	url string
}

func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }

// open shows a report in Chromium.
func open(t *testing.T, r *document.Report) *browser {
	t.Helper()
	b := &browser{Window: browsertest.Open(t), t: t}
	b.load(r)
	return b
}

// load shows another report in the same browser.
func (b *browser) load(r *document.Report) {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "report.html")
	f, err := os.Create(path)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := page.Write(f, r); err != nil {
		b.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.t.Fatal(err)
	}
	b.url = "file://" + path
	b.Forget()
	b.Do(chromedp.Navigate(b.url))
}

// quiet fails the test for whatever the browser complained about, and for requests of
// anything but the page.
func (b *browser) quiet() {
	b.t.Helper()
	b.Quiet(func(address string) bool { return address == b.url })
	if len(b.Requests()) == 0 {
		b.t.Error("not even the page itself was asked for")
	}
}

// show sets how wide the window is and which colours the system prefers.
func (b *browser) show(width int64, scheme string) {
	b.t.Helper()
	b.Look(width, scheme)
	b.frame()
}

// frame waits until the pictures of time are drawn as they were asked for.
func (b *browser) frame() {
	b.t.Helper()
	browsertest.Eval[bool](b, `new Promise((done) => {
		const look = () => document.querySelector(".time.drawing") ? requestAnimationFrame(look) : done(true);
		requestAnimationFrame(() => requestAnimationFrame(look));
	})`)
}

// TestScreenshots looks at the page on a telephone, on a desk and at 4K, light and dark. With
// DESYNCTOOL_SCREENSHOTS=DIR the pictures are kept there.
func TestScreenshots(t *testing.T) {
	b := open(t, saved(t))
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 1280, 3840} {
			name := fmt.Sprintf("%s-%d", scheme, width)
			b.show(width, scheme)
			if got := browsertest.Eval[int64](b, `document.documentElement.scrollWidth`); got > width {
				t.Errorf("%s: the page is %d wide", name, got)
			}
			if dark := browsertest.Eval[bool](b, `getComputedStyle(document.documentElement).backgroundColor.match(/\d+/)[0] < 128`); dark != (scheme == "dark") {
				t.Errorf("%s: the background is not %s", name, scheme)
			}
			picture, err := png.Decode(bytes.NewReader(b.Picture(name)))
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range pictures {
				checkPicture(b, name, id, picture)
			}
		}
	}
	b.quiet()
}

// checkPicture checks that a picture has a size, and that there is something on it.
func checkPicture(b *browser, name, id string, shot image.Image) {
	b.t.Helper()
	at := browsertest.Eval[[]int](b, `(() => {
		const r = document.getElementById("`+id+`").querySelector(".scroll, .area").getBoundingClientRect();
		return [r.left + scrollX, r.top + scrollY, r.right + scrollX, r.bottom + scrollY].map(Math.round);
	})()`)
	area := image.Rect(at[0], at[1], at[2], at[3])
	if area.Dx() < 200 || area.Dy() < 60 || !area.In(shot.Bounds()) {
		b.t.Errorf("%s: picture %s takes %v of %v", name, id, area, shot.Bounds())
		return
	}
	seen := map[color.Color]bool{}
	for y := area.Min.Y; y < area.Max.Y; y += 2 {
		for x := area.Min.X; x < area.Max.X; x++ {
			seen[shot.At(x, y)] = true
		}
	}
	if len(seen) < 20 {
		b.t.Errorf("%s: picture %s has %d colours", name, id, len(seen))
	}
}

// TestKeyboard goes through the page with the Tab key and through each picture with the
// arrow keys.
func TestKeyboard(t *testing.T) {
	b := open(t, saved(t))
	b.show(1280, "light")
	reached := map[string]bool{}
	const focused = `(() => {
		const e = document.activeElement;
		const visible = getComputedStyle(e).outlineStyle !== "none";
		return (visible ? "" : "unseen ") + (e.className === "skip" ? "skip" : e.closest(".picture")?.id || e.id || e.tagName);
	})()`
	const shown = `document.activeElement.closest(".picture").querySelector(".line").textContent`
	for range 200 {
		b.Do(chromedp.KeyEvent(kb.Tab))
		at := browsertest.Eval[string](b, focused)
		if at == "unseen BODY" { // after the last
			break
		}
		if strings.HasPrefix(at, "unseen ") {
			t.Errorf("the focus is not to be seen: %s", at)
		}
		if reached[at] || !slices.Contains(pictures, at) {
			reached[at] = true
			continue
		}
		reached[at] = true
		texts := []string{browsertest.Eval[string](b, shown)}
		for _, key := range []string{kb.ArrowRight, kb.ArrowDown, kb.ArrowLeft, kb.End, kb.ArrowUp, kb.Home} {
			b.Do(chromedp.KeyEvent(key))
			texts = append(texts, browsertest.Eval[string](b, shown))
		}
		slices.Sort(texts)
		if different := slices.Compact(texts); len(different) < 3 {
			t.Errorf("picture %s says only %q", at, different)
		}
	}
	for _, id := range append(slices.Clone(pictures), "skip", "theme", "ask") {
		if !reached[id] {
			t.Errorf("the Tab key does not reach %s", id)
		}
	}
	b.quiet()
}

// TestPointer points at a cell of the heat map and at an entity, and changes the colours.
func TestPointer(t *testing.T) {
	b := open(t, saved(t))
	b.show(1280, "light")
	const line = `document.querySelector("#timeline-picture .line").textContent`
	point := func(selector string, x, y float64) {
		t.Helper()
		at := browsertest.Eval[[]float64](b, fmt.Sprintf(`(() => {
			const e = document.querySelector(%q);
			e.scrollIntoView({block: "center"});
			const r = e.getBoundingClientRect();
			return [r.left + r.width * %g, r.top + r.height * %g];
		})()`, selector, x, y))
		b.Do(chromedp.MouseEvent("mouseMoved", at[0], at[1]))
	}
	point(`#heat [data-who="RNG"]`, 3000.5/3001, 0.5)
	if got := browsertest.Eval[string](b, line); got != "RNG at state point 3000: differs" {
		t.Errorf("the last cell of a row says %q", got)
	}
	point(`#heat [data-who="RNG"]`, 1062.0/3001, 0.5)
	if got := browsertest.Eval[string](b, line); !strings.HasPrefix(got, "tick 10") || !strings.HasSuffix(got, " · RNG at state point 1050: not known") {
		t.Errorf("a cell that is not known says %q", got)
	}
	point("#map-picture .at [data-tip] path", 0.5, 0.5)
	if got := browsertest.Eval[string](b, `document.querySelector("#map-picture .line").textContent`); !strings.Contains(got, "host at ") || !strings.Contains(got, "apart") {
		t.Errorf("an entity says %q", got)
	}
	b.Do(chromedp.Click(chromedp.CSS("#theme")))
	if got := browsertest.Eval[string](b, `getComputedStyle(document.documentElement).colorScheme + " " + document.getElementById("theme").textContent`); got != "dark Light" {
		t.Errorf("after the change the colours are %q", got)
	}
	b.quiet()
}

// TestBrowserLarge shows the largest session and one with hostile text everywhere.
func TestBrowserLarge(t *testing.T) {
	hour := open(t, oneHour(8))
	hour.show(360, "light")
	if got := browsertest.Eval[int64](hour, `document.documentElement.scrollWidth`); got > 360 {
		t.Errorf("the page is %d wide", got)
	}
	hour.quiet()
	bad := open(t, hostileReport(t))
	bad.show(360, "dark")
	if got := browsertest.Eval[int64](bad, `document.documentElement.scrollWidth`); got > 360 {
		t.Errorf("the hostile page is %d wide: %s", got, browsertest.Eval[string](bad, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > 360 && !e.closest(".scroll")).map(e => e.tagName + "." + e.className + " in " + e.closest("section")?.id).slice(0, 20).join("; ")`))
	}
	if got := browsertest.Eval[int](bad, `document.querySelectorAll("main script, main img").length`); got != 0 {
		t.Errorf("%d elements came from a player's file", got)
	}
	bad.quiet()
}

// TestBrowserTags: a tag never breaks within its word, however narrow its column.
func TestBrowserTags(t *testing.T) {
	r := saved(t)
	r.GameLogs = &document.GameLogs{Total: 2}
	for _, severity := range []string{"warning", "exception"} {
		r.GameLogs.Lines = append(r.GameLogs.Lines, document.GameLogLine{
			Severity: severity, Text: "the template of a unit cannot be loaded", Have: []document.GameLogPlace{{Peer: "client", File: "testdata/gamelogs/zeroad/client/mainlog.html"}}, Lack: []string{"host"},
		})
	}
	b := open(t, r)
	for _, width := range []int64{360, 1440} {
		b.show(width, "light")
		if got := browsertest.Eval[string](b, `[...document.querySelectorAll(".tag")].filter(e => e.getClientRects()[0] && e.offsetHeight > 30 && !e.textContent.includes(" ")).map(e => e.textContent).join(", ")`); got != "" {
			t.Errorf("%d wide: %s on several lines", width, got)
		}
	}
	b.quiet()
}
