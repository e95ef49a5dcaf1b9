package page_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/desynctool/desynctool/internal/testkit/browsertest"
	"github.com/desynctool/desynctool/report/document"
)

// shownLeaves returns how many values and rows are on the page, folded or not, and how many nodes
// are unfolded.
func shownLeaves(b *browser) []int {
	return browsertest.Eval[[]int](b, `[
		[...document.querySelectorAll("#differs .leaf")].filter(e => !e.closest("[hidden]")).length,
		document.querySelectorAll("#differs details[open]").length,
	]`)
}

// TestFilter: the filter of differences shows the rows that have all of its words, and how many of how many. Escape
// brings everything back as it was folded.
func TestFilter(t *testing.T) {
	b := open(t, triaged(t, "0ad/mp_orders_walkspeed"))
	b.show(1280, "light")
	before := shownLeaves(b)
	if before[0] != 22 {
		t.Fatalf("%d values, expected 22", before[0])
	}
	b.Do(chromedp.SendKeys(chromedp.CSS("#filter"), "152 UnitMotion"))
	want := browsertest.Eval[int](b, `[...document.querySelectorAll("#differs .value")].filter(e => e.id.includes("-152-unitmotion")).length`)
	got := shownLeaves(b)
	if got[0] != want || want == 0 {
		t.Errorf("%d values are shown, expected %d", got[0], want)
	}
	if text := browsertest.Eval[string](b, `document.querySelector(".filter output").textContent`); text != fmt.Sprintf("%d of 22", want) {
		t.Errorf("it says %q", text)
	}
	if hidden := browsertest.Eval[int](b, `[...document.querySelectorAll("#differs .value")].filter(e => e.id.includes("-152-unitmotion") && !e.checkVisibility()).length`); hidden != 0 {
		t.Errorf("%d values with these words are not to be seen", hidden)
	}
	b.Do(chromedp.KeyEvent(kb.Escape))
	if after := shownLeaves(b); after[0] != before[0] || after[1] != before[1] {
		t.Errorf("after Escape %v are shown and unfolded, before it were %v", after, before)
	}
	if text := browsertest.Eval[string](b, `document.getElementById("filter").value + document.querySelector(".filter output").textContent`); text != "" {
		t.Errorf("after Escape the filter says %q", text)
	}
	b.quiet()
}

// TestCopy: each button that copies shows so for a while, and then its name again; each copies something.
func TestCopy(t *testing.T) {
	b := open(t, saved(t))
	b.show(1280, "light")
	const buttons = `[...document.querySelectorAll("[data-copy]")]`
	names := browsertest.Eval[[]string](b, buttons+`.map(e => e.textContent)`)
	if len(names) < 3 {
		t.Fatalf("only %d buttons that copy", len(names))
	}
	if lost := browsertest.Eval[int](b, buttons+`.filter(e => !document.getElementById(e.dataset.copy)?.innerText.trim() || !e.checkVisibility()).length`); lost != 0 {
		t.Errorf("%d buttons copy nothing, or are not to be seen", lost)
	}
	browsertest.Eval[int](b, buttons+`.reduce((n, e) => (e.click(), n + 1), 0)`)
	for _, state := range []struct{ name, have string }{
		{"copied", buttons + `.every(e => e.textContent === "Copied" || e.textContent === "Selected")`},
		{"back", buttons + `.every(e => e.textContent.startsWith("Copy"))`},
	} {
		for n := 0; !browsertest.Eval[bool](b, state.have); n++ {
			if n == 200 {
				t.Fatalf("the buttons are not %s: %v", state.name, browsertest.Eval[[]string](b, buttons+`.map(e => e.textContent)`))
			}
			b.Do(chromedp.Sleep(50 * time.Millisecond))
		}
	}
	b.quiet()
}

// TestEscape: Escape folds what the focus is in, and a link to what is folded unfolds it.
func TestEscape(t *testing.T) {
	b := open(t, triaged(t, "0ad/mp_orders_walkspeed"))
	b.show(1280, "light")
	browsertest.Eval[bool](b, `(document.querySelector("#differs details[open] summary").focus(), true)`)
	open := shownLeaves(b)[1]
	b.Do(chromedp.KeyEvent(kb.Escape))
	if got := shownLeaves(b)[1]; got != open-1 {
		t.Errorf("%d nodes are unfolded, %d were", got, open)
	}
	const last = `[...document.querySelectorAll("#differs .value")].at(-1)`
	b.Do(chromedp.Navigate(b.url + "#" + browsertest.Eval[string](b, last+`.id`)))
	for n := 0; !browsertest.Eval[bool](b, last+`.checkVisibility()`); n++ {
		if n == 100 {
			t.Fatal("a link to what is folded does not unfold it")
		}
		b.Do(chromedp.Sleep(20 * time.Millisecond))
	}
	b.quiet()
}

// TestBitsFit: the bits of the widest numbers are on the page as a whole at 360 pixels, with the bits of both peers one
// below the other.
func TestBitsFit(t *testing.T) {
	r := saved(t)
	for i := range r.Locus {
		r.Locus[i].Raw = map[string]string{"host": fmt.Sprintf("%032x", 1<<40+i), "client": fmt.Sprintf("%032x", i)}
	}
	b := open(t, r)
	b.show(360, "light")
	browsertest.Eval[int](b, `[...document.querySelectorAll("#differs details")].reduce((n, e) => (e.open = true, n + 1), 0)`)
	if n := browsertest.Eval[int](b, `document.querySelectorAll("#differs .bits").length`); n == 0 {
		t.Fatal("no bits")
	}
	if bad := browsertest.Eval[[]string](b, `[...document.querySelectorAll("#differs .pair > span")].filter(e => {
		const r = e.getBoundingClientRect();
		return r.width === 0 || r.right > 360 || e.getClientRects().length > 1;
	}).map(e => e.textContent)`); len(bad) > 0 {
		t.Errorf("%d pieces are cut, such as %q", len(bad), bad[0])
	}
	if bad := browsertest.Eval[int](b, `[...document.querySelectorAll("#differs .pair")].filter(e => {
		const [x, y] = [...e.children].map(c => c.getBoundingClientRect());
		return Math.abs(x.left - y.left) > 1 || y.top < x.top + 8;
	}).length`); bad != 0 {
		t.Errorf("%d pairs do not stand below each other", bad)
	}
	b.quiet()
}

// many returns a report of a session in which so many values of two fields differ, and lists them all.
func many(t *testing.T, values int) *document.Report {
	r := saved(t)
	one := r.Locus[0]
	r.Locus, r.Compared.Entities, r.Compared.Columns = nil, nil, nil
	for i := range values {
		f := one
		entity := i / 2
		f.Key, f.Entity = fmt.Sprint(entity), &entity
		if i%2 == 1 {
			f.Field = "y"
		} else {
			r.Compared.Entities = append(r.Compared.Entities, document.Entity{Kind: f.Archetype, Key: f.Key, Values: 2})
		}
		r.Locus = append(r.Locus, f)
		column := document.LocusColumn{Archetype: f.Archetype}
		column.Component, column.Field, column.Changed = f.Component, fmt.Sprintf("field%d", i), 1
		r.Compared.Columns = append(r.Compared.Columns, column)
	}
	r.Compared.Values = uint64(values)
	return r
}

// listed is a report with columns that list more values than its tree.
func listed(t *testing.T) *document.Report {
	r := saved(t)
	c := &r.Compared.Columns[0]
	c.Changed, c.Listed = 310, &document.ListedValues{}
	for i := range 300 {
		c.Listed.Keys = append(c.Listed.Keys, fmt.Sprint(7000+i))
		c.Listed.Values[0] = append(c.Listed.Values[0], fmt.Sprint(i*i))
		c.Listed.Values[1] = append(c.Listed.Values[1], "<b>\nx")
	}
	r.Compared.Values += 1000
	return r
}

// TestColumns: each value that the report lists for a column is a line of the page, and what is left out is counted.
func TestColumns(t *testing.T) {
	html := render(t, listed(t))
	for _, text := range []string{"\n7000  0      &lt;b&gt;\\nx\n", "\n7299  89401  &lt;b&gt;", "the first 300; 10 more are not listed", "By column: 300 of ", "By entity: "} {
		if !strings.Contains(html, text) {
			t.Errorf("%q is not in the page", text)
		}
	}
}

// TestFilterColumns: the filter also searches in the lines of columns, and shows those with all of its words.
func TestFilterColumns(t *testing.T) {
	b := open(t, listed(t))
	b.show(1280, "light")
	const lines = `document.querySelector("#differs .lines").textContent`
	before := browsertest.Eval[string](b, lines)
	b.Do(chromedp.SendKeys(chromedp.CSS("#filter"), "7123 15129"))
	if got := browsertest.Eval[string](b, lines); strings.Count(got, "\n") != 2 || !strings.Contains(got, "\n7123 ") {
		t.Errorf("the lines are %q", got)
	}
	if text := browsertest.Eval[string](b, `document.querySelector(".filter output").textContent`); !strings.HasSuffix(text, ", by column 1 of 300") {
		t.Errorf("the filter counts %q", text)
	}
	if !browsertest.Eval[bool](b, `document.querySelector("#differs .lines").checkVisibility()`) {
		t.Error("the line that was found is folded")
	}
	b.Do(chromedp.KeyEvent(kb.Escape))
	if browsertest.Eval[string](b, lines) != before {
		t.Error("after Escape the lines are others")
	}
	b.quiet()
}
