package page

import (
	"fmt"
	"io"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// maxMatches is how many bytes of reports a page of several matches has before it shows further matches only in its
// index.
const maxMatches = 24 << 20

// WriteMatches writes the reports of several matches as one HTML page: an index of all of them, then each report,
// folded. It reads the reports twice, and keeps one in memory. After 24 MiB further reports are only in the index, and
// the page names the option that shows them.
func WriteMatches(w io.Writer, each document.Each) error { return writeMatches(w, each, maxMatches) }

func writeMatches(w io.Writer, each document.Each, most int) error {
	h := html{ids: newIDs("")}
	if err := h.page("Desync reports of several matches", Within{}); err != nil {
		return err
	}
	h.put(`<main id="content" class="matches" tabindex="-1">` + "\n")
	if err := h.index(each); err != nil {
		return err
	}
	written, open := h.out.Len(), false
	for r, err := range each {
		if err != nil {
			return err
		}
		if err := h.writeTo(w); err != nil {
			return err
		}
		n := r.InMatch().Number
		h.ids = newIDs(fmt.Sprintf("match-%d-", n))
		if written > most {
			h.put(`<p id="match-§">`, n)
			h.text(fmt.Sprintf("Match %d is not in this page, which has no room for more reports: --match %d shows it.", n, n))
			h.put("</p>\n")
			continue
		}
		first := !open && r.Status == document.Diverged // the first that diverged is unfolded
		open = open || first
		h.match(r, first)
		written += h.out.Len()
	}
	h.put("</main>\n")
	if err := h.endPage(); err != nil {
		return err
	}
	return h.writeTo(w)
}

// index writes a table of the matches.
func (h *html) index(each document.Each) error {
	var rows html
	count, counts := 0, map[document.Status]int{}
	for r, err := range each {
		if err != nil {
			return err
		}
		count++
		counts[r.Status.Known()]++
		verdict := ""
		if len(r.Verdict) > 0 {
			verdict = r.Verdict[0]
		}
		d := r.InMatch()
		rows.put(`<tr><td><a href="#match-§">§</a></td><td data-label="Verdict"><span class="tag §">§</span> `, d.Number, d.Title(), iff(r.Status == document.Diverged, "bad", ""), statusWord(r.Status))
		rows.text(verdict)
		rows.put("</td></tr>\n")
	}
	h.section("matches", ` class="verdict"`, "h1", prose.Count(count, "match", "matches"))
	h.put(`<p class="lead">§</p>`+"\n", document.CountedStatuses(counts))
	h.table("Matches", "<th>Match</th><th>Verdict</th>")
	h.put("§§\n</section>\n", markup(rows.out.String()), endTable)
	return nil
}

// match writes one report, folded or not.
func (h *html) match(r *document.Report, open bool) {
	v, d := newView(r, h.ids), r.InMatch()
	h.put(`<details class="match" id="match-§"§><summary>§ <span class="tag §">§</span></summary>`+"\n", d.Number, iff(open, " open", ""), d.Title(), iff(r.Status == document.Diverged, "bad", ""), v.Word)
	h.put(`<div class="frame"><nav aria-label="Sections of match §"><ol><li><a href="#matches">All matches</a></li>`, d.Number)
	h.contents(v)
	h.put("</ol></nav>\n<article aria-label=\"Match §\">\n", d.Number)
	for _, doubt := range d.Doubts {
		h.paragraph(`<p class="callout warn">`, doubt)
	}
	h.report(v)
	h.put("</article></div></details>\n")
}
