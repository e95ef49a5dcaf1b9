package document

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/bisect/minimize"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
)

// minimizeDocument is desynctool.minimize/1. A status of diverged goes with exit status 0.
type minimizeDocument struct {
	Head
	Test   string      `json:"test"`
	Orders givenLeft   `json:"orders"`
	Ticks  givenLeft64 `json:"ticks"`
	Point  *uint64     `json:"point"` // the first state point that departs, null if that is not known

	Signature minimize.Signature `json:"signature"`
	Kept      []keptOrder        `json:"kept"`
	Changed   int                `json:"changed"` // orders with smaller numbers than in the input

	Minimal  bool             `json:"minimal"` // nothing could be left out any more
	Stopped  minimize.Stopped `json:"stopped,omitempty"`
	Replays  int              `json:"replays"`
	Resumed  int              `json:"resumed"` // of them, those that began in the middle
	Ran      uint64           `json:"simulated_ticks"`
	Unknown  int              `json:"unknown"` // candidates with an unknown outcome
	Runs     int              `json:"runs"`    // of each candidate
	HitsThen int              `json:"hits_given,omitempty"`
	Hits     int              `json:"hits_left,omitempty"`
	Rate     []float64        `json:"rate,omitempty"` // bounds, with 95 % confidence

	Dir     string   `json:"dir"`
	Peers   []string `json:"peers"`
	File    string   `json:"file"`
	Missing []string `json:"missing"`
	Notes   []string `json:"notes"`
}

// givenLeft counts orders of the input and of the result.
type givenLeft struct {
	Given int `json:"given"`
	Left  int `json:"left"`
}

// givenLeft64 counts ticks of the input and of the result.
type givenLeft64 struct {
	Given uint64 `json:"given"`
	Left  uint64 `json:"left"`
}

// keptOrder is an order that is left.
type keptOrder struct {
	Tick     uint64 `json:"tick"`
	Player   uint32 `json:"player"`
	Sequence uint32 `json:"sequence"`
	Kind     string `json:"kind"`
	Payload  string `json:"payload"` // JSON as it is, else hex
}

// Minimize returns the document of a search.
func Minimize(m *minimize.Result) Document {
	return documentOf(m, minimizeJSON, minimizeText)
}

func minimizeJSON(m *minimize.Result) *minimizeDocument {
	first := m.Input.First()
	d := &minimizeDocument{
		Head: head("minimize", StatusOf(m), nil), Test: m.Test,
		Orders: givenLeft{m.Input.Orders(), len(m.Best.Orders())}, Ticks: givenLeft64{m.Input.End() - first, m.Best.Until() - first},
		Point: m.Point, Signature: m.Signature, Kept: kept(m), Changed: m.Changed,
		Minimal: m.Stopped == minimize.Finished, Stopped: m.Stopped, Replays: m.Replays, Resumed: m.Resumed, Ran: m.Ticks, Unknown: m.Unknown, Runs: m.Runs,
		Dir: m.Written.Dir, Peers: m.Written.Sides, File: m.Written.File, Missing: m.Lost, Notes: m.Notes,
	}
	if m.Runs > 1 {
		d.HitsThen, d.Hits, d.Rate = m.InputHits, m.BestHits, []float64{m.Low, m.High}
	}
	return d
}

func kept(m *minimize.Result) (out []keptOrder) {
	orders, kinds := m.Kept()
	for i := range orders {
		o := &orders[i]
		payload := "0x" + hex.EncodeToString(o.Payload)
		if json.Valid(o.Payload) {
			payload = string(o.Payload)
		}
		out = append(out, keptOrder{o.Tick, o.Player, o.Sequence, kinds[o.Kind].Name, payload})
	}
	return out
}

func minimizeText(out *Text, m *minimize.Result, all bool) {
	s, row, d := out.Style, out.Row, minimizeJSON(m)
	word := s.bad.Sprint("MINIMIZED")
	if m.Stopped == minimize.Interrupted {
		word = s.warn.Sprint("INTERRUPTED")
	}
	out.put(word, fmt.Sprintf("  %d of %s, %d of %s", d.Orders.Left, prose.Count(d.Orders.Given, "order", "orders"), d.Ticks.Left, prose.Count(d.Ticks.Given, "tick", "ticks")))
	way := Safe(m.Signature.String())
	if m.Point != nil {
		way += fmt.Sprintf(", at state point %d", *m.Point)
	}
	row("way", s.bad.Sprint(way))
	row("test", Safe(m.Test))
	for i := range out.upTo(shownTexts, len(d.Kept), all) {
		o := &d.Kept[i]
		row("order", fmt.Sprintf("tick %d  player %d  #%d  %s  ", o.Tick, o.Player, o.Sequence, prose.Name(o.Kind)), prose.Shorten(Safe(o.Payload), 80))
	}
	if m.Changed > 0 {
		row("", prose.Count(m.Changed, "order has", "orders have"), " smaller numbers than in the input")
	}
	if m.Runs > 1 {
		row("rate", fmt.Sprintf("%d of %d runs diverge in this way: %.2g to %.2g of all, with 95 %% confidence; of the input %d", m.BestHits, m.Runs, m.Low, m.High, m.InputHits))
	}
	cost := fmt.Sprintf("%s, %s simulated", prose.Count(m.Replays, "replay", "replays"), prose.Count(m.Ticks, "tick", "ticks"))
	if m.Resumed > 0 {
		cost += fmt.Sprintf("; %d began in the middle", m.Resumed)
	}
	if m.Unknown > 0 {
		cost += fmt.Sprintf("; nothing is known of %s", prose.Count(m.Unknown, "candidate", "candidates"))
	}
	row("cost", cost)
	switch m.Stopped {
	case minimize.Bounded:
		row("note", "--max-replays is reached: the best so far; a smaller session may do")
	case minimize.Interrupted:
		row("note", "the best so far; the same command goes on where this one was interrupted")
	}
	for _, lost := range m.Lost {
		row("lost", s.warn.Sprint(Safe(lost)))
	}
	for _, note := range m.Notes {
		row("note", Safe(note))
	}
	if len(m.Written.Sides) == 2 && !m.Written.Differ {
		row("note", "the two sides that were written came to the same hashes this time")
	}
	written := lists.Map(m.Written.Sides, func(side string) string { return Safe(filepath.Join(m.Written.Dir, side)) })
	if m.Written.File != "" {
		written = append(written, Safe(filepath.Join(m.Written.Dir, m.Written.File)))
	}
	row("written", strings.Join(written, "  "))
	if len(m.Written.Sides) == 2 && m.Written.Differ {
		out.next(Step{Command: []string{"bisect", PathArgument(m.Written.Dir)}})
	}
}
