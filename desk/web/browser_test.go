package web_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/desynctool/desynctool/internal/testkit/browsertest"
	"github.com/desynctool/desynctool/report/document"
)

// browser is Chromium at a desk.
type browser struct {
	*site
	*browsertest.Window
}

func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }

// browse opens a window of Chromium.
func browse(t *testing.T, fill func(*testing.T) *site) *browser {
	t.Helper()
	w := browsertest.Open(t)
	return &browser{fill(t), w}
}

// quiet fails the test for whatever the browser complained about, and for requests of anything but the desk.
func (b *browser) quiet() {
	b.t.Helper()
	b.Quiet(b.ours)
}

func (b *browser) ours(address string) bool { return strings.HasPrefix(address, b.Server.URL+"/") }

func (b *browser) open(path string) {
	b.t.Helper()
	b.Do(chromedp.Navigate(b.Server.URL + path))
}

// addresses are all pages of a desk that is filled.
func (b *browser) addresses() map[string]string {
	first := browsertest.Eval[string](b, `location.href`)
	b.open("/?q=state:any")
	group := browsertest.Eval[string](b, `document.querySelector("[data-row] a").getAttribute("href")`)
	weak := browsertest.Eval[string](b, `[...document.querySelectorAll("[data-row]")].find(e => e.textContent.includes("out of sync")).querySelector("a").getAttribute("href")`)
	b.Do(chromedp.Navigate(first))
	return map[string]string{
		"groups": "/", "group": group, "weak": weak, "reports": group + "/reports", "compare": "/compare?a=1&b=18", "compare-form": "/compare",
		"bundles": "/bundles", "read": "/bundles?state=read", "bundle": "/bundles/" + fmt.Sprintf("%064x", "old.zip"), "upload": "/upload", "stats": "/stats", "top": "/top", "audit": "/audit", "missing": "/none", "report": "/reports/1",
	}
}

// TestScreenshots looks at all pages on a telephone, on a desk and at 4K, light and dark. With
// DESYNCTOOL_SCREENSHOTS=DIR the pictures are kept there.
func TestScreenshots(t *testing.T) {
	b := browse(t, filled)
	for name, path := range b.addresses() {
		b.open(path)
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int64{360, 1280, 3840} {
				b.Look(width, scheme)
				at := fmt.Sprintf("%s-%s-%d", name, scheme, width)
				if got := browsertest.Eval[int64](b, `document.documentElement.scrollWidth`); got > width {
					t.Errorf("%s: the page is %d wide: %s", at, got, browsertest.Eval[string](b, fmt.Sprintf(`[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > %d && !e.closest(".scroll")).map(e => e.tagName + "." + e.className).slice(0, 10).join("; ")`, width)))
				}
				if dark := browsertest.Eval[bool](b, `getComputedStyle(document.documentElement).backgroundColor.match(/\d+/)[0] < 128`); dark != (scheme == "dark") {
					t.Errorf("%s: the background is not %s", at, scheme)
				}
				b.Picture(at)
			}
		}
	}
	for _, address := range b.Requests() {
		if !b.ours(address) {
			t.Errorf("a page asked for %s", address)
		}
	}
	for _, text := range b.Trouble() {
		if !strings.Contains(text, "404") { // the page that is missing
			t.Error(text)
		}
	}
}

// long serves a store of groups with long names.
func long(t *testing.T) *site {
	t.Helper()
	s := serve(t)
	for i, name := range [][2]string{
		{"simulation/components/UnitAI", "UnitAIFormationController.targetPosition.x"}, {"PathfindingLongRangeObstruction", "LongRangePathfinder.obstructionsByEntity.gridCells"},
		{"Movement", "Position.x"}, {"world_update_step_after_orders", "std::vector<game::ResourceStockpile>::capacityOfWood"},
	} {
		for j := range 3 {
			r := diverged(name[0], name[1], fmt.Sprint(i), "1.4.2", fmt.Sprintf("2026-02-%02d", 1+4*j), "linux")
			r.Fingerprints = append(r.Fingerprints, document.Fingerprint{Level: document.LevelComponent, Name: strings.TrimSuffix(name[1], ".x"), Of: []string{"x"}, Digest: digest(name[1])})
			s.add(fmt.Sprintf("crash_report_of_player_%d-%d.zip", i, j), r, 60)
		}
	}
	return s
}

// TestBreaks: lines of titles end between words, and in long ones at dots, slashes and humps.
func TestBreaks(t *testing.T) {
	b := browse(t, long)
	b.open("/")
	group := browsertest.Eval[string](b, `document.querySelector("[data-row] a").getAttribute("href")`)
	for name, path := range map[string]string{"groups": "/", "group": group, "reports": group + "/reports", "top": "/top", "bundles": "/bundles", "report": "/reports/1", "compare": "/compare?a=1&b=4"} {
		b.open(path)
		for _, width := range []int64{360, 1280, 3840} {
			b.Look(width, map[bool]string{true: "light", false: "dark"}[width == 1280])
			// Of each line that ends within a text, the characters before and after. Hashes are left out.
			for _, at := range browsertest.Eval[[]string](b, `[...document.querySelectorAll("h1, .list, .stack, .sides, .tiles, blockquote, .hint")].flatMap(e => {
				const found = [], texts = document.createTreeWalker(e, NodeFilter.SHOW_TEXT), range = document.createRange();
				for (let node; (node = texts.nextNode());) {
					let last;
					for (let i = 0; i < node.data.length; i++) {
						range.setStart(node, i); range.setEnd(node, i + 1);
						const box = range.getBoundingClientRect();
						if (i > 0 && last !== undefined && box.height > 0 && box.top > last + 2 && !/[-\s/\u2013]/.test(node.data[i - 1]) && !/\s/.test(node.data[i]) && !/^[0-9a-f]+…?$/.test(node.data.trim())) { found.push(node.data.slice(Math.max(0, i - 12), i) + "|" + node.data.slice(i, i + 12)); }
						if (box.height > 0) { last = box.top; }
					}
				}
				return found;
			})`) {
				t.Errorf("%s, %d wide: a line ends in %q", name, width, at)
			}
			if got := browsertest.Eval[int64](b, `document.documentElement.scrollWidth`); got > width {
				t.Errorf("%s: the page is %d wide, expected %d", name, got, width)
			}
			b.Picture(fmt.Sprintf("long-%s-%d", name, width))
		}
	}
	b.quiet()
}

// TestAxe checks all pages with the rules of axe-core. DESYNCTOOL_AXE names its axe.min.js.
func TestAxe(t *testing.T) {
	path := os.Getenv("DESYNCTOOL_AXE")
	if path == "" {
		t.Skip("DESYNCTOOL_AXE does not name axe.min.js")
	}
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b := browse(t, filled)
	for name, path := range b.addresses() {
		b.open(path)
		browsertest.Eval[int](b, `[...document.querySelectorAll("details")].reduce((n, e) => (e.open = true, n + 1), 0)`)
		browsertest.Eval[string](b, string(axe)+`; axe.version`)
		for scheme, width := range map[string]int64{"light": 1440, "dark": 360} {
			b.Look(width, scheme)
			browsertest.Eval[bool](b, `(window.found = null, axe.run().then(r => { window.found = r; }), true)`)
			b.Until(`window.found !== null`)
			if passed := browsertest.Eval[int](b, `window.found.passes.length`); passed < 10 {
				t.Errorf("%s: only %d rules had anything to look at", name, passed)
			}
			for _, bad := range browsertest.Eval[[]string](b, `window.found.violations.map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.target.join(" ") + " (" + [...n.any, ...n.all, ...n.none].map(c => c.message)[0] + ")").join("; "))`) {
				t.Errorf("%s, %s, %d wide: %s", name, scheme, width, bad)
			}
		}
	}
}

// TestKeyboard goes from the list to a group to a report with the keys alone.
func TestKeyboard(t *testing.T) {
	b := browse(t, filled)
	b.Look(1280, "light")
	b.open("/")
	const seen = `document.activeElement !== document.body && getComputedStyle(document.activeElement).outlineStyle !== "none"`
	b.Do(chromedp.KeyEvent(kb.Tab))
	if !browsertest.Eval[bool](b, seen+` && document.activeElement.className === "skip"`) {
		t.Error("the first Tab does not reach the link to the content")
	}
	b.Do(chromedp.KeyEvent("/"))
	if !browsertest.Eval[bool](b, `document.activeElement.type === "search"`) {
		t.Error("/ does not go to the search")
	}
	browsertest.Eval[string](b, `document.activeElement.value = ""`)
	b.Do(chromedp.KeyEvent("jk")) // typed there
	if got := browsertest.Eval[string](b, `document.activeElement.value`); got != "jk" {
		t.Errorf("the search holds %q", got)
	}
	browsertest.Eval[bool](b, `(document.activeElement.value = "", document.activeElement.blur(), true)`)
	row := `[...document.querySelectorAll("[data-row]")].findIndex(e => e.contains(document.activeElement))`
	for _, step := range []struct {
		key  string
		want int
	}{{"j", 0}, {"j", 1}, {kb.ArrowDown, 2}, {kb.ArrowUp, 1}, {"k", 0}, {"k", 0}} {
		b.Do(chromedp.KeyEvent(step.key))
		if got := browsertest.Eval[int](b, row); got != step.want || !browsertest.Eval[bool](b, seen) {
			t.Errorf("after %q the focus is on row %d, expected %d", step.key, got, step.want)
		}
	}
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.Until(`location.pathname.startsWith("/groups/") && document.readyState === "complete"`)
	b.Do(chromedp.KeyEvent("j"), chromedp.KeyEvent(kb.Enter))
	b.Until(`location.pathname.startsWith("/reports/") && document.querySelector("#verdict") !== null`)
	b.quiet()
}

// TestTab reaches every link, button and field of the page of a group, and shows where the focus is.
func TestTab(t *testing.T) {
	b := browse(t, filled)
	b.Look(1280, "light")
	b.open("/")
	b.Do(chromedp.Navigate(b.Server.URL + browsertest.Eval[string](b, `document.querySelector("[data-row] a").getAttribute("href")`)))
	browsertest.Eval[bool](b, `([...document.querySelectorAll("details")].forEach(e => { e.open = true; }), window.reached = new Set(), true)`)
	for range 400 {
		b.Do(chromedp.KeyEvent(kb.Tab))
		if browsertest.Eval[bool](b, `document.activeElement === document.body`) {
			break
		}
		if !browsertest.Eval[bool](b, `(window.reached.add(document.activeElement), getComputedStyle(document.activeElement).outlineStyle !== "none")`) {
			t.Errorf("the focus is not to be seen: %s", browsertest.Eval[string](b, `document.activeElement.outerHTML`))
		}
	}
	if left := browsertest.Eval[[]string](b, `[...document.querySelectorAll("a, button, input:not([type=hidden]), textarea, summary")].filter(e => !window.reached.has(e)).map(e => e.outerHTML)`); len(left) > 0 {
		t.Errorf("the Tab key does not reach %q", left)
	}
}

// TestBrowserHostile: no text of a store runs, and none adds an element or makes a page wider.
func TestBrowserHostile(t *testing.T) {
	b := browse(t, func(t *testing.T) *site { return hostile(t, attacks[0]+attacks[1]+attacks[5]) })
	b.Look(360, "light")
	for _, path := range hostilePages(b.site) {
		b.open(path)
		if browsertest.Eval[bool](b, `window.hacked !== undefined || document.querySelector("img, iframe, main script, main style") !== null`) {
			t.Errorf("%s: a text of the store is more than a text", path)
		}
		if got := browsertest.Eval[int64](b, `document.documentElement.scrollWidth`); got > 360 {
			t.Errorf("%s: the page is %d wide", path, got)
		}
	}
	b.quiet()
}

// TestWithoutScript filters, merges and takes the merge back in a browser that runs no scripts, and
// changes the colours.
func TestWithoutScript(t *testing.T) {
	b := browse(t, filled)
	b.Look(1280, "light")
	browsertest.Call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open("/")
	follow := func(selector, then string) {
		t.Helper()
		b.Do(chromedp.Click(chromedp.CSS(selector)))
		b.Until(then)
	}
	if browsertest.Eval[bool](b, `document.querySelector(".keys").checkVisibility()`) {
		t.Error("keys are named that do nothing")
	}
	rows := browsertest.Eval[int](b, `document.querySelectorAll("[data-row]").length`)
	follow(`.filters a[href*="any"]`, fmt.Sprintf(`document.querySelectorAll("[data-row]").length === %d`, rows+1))
	codes := browsertest.Eval[[]string](b, `[...document.querySelectorAll("[data-row] .code")].map(e => e.textContent)`)
	b.open("/groups/" + codes[1])
	browsertest.Eval[bool](b, `(document.querySelector("[name=into]").value = "`+codes[0]+`", document.querySelector("[name=into]").closest("details").open = true)`)
	follow(`form[action$="/merge"]:has(input[required]) button`, `location.pathname === "/groups/`+codes[0]+`"`)
	if got := browsertest.Eval[string](b, `document.querySelector(".done").textContent`); !strings.Contains(got, codes[1]) {
		t.Errorf("after a merge the page says %q", got)
	}
	follow(`.done form button`, `document.querySelector(".done") !== null && location.search.includes("done") && !document.querySelector(".done form")`)
	b.open("/groups/" + codes[1])
	if browsertest.Eval[bool](b, `document.body.textContent.includes("It was merged into")`) {
		t.Error("the merge was not taken back")
	}
	follow(`button[value="dark"]`, `getComputedStyle(document.documentElement).colorScheme === "dark"`)
	b.open("/reports/1")
	if got := browsertest.Eval[string](b, `getComputedStyle(document.documentElement).colorScheme`); got != "dark" {
		t.Errorf("the colours of a report are %s", got)
	}
	b.open("/")
	follow(`button[value=""]`, `getComputedStyle(document.documentElement).colorScheme !== "dark"`)
	b.quiet()
}

// TestPrint: on paper there are no forms, and nothing is wider than the page.
func TestPrint(t *testing.T) {
	b := browse(t, filled)
	b.open("/groups/" + codes(b.page("/"))[0])
	b.Do(chromedp.EmulateViewport(794, 1123)) // A4 at 96 pixels an inch
	browsertest.Call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	if seen := browsertest.Eval[[]string](b, `[...document.querySelectorAll("button, nav, input, textarea, .skip")].filter(e => e.checkVisibility()).map(e => e.outerHTML)`); len(seen) > 0 {
		t.Errorf("%q is printed", seen)
	}
	if got := browsertest.Eval[int64](b, `document.documentElement.scrollWidth`); got > 794 {
		t.Errorf("the page is %d wide", got)
	}
}

// TestDrop: files that are dropped on the form are sent by it.
func TestDrop(t *testing.T) {
	b := browse(t, filled)
	b.open("/upload")
	got := browsertest.Eval[string](b, `(() => {
		const form = document.querySelector(".drop"), data = new DataTransfer();
		let sent = "";
		form.addEventListener("submit", (event) => { event.preventDefault(); sent = [...new FormData(form).entries()].map(([k, v]) => k + "=" + (v.name ?? "")).join(" ") + " to " + form.getAttribute("action"); });
		data.items.add(new File(["x"], "a.zip"));
		data.items.add(new File(["y"], "b.zip"));
		form.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
		return sent;
	})()`)
	if got != "csrf= file=a.zip file=b.zip to /reports" {
		t.Errorf("what is sent is %q", got)
	}
	b.quiet()
}
