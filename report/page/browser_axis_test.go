package page_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/desynctool/desynctool/internal/testkit/browsertest"
	"github.com/desynctool/desynctool/report/document"
)

// timeline is the section of the pictures of time in a browser.
type timeline struct{ *browser }

func openTimeline(t *testing.T, r *document.Report, width int64) timeline {
	b := timeline{open(t, r)}
	b.show(width, "light")
	return b
}

// Keys that are down, as Chromium counts them.
const (
	ctrlKey  = 2
	shiftKey = 8
)

// key presses keys, one after the other.
func (b timeline) key(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.Do(chromedp.KeyEvent(k))
		b.frame()
	}
}

// box returns left, top, width and height of an element on the screen, which it brings into sight.
func (b timeline) box(selector string) [4]float64 {
	b.t.Helper()
	return [4]float64(browsertest.Eval[[]float64](b.browser, fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e.scrollIntoView({block: "center"});
		const r = e.getBoundingClientRect();
		return [r.left, r.top, r.width, r.height];
	})()`, selector)))
}

func (b timeline) line() string {
	b.t.Helper()
	b.frame()
	return browsertest.Eval[string](b.browser, `document.querySelector("#timeline-picture .line").textContent`)
}

// drag moves the mouse from one part of a lane's width to another with the button down.
func (b timeline) drag(selector string, from, to float64, shift bool) {
	b.t.Helper()
	at := b.box(selector)
	modifiers := int64(0)
	if shift {
		modifiers = shiftKey
	}
	event := func(kind input.DispatchMouseEventType, part float64, down bool) {
		b.t.Helper()
		p := input.DispatchMouseEventParams{Type: kind, X: at[0] + at[2]*part, Y: at[1] + at[3]/2, Modifiers: modifiers, Button: "left"}
		if p.ClickCount = 1; down {
			p.Buttons = 1
		}
		browsertest.Call(b.browser, input.DispatchMouseEvent, p)
	}
	event("mousePressed", from, true)
	for i := range 5 {
		event("mouseMoved", from+(to-from)*float64(i+1)/5, true)
	}
	event("mouseReleased", to, false)
	b.frame()
}

// shown returns the ticks that the pictures show, by the labels of the ruler, and how wide they are.
func (b timeline) shown() (first, last, width float64) {
	b.t.Helper()
	b.frame()
	at := browsertest.Eval[[]float64](b.browser, `(() => {
		const texts = [...document.querySelectorAll(".ruler .live .tick:not(.native)")].filter((e) => e.getAttribute("display") !== "none" && e.textContent !== "").slice(1, -1);
		const a = texts[0], z = texts[texts.length - 1], x = (e) => Number(e.getAttribute("x")), n = (e) => Number(e.textContent);
		const scale = (n(z) - n(a)) / (x(z) - x(a)), width = document.querySelector(".ruler .plot").getBoundingClientRect().width;
		return [n(a) - x(a) * scale, n(a) + (width - x(a)) * scale, width];
	})()`)
	return at[0], at[1], at[2]
}

// drawn returns where the marks of each of some drawings begin.
func (b timeline) drawn(selector string) [][]float64 {
	b.t.Helper()
	return browsertest.Eval[[][]float64](b.browser, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => [...e.getAttribute("d").matchAll(/M(-?[\d.]+)/g)].map((m) => Number(m[1])))`, selector))
}

// together checks that each of the pictures has its marks where the ruler has their ticks.
func (b timeline) together(when string, r *document.Report) {
	b.t.Helper()
	first, last, width := b.shown()
	seen := 0
	check := func(what string, got []float64, ticks ...uint64) {
		b.t.Helper()
		var want []float64
		for _, tick := range ticks {
			if x := (float64(tick) - first) / (last - first) * width; x >= 2 && x <= width-2 {
				want = append(want, x)
			}
		}
		got = slices.DeleteFunc(slices.Clone(got), func(x float64) bool { return x < 2 || x > width-2 })
		seen += len(want)
		if !slices.EqualFunc(got, want, func(x, y float64) bool { return math.Abs(x-y) < 2 }) {
			b.t.Errorf("%s: %s has marks at %v, the ruler has its ticks at %.1f", when, what, got, want)
		}
	}
	for i, got := range b.drawn(".snap.live") {
		check("snapshots", got, r.Timeline.Peers[i].Snapshots...)
	}
	for i, got := range b.drawn("#cascade .spread.live") {
		check("cascade", got, r.Cascade[i].Tick)
	}
	cells := browsertest.Eval[[]string](b.browser, `[...document.querySelectorAll("#heat [data-lane]")].map((e) => e.dataset.cells)`)
	for i, got := range b.drawn("#heat .differs.live:not(.between)") {
		at := r.Heat.Points[strings.IndexByte(cells[i], '1')]
		if float64(at) > first && float64(at) < last && len(got) > 0 {
			check("heat map", got[:1], at)
		}
	}
	if seen == 0 {
		b.t.Errorf("%s: no mark is to be seen", when)
	}
}

// TestAxisTogether zooms and moves by keys, wheel, drag and buttons: the three pictures show the same
// ticks, and those that they should.
func TestAxisTogether(t *testing.T) {
	r := saved(t)
	b := openTimeline(t, r, 1440)
	end := float64(r.Timeline.To + 1)
	check := func(when string, wantFirst, wantLast float64) {
		t.Helper()
		first, last, _ := b.shown()
		if slack := 0.02 * (wantLast - wantFirst); math.Abs(first-wantFirst) > slack || math.Abs(last-wantLast) > slack {
			t.Errorf("%s: ticks %.1f to %.1f, expected %.1f to %.1f", when, first, last, wantFirst, wantLast)
		}
		b.together(when, r)
	}
	check("the whole", 0, end)
	const area, lane = "#timeline-picture .area", "#cascade [data-lane]"
	b.Do(chromedp.Focus(chromedp.CSS(area)))
	b.key("+")
	check("+", end/4, end*3/4)
	b.key("a")
	check("a", end/8, end*5/8)
	b.key("d", "d")
	check("d d", end*3/8, end*7/8)
	b.key("-")
	check("-", 0, end)
	b.key("0", "w", "s")
	check("0 w s", 0, end)
	b.key("f")
	if first, last, _ := b.shown(); math.Abs((first+last)/2-1234.5) > 1 || last-first > 60 {
		t.Errorf("f: ticks %.1f to %.1f, expected some around 1234", first, last)
	}
	b.together("f", r)
	for _, name := range []string{"whole", "in", "out", "split", "whole"} {
		b.Do(chromedp.Click(chromedp.CSS(`#timeline-picture [data-do="` + name + `"]`)))
		b.frame()
		b.together("button "+name, r)
	}
	check("button whole", 0, end)

	at := b.box(lane)
	wheel := func(x, y float64, ctrl bool) {
		t.Helper()
		p := input.DispatchMouseEventParams{Type: "mouseWheel", X: at[0] + at[2]*0.25, Y: at[1] + at[3]/2, DeltaX: x, DeltaY: y}
		if ctrl {
			p.Modifiers = ctrlKey
		}
		browsertest.Call(b.browser, input.DispatchMouseEvent, p)
		b.frame()
	}
	before := browsertest.Eval[float64](b.browser, `scrollY`)
	const none = 0.001 // a wheel that does not turn
	wheel(none, -75, true)
	first, last, _ := b.shown()
	if span := last - first; span > 0.8*end || math.Abs(first+span/4-end/4) > end/50 {
		t.Errorf("Ctrl and the wheel: ticks %.1f to %.1f; the tick under the pointer, %.1f, should stay", first, last, end/4)
	}
	if after := browsertest.Eval[float64](b.browser, `scrollY`); after != before {
		t.Error("Ctrl and the wheel scroll the page")
	}
	b.together("the wheel", r)
	wheel(100, none, false)
	if moved, _, _ := b.shown(); moved <= first {
		t.Errorf("the wheel to the right: from tick %.1f, it was %.1f", moved, first)
	}
	b.key(kb.Escape, "0", "+")
	b.drag(lane, 0.5, 0.25, false)
	check("drag", end*3/8, end*7/8)
	b.quiet()
}

// TestAxisEnds: what reaches to the last tick ends at the end of the axis, in each picture.
func TestAxisEnds(t *testing.T) {
	r := oneHour(2)
	b := openTimeline(t, r, 1440)
	ends := browsertest.Eval[[]float64](b.browser, `(() => {
		const right = document.querySelector(".ruler .axis").getBoundingClientRect().right;
		return ["[data-lane=span] .live", "#cascade .spread.live", ".snap.live", ".orders.live"].map((s) => {
			const e = document.querySelector(s);
			return e.getBoundingClientRect().right - right;
		});
	})()`)
	for i, what := range []string{"hashes", "cascade", "snapshots", "orders"} {
		if math.Abs(ends[i]) > 3 {
			t.Errorf("%s ends %.1f pixels from the end of the axis", what, ends[i])
		}
	}
	b.quiet()
}

// TestAxisChoice chooses ticks by hand, shows them and lets them go.
func TestAxisChoice(t *testing.T) {
	r := saved(t)
	b := openTimeline(t, r, 1440)
	end := float64(r.Timeline.To + 1)
	const chosen, lane, ruler = `Number(document.querySelector("#timeline-picture .chosen").getAttribute("width"))`, "#cascade [data-lane]", ".ruler .plot"
	for _, way := range []struct {
		on    string
		shift bool
	}{{lane, true}, {ruler, false}} {
		b.drag(way.on, 0.6, 0.4, way.shift)
		if text := b.line(); !strings.Contains(text, "ticks are chosen") {
			t.Errorf("%s: after the drag the line says %q", way.on, text)
		}
		if browsertest.Eval[float64](b.browser, chosen) < 100 {
			t.Errorf("%s: the choice is not to be seen", way.on)
		}
		b.Do(chromedp.Focus(chromedp.CSS("#timeline-picture .area")))
		b.key(kb.Enter)
		if first, last, _ := b.shown(); math.Abs(first-0.4*end) > 0.02*end || math.Abs(last-0.6*end) > 0.02*end {
			t.Errorf("%s: Enter shows ticks %.1f to %.1f", way.on, first, last)
		}
		b.key(kb.Escape, "0")
		if browsertest.Eval[float64](b.browser, chosen) != 0 || strings.Contains(b.line(), "chosen") {
			t.Errorf("%s: Escape leaves the choice", way.on)
		}
	}
	b.key(kb.ArrowRight)
	if text := b.line(); !strings.Contains(text, "client") && !strings.Contains(text, "host") {
		t.Errorf("an arrow key says %q", text)
	}
	const cursor = `document.querySelector(".lines .cursor").getAttribute("visibility")`
	if browsertest.Eval[string](b.browser, cursor) != "inherit" {
		t.Error("there is no cursor")
	}
	b.key(kb.Escape)
	if browsertest.Eval[string](b.browser, cursor) != "hidden" || !strings.HasPrefix(b.line(), "Point at") {
		t.Error("Escape leaves the cursor")
	}
	b.quiet()
}

// TestAxisTouch pinches and moves with fingers.
func TestAxisTouch(t *testing.T) {
	r := saved(t)
	b := openTimeline(t, r, 360)
	browsertest.Call(b.browser, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true})
	at := b.box("#cascade [data-lane]")
	touch := func(kind input.DispatchTouchEventType, parts ...float64) {
		t.Helper()
		p := input.DispatchTouchEventParams{Type: kind, TouchPoints: []*input.TouchPoint{}}
		for i, part := range parts {
			id := float64(i)
			p.TouchPoints = append(p.TouchPoints, &input.TouchPoint{X: at[0] + at[2]*part, Y: at[1] + at[3]/2, ID: &id})
		}
		browsertest.Call(b.browser, input.DispatchTouchEvent, p)
		b.frame()
	}
	end := float64(r.Timeline.To + 1)
	touch("touchStart", 0.4)
	touch("touchStart", 0.4, 0.6)
	for i := range 4 {
		d := 0.05 * float64(i+1)
		touch("touchMove", 0.4-d, 0.6+d)
	}
	touch("touchEnd")
	first, last, _ := b.shown()
	if span := last - first; span > 0.45*end || span < 0.25*end {
		t.Errorf("two fingers show ticks %.1f to %.1f of %g, expected a third", first, last, end)
	}
	b.together("two fingers", r)
	touch("touchStart", 0.5)
	for i := range 5 {
		touch("touchMove", 0.5-0.05*float64(i+1))
	}
	touch("touchEnd")
	if moved, _, _ := b.shown(); moved < first+0.1*(last-first) {
		t.Errorf("one finger moves from tick %.1f to %.1f", first, moved)
	}
	b.quiet()
}

// longNames is the sample with names that are as long as such names become, and with an engine's
// names of ticks.
func longNames(t testing.TB) *document.Report {
	r := saved(t)
	const long = "BattleDetection.damageRecord of UnitMotionFlying:per player"
	for i := range r.Heat.Rows {
		r.Heat.Rows[i].Label += " " + long
	}
	for i := range r.Cascade {
		r.Cascade[i].Scope += " " + long
	}
	move := func(n *uint64) {
		if n != nil {
			*n += 52714048
		}
	}
	tl := r.Timeline
	move(&tl.From)
	move(&tl.To)
	tl.Detected = new(uint64)
	*tl.Detected = 52714048 + 1235
	for i := range tl.Peers {
		p := &tl.Peers[i]
		for j := range p.Snapshots {
			move(&p.Snapshots[j])
		}
		for _, s := range []*document.TimelineSpan{p.Hashes, p.Trace} {
			if s != nil {
				move(&s.First)
				move(&s.Last)
			}
		}
		for j := range p.Marks {
			move(&p.Marks[j].Tick)
		}
	}
	for i := range r.Heat.Points {
		move(&r.Heat.Points[i])
	}
	for i := range r.Cascade {
		move(&r.Cascade[i].Tick)
		move(&r.Cascade[i].Last)
	}
	first := r.FirstDivergence
	move(first.Tick)
	first.Bracket = &document.BracketDocument{Good: first.Tick, Bad: *first.Tick + 1, By: "snapshots"}
	first.Healed = new(uint64)
	*first.Healed = 52714048 + 1300
	r.Session.Game = "OpenTTD"
	r.Names = &document.Names{Ticks: &document.TickNames{
		From: tl.From, To: tl.To, Large: &document.Number{First: 0xadea0, Hex: true, Width: 8}, Between: ";", Number: document.Number{Hex: true, Width: 2}, Step: 1, Cycle: 74,
	}}
	return r
}

// turns is the sample with names of some state points only.
func turns(t testing.TB) *document.Report {
	r := saved(t)
	r.Names = &document.Names{}
	for _, p := range r.Heat.Points[:20] {
		r.Names.Points = append(r.Names.Points, document.PointWord{Point: p, Native: fmt.Sprint("after turn ", p-1)})
	}
	r.Names.States = document.NamesAt(r.Names.Points)
	return r
}

// TestAxisSizes: on a telephone, on a desk and at 4K, with and without script, each lane has its marks, no name is
// clipped, and no label overlaps another.
func TestAxisSizes(t *testing.T) {
	for name, r := range map[string]*document.Report{"sample": saved(t), "long names": longNames(t), "one hour": oneHour(8), "state points": turns(t)} {
		b := timeline{open(t, r)}
		for _, width := range []int64{360, 1440, 3840} {
			b.show(width, "dark")
			for _, key := range []string{"", "f"} {
				if key != "" {
					b.Do(chromedp.Focus(chromedp.CSS("#timeline-picture .area")))
					b.key("0", key)
				}
				when := fmt.Sprintf("%s, %d wide, key %q", name, width, key)
				if got := browsertest.Eval[int64](b.browser, `document.documentElement.scrollWidth`); got > width {
					t.Errorf("%s: the page is %d wide", when, got)
				}
				for _, trouble := range browsertest.Eval[[]string](b.browser, layoutTrouble) {
					t.Errorf("%s: %s", when, trouble)
				}
			}
			b.Do(chromedp.Focus(chromedp.CSS("#timeline-picture .area")))
			b.key("0", kb.Escape)
			empty := browsertest.Eval[int](b.browser, `[...document.querySelectorAll("#timeline-picture [data-lane]:not([data-lane=events])")].filter((e) => ![...e.querySelectorAll(".live")].some((p) => p.getBoundingClientRect().width > 0)).length`)
			if empty != 0 {
				t.Errorf("%s: %d lanes are empty", name, empty)
			}
		}
		b.quiet()
	}
}

// layoutTrouble lists texts of the pictures of time that are clipped, that run out of the picture or overlap.
const layoutTrouble = `(() => {
	const out = [], picture = document.getElementById("timeline-picture").getBoundingClientRect();
	const seen = (e) => getComputedStyle(e).visibility !== "hidden" && e.getClientRects().length > 0 && e.textContent !== "";
	const texts = [...document.querySelectorAll("#timeline-picture svg text")].filter(seen).map((e) => ({text: e.textContent, r: e.getBoundingClientRect()}));
	if (texts.length < 3) out.push("there are " + texts.length + " texts");
	for (const {text, r} of texts) if (r.left < picture.left || r.right > picture.right) out.push(text + " runs out of the picture");
	texts.forEach((a, i) => texts.slice(i + 1).forEach((b) => {
		if (a.r.left < b.r.right && b.r.left < a.r.right && a.r.top + 2 < b.r.bottom && b.r.top + 2 < a.r.bottom) out.push(a.text + " stands over " + b.text);
	}));
	for (const e of document.querySelectorAll("#timeline-picture .label, #timeline-picture .label *, #timeline-picture .about")) {
		if (!seen(e)) continue;
		const r = e.getBoundingClientRect();
		if (r.left < picture.left - 1 || r.right > picture.right + 1 || e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0) out.push("the label " + e.textContent + " is clipped");
	}
	for (const e of document.querySelectorAll("#timeline-picture [data-lane]")) {
		if (e.getBoundingClientRect().width < 100) out.push("a lane is " + e.getBoundingClientRect().width + " wide");
	}
	return [...new Set(out)].slice(0, 8);
})()`

// TestAxisFolds: rows with the same content are one lane, which unfolds to their names.
func TestAxisFolds(t *testing.T) {
	r := saved(t)
	b := openTimeline(t, r, 1440)
	same := map[string]int{}
	equal := 0
	for _, row := range r.Heat.Rows {
		if strings.Contains(row.Differs, "1") {
			same[row.Differs]++
		} else {
			equal++
		}
	}
	if got := browsertest.Eval[int](b.browser, `document.querySelectorAll("#heat [data-lane]").length`); got != len(same) {
		t.Errorf("%d lanes of %d different rows", got, len(same))
	}
	if got := browsertest.Eval[string](b.browser, `document.querySelector("#heat .rest summary").textContent`); !strings.HasPrefix(got, fmt.Sprint(equal, " others are equal")) {
		t.Errorf("what never differs says %q, expected %d rows", got, equal)
	}
	b.Do(chromedp.Click(chromedp.CSS("#heat .label summary")))
	if got := browsertest.Eval[float64](b.browser, `document.querySelector("#heat .label details ul").getBoundingClientRect().height`); got < 20 {
		t.Errorf("unfolded, the names are %g high", got)
	}
	b.quiet()
}

// TestAxisPaper: on paper there is the whole range, whatever the screen shows, and nothing that needs
// a hand.
func TestAxisPaper(t *testing.T) {
	b := openTimeline(t, saved(t), 1440)
	b.Do(chromedp.Focus(chromedp.CSS("#timeline-picture .area")))
	b.key("f", kb.ArrowRight)
	browsertest.Call(b.browser, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	got := browsertest.Eval[[]int](b.browser, `(() => {
		const n = (s) => [...document.querySelectorAll(s)].filter((e) => e.getClientRects().length > 0).length;
		return [n("#timeline-picture .live, #timeline-picture .live *"), n("#timeline-picture button"), n("#timeline-picture .line"), n("#timeline-picture .overview"), n(".ruler .whole text"), n("#heat .whole path"), n("#heat [data-lane]"), [...document.querySelectorAll("#heat .lane .label")].filter((e) => e.innerText.trim() !== "").length];
	})()`)
	if !slices.Equal(got[:4], []int{0, 0, 0, 0}) {
		t.Errorf("on paper there are %v marks of the screen, buttons, lines and overviews", got[:4])
	}
	if slices.Contains(got[4:], 0) || got[6] != got[7] {
		t.Errorf("on paper there are %v labels, cells, rows and names of rows", got[4:])
	}
}

// TestAxisUnscripted: without its script the page shows the whole range and speaks of no keys and no
// buttons.
func TestAxisUnscripted(t *testing.T) {
	b := timeline{open(t, saved(t))}
	b.show(1440, "light")
	browsertest.Call(b.browser, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.Do(chromedp.Navigate(b.url))
	browsertest.Call(b.browser, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false})
	text := browsertest.Eval[string](b.browser, `document.body.innerText`)
	for _, word := range []string{"arrow keys", "Point at", "Zoom", "The split"} {
		if strings.Contains(text, word) {
			t.Errorf("without a script the page says %q", word)
		}
	}
	if got := browsertest.Eval[int](b.browser, `document.querySelectorAll("[role=application], #timeline-picture [tabindex]").length`); got != 0 {
		t.Errorf("%d elements wait for keys", got)
	}
	for _, trouble := range browsertest.Eval[[]string](b.browser, layoutTrouble) {
		t.Error(trouble)
	}
	if got := browsertest.Eval[int](b.browser, `[...document.querySelectorAll("#timeline-picture .whole path")].filter((e) => e.getBoundingClientRect().width > 0).length`); got < 20 {
		t.Errorf("%d drawings are to be seen", got)
	}
}
