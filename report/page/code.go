package page

// code writes where in the code the builds depart, with what each build does side by side.
func (h *html) code(v *view) {
	h.begin("code", "Line of code")
	for _, b := range v.Code.Blocks() {
		h.put("<p>§</p>\n", b.Sentence)
		if b.Text != "" {
			h.put("<pre>§</pre>\n", b.Text)
		}
		if len(b.Sides) > 0 {
			h.table("What the builds do", "<th>Build</th><th>Does</th><th>Place</th><th>Source</th>")
			for _, s := range b.Sides {
				h.put(`<tr><td><bdi>§</bdi></td><td data-label="Does"><bdi>§</bdi></td>`, s.Who, s.Does)
				if s.At == nil {
					h.put("<td></td><td></td></tr>\n")
					continue
				}
				h.put(`<td class="mono" data-label="Place"><bdi>§</bdi></td><td class="mono" data-label="Source"><bdi>§</bdi></td></tr>`+"\n", s.At.String(), s.At.Text)
			}
			h.put("§\n", endTable)
		}
		if len(b.More) > 0 {
			h.list(b.More)
		}
	}
	h.put("</section>\n")
}
