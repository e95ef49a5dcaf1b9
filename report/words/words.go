// Package words writes a conclusion in English. It is the only place with the sentences of a triage: its first lines,
// the steps of the narrowing, the evidence for a cause, what is missing, the next steps. It decides nothing and reads
// no files; each sentence follows from a verdict.Conclusion, which can be written as a literal.
//
// A text first states what is known, then what is not, in words that are clear to a person who has never used the tool.
// It names the engine's own moments, with our numbers next to them.
package words

import (
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// Report writes a conclusion as a document.
func Report(c *verdict.Conclusion) *document.Report {
	said := theirs(c)
	r := &document.Report{
		Head:   document.NewHead("triage", document.StatusOf(c), c.Warnings),
		Splits: document.Splits(c.Splits), Caches: document.Caches(c.Caches), Verdict: Verdict(said), Kind: c.Kind, Session: c.Session, Peers: full(c.Peers), FirstDivergence: divergence(c),
		Ladder: Ladder(said), Locus: full(c.Locus), Compared: c.Compared, Causes: Causes(said), Excluded: Excluded(said), Experiments: Experiments(c), Code: c.Code, Cascade: full(c.Cascade), Orders: full(c.Orders),
		OnlyHistories: c.OnlyHistories, Witness: document.Witness(c.Witnessed), SimFailed: c.SimFailed, OwnFailed: c.OwnFailed, Contradictions: Contradictions(said), Missing: Missing(said), Notes: Notes(said), Claims: Claims(c), Facts: c.Facts, Stated: c.Stated, GameLogs: c.GameLogs,
		Next: document.StepLines(Next(said)), Send: Send(c), Ask: c.Ask, Fingerprint: c.Fingerprint, Fingerprints: full(c.Levels),
		Timeline: c.Timeline, Heat: c.Heat, Tree: c.Tree, Map: c.Map, Names: c.Names,
	}
	if in := &c.Inputs; in.Line != "" {
		r.Inputs = &document.Inputs{Line: in.Line, Count: in.Count, Differences: full(in.Differences)}
	}
	return r
}

// full returns an empty list instead of nil.
func full[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

func divergence(c *verdict.Conclusion) *document.FirstDivergence {
	b := c.Bracket
	if b == nil {
		return nil
	}
	_, root := c.Root()
	d := &document.FirstDivergence{
		Exact: c.Tick != nil && c.TickBy != verdict.TickByCheckpoint && c.TickBy != verdict.TickByWord, InitialState: c.InitialState, System: c.System,
		Archetypes: full(c.MayBeFirst()), Root: root, Component: c.Component, Checksums: c.Parting, Detected: c.Detected, Majority: c.Majority,
		Bracket: document.Bracket(b), Wrong: c.Guilty,
	}
	if c.Borrowed != nil {
		d.Wrong, d.Suspects = nil, c.Guilty
	}
	native := document.Native{State: verdict.MomentOf(b.Bad).Words()}
	if c.Tick != nil {
		d.Tick, native.Step = &c.Tick.Number, c.Tick.Words()
		if native.Step == tracediff.UnknownTick {
			d.Tick = nil // its number shows nothing
		}
	}
	if native != (document.Native{}) {
		d.Native = &native
	}
	if c.Loaded != nil {
		d.Loaded = c.Loaded.Peer
	}
	if c.Healed != nil {
		d.Healed = &c.Healed.Number
	}
	if c.Checkpoint != nil {
		d.Checkpoint = &c.Checkpoint.CheckpointDocument
	}
	return d
}

// join joins words by commas, and the last two by another word.
func join(list []string, last string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	n := len(list) - 1
	return strings.Join(list[:n], ", ") + " " + last + " " + list[n]
}

// upTo joins the first words of a list, and counts the rest.
func upTo(list []string, most int) string {
	if len(list) > most {
		return prose.FirstOf(list, most)
	}
	return join(list, "and")
}

// lower begins a text with a small letter.
func lower(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// groups shows which peers agree: "host = server ≠ client".
func groups(list [][]string) string {
	return strings.Join(lists.Map(list, func(g []string) string { return strings.Join(g, " = ") }), " ≠ ")
}

// label names an archetype; the RNG has none.
func label(name string) string {
	if name == "" {
		return snapshot.RNG
	}
	return name
}

func labels(list []string, most int) string {
	return upTo(lists.Map(list, label), most)
}

// fieldName names a column of an archetype. The archetype's only component may have the archetype's name.
func fieldName(f *document.LocusField) string {
	if f.Component == f.Archetype || strings.HasSuffix(f.Archetype, "."+f.Component) {
		return f.Archetype + "." + f.Field
	}
	return f.Component + "." + f.Field
}

// add appends a text that is not in a list.
func add(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}
