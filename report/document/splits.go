package document

import (
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
)

// SplitDocument is a stretch of state points in which peers had diverged.
type SplitDocument struct {
	Good   *uint64 `json:"good"` // the last point before it that is known to be equal
	Bad    uint64  `json:"bad"`
	Healed *uint64 `json:"healed"` // the first from bad on that is known to be equal again
	By     string  `json:"by"`
	// Native are the engine's own names, Files the snapshots of these points.
	Native *splitNative `json:"native,omitempty"`
	Files  *splitFiles  `json:"files,omitempty"`
}

type splitNative struct {
	Good   string `json:"good,omitempty"`
	Bad    string `json:"bad"`
	Healed string `json:"healed,omitempty"`
}

type splitFiles struct {
	Good   []string `json:"good"`
	Bad    []string `json:"bad"`
	Healed []string `json:"healed"`
}

// Splits returns the documents of splits.
func Splits(splits []bisect.Split) []SplitDocument {
	out := []SplitDocument{}
	for i := range splits {
		s := &splits[i]
		d := SplitDocument{Good: tickOf(s.Good), Bad: s.Bad.Tick, Healed: tickOf(s.Healed), By: string(s.By)}
		if s.Bad.Native != "" {
			d.Native = &splitNative{wordsOf(s.Good), s.Bad.Words(), wordsOf(s.Healed)}
		}
		if len(s.GoodFiles)+len(s.BadFiles)+len(s.HealedFiles) > 0 {
			d.Files = &splitFiles{list(s.GoodFiles), list(s.BadFiles), list(s.HealedFiles)}
		}
		out = append(out, d)
	}
	return out
}

// wordsOf returns the engine's own name of a state point, "" if there is no point or no name.
func wordsOf(p *snapshot.Point) string {
	if p == nil || p.Native == "" {
		return ""
	}
	return p.Words()
}

// SplitText describes when peers had diverged, in one line.
func SplitText(s *SplitDocument) string {
	at := func(native string, n uint64) string { return Safe(BothNames(native, n)) }
	var names splitNative
	if s.Native != nil {
		names = *s.Native
	}
	text := "diverged " + atNames(PointOf(names.Bad, s.Bad)) + " or before"
	if s.Good != nil {
		text = "diverged in (" + at(names.Good, *s.Good) + ", " + at(names.Bad, s.Bad) + "]"
	}
	switch {
	case s.Healed == nil:
		text += ", not known to be equal again"
	case *s.Healed == s.Bad:
		text += ", equal again there"
	default:
		text += ", equal again " + atNames(PointOf(names.Healed, *s.Healed))
	}
	return text + ", by " + s.By
}

// maxSplits is how many splits a text lists.
const maxSplits = 10

// splitRows lists splits if there are several: the first one was already reported.
func splitRows(row func(string, ...string), splits []SplitDocument) {
	if len(splits) < 2 {
		return
	}
	for i := range splits {
		if i == maxSplits {
			row("", prose.Count(len(splits)-i, "more split", "more splits"), "  (--format json)")
			return
		}
		row("split", SplitText(&splits[i]))
	}
}

// atNames describes the time of a state, by the engine's own name and the number.
func atNames(p snapshot.Point) string {
	if p.Relation == snapshot.After && p.Native != "" {
		return bothNames(p)
	}
	return "at " + bothNames(p)
}
