package document

import (
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/tracediff"
)

// ClaimDocument is an engine's claim, compared with the traces.
type ClaimDocument struct {
	Text           string                   `json:"text"`
	Files          []string                 `json:"files"`
	Line           int64                    `json:"line,omitempty"` // in the first of them
	Tick           *uint64                  `json:"tick"`
	Native         string                   `json:"native,omitempty"`
	Peers          []string                 `json:"peers"` // accused
	Values         []tracediff.ClaimedValue `json:"values"`
	Of             string                   `json:"of,omitempty"` // what the values are, empty for checksums of the whole state
	Standing       tracediff.Standing       `json:"standing"`
	Contradictions []string                 `json:"contradictions"`
	Omits          []string                 `json:"omits,omitempty"` // the facts that it leaves out; that does not make it wrong
	// Detail has the details of the claim, line by line.
	Detail []DetailDocument `json:"detail,omitempty"`
	// By is the peer whose program wrote it, empty if that is not known.
	By string `json:"by,omitempty"`
	// SelfTest reports whether one machine computed the same tick twice, Replay whether it computed a replay of a
	// recording, Quoted whether the text may be a person's words.
	SelfTest bool `json:"self_test,omitempty"`
	Replay   bool `json:"replay,omitempty"`
	Quoted   bool `json:"quoted,omitempty"`
	// Data reports whether the values are of data before the game, such as a map.
	Data bool `json:"data,omitempty"`
	// Reported reports whether the peers in Peers reported it themselves, and are not accused.
	Reported bool `json:"reported,omitempty"`
}

// Claims returns the documents of the engines' claims that belong to some traces.
func Claims(r *tracediff.Result) (out []ClaimDocument) {
	for i := range r.Claims {
		out = append(out, claimDocument(r, &r.Claims[i]))
	}
	return out
}

func claimDocument(r *tracediff.Result, c *tracediff.JudgedClaim) ClaimDocument {
	doc := ClaimDocument{
		Text: c.Text, Files: c.Files, Line: c.Pos.Line, Peers: list(c.Peers), Values: list(c.Values), Of: c.Of,
		Standing: c.Standing, Contradictions: list(c.Contradictions), Omits: c.Omits, Detail: detailDocuments(c.Detail),
		By: c.By, SelfTest: c.SelfTest, Replay: c.Replay, Quoted: c.Quoted, Reported: c.Reported, Data: c.Data,
	}
	if c.HasTick {
		doc.Tick, doc.Native = &c.Tick, claimTick(r, c)
	}
	return doc
}

// claimsText shows the engines' claims, and whether the evidence supports them; more is the option that shows the rest.
func claimsText(row func(string, ...string), r *tracediff.Result, s Style, more string, all bool) {
	const shown = 3
	for i := range r.Claims {
		if i == shown && !all {
			row("", s.faint.Sprintf("… and %s  (%s)", prose.Count(len(r.Claims)-i, "more claim", "more claims"), more))
			break
		}
		c := &r.Claims[i]
		from := prose.Path(c.Files[0])
		if c.Pos.Line > 0 {
			from += fmt.Sprintf(":%d", c.Pos.Line)
		}
		if n := len(c.Files) - 1; n > 0 {
			from += fmt.Sprintf(" and %s", prose.Count(n, "other file", "other files"))
		}
		row("claim", s.warn.Sprint("“"+prose.Shorten(Safe(c.Text), claimWidth)+"”"), s.faint.Sprint("  "+from))
		if c.Standing != tracediff.Contradicted {
			row("", standingText(r, c))
		}
		for _, text := range c.Contradictions {
			row("", s.bad.Sprint("contradicted: "), Safe(text))
		}
		for _, text := range c.Omits {
			row("", Safe(text))
		}
		if r.First != nil && !all { // it shows its own
			continue
		}
		claimDetail(detailDocuments(c.Detail), all, func(text string) { row("", s.faint.Sprint("  "+text)) })
	}
}

// claimDetail puts the details of a claim, the first of them unless all is set.
func claimDetail(list []DetailDocument, all bool, put func(text string)) {
	for i, d := range list {
		if i == shownOnly && !all {
			put(fmt.Sprintf("… and %d more  (--all)", len(list)-i))
			return
		}
		put(prose.Shorten(Safe(d.words()), detailWidth))
	}
}

// claimWidth is how many columns of an engine's own line are shown.
const claimWidth = 120

// claimTick returns the tick that a claim names as the traces' engine calls it, or
// as the claim's does where it is another one.
func claimTick(r *tracediff.Result, c *tracediff.JudgedClaim) string {
	if len(r.Traces) > 1 {
		return r.TickName(tracediff.Tick{Number: c.Tick})
	}
	return c.TickName()
}

func standingText(r *tracediff.Result, c *tracediff.JudgedClaim) string {
	tick := claimTick(r, c)
	if strings.Trim(tick, "0123456789") == "" {
		tick = "tick " + tick
	}
	switch {
	case !c.HasTick:
		return "nothing here confirms or contradicts it"
	case c.Standing == tracediff.Borne:
		return fmt.Sprintf("the traces also first differ at %s", tick)
	case c.Standing == tracediff.Late && r.First != nil:
		return fmt.Sprintf("late: the traces differ from %s on; %s is an upper bound", r.TickText(r.First.Tick), tick)
	case c.Standing == tracediff.Late:
		return fmt.Sprintf("late: the states differ before; %s is an upper bound", tick)
	case c.Proves():
		return fmt.Sprintf("no two traces have %s; it shows two checksums, so the peers had diverged by then", tick)
	}
	return fmt.Sprintf("no two traces have %s: not checked", tick)
}

// StandingText describes whether the evidence supports a claim.
func (c *ClaimDocument) StandingText() string { return claimText(c) }
