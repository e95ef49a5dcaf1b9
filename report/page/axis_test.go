package page_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/report/document"
)

// between returns what a page has between two texts.
func between(t testing.TB, html, from, to string) string {
	t.Helper()
	_, rest, ok := strings.Cut(html, from)
	inner, _, closed := strings.Cut(rest, to)
	if !ok || !closed {
		t.Fatalf("the page has nothing from %q to %q", from, to)
	}
	return inner
}

// found returns the first group of each match.
func found(html, pattern string) (list []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(html, -1) {
		list = append(list, m[1])
	}
	return list
}

// TestHeatOrder: rows that diverged first come first, then rows that differ earlier; equal rows are one row, and rows
// that never differ are only named.
func TestHeatOrder(t *testing.T) {
	r := saved(t)
	r.FirstDivergence.Archetypes = []string{"Root"}
	r.Heat.Points = []uint64{10, 20, 30, 40}
	r.Heat.Rows = []document.HeatRow{
		{Label: "Equal", Differs: "0000"}, {Label: "Late", Differs: "0001"}, {Label: "Early", Differs: "0011"}, {Label: "Lost", Differs: "00-0"},
		{Label: "Root", Differs: "0-11"}, {Label: "Twin", Differs: "0011"}, {Label: "First", Differs: "0111"}, {Label: "Short", Differs: "011"},
	}
	heat := between(t, render(t, r), `<section id="heat"`, "</section>")
	if got := fmt.Sprint(found(heat, `data-cells="([01-]+)"`)); got != "[0-11 0111 0011 0001]" {
		t.Errorf("the lanes are %s", got)
	}
	if got := fmt.Sprintf("%q", found(heat, `<summary>([^<]*)<`)); got != `["2 rows: Early, Twin" "1 other is equal throughout" "1 other is equal where that is known"]` {
		t.Errorf("what is folded is called %s", got)
	}
	if !strings.Contains(heat, "1 row is left out") {
		t.Error("a row without a cell for each state point is not named")
	}
}

// TestAxisLinear: cells and bars are drawn where their ticks are, however far apart these are.
func TestAxisLinear(t *testing.T) {
	r := saved(t)
	r.Timeline = nil
	r.Heat.Points = []uint64{1000, 1100, 1999}
	r.Heat.Rows = []document.HeatRow{{Label: "A", Differs: "010"}}
	r.Cascade = []document.CascadeDocument{{Scope: "A", Tick: 1250, Last: 1499}}
	html := render(t, r)
	heat := between(t, html, `<section id="heat"`, "</section>")
	for class, want := range map[string]string{"equal": "[0 9990]", "differs": "[1000]"} {
		d := found(heat, `<path class="`+class+`" d="([^"]*)"`)
		if len(d) != 1 || fmt.Sprint(found(d[0], `M(\d+)`)) != want {
			t.Errorf("cells that are %s are drawn by %q, expected them at %s", class, d, want)
		}
	}
	if got := found(between(t, html, `<section id="cascade"`, "</section>"), `class="spread" d="([^"]*)"`); len(got) != 1 || !strings.HasPrefix(got[0], "M2500 ") || !strings.Contains(got[0], "h2500v") {
		t.Errorf("the cascade is drawn by %q", got)
	}
}

// TestAxisBins: orders are drawn where their bins are, though the timeline begins within one.
func TestAxisBins(t *testing.T) {
	r := saved(t)
	from := uint64(96)
	r.Heat, r.Cascade = nil, nil
	r.Timeline = &document.Timeline{From: 100, To: 131, Bin: 16, BinFrom: &from, Peers: []document.TimelinePeer{{Name: "host", Orders: []uint64{1, 0, 5}}}}
	r.FirstDivergence, r.Names = nil, nil
	html := render(t, r)
	d := found(html, `<path class="orders" d="([^"]*)"`)
	// Of 32 ticks the first bin has 12, and the last begins with the 29th.
	if len(d) != 1 || fmt.Sprint(found(d[0], `(M\d+) `)) != "[M0 M8750]" || !strings.Contains(d[0], "h3750v") {
		t.Errorf("orders are drawn by %q", d)
	}
	if !strings.Contains(html, `data-offset="-4"`) {
		t.Error("the script does not learn where the first bin begins")
	}
}

// TestAxisNames: the ruler and the sentences have the engine's own names beside the numbers.
func TestAxisNames(t *testing.T) {
	html := render(t, longNames(t))
	ruler := between(t, html, `<div class="lane ruler">`, "</svg></div>")
	natives := found(ruler, `class="tick native[^>]*>([^<]*)<`)
	ordinals := found(ruler, `class="tick(?: wide| desk)?"[^>]*>([^<]*)<`)
	if len(natives) < 3 || len(natives) != len(ordinals) {
		t.Fatalf("the ruler has the names %q of %q", natives, ordinals)
	}
	for i, text := range ordinals {
		var tick, large, small uint64
		fmt.Sscan(text, &tick)
		fmt.Sscanf(natives[i], "%x;%x", &large, &small)
		if got := large*74 + small - 0xadea0*74 + 52714048; got != tick || large == 0 {
			t.Errorf("tick %s is called %q", text, natives[i])
		}
	}
	if !strings.Contains(html, "The peers diverged in tick 000adeb0;32 (52715282).") {
		t.Error("the sentence about the split lacks the engine's name")
	}
	if strings.Contains(between(t, render(t, saved(t)), `<div class="lane ruler">`, "</svg></div>"), "native") {
		t.Error("ticks without names of their own have some")
	}
}
