package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/desynctool/desynctool/orderlog"
)

// OrdersDocument is desynctool.orders/1.
type OrdersDocument struct {
	Schema   string   `json:"schema"`
	Status   Status   `json:"status"`
	Warnings []string `json:"warnings"`
	Line     string   `json:"line"` // the verdict for people
	Missing  []string `json:"missing"`
	*orderlog.Comparison
}

// OrdersStatus returns the outcome of a comparison of order logs.
// Missing are peers that left no log.
func OrdersStatus(c *orderlog.Comparison, missing []string) Status {
	switch {
	case c.Diverged():
		return Diverged
	case c.Incomplete() || len(missing) > 0:
		return Inconclusive
	}
	return InSync
}

// Orders returns the JSON document of a comparison of order logs.
func Orders(c *orderlog.Comparison, missing []string) *OrdersDocument {
	h := head("orders", OrdersStatus(c, missing), c.Warnings)
	doc := &OrdersDocument{Schema: h.Schema, Status: h.Status, Warnings: h.Warnings, Line: c.Line(), Missing: list(missing), Comparison: c}
	if c.Differences == nil {
		c.Differences = []orderlog.Difference{}
	}
	return doc
}

// OrdersText writes a comparison of order logs for a person: about a
// screenful, or every difference that was kept if all is set.
func OrdersText(w io.Writer, c *orderlog.Comparison, missing []string, s Style, all bool) error {
	out := lines{w: w}
	status := OrdersStatus(c, missing)
	out.put(s.verdict(status), "  ", Safe(c.Line()))
	row := func(name string, parts ...string) {
		out.put("  ", s.faint.Sprint(pad(name, len(name), 9)), strings.Join(parts, ""))
	}
	for i := range c.Peers {
		p := &c.Peers[i]
		row("log", s.name.Sprint(Safe(p.Name)), "  ", coverage(p))
	}
	for _, m := range missing {
		row("lost", s.warn.Sprint(Safe(m)))
	}
	if c.Window != nil {
		row("compared", fmt.Sprintf("%s to %s, %s alike", tickName(c.Window.From, c.Window.NativeFrom), tickName(c.Window.To, c.Window.NativeTo),
			plural(c.Window.Orders, "order", "orders")))
	}
	limit := 20
	if all {
		limit = len(c.Differences)
	}
	for i := range c.Differences {
		if i == limit {
			row("", s.faint.Sprintf("… and %d more  (--all)", c.DifferenceCount-i))
			break
		}
		d := &c.Differences[i]
		row("differs", s.bad.Sprint(Safe(d.String())), where(d))
	}
	for i, d := range c.Local {
		if !all {
			break
		}
		row("local", Safe(d.String()), where(&c.Local[i]))
	}
	for _, h := range c.State.Hashes {
		coverage := ""
		if h.Coverage != orderlog.Full {
			coverage = " (" + Safe(string(h.Coverage)) + ", a part of the state)"
		}
		text := fmt.Sprintf("%s%s: %d equal, %d differ", Safe(string(h.Kind)), coverage, h.Equal, h.Differ)
		if f := h.First; f != nil {
			text += s.bad.Sprintf(", first at state point %s: %s ≠ %s", tickName(f.Point, f.Native), Safe(f.Values[0].Peer), Safe(f.Values[1].Peer))
		}
		row("hashes", text)
	}
	for i, claim := range c.Claims {
		if i == shownTexts {
			row("", s.faint.Sprintf("… and %d more", c.ClaimCount-i))
			break
		}
		row("claim", s.name.Sprint(Safe(claim.Peer)), " line ", fmt.Sprint(claim.Line), ": ", Safe(claim.Text), s.faint.Sprintf("  (after %s; the game's own word)", tickName(claim.After, claim.NativeAfter)))
	}
	if c.Engine != "" {
		row("note", "logs of ", Safe(c.Engine), " carry no checksums of their own: damage that leaves a line readable looks like a difference")
	}
	for _, part := range []struct {
		count     int
		one, many string
	}{
		{c.LocalCount, "order that need not be the same on all peers differs", "orders that need not be the same on all peers differ"},
		{c.MisplacedCount, "order was applied out of order", "orders were applied out of order"},
		{c.InputHashCount, "recorded input hash is not that of the orders", "recorded input hashes are not those of the orders"},
		{c.State.ContradictionCount, "hash contradicts another", "hashes contradict each other"},
	} {
		if part.count > 0 {
			row("note", plural(uint64(part.count), part.one, part.many), s.faint.Sprint("  (--format json)"))
		}
	}
	return out.err
}

// LogTrouble says which logs could not be read to their end, and why.
func LogTrouble(c *orderlog.Comparison) []string {
	var out []string
	for i := range c.Peers {
		if e := c.Peers[i].Error; e != "" {
			out = append(out, e)
		}
	}
	return out
}

// coverage says which ticks a log tells of.
func coverage(p *orderlog.PeerRange) string {
	var parts []string
	for i, st := range p.Stretches {
		if i == 3 {
			parts = append(parts, fmt.Sprintf("… %d more stretches", len(p.Stretches)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s to %s, %s", tickName(st.From, st.NativeFrom), tickName(st.To, st.NativeTo), plural(st.Orders, "order", "orders")))
	}
	text := strings.Join(parts, "; ")
	if n := p.Before + p.Between + p.After; n > 0 {
		text += fmt.Sprintf("; %s of others outside", plural(n, "order", "orders"))
	}
	if p.Error != "" {
		text += "; " + Safe(p.Error)
	}
	return text
}

// where names the lines or offsets of a difference.
func where(d *orderlog.Difference) string {
	var parts []string
	for _, at := range d.At {
		if at.Line > 0 {
			parts = append(parts, fmt.Sprintf("%s line %d", Safe(at.Peer), at.Line))
		} else {
			parts = append(parts, fmt.Sprintf("%s offset %d", Safe(at.Peer), at.Offset))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "  (" + strings.Join(parts, ", ") + ")"
}

// tickName returns a tick by the engine's own name and by ours.
func tickName(tick uint64, native string) string {
	if native == "" {
		return fmt.Sprint(tick)
	}
	return fmt.Sprintf("%s (%d)", Safe(native), tick)
}
