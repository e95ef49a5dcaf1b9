package page

import (
	"github.com/desynctool/desynctool/report/document"
)

// code shows the line of source at which the builds depart: the lines at which each of them goes on, side by side, then
// more about it.
func (h *html) code(v *view) {
	h.begin("code", markup("Line of source"))
	plain := document.NewStyle(false)
	if c := v.Code; c != nil {
		h.codeLines(c.Lines(plain))
		if c.Next != nil && len(c.Builds) == 2 {
			h.table("Where the builds go on", "<th>Build</th><th>Function</th><th>Line</th><th>Source</th>")
			if len(c.At) > 0 {
				h.place("both, last", &c.At[0])
			}
			for i, next := range c.Next {
				if len(next) > 0 {
					h.place(c.Builds[i], &next[0])
				}
			}
			h.put("§\n", endTable)
		}
	}
	if w := v.Writes; w != nil {
		h.codeLines(w.Lines(plain))
	}
	h.put("</section>\n")
}

func (h *html) codeLines(lines []string) {
	for i, line := range lines {
		if i == 0 {
			h.put("<p><bdi>§</bdi></p>\n<ul>", line)
			continue
		}
		h.put(`<li class="mono"><bdi>§</bdi></li>`, line)
	}
	h.put("</ul>\n")
}

// place is a row about a place in a build.
func (h *html) place(build string, p *document.PlaceDocument) {
	h.put(`<tr><td><bdi>§</bdi></td><td class="mono" data-label="Function"><bdi>§</bdi></td><td class="mono" data-label="Line"><bdi>§:§</bdi></td><td class="mono" data-label="Source"><bdi>§</bdi></td></tr>`+"\n",
		build, p.Function, p.File, p.Line, p.Text)
}
