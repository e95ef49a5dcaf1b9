package page_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/desynctool/desynctool/internal/testkit/browsertest"
)

// click clicks at a part of an element's width.
func (b timeline) click(selector string, part float64) {
	b.t.Helper()
	at := b.box(selector)
	b.Do(chromedp.MouseClickXY(at[0]+at[2]*part, at[1]+at[3]/2))
}

// TestAddress: the address keeps the selected node, the filter and the tick. A link with it opens the same selection,
// and steps back and forward restore it.
func TestAddress(t *testing.T) {
	b := timeline{open(t, triaged(t, "0ad/mp_orders_walkspeed"))}
	b.show(1280, "light")
	const (
		node     = `[...document.querySelectorAll("#differs .node[id] > details:not([open])")].filter((e) => e.parentElement.checkVisibility()).at(-1)`
		filter   = `document.getElementById("filter").value`
		shown    = `document.querySelector(".filter output").textContent`
		line     = `document.querySelector("#timeline-picture .line").textContent`
		selected = `[` + filter + `, ` + shown + `, ` + line + `, location.hash]`
	)
	id := browsertest.Eval[string](b.browser, node+`.parentElement.id`)
	b.click("#"+id+" > details > summary", 0.1)
	b.Until(`location.hash === "#at=` + id + `"`)
	for _, link := range []string{"#" + id, "#at=" + id} { // a filter would unfold the node too
		b.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(b.url+link))
		b.Until(`document.getElementById("` + id + `").querySelector("details").open`)
	}
	b.Do(chromedp.SendKeys(chromedp.CSS("#filter"), "unitmotion"))
	b.Until(`location.hash === "#at=` + id + `&filter=unitmotion"`)
	b.click("#timeline-picture [data-lane]", 0.4)
	b.Until(`/&timeline-picture=\d+$/.test(location.hash)`)
	want := browsertest.Eval[[]string](b.browser, selected)

	link := b.url + want[3]
	b.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(link))
	b.Until(`document.getElementById("` + id + `").querySelector("details").open && ` + filter + ` === "unitmotion"`)
	tick := browsertest.Eval[string](b.browser, `new URLSearchParams(location.hash.slice(1)).get("timeline-picture")`)
	got := browsertest.Eval[[]string](b.browser, selected)
	if got[1] != want[1] || got[1] == "" || got[3] != want[3] || !browsertest.Eval[bool](b.browser, line+`.includes("`+tick+`")`) {
		t.Errorf("the link opens %q, selected was %q", got, want)
	}

	b.Do(chromedp.SendKeys(chromedp.CSS("#filter"), kb.End+"x"))
	b.Until(filter + ` === "unitmotionx" && location.hash.includes("unitmotionx")`)
	b.Do(chromedp.KeyEvent(kb.Escape))
	b.Until(`!location.hash.includes("filter")`)
	for _, step := range []struct{ go_, hash, filter string }{{"back", "filter=unitmotionx", "unitmotionx"}, {"forward", "at=" + id, ""}} {
		browsertest.Eval[bool](b.browser, `(history.`+step.go_+`(), true)`)
		b.Until(fmt.Sprintf(`location.hash.includes(%q) && %s === %q`, step.hash, filter, step.filter))
	}
	b.quiet()
}

// TestHostileAddress: an address with markup, damaged escapes, or a selection that the page does not have changes
// nothing, and the script goes on.
func TestHostileAddress(t *testing.T) {
	r := triaged(t, "0ad/mp_orders_walkspeed")
	for _, hash := range []string{
		"#%E0%A4%A", "#at=%E0%A4%A", "#at=nothing&filter=&timeline-picture=", "#at=constructor&__proto__=x&at=y", "#timeline-picture=99999999999999999999", "#timeline-picture=-1e9",
		"#timeline-picture=18446744073709551616&at=timeline-picture", "#at=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&filter=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&timeline-picture=%3Cimg%3E",
	} {
		b := timeline{open(t, r)}
		b.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(b.url+hash))
		b.show(1280, "light")
		if n := browsertest.Eval[int](b.browser, `document.images.length + document.querySelectorAll("script").length`); n != 1 {
			t.Errorf("%s: %d images and scripts", hash, n)
		}
		if text := b.line(); text == "" || text[0] == '<' {
			t.Errorf("%s: the picture says %q", hash, text)
		}
		b.quiet()
	}
}
