package document

import (
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
)

// ordersDocument is desynctool.orders/1.
type ordersDocument struct {
	Schema   string   `json:"schema"`
	Status   Status   `json:"status"`
	Warnings []string `json:"warnings"`
	Line     string   `json:"line"` // the verdict for people
	Missing  []string `json:"missing"`
	*orderlog.Comparison
}

// Orders returns the document of a comparison of order logs.
func Orders(c *orderlog.Comparison) Document {
	return documentOf(c, ordersJSON, ordersText)
}

func ordersJSON(c *orderlog.Comparison) *ordersDocument {
	h := head("orders", StatusOf(c), c.Warnings)
	return &ordersDocument{Schema: h.Schema, Status: h.Status, Warnings: h.Warnings, Line: c.Line(), Missing: c.Lost, Comparison: c}
}

// ordersText takes about a screenful, or every difference that was kept if all is set.
func ordersText(out *Text, c *orderlog.Comparison, all bool) {
	s, row := out.Style, out.Row
	out.put(s.Verdict(StatusOf(c)), "  ", Safe(c.Line()))
	for i := range c.Headers {
		row("header", s.bad.Sprint(Safe(c.Headers[i].String())))
	}
	for i := range c.Peers {
		p := &c.Peers[i]
		row("log", s.name.Sprint(prose.Name(p.Name)), "  ", coverage(p))
	}
	for _, m := range c.Lost {
		row("lost", s.warn.Sprint(Safe(m)))
	}
	if c.Window != nil {
		row("compared", fmt.Sprintf("%s to %s, %s alike", tickName(c.Window.From, c.Window.NativeFrom), tickName(c.Window.To, c.Window.NativeTo),
			prose.Count(c.Window.Orders, "order", "orders")))
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
			text += s.bad.Sprintf(", first at state point %s: %s ≠ %s", tickName(f.Point, f.Native), prose.Name(f.Values[0].Peer), prose.Name(f.Values[1].Peer))
		}
		row("hashes", text)
	}
	for i, claim := range c.Claims {
		if i == shownTexts {
			row("", s.faint.Sprintf("… and %d more", c.ClaimCount-i))
			break
		}
		row("claim", s.name.Sprint(prose.Name(claim.Peer)), " line ", fmt.Sprint(claim.Line), ": ", Safe(claim.Text), s.faint.Sprintf("  (after %s; the game's own word)", tickName(claim.After, claim.NativeAfter)))
	}
	if c.Engine != "" {
		row("note", "logs of ", Safe(c.Engine), " contain no checksums: damage that leaves a line readable looks like a difference")
	}
	for _, part := range []struct {
		count     int
		one, many string
	}{
		{c.LocalCount, "order that need not be the same on all peers differs", "orders that need not be the same on all peers differ"},
		{c.MisplacedCount, "order was applied out of order", "orders were applied out of order"},
		{c.InputHashCount, "recorded input hash does not match the orders", "recorded input hashes do not match the orders"},
		{c.State.ContradictionCount, "hash contradicts another", "hashes contradict each other"},
	} {
		if part.count > 0 {
			row("note", prose.Count(part.count, part.one, part.many), s.faint.Sprint("  (--format json)"))
		}
	}
}

// coverage describes which ticks a log covers.
func coverage(p *orderlog.PeerRange) string {
	var parts []string
	for i, st := range p.Stretches {
		if i == 3 {
			parts = append(parts, fmt.Sprintf("… %d more stretches", len(p.Stretches)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s to %s, %s", tickName(st.From, st.NativeFrom), tickName(st.To, st.NativeTo), prose.Count(st.Orders, "order", "orders")))
	}
	text := strings.Join(parts, "; ")
	if n := p.Before + p.Between + p.After; n > 0 {
		text += fmt.Sprintf("; %s of others outside", prose.Count(n, "order", "orders"))
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
			parts = append(parts, fmt.Sprintf("%s line %d", prose.Name(at.Peer), at.Line))
		} else {
			parts = append(parts, fmt.Sprintf("%s offset %d", prose.Name(at.Peer), at.Offset))
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
	return fmt.Sprintf("%s (%d)", prose.Moment(native), tick)
}
