package page

func (h *html) first(v *view) {
	f := v.First
	h.begin("first", "At the first difference: "+f.Title)
	h.put(`<p class="hint">§</p>`+"\n", f.About)
	if len(f.Same) > 0 {
		h.lines(f.Same, f.Start)
		h.put("\n")
	}
	for _, p := range f.Peers {
		h.put("<h3>")
		h.peer(p.Who)
		h.put("</h3>\n")
		h.lines(p.Rest, f.From)
		h.put("\n")
	}
	h.put("</section>\n")
}

// nodes writes nodes under a title that folds them.
func (h *html) nodes(title string, list []*node, open bool) {
	h.put(`<details class="all"§><summary>§</summary>`+"\n", iff(open, " open", ""), title)
	for _, n := range list {
		h.node(n)
	}
	h.put("</details>\n")
}

func (h *html) node(n *node) {
	h.put(`<div class="node §§" id="§">`, n.Level, iff(n.Unfolds(), "", " leaf"), n.ID)
	h.anchor(n.ID)
	title := func() {
		h.put(`<span class="title"><bdi>§</bdi>`, n.Title)
		if n.Only != nil {
			h.put(` <span class="only">only on `)
			h.peer(*n.Only)
			h.put("</span>")
		}
		h.put("</span>")
		if n.Count != "" {
			h.put(" <small>§</small>", n.Count)
		}
	}
	if !n.Unfolds() {
		h.put("<p>")
		title()
		h.put("</p></div>\n")
		return
	}
	h.put("<details§><summary>", iff(n.Open, " open", ""))
	title()
	h.put("</summary>\n" + `<div class="inside">`)
	if len(n.Notes) > 0 {
		h.put(`<ul class="rows">`)
		for _, note := range n.Notes {
			h.put(`<li class="leaf">§</li>`, note)
		}
		h.put("</ul>\n")
	}
	for _, below := range n.Nodes {
		h.node(below)
	}
	for i := range n.Rows {
		h.row(&n.Rows[i])
	}
	if n.Lines != "" {
		h.put(`<div class="scroll" tabindex="0" role="group" aria-label="Values of §"><pre class="lines leaf">§</pre></div>`, n.Title, markup(escape.Replace(n.Lines)))
	}
	h.put("</div></details></div>\n")
}

func (h *html) row(r *locusRow) {
	h.put(`<div class="value leaf" id="§"><p class="field mono"><bdi>§</bdi>§`, r.ID, r.Name, cacheTag(r.Cache))
	h.anchor(r.ID)
	h.put("</p>")
	for _, value := range r.Values {
		h.put(`<p class="side">`)
		h.peer(value.Who)
		h.put(` <bdi class="mono">§</bdi>`, value.Text)
		if value.As != "" {
			h.put(`<span class="as">as text: <q>§</q></span>`, value.As)
		}
		h.put("</p>")
	}
	h.put(`<p class="apart">`)
	if r.Apart != "text" {
		h.put("§", r.Apart)
	}
	if r.Note != "" {
		h.put(" <small>§</small>", r.Note)
	}
	h.put("</p>")
	if r.Bits != nil {
		h.bits(r)
	}
	h.put("</div>\n")
}

func cacheTag(cache bool) markup { return iff(cache, ` <small class="tag">cache</small>`, "") }

func (h *html) bits(r *locusRow) {
	h.put(`<div class="bits"><div class="word" aria-hidden="true"><span class="pair">`)
	for _, p := range r.Sides {
		h.put(`<span class="peer §"><svg width="14" height="14"><path d="§"/></svg></span>`, p.Class, p.Path())
	}
	h.put("</span>")
	for _, part := range r.Bits.Parts {
		h.put(`<span class="pair§§">`, iff(part.Name != "", " ", ""), part.Name)
		for _, runs := range part.Runs {
			h.put("<span>")
			for _, run := range runs {
				if run.Changed {
					h.put("<b>§</b>", run.Bits)
				} else {
					h.put("§", run.Bits)
				}
			}
			h.put("</span>")
		}
		h.put("</span>")
	}
	h.put("</div><p>§", r.Bits.Tip)
	if r.Bits.Note != "" {
		h.put(" · §", r.Bits.Note)
	}
	h.put("</p></div>")
}

func (h *html) locus(v *view) {
	l := v.Locus
	h.section("locus", ` class="wide"`, "h2", "What differs")
	if l.Compared != nil {
		h.put("<p>§, between ", l.Line)
		h.peer(l.sides[0])
		h.put(" and ")
		h.peer(l.sides[1])
		h.put(".§</p>\n", iff(len(l.Nodes) > 0, " What differs first comes first.", " "))
	}
	h.summary(l)
	for _, text := range l.Schema {
		h.put(`<p class="callout warn">§</p>`+"\n", text)
	}
	if len(l.Nodes) > 0 {
		h.put(`<div class="differs" id="§">`+"\n", h.ids.of("differs"))
		if l.Filter {
			id := h.ids.of("filter")
			h.put(`<p class="filter" hidden><label for="§">Filter</label> <input type="search" id="§" autocomplete="off" spellcheck="false"> <output for="§"></output></p>`+"\n", id, id, id)
		}
		if len(l.Columns) > 0 {
			h.nodes("By column: "+l.Listed, l.Columns, len(l.Columns) <= fewColumns)
			h.nodes("By entity: "+l.Gathered, l.Nodes, true)
		} else {
			for _, n := range l.Nodes {
				h.node(n)
			}
		}
		h.put("</div>\n")
	}
	if len(l.Left) > 0 {
		h.put(`<p class="hint">Not listed: `)
		for i, text := range l.Left {
			h.put("§§", iff(i > 0, " ", ""), text)
		}
		h.put("</p>\n")
	}
	h.put("</section>\n")
}

// summary is a table of the fields, with what their values have in common.
func (h *html) summary(l *locusView) {
	if len(l.Summary) == 0 {
		return
	}
	h.put(`<div class="scroll" tabindex="0" role="group" aria-label="Fields that differ"><table class="stack"><thead><tr><th>Field</th><th class="n">Values</th><th>Pattern</th><th>In</th></tr></thead><tbody>`)
	for _, f := range l.Summary {
		h.put(`<tr><td class="mono"><bdi>§</bdi></td><td class="n" data-label="Values">§</td><td data-label="Pattern">§</td><td data-label="In">§</td></tr>`,
			f.Name(), f.Values, f.Pattern.Text(l.Compared.Peers, f.Values), f.Where(3))
	}
	h.put("§\n", endTable)
}
