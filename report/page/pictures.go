package page

import (
	"cmp"
	"fmt"

	"github.com/desynctool/desynctool/report/document"
)

func (h *html) time(v *view) {
	t := v.Time
	h.section("timeline", ` class="wide"`, "h2", "Timeline")
	if len(t.Moments) > 0 {
		h.put(`<ul class="legend moments">`)
		for i := range t.Moments {
			h.put(`<li><svg class="key-line" width="16" height="12" aria-hidden="true"><line class="flag §" x1="8" x2="8" y1="0" y2="12"/></svg>§</li>`, t.Moments[i].Class, t.Moments[i].Long)
		}
		if t.Bracket != nil {
			h.put(`<li><span class="key bracket"></span>It happened §.</li>`, t.Bracket.Tip)
		}
		h.put("</ul>\n")
	}
	h.put(`<div class="picture time" id="§" data-time data-from="§" data-to="§" data-names="§">
<div class="over">
<p class="line" role="status"></p>
<div class="tools" role="group" aria-label="Zoom" hidden><button type="button" data-do="in" aria-label="Zoom in" title="Zoom in: + or w">+<span> Zoom in</span></button><button type="button" data-do="out" aria-label="Zoom out" title="Zoom out: - or s">−<span> Zoom out</span></button><button type="button" data-do="whole" title="The whole session: 0">Whole</button>§<button type="button" data-do="chosen" title="The ticks that are chosen: Enter" hidden>The choice</button></div>
`, h.ids.of(t.ID), t.From, t.To, t.data(), iff(len(t.Moments) > 0 || t.Bracket != nil, `<button type="button" data-do="split" title="Where they diverged: f">The divergence</button>`, ""))
	h.ruler(t)
	h.put("\n</div>\n"+`<div class="area" role="group" aria-label="§">`+"\n"+`<svg class="grids" aria-hidden="true">`, t.Name)
	if b := t.Bracket; b != nil {
		h.put(`<rect class="bracket whole" x="§%" y="0" width="§%" height="100%" data-at="§" data-end="§"/>`, b.X, b.W, b.At, b.End)
	}
	h.put(`<g class="whole">`)
	for _, g := range t.Grid {
		h.put(`<line class="grid§§" x1="§%" x2="§%" y1="0" y2="100%"/>`, iff(g.Class != "", " ", ""), g.Class, g.X, g.X)
	}
	h.put("</g></svg>\n")
	if l := t.Timeline; l != nil {
		h.put(`<div class="part">`+"\n"+`<p class="about">The evidence of each peer.§</p>`+"\n", iff(len(l.Marks) > 0, " Flags are joins, crosses leaves, diamonds states that were saved or loaded.", ""))
		h.lanes(l.Lanes)
		h.put("</div>\n")
	}
	if t.Heat != nil {
		h.heat(t.Heat)
	}
	if c := t.Cascade; c != nil {
		h.section("cascade", ` class="part"`, "h3", "Cascade")
		h.put(`<p class="about">From when to when each part of the state differed, in order.`)
		if len(c.Rows) > len(c.Lanes) {
			h.put(" The picture has the first § of §.", len(c.Lanes), len(c.Rows))
		}
		h.put("</p>\n")
		h.lanes(c.Lanes)
		h.put("</section>\n")
	}
	h.put(`<svg class="lines" aria-hidden="true">`)
	for i := range t.Moments {
		m := &t.Moments[i]
		h.put(`<line class="flag § whole" x1="§%" x2="§%" y1="0" y2="100%"/>`, m.Class, m.X, m.X)
	}
	h.put("</svg>\n</div></div>\n")
	h.timeTables(t)
	h.put("</section>\n")
}

func (h *html) heat(t *heatView) {
	h.section("heat", markup(fmt.Sprintf(` class="part" data-points="%s"`, escape.Replace(t.Points))), "h3", "Heat map: how it spreads")
	h.put(`<p class="about">What differs when between `)
	h.peer(t.Peers[0])
	h.put(" and ")
	h.peer(t.Peers[1])
	h.put(`, from §.§</p>
<ul class="legend"><li><span class="key differs"></span>differs</li><li><span class="key equal"></span>equal</li><li><span class="key between"></span>the same before and after</li><li><span class="key unknown"></span>not known</li></ul>
`, t.By, iff(len(t.Lanes) == 0, " No row differs.", ""))
	h.lanes(t.Lanes)
	h.put("\n")
	for _, rest := range t.Rest {
		if len(rest.Names) > 0 {
			h.put(`<details class="rest"><summary>§</summary><p>`, rest.Text)
			for i, name := range rest.Names {
				h.put("§<bdi>§</bdi>", iff(i > 0, ", ", ""), name)
			}
			h.put("</p></details>\n")
		}
	}
	switch {
	case t.Unlisted == 1:
		h.put(`<p class="about">1 row is left out: it has not one cell for each state point.</p>`)
	case t.Unlisted > 1:
		h.put(`<p class="about">§ rows are left out: they have not one cell for each state point.</p>`, t.Unlisted)
	}
	h.put("</section>\n")
}

// timeTables writes what the pictures of time show as tables.
func (h *html) timeTables(t *timeView) {
	table := func(name string, columns markup, rows func()) {
		h.put(`<div class="scroll" tabindex="0" role="group" aria-label="§"><table><thead><tr>§</tr></thead><tbody>`, name, columns)
		rows()
		h.put(endTable)
	}
	if l := t.Timeline; l != nil {
		h.put("<details><summary>Timeline as a table</summary>\n")
		h.put(`<div class="scroll" tabindex="0" role="group" aria-label="Timeline as a table"><table><thead><tr><th>Peer</th><th>Hashes</th><th>Trace</th><th class="n">Orders</th><th>Orders in each § ticks</th><th>Snapshots</th></tr></thead><tbody>`, l.Bin)
		for i := range l.Peers {
			p := &l.Peers[i]
			h.put("<tr><td>")
			h.peer(p.Peer)
			for _, s := range []*document.TimelineSpan{p.Hashes, p.Trace} {
				h.put("</td><td>")
				if s == nil {
					h.put("–")
				} else {
					h.put("§ from § to §", s.Count, s.First, s.Last)
				}
			}
			h.put(`</td><td class="n">§</td><td class="numbers">§</td><td class="numbers">§§</td></tr>`+"\n", p.Total, p.Orders, p.Snapshots, iff(p.Thinned, " (some of them)", ""))
		}
		h.put("§\n", endTable)
		if len(l.Marks) > 0 {
			table("Events", `<th class="n">Tick</th><th>Peer</th><th>Event</th><th>What</th>`, func() {
				for i := range l.Marks {
					m := &l.Marks[i]
					h.put(`<tr><td class="n">§</td><td>`, m.Name)
					h.peer(m.Peer)
					h.put("</td><td>§</td><td><bdi>§</bdi></td></tr>\n", m.Kind, m.Text)
				}
			})
		}
		h.put("</details>\n")
	}
	if t.Heat != nil {
		h.put("<details><summary>Heat map as a table</summary>")
		table("Heat map as a table", `<th>Row</th><th class="n">First differs at</th><th class="n">Points that differ</th><th class="n">Not known</th><th>Differs at state points</th>`, func() {
			for i := range t.Heat.Rows {
				r := &t.Heat.Rows[i]
				h.put(`<tr><td><bdi>§</bdi></td><td class="n">`, r.Label)
				if r.First != "" {
					h.put("§", r.First)
				} else {
					h.put("–")
				}
				h.put(`</td><td class="n">§</td><td class="n">§</td><td class="numbers">§</td></tr>`+"\n", r.Count, r.Lost, r.Spans)
			}
		})
		h.put("</details>\n")
	}
	if t.Cascade != nil {
		h.put("<details><summary>Cascade as a table</summary>")
		table("Cascade as a table", `<th>Part</th><th class="n">From tick</th><th class="n">Differences</th><th class="n">Last tick</th>`, func() {
			for i := range t.Cascade.Rows {
				r := &t.Cascade.Rows[i]
				h.put(`<tr><td><bdi>§</bdi></td><td class="n">§</td><td class="n">§</td><td class="n">§</td></tr>`+"\n", r.Text(len(r.Parts)), r.First, r.Count, r.End)
			}
		})
		h.put("</details>\n")
	}
}

func (h *html) ruler(t *timeView) {
	h.put(`<div class="lane ruler"><div class="label">`)
	for _, unit := range t.Ruler.Unit {
		h.put("<div>§</div>", unit)
	}
	h.put(`</div><svg class="plot" width="100%" height="§" aria-hidden="true">`+"\n", t.Ruler.Height)
	for i := range t.Moments {
		m := &t.Moments[i]
		h.put(`<g class="flag § whole"><line class="flag §" x1="§%" x2="§%" y1="§" y2="100%"/><text class="full" x="§%" y="§" dx="§" text-anchor="§">§</text>`, m.Class, m.Class, m.X, m.X, m.Y, m.X, m.Y, m.DX, m.Anchor, m.Text)
		h.put(`<text class="short" x="§%" y="§" dx="§" text-anchor="§" data-flag="§" data-at="§" data-full="§" data-tip="§">§</text></g>`+"\n", m.X, m.Y, m.DX, m.Anchor, m.Class, m.At, m.Text, m.Long, m.Short)
	}
	h.put(`<line class="axis" x1="0" x2="100%" y1="§" y2="§"/><g class="whole">`, t.Ruler.Y, t.Ruler.Y)
	for _, row := range []struct {
		class markup
		y     int
		ticks []axisTick
	}{{"tick", t.Ruler.TY, t.Ruler.Ordinals}, {"tick native", t.Ruler.NativesY, t.Ruler.Natives}} {
		for _, a := range row.ticks {
			h.put(`<text class="§§§" x="§%" y="§" text-anchor="§">§</text>`, row.class, iff(a.Class != "", " ", ""), a.Class, a.X, row.y, a.Anchor, a.Text)
		}
	}
	h.put("</g></svg></div>")
}

func (h *html) lanes(lanes []lane) {
	for i := range lanes {
		h.lane(&lanes[i])
	}
}

func (h *html) lane(l *lane) {
	h.put(`<div class="lane"><div class="label §">`, l.Class)
	if len(l.Folded) > 0 {
		h.put("<details><summary>§</summary><ul>", l.Label)
		for _, name := range l.Folded {
			h.put("<li>§</li>", name)
		}
		h.put("</ul></details>")
	} else {
		h.put("§", l.Label)
	}
	h.put(`</div><svg class="plot§§" width="100%" height="§" aria-hidden="true" data-lane="§" data-who="§"`, iff(l.Colour != "", " ", ""), l.Colour, l.Height, l.Kind, l.Who)
	if l.At != "" {
		h.put(` data-at="§"`, l.At)
	}
	if l.Counts != "" {
		h.put(` data-counts="§" data-offset="§" data-bin="§"`, l.Counts, l.Offset, l.Bin)
	}
	if l.Cells != "" {
		h.put(` data-cells="§"`, l.Cells)
	}
	if l.Tip != "" {
		h.put(` data-say="§"`, l.Tip)
	}
	h.put(">")
	if len(l.Paths) > 0 {
		h.put(`<svg class="whole" width="100%" height="§" viewBox="0 0 10000 §" preserveAspectRatio="none">`, l.Height, l.Height)
		for _, p := range l.Paths {
			h.put(`<path class="§" d="§"/>`, p.Class, p.D)
		}
		h.put("</svg>")
	}
	for _, m := range l.Marks {
		h.put(`<svg class="whole" x="§%" y="§" overflow="visible" data-at="§" data-say="§"><path class="mark" d="M0 0§"/></svg>`, m.X, m.Y, m.At, m.Tip, m.Path)
	}
	h.put("</svg></div>\n")
}

func (h *html) tree(v *view) {
	t := v.Tree
	h.begin("tree", "Hash tree")
	h.put("<p>§ of § leaves § at state point §, between ", t.Differ, len(t.Leaves), iff(t.Differ == 1, "differs", "differ"), t.Point)
	h.peer(t.Peers[0])
	h.put(" and ")
	h.peer(t.Peers[1])
	h.put(". The lit path leads from the root to what differs; equal subtrees are one triangle.§</p>\n", iff(t.Checked, " Both roots follow from these leaves.", ""))
	for _, note := range t.Notes {
		h.put(`<p class="callout warn">§</p>`+"\n", note)
	}
	if t.Why != "" {
		h.put("<p>§</p>\n", t.Why)
	} else {
		h.put(`<div class="picture §" id="§" data-picture>
<p class="line" role="status"></p>
<div class="scroll" role="group" aria-label="§">
<svg class="hashes" width="§" height="§" role="img" aria-label="§">
`, "tree-picture", h.ids.of(t.ID), t.Name, t.Width, t.Height, t.Name)
		for _, e := range t.Edges {
			h.put(`<path class="edge §" d="§"/>`, e.Class, e.Path)
		}
		h.put("\n")
		for i := range t.Nodes {
			n := &t.Nodes[i]
			h.put(`<path class="node §" d="§" data-tip="§"/>`, n.Class, n.Path, n.Tip)
			if n.Label != "" {
				h.put(`<text x="§" y="§" dx="16" dy="4" class="§"><tspan class="long">§ </tspan><tspan class="short">§</tspan><tspan class="sub">§</tspan></text>`, n.X, n.Y, n.Class, n.Label, n.Short, n.Sub)
			}
			h.put("\n")
		}
		h.put("</svg></div></div>\n")
	}
	h.put("<details><summary>Hash tree as a table</summary>\n")
	h.put(`<div class="scroll" tabindex="0" role="group" aria-label="Leaves"><table class="stack"><thead><tr><th>Leaf</th><th>Compared</th><th class="n">Rows</th>`)
	h.heads(t)
	h.put("</tr></thead><tbody>\n<tr><td>root</td><td></td><td></td>")
	for i, hash := range t.Roots {
		h.put(`<td class="mono hash" data-label="§">§</td>`, t.Peers[i].Name, hash)
	}
	h.put("</tr>\n")
	for i := range t.Leaves {
		l := &t.Leaves[i]
		h.put(`<tr§><td><bdi>§</bdi></td><td data-label="Compared">§</td><td class="n" data-label="Rows">§</td>`, iff(l.Equal, "", ` class="lit"`), l.Name,
			iff(l.Lost, "one peer only", iff(l.Equal, "equal", `<span class="tag bad">differs</span>`)), l.RowsText)
		h.hashes(t, l.Hashes)
	}
	h.put("§\n", endTable)
	if len(t.Inner) > 0 {
		h.put(`<div class="scroll" tabindex="0" role="group" aria-label="Interior nodes that differ"><table class="stack"><thead><tr><th class="n">Level</th><th class="n">Node</th>`)
		h.heads(t)
		h.put("</tr></thead><tbody>")
		for _, n := range t.Inner {
			h.put(`<tr><td class="n" data-label="Level">§</td><td class="n" data-label="Node">§</td>`, n.Level, n.Index)
			h.hashes(t, n.Hashes)
		}
		h.put(endTable)
	}
	h.put("</details>\n</section>\n")
}

// heads writes the heads of the columns of two peers' hashes.
func (h *html) heads(t *treeView) {
	for _, p := range t.Peers {
		h.put("<th>")
		h.peer(p)
		h.put("</th>")
	}
}

// hashes writes the hashes of two peers as the last cells of a row.
func (h *html) hashes(t *treeView, hashes [2]string) {
	for i, hash := range hashes {
		hash = cmp.Or(hash, "–")
		h.put(`<td class="mono hash" data-label="§">§</td>`, t.Peers[i].Name, hash)
	}
	h.put("</tr>\n")
}

func (h *html) ground(v *view) {
	m := v.Map
	h.section("map", ` class="wide"`, "h2", "Map")
	h.put(`<p>§</p>
<p class="hint">§</p>
`, m.Line, m.Axes)
	if m.Why != "" {
		h.put("<p>§</p>", m.Why)
	} else {
		h.put(`<ul class="legend">`)
		for i, p := range m.Peers {
			h.put(`<li class="§"><svg class="mark §" width="18" height="18" aria-hidden="true"><path d="§"/></svg><bdi>§</bdi></li>`, p.Class, ring(i), p.Mark(i), p.Name)
		}
		h.put(`§<li><span class="key other"></span>equal on both</li></ul>
<div class="picture §" id="§" data-picture>
<p class="line" role="status"></p>
<div class="scroll maps" role="group" aria-label="§">
`, iff(m.Moves, `<li><span class="key move"></span>the same entity</li>`, ""), "map-picture", h.ids.of(m.ID), m.Name)
		for i := range m.Panels {
			h.panel(m, &m.Panels[i])
		}
		h.put("</div></div>")
	}
	h.put("\n" + `<details><summary>Map as a table</summary><div class="scroll" tabindex="0" role="group" aria-label="Map as a table"><table class="stack"><thead><tr><th>Differs</th>`)
	for _, p := range m.Peers {
		h.put("<th>")
		h.peer(p)
		h.put("</th>")
	}
	h.put(`<th class="n">Apart</th></tr></thead><tbody>`)
	for i := range m.Entities {
		e := &m.Entities[i]
		h.put("<tr><td><bdi>§</bdi></td>", e.Title)
		for side, at := range e.At {
			h.put(`<td class="mono" data-label="§">§</td>`, m.Peers[side].Name, at)
		}
		h.put(`<td class="n" data-label="Apart">§</td></tr>`+"\n", e.Apart)
	}
	h.put(endTable)
	if m.Unlisted > 0 {
		h.put(`<p class="hint">§ more that differ are not in the table.</p>`, m.Unlisted)
	}
	h.put("</details>\n</section>\n")
}

// ring is how the mark of a side looks on a map: the first is a ring around the second.
func ring(side int) markup { return iff(side > 0, "dot", "ring") }

func (h *html) panel(m *mapView, p *mapPanel) {
	name := p.Name
	if name == "" {
		name = m.Name
	}
	h.put(`<figure><svg class="map" width="§" height="§" viewBox="0 0 § §" role="img" aria-label="§">`+"\n", p.Width, p.Height, p.Width, p.Height, name)
	h.put(`<rect class="ground" x="§" y="§" width="§" height="§"/>`+"\n", p.Plot.X, p.Plot.Y, p.Plot.W, p.Plot.H)
	for i := range p.Grid {
		g := &p.Grid[i]
		h.put(`<line class="grid" x1="§" y1="§" x2="§" y2="§"/><text class="tick" x="§" y="§" text-anchor="§">§</text>`, g.X1, g.Y1, g.X2, g.Y2, g.TX, g.TY, g.Anchor, g.Text)
	}
	h.put("\n")
	for _, a := range p.Axes {
		h.put(`<text class="axis-name" x="§" y="§" text-anchor="§">§</text>`, a.X, a.Y, a.Anchor, a.Text)
	}
	h.put("\n"+`<svg x="§" y="§" width="§" height="§" viewBox="§ § § §"><g class="others">`, p.Plot.X, p.Plot.Y, p.Plot.W, p.Plot.H, p.Plot.X, p.Plot.Y, p.Plot.W, p.Plot.H)
	if p.Rest != "" {
		h.put(`<path d="§"/>`, p.Rest)
	}
	for i := range p.Others {
		h.put(`<path d="§" data-tip="§"/>`, p.Others[i].At[0], p.Others[i].Tip)
	}
	h.put("</g>\n" + `<g class="at">`)
	h.mark(m, &p.Crowd)
	for i := range p.Marks {
		h.put(`<g data-tip="§">`, p.Marks[i].Tip)
		h.mark(m, &p.Marks[i])
		h.put("</g>\n")
	}
	h.put("</g></svg>\n")
	for _, n := range p.Names {
		h.put(`<text class="entity" x="§" y="§" text-anchor="§">§</text>`, n.X, n.Y, n.Anchor, n.Text)
	}
	if w := p.Window; w != nil {
		h.put(`<rect class="window" x="§" y="§" width="§" height="§"/>`, w.X, w.Y, w.W, w.H)
	}
	h.put("\n</svg>")
	if p.Name != "" {
		h.put("<figcaption>§</figcaption>", p.Name)
	}
	h.put("</figure>\n")
}

// mark writes where an entity is on both peers, and the line between.
func (h *html) mark(m *mapView, mark *mapMark) {
	if mark.Move != "" {
		h.put(`<path class="move" d="§"/>`, mark.Move)
	}
	for i, path := range mark.At {
		if path != "" {
			h.put(`<path class="§ §" d="§"/>`, ring(i), m.Peers[i].Class, path)
		}
	}
}
