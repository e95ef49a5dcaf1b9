package page

import (
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/report/document"
)

func (h *html) verdict(v *view) {
	id := h.ids.of("verdict")
	h.put(`<section id="§" class="verdict §" aria-labelledby="§-title">
<p class="status">§</p>
<div id="§-text"><h1 id="§-title">`, id, v.Status, id, v.Word, id, id)
	h.title(v.Headline)
	h.put("</h1>\n")
	for _, sentence := range v.More {
		h.paragraph(`<p class="lead">`, sentence)
		h.put("\n")
	}
	h.put("</div><button type=\"button\" class=\"small\" data-copy=\"§-text\" hidden>Copy the verdict</button>\n", id)
	if n := len(v.Contradictions); n > 0 {
		h.put(`<p class="callout bad"><a href="#§">§ §</a> between pieces of evidence.</p>`+"\n", h.ids.of("evidence"), n, iff(n == 1, "contradiction", "contradictions"))
	}
	for _, s := range v.Seen {
		h.put("<p class=\"callout\">§: <strong>§</strong> <code>§</code></p>\n", "S"+s.How()[1:], s.Title, s.File)
	}
	if len(v.Next) > 0 {
		h.put(`<p class="step"><span>Next</span> `)
		h.step(v.Next[0])
		if len(v.Next) > 1 {
			h.put(` <a href="#§">All steps</a>`, h.ids.of("next"))
		}
		h.put("</p>\n")
	}
	if len(v.Tiles) > 0 {
		h.put(`<dl class="tiles">`)
		for _, t := range v.Tiles {
			h.put("<div><dt>§</dt><dd><strong>", t.Name)
			if t.Mono {
				h.put("<code>§</code>", t.Value)
			} else {
				h.pieces(t.Value)
			}
			h.put("</strong>")
			if t.More != "" {
				h.put(" <span>")
				h.text(t.More)
				h.put("</span>")
			}
			h.put("</dd></div>")
		}
		h.put("</dl>\n")
	}
	h.put("</section>\n")
}

func (h *html) gamelogs(v *view) {
	h.begin("gamelogs", markup("In the games' own logs"))
	h.put("<p>Warnings and errors §.</p>\n", v.GameLogs.About())
	h.table("Lines that not all peers have", "<th>Who</th><th>Level</th><th>Line</th><th>Where</th><th>When</th>")
	for i := range v.GameLogs.Lines {
		l := &v.GameLogs.Lines[i]
		id := h.id("log", l.Who(), l.Text)
		h.put(`<tr id="§"><td><bdi>§</bdi>`, id, l.Who())
		h.anchor(id)
		h.put(`</td><td data-label="Level"><span class="tag §">§</span></td>`, iff(l.Severity == "warning", "warn", "bad"), l.Severity)
		h.put(`<td class="mono" data-label="Line"><bdi>§</bdi></td><td class="mono" data-label="Where"><bdi>§</bdi></td><td data-label="When">§</td></tr>`+"\n", l.Text, l.Where(), l.When())
	}
	h.put("§\n", endTable)
	if v.GameLogs.Total > len(v.GameLogs.Lines) {
		h.put("<p>§ lines in all.</p>\n", v.GameLogs.Total)
	}
	h.put("</section>\n")
}

func (h *html) ladder(v *view) {
	h.begin("ladder", "How it was narrowed down")
	h.put(`<ol class="ladder">`)
	for _, r := range v.Ladder {
		id := h.id("step", r.Name)
		h.put("\n"+`<li class="§" id="§"><span class="sign" aria-hidden="true">§</span><div><p class="what">§ <small>§</small>`, r.State, id, r.Sign, r.Name, r.Word)
		h.anchor(id)
		h.put("</p>")
		h.paragraph(`<p class="found">`, r.Found)
		h.paragraph(`<p class="evidence">`, r.Evidence)
		h.put("</div></li>")
	}
	h.put("\n</ol>\n</section>\n")
}

// lines writes lines of details, numbered from start on.
func (h *html) lines(lines []document.DetailDocument, start int) {
	h.put(`<ol class="mono" start="§">`, start)
	for _, l := range lines {
		h.put("<li><bdi>§</bdi>", l.Text)
		if l.Aside != "" {
			h.put(" <small>§</small>", l.Aside)
		}
		h.put("</li>")
	}
	h.put("</ol>")
}

func (h *html) causes(v *view) {
	title := "Cause: not known"
	if len(v.Causes) > 0 {
		switch v.Causes[0].Standing {
		case "shown":
			title = "Cause, shown by experiments"
		case "seen":
			title = "Cause, as the evidence shows it"
		case "not-excluded":
			title = "Cause: no experiment shows it; not excluded"
		default:
			title = "It looks like"
		}
	}
	h.begin("causes", title)
	if v.Measured != "" {
		h.put(`<p class="hint">A likeness and no proof: §.</p>`+"\n", v.Measured)
	}
	if n := len(v.Causes); n > 1 {
		h.put(`<p class="hint">The evidence does not tell these § apart.</p>`+"\n", n)
	}
	if len(v.Causes) > 0 {
		h.put(`<div class="causes likeliest">` + "\n")
		for i := range v.Causes {
			h.cause(&v.Causes[i])
		}
		h.put("</div>\n")
	}
	if len(v.Experiments) > 0 {
		h.put(`<h3>Experiments</h3>
<div class="scroll" tabindex="0" role="group" aria-label="Experiments"><table class="experiments stack"><thead><tr><th>Replay</th><th>Result</th></tr></thead><tbody>`)
		for _, e := range v.Experiments {
			id := h.id("experiment", e.Mode)
			h.put(`<tr class="§" id="§"><td><code>`, e.Result, id)
			h.text(e.Mode)
			h.put("</code>")
			h.anchor(id)
			h.put(`</td><td data-label="Result">`)
			h.text(e.Text)
			h.put("</td></tr>\n")
		}
		h.put("§\n", endTable)
	}
	if len(v.Excluded) > 0 {
		h.put("<details><summary>Excluded: §</summary><ul>", len(v.Excluded))
		for _, class := range slices.Sorted(maps.Keys(v.Excluded)) {
			h.put("<li><code>§</code>: ", class)
			h.text(v.Excluded[class])
			h.put("</li>")
		}
		h.put("</ul></details>\n")
	}
	h.put("</section>\n")
}

func (h *html) cause(c *document.Cause) {
	id := h.id("cause", c.Class)
	h.put(`<article class="cause" id="§"><h3>§ <code>§</code>`, id, c.Title, c.Class)
	h.anchor(id)
	h.put("</h3>\n")
	if len(c.Evidence) > 0 {
		h.list(c.Evidence)
	}
	if c.Confirm != "" {
		h.put(`<p class="separate"><span>To confirm it</span> `)
		h.step(stepOf(c.Confirm))
		h.put("</p>")
	}
	if c.Standing == "looks-like" && c.Refute != "" {
		h.paragraph(`<p class="separate"><span>Refuted by</span> `, c.Refute)
	}
	if about := classOf(c.Class); about != nil {
		h.put(`<details class="class"><summary>About this class</summary><p><strong>`)
		h.runs(about.Line)
		h.put("</strong></p>")
		for _, part := range about.Parts {
			h.put("<p><strong>§.</strong> ", part.Name)
			h.runs(part.Text)
			h.put("</p>")
		}
		h.put("</details>")
	}
	h.put("</article>\n")
}

// printed writes bytes as the text that they are, if they are one.
func (h *html) printed(text, content string) {
	if text != "" {
		h.put(`<bdi class="printed">§</bdi>`, text)
	} else {
		h.put("§", content)
	}
}

// manyOrders is how many orders are shown before they are folded.
const manyOrders = 12

func (h *html) inputs(v *view) {
	h.begin("inputs", "Inputs and orders")
	if v.Inputs != nil {
		h.paragraph("<p>", v.Inputs.Line)
		h.put("\n")
	}
	if len(v.Changes) > 0 {
		h.put("<h3>§ §", v.Inputs.Count, iff(v.Inputs.Count == 1, "difference", "differences"))
		if n := len(v.Changes); n < v.Inputs.Count {
			h.put(", the first §", n)
		}
		h.put("</h3>\n")
		h.table("Differences of inputs", `<th>Kind</th><th class="n">Tick</th><th>On</th><th>Compared with</th><th class="n">Player</th><th class="n">Sequence</th><th>Order</th><th>Payload</th><th>Where</th>`)
		for i := range v.Changes {
			h.change(&v.Changes[i])
		}
		h.put("§\n", endTable)
	}
	if n := len(v.Orders); n > 0 {
		h.put("<h3>Orders around the divergence</h3>\n")
		if n > manyOrders {
			h.put(`<details class="orders"§><summary>§ orders</summary>`, iff(v.litOrders(), " open", ""), n)
		}
		h.table("Orders around the divergence", `<th class="n">Tick</th><th class="n">µs</th><th class="n">Player</th><th class="n">Sequence</th><th>Kind</th><th>Names</th><th>In the logs of</th><th>Payload</th>`)
		for i := range v.Orders {
			h.order(&v.Orders[i])
		}
		h.put("§§\n", endTable, iff(n > manyOrders, "</details>", ""))
	}
	h.put("</section>\n")
}

func (h *html) change(d *difference) {
	id := h.id("input", d.Kind, d.Tick, d.Player, d.Sequence)
	h.put(`<tr id="§"><td><span class="tag bad">§</span>`, id, d.Kind)
	h.anchor(id)
	h.put(`</td><td class="n" data-label="Tick">§`, d.Tick)
	if d.Native != "" {
		h.put(" <small>§</small>", d.Native)
	}
	h.put(`</td><td data-label="On">`)
	h.peer(d.Who)
	h.put(`</td><td data-label="Compared with">`)
	h.peer(d.Than)
	h.put(`</td><td class="n" data-label="Player">§</td><td class="n" data-label="Sequence">§</td><td data-label="Order"><bdi>§</bdi>§</td><td class="mono hex" data-label="Payload">`,
		d.Player, d.Sequence, d.Order, iff(d.Marker, " <small>marker</small>", ""))
	h.printed(d.Printed, d.Content)
	h.put(`</td><td data-label="Where">`)
	for _, place := range d.Where {
		h.put("<div>§</div>", place)
	}
	h.put("</td></tr>\n")
}

func (h *html) order(o *orderRow) {
	id := h.id("order", o.Tick, o.Player, o.Sequence)
	h.put(`<tr id="§"§><td class="n" data-label="Tick">`, id, iff(o.lit(), ` class="lit"`, ""))
	h.anchor(id)
	h.put(`§</td><td class="n" data-label="µs">§</td><td class="n" data-label="Player">§</td><td class="n" data-label="Sequence">§</td><td data-label="Kind"><bdi>§</bdi>`, o.Tick, o.SubTick, o.Player, o.Sequence, o.Kind)
	if o.Difference != "" {
		h.put(` <span class="tag bad">§</span>`, o.Differs())
	}
	h.put(`</td><td data-label="Names">`)
	if o.Names != "" {
		h.put("<bdi>§</bdi>", o.Names)
	}
	h.put(`</td><td data-label="Logs">`)
	h.named(o.Who)
	h.put(`</td><td class="mono hex" data-label="Payload">`)
	h.printed(bytesText(strings.TrimSuffix(o.Payload, "…")), o.Payload)
	h.put("</td></tr>\n")
}

func (h *html) peers(v *view) {
	h.begin("peers", "Peers")
	if v.FirstDivergence != nil && len(v.Groups) > 1 {
		h.put(`<ul class="groups">`)
		for _, g := range v.Groups {
			h.put("<li><p>")
			if g.Number == 0 {
				h.put("State not known")
			} else {
				h.put("Group §§", g.Number, iff(g.Majority, " <small>the majority, which is not known to be right</small>", ""))
			}
			h.put("</p>")
			h.named(g.Peers)
			h.put("</li>")
		}
		h.put("</ul>\n")
	}
	h.table("Peers", `<th>Peer</th><th class="n">Group</th><th>Reference</th><th class="n">Snapshots</th><th>Order log</th><th>Trace</th>`)
	for i := range v.Who {
		p := &v.Who[i]
		id := h.id("peer", p.Peer.Name)
		h.put(`<tr id="§"><td>`, id)
		h.peer(p.Peer)
		h.put("§", iff(p.Mentioned, " <small>only mentioned</small>", ""))
		h.anchor(id)
		var group any = "–"
		if p.Group > 0 {
			group = p.Group
		}
		h.put(`</td><td class="n" data-label="Group">§</td><td data-label="Reference">`, group)
		if p.MatchesReference != nil {
			h.put(`<span class="tag §">§</span>`, p.Reference, p.Reference)
		} else {
			h.put("§", p.Reference)
		}
		h.put(`</td><td class="n" data-label="Snapshots">§</td><td data-label="Order log">§</td><td data-label="Trace">§</td></tr>`+"\n", p.Snapshots, iff(p.OrderLog, "yes", "–"), iff(p.Trace, "yes", "–"))
	}
	h.put("§\n</section>\n", endTable)
}

func (h *html) evidence(v *view) {
	h.begin("evidence", "Evidence")
	for _, part := range []struct {
		texts      []string
		begin, end markup
	}{
		{v.Contradictions, `<div class="callout bad"><h3>Contradictions</h3>`, "</div>\n"},
		{v.Missing, `<div class="callout warn"><h3>Missing</h3>`, "</div>\n"},
		{v.Warnings, "<h3>Warnings</h3>", "\n"},
		{v.Notes, "<h3>Notes</h3>", "\n"},
	} {
		if len(part.texts) > 0 {
			h.put(part.begin)
			h.list(part.texts)
			h.put(part.end)
		}
	}
	if len(v.Claims) > 0 {
		h.put("<h3>What the engines claim</h3>\n")
		for i := range v.Claims {
			h.claim(&v.Claims[i])
		}
	}
	if len(v.Facts) > 0 {
		h.put(`<h3>Facts of the game and the machines</h3>
<div class="scroll" tabindex="0" role="group" aria-label="Facts"><table class="stack"><thead><tr><th>Fact</th><th>Compared</th><th>Values</th></tr></thead><tbody>`)
		for _, f := range v.Facts {
			id := h.id("fact", f.Name)
			h.put(`<tr id="§"><td>§`, id, f.Name)
			h.anchor(id)
			h.put(`</td><td data-label="Compared">§</td><td data-label="Values">`,
				iff(f.Same, `<span class="tag">same</span>`, iff(f.Must, `<span class="tag bad">must match</span>`, `<span class="tag warn">differs</span>`)))
			for _, value := range f.Values {
				h.put("<div>")
				h.peer(value.Who)
				h.put(` <bdi class="mono">§</bdi></div>`, value.Text)
			}
			h.put("</td></tr>\n")
		}
		h.put("§\n", endTable)
	}
	if len(v.Absent) > 0 {
		h.put("<h3>Not in this report</h3>")
		h.list(v.Absent)
		h.put("\n")
	}
	h.put("</section>\n")
}

func (h *html) claim(c *claim) {
	id := h.id("claim", c.By, c.When, c.Text)
	h.put(`<div class="claim" id="§"><blockquote><bdi>§</bdi></blockquote><p><span class="tag §">§</span> §`, id, c.Text, c.Standing, c.Standing, iff(c.Quoted, "quoted, perhaps · ", ""))
	if c.By != "" {
		h.put("by § · ", c.By)
	}
	if c.When != "" {
		h.put("§ · ", c.When)
	}
	h.put(`<code class="file">§</code>`, c.From)
	if len(c.Accused) > 0 {
		if c.Reported {
			h.put(" · reported by ")
		} else {
			h.put(" · accuses ")
		}
		h.named(c.Accused)
	}
	h.anchor(id)
	h.put("</p>")
	if len(c.Values) > 0 {
		h.put(`<p class="mono">`)
		for _, value := range c.Values {
			if value.Peer != "" {
				h.put("§ ", value.Peer)
			}
			h.put("§ ", value.Value)
		}
		h.put("</p>")
	}
	if len(c.Contradictions) > 0 {
		h.list(c.Contradictions)
	}
	if len(c.Omits) > 0 {
		h.list(c.Omits)
	}
	if len(c.Detail) > 0 {
		h.put("<details><summary>More of it</summary>")
		h.lines(c.Detail, 0)
		h.put("</details>")
	}
	h.put("</div>\n")
}

func (h *html) next(v *view) {
	h.begin("next", "What to do next")
	if len(v.Next) > 0 {
		h.put(`<ol class="steps">`)
		for _, s := range v.Next {
			h.put("<li>")
			h.step(s)
			h.put("</li>")
		}
		h.put("</ol>\n")
	}
	if len(v.Ask) > 0 {
		id := h.ids.of("ask")
		h.put("<h3>To ask the players for</h3>\n"+`<div class="copy"><pre id="§" tabindex="0">`, id)
		for _, line := range v.Ask {
			h.put("§\n", line)
		}
		h.put(`</pre><button type="button" data-copy="§" hidden>Copy</button></div>`+"\n", id)
	}
	h.put("</section>\n")
}

func (h *html) fingerprint(v *view) {
	h.begin("fingerprint", "Fingerprint")
	h.put(`<dl class="prints"><div><dt>Strict</dt><dd>`)
	if v.Fingerprint != "" {
		h.put("<code>§</code>", v.Fingerprint)
	} else {
		h.put("too little is known of what differs first")
	}
	h.put("</dd></div></dl>\n")
	if len(v.Fingerprints) > 0 {
		h.put(`<div class="scroll" tabindex="0" role="group" aria-label="Fingerprints by level"><table class="stack"><thead><tr><th>Level</th><th>Made of</th><th>Fingerprint</th></tr></thead><tbody>`)
		for _, f := range v.Fingerprints {
			id := h.id("fingerprint", f.Level)
			h.put(`<tr id="§"><td>§`, id, f.Level)
			h.anchor(id)
			h.put(`</td><td data-label="Made of"><bdi>`)
			h.pieces(f.Name)
			h.put(`</bdi></td><td data-label="Fingerprint"><code>§</code></td></tr>`, f.Digest)
		}
		h.put("§\n", endTable)
	}
	h.put("</section>\n")
}
