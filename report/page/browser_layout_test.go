package page_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/internal/testkit/browsertest"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
)

// fixtures are sessions in testdata of games and libraries that the page tests look at.
var fixtures = []string{
	"spring/pos_1ulp", "spring/silent_health", "0ad/mp_orders_walkspeed", "0ad/mp_late_damage", "openttd/dropped_sign", "openttd/rng_poke",
	"openttd/money_poke", "warzone2100/player_power_3peer", "widelands/cmdact_serial", "openra", "ggpo/vectorwar", "godot-rollback/tank",
	"rimworld", "claims/faf-pair", "claims/zeroad-test",
}

// triaged returns the report of a session in testdata.
func triaged(t *testing.T, name string) *document.Report {
	t.Helper()
	path := "../../testdata/" + name
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	s, err := bundle.OpenPaths(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := compare.Triage(s, compare.Builds{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestMapArchetypes: a map shows kinds of entities that differ, and the differences are on it; where there is no map,
// the page gives the reason.
func TestMapArchetypes(t *testing.T) {
	maps := 0
	for _, name := range fixtures {
		r := triaged(t, name)
		html := render(t, r)
		if r.Map == nil {
			if r.Status == document.Diverged && !strings.Contains(html, "<li>a map: ") {
				t.Errorf("%s: there is no map, and the page does not say why", name)
			}
			continue
		}
		maps++
		kinds, differ := map[string]bool{}, 0
		for i := range r.Compared.Entities {
			kinds[r.Compared.Entities[i].Kind] = true
		}
		for _, e := range r.Map.Entities {
			if !kinds[e.Kind] {
				t.Errorf("%s: the map has %s %s, a kind that does not differ", name, e.Kind, e.Key)
			}
			if e.Differs {
				differ++
				if text := prose.Name(e.Kind) + " " + e.Key + "<"; !strings.Contains(html, text) {
					t.Errorf("%s: %s is not named on the map", name, text)
				}
			}
		}
		if differ == 0 {
			t.Errorf("%s: nothing on the map differs", name)
		}
	}
	if maps < 6 {
		t.Errorf("only %d maps", maps)
	}
}

// cut finds what is clipped: text outside of the window or of what it can be scrolled in, text
// of a map or tree outside of it, and contents that are wider than their box without a way to scroll.
const cut = `(() => {
	const wide = document.documentElement.clientWidth, bad = [];
	const say = (what, e, text) => bad.push(what + " in " + (e.closest("section")?.id || e.tagName) + ": " + (text || e.textContent).trim().slice(0, 60));
	if (document.documentElement.scrollWidth > wide) bad.push("the page is " + document.documentElement.scrollWidth + " wide");
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
	for (let n = walk.nextNode(); n; n = walk.nextNode()) {
		const e = n.parentElement;
		if (!n.data.trim() || !e.checkVisibility() || e.closest("script, style, .skip, thead, .anchor, .strip")) continue;
		range.selectNodeContents(n);
		const area = e.closest(".scroll"), svg = e.closest("svg");
		for (const r of e.tagName === "text" || e.tagName === "tspan" ? [e.getBoundingClientRect()] : range.getClientRects()) {
			if (r.width === 0) continue;
			if (area) {
				const a = area.getBoundingClientRect();
				const left = r.left - a.left + area.scrollLeft, right = r.right - a.left + area.scrollLeft;
				if (left < -1 || right > area.scrollWidth + 1) say("text beyond what scrolls", e);
			} else if (r.left < -1 || r.right > wide + 1) say("text beyond the window", e);
			if (svg && svg.matches(".map, .hashes")) {
				const s = svg.getBoundingClientRect();
				if (r.left < s.left - 2 || r.right > s.right + 2 || r.top < s.top - 2 || r.bottom > s.bottom + 2) say("text beyond its picture", e);
			}
		}
	}
	for (const e of document.querySelectorAll("main *")) {
		if (!e.checkVisibility() || e.closest("svg") || e.scrollWidth <= e.clientWidth + 1 || e.clientWidth === 0 || getComputedStyle(e).overflowX === "visible") continue;
		if (!e.matches(".scroll, thead")) say("cut off", e);
		else if (e.querySelector(".hashes, .map")) say("a picture that scrolls", e, e.getAttribute("aria-label"));
		else if (e.querySelector(":scope > .stack")) say("a table that scrolls", e, e.getAttribute("aria-label"));
	}
	return [...new Set(bad)];
})()`

// unfold opens everything that can be.
const unfold = `[...document.querySelectorAll("details")].reduce((n, e) => (e.open = true, n + 1), 0)`

// TestNothingIsCut shows the pages of real sessions on a telephone and on a desk, with all folded
// parts open.
func TestNothingIsCut(t *testing.T) {
	var b *browser
	for _, name := range append([]string{"sample"}, fixtures...) {
		var r *document.Report
		if r = saved(t); name != "sample" {
			r = triaged(t, name)
		}
		if b == nil {
			b = open(t, r)
		} else {
			b.load(r)
		}
		for _, width := range []int64{360, 1440} {
			b.show(width, "light")
			browsertest.Eval[int](b, unfold)
			for _, bad := range browsertest.Eval[[]string](b, cut) {
				t.Errorf("%s, %d wide: %s", name, width, bad)
			}
			if r.Map != nil {
				if n := browsertest.Eval[int](b, `[...document.querySelectorAll("#map .map .at > g")].filter(e => e.getBoundingClientRect().width > 4).length`); n == 0 {
					t.Errorf("%s, %d wide: nothing is on the map", name, width)
				}
			}
		}
	}
	b.quiet()
}

// TestAxe checks the pages with the rules of axe-core. DESYNCTOOL_AXE names its axe.min.js.
func TestAxe(t *testing.T) {
	path := os.Getenv("DESYNCTOOL_AXE")
	if path == "" {
		t.Skip("DESYNCTOOL_AXE does not name axe.min.js")
	}
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, saved(t))
	for _, name := range append([]string{"sample"}, fixtures...) {
		if name != "sample" {
			b.load(triaged(t, name))
		}
		browsertest.Eval[int](b, unfold)
		browsertest.Eval[string](b, string(axe)+`; axe.version`)
		for scheme, width := range map[string]int64{"light": 1440, "dark": 360} {
			b.show(width, scheme)
			for _, bad := range findings(b) {
				t.Errorf("%s, %s, %d wide: %s", name, scheme, width, bad)
			}
		}
	}
}

// findings are the rules of axe-core that the page breaks, and where.
func findings(b *browser) []string {
	b.t.Helper()
	browsertest.Eval[bool](b, `(window.found = null, axe.run().then(r => { window.found = r; }), true)`)
	for n := 0; !browsertest.Eval[bool](b, `window.found !== null`); n++ {
		if n == 1000 {
			b.t.Fatal("axe-core does not come to an end")
		}
		b.Do(chromedp.Sleep(20 * time.Millisecond))
	}
	if passed := browsertest.Eval[int](b, `window.found.passes.length`); passed < 10 {
		b.t.Errorf("only %d rules had anything to look at", passed)
	}
	return browsertest.Eval[[]string](b, `window.found.violations.map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.target.join(" ") + " (" + [...n.any, ...n.all, ...n.none].map(c => c.message)[0] + ")").join("; "))`)
}

// TestWithoutScript: without its script the page has no button, no filter, and all else.
func TestWithoutScript(t *testing.T) {
	b := open(t, saved(t))
	browsertest.Call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.Do(chromedp.Navigate(b.url))
	browsertest.Call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false})
	b.show(1280, "light")
	if seen := browsertest.Eval[[]string](b, `[...document.querySelectorAll("button, input, .filter")].filter(e => e.checkVisibility()).map(e => e.outerHTML)`); len(seen) > 0 {
		t.Errorf("%q does nothing", seen)
	}
	if n := browsertest.Eval[int](b, `[...document.querySelectorAll("section")].filter(e => e.checkVisibility()).length`); n != len(sections) {
		t.Errorf("%d sections, expected %d", n, len(sections))
	}
}

// TestLinks: each row that can be linked has a unique id, and each link within the page leads somewhere.
func TestLinks(t *testing.T) {
	b := open(t, saved(t))
	for _, name := range append([]string{"sample", "hostile"}, fixtures...) {
		switch name {
		case "sample":
		case "hostile":
			b.load(hostileReport(t))
		default:
			b.load(triaged(t, name))
		}
		if bad := browsertest.Eval[[]string](b, `(() => {
			const ids = [...document.querySelectorAll("[id]")].map(e => e.id), bad = [];
			for (const id of ids) if (ids.filter(i => i === id).length > 1 || !/^[a-z][a-z0-9-]*$/.test(id)) bad.push(id);
			for (const a of document.querySelectorAll('a[href^="#"]')) if (!ids.includes(a.getAttribute("href").slice(1))) bad.push(a.getAttribute("href"));
			return bad;
		})()`); len(bad) > 0 {
			t.Errorf("%s: %q", name, bad)
		}
		if n := browsertest.Eval[int](b, `document.querySelectorAll(".anchor").length`); n < 3 {
			t.Errorf("%s: only %d links to its parts", name, n)
		}
	}
	b.quiet()
}

// TestPrint: on paper what differs is unfolded, nothing is cut off, and what needs a hand is gone.
func TestPrint(t *testing.T) {
	b := open(t, triaged(t, "0ad/mp_orders_walkspeed"))
	b.Do(chromedp.EmulateViewport(794, 1123)) // A4 at 96 pixels an inch
	browsertest.Call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	if bad := browsertest.Eval[[]string](b, cut); len(bad) > 0 {
		t.Errorf("%q", bad)
	}
	if hidden := browsertest.Eval[int](b, `[...document.querySelectorAll("#differs .value")].filter(e => !e.checkVisibility({contentVisibilityAuto: true}) || e.getBoundingClientRect().height === 0).length`); hidden != 0 {
		t.Errorf("%d values are not printed", hidden)
	}
	if seen := browsertest.Eval[[]string](b, `[...document.querySelectorAll("button, nav, .filter, .anchor, .skip")].filter(e => e.checkVisibility()).map(e => e.outerHTML)`); len(seen) > 0 {
		t.Errorf("%q is printed", seen)
	}
}

// TestManyValues: if very many values of a session differ, the page has the first, shows how many it leaves out, and
// stays small.
func TestManyValues(t *testing.T) {
	r := many(t, 100_000)
	r.Map, r.Tree, r.Heat, r.Timeline = nil, nil, nil, nil
	html := render(t, r)
	section := html[strings.Index(html, `<section id="locus"`):]
	section = section[:strings.Index(section, "</section>")]
	t.Logf("%d bytes", len(section))
	if len(section) > 400_000 {
		t.Errorf("the section has %d bytes", len(section))
	}
	n := strings.Count(section, `class="value leaf"`)
	if n < 100 || !strings.Contains(section, fmt.Sprintf("%d of 100000 values", 100_000-n)) {
		t.Errorf("%d values are shown, and it does not say how many are not", n)
	}
}
