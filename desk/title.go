package desk

import (
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// title collects the parts of a key's title: what differs and how, after which step, and what is special about the
// kind of the divergence.
type title struct {
	what, after, kind string
}

// text returns the title, after the name of the game: "refsim: Fatigue.level is 0 on one side, after Orders".
func (t *title) text(game string) string {
	var parts []string
	if t.what != "" {
		parts = append(parts, t.what)
	}
	switch {
	case t.after == "" || t.after == t.what:
	case t.what == "":
		parts = append(parts, "first differs after "+t.after)
	default:
		parts = append(parts, "after "+t.after)
	}
	if t.kind != "" && t.kind != t.what {
		parts = append(parts, t.kind)
	}
	text := strings.Join(parts, ", ")
	if game != "" {
		text = strings.TrimSpace(game) + ": " + text // no game begins with a blank
	}
	return text
}

// kindOf returns the kind of a divergence for a title, empty for the usual one and for a message: the kind of a message
// begins with the engine, which may have another name than the game.
func kindOf(f *document.Fingerprint, game string) string {
	kind, named := strings.CutPrefix(f.Name, game+" ")
	if !named && game != "" {
		return ""
	}
	for _, usual := range []string{string(bisect.StateDiffers), "unknown"} {
		if rest, ok := strings.CutPrefix(kind, usual); ok && (rest == "" || rest[0] == ',') {
			return strings.TrimPrefix(rest, ", ")
		}
	}
	return kind
}

// differ returns names with the verb.
func differ(names []string, pattern string) string {
	text := strings.Join(names, "+")
	if pattern != "" {
		return strings.TrimSpace(text + " " + pattern)
	}
	if len(names) > 1 {
		return text + " differ"
	}
	return text + " differs"
}

// patternOf describes how the values of a single field differ, as far as the states of the divergence show it and
// without numbers, which other reports of the bug do not have.
func patternOf(r *document.Report, f *document.Fingerprint) string {
	switch f.Pattern {
	case document.PatternRounding, document.PatternOneBit:
		return "differs by " + f.Pattern
	case document.PatternExchanged:
		return "has the same values in other rows"
	}
	d, k := r.FirstDivergence, r.Compared
	if len(f.Of) != 1 || k == nil || d == nil || d.Bracket == nil || k.Point != d.Bracket.Bad || !d.Exact && !d.InitialState {
		return ""
	}
	for i := range k.Summary {
		s := &k.Summary[i]
		if p := s.Pattern; p != nil && !s.Cache && s.Name() == f.Of[0] && p.Rows == s.Values {
			for _, value := range p.Values {
				if p.Kind == snapshot.PatternSame && value == "0" {
					return patternWords[snapshot.PatternZero]
				}
			}
			return patternWords[p.Kind]
		}
	}
	return ""
}

// patternWords are the patterns that a title has.
var patternWords = map[snapshot.PatternKind]string{
	snapshot.PatternAbsent: "is missing on one side", snapshot.PatternSame: "has one value on one side", snapshot.PatternZero: "is 0 on one side",
	snapshot.PatternStale: "is stale by one tick on one side", snapshot.PatternOffset: "is off by one number", snapshot.PatternNegated: "has the other sign", snapshot.PatternFactor: "is off by a factor",
	snapshot.PatternSwapped: "is swapped in pairs", snapshot.PatternPermuted: "has the same values in other rows",
	snapshot.PatternBit: "differs in one bit", snapshot.PatternOneBit: "differs in one bit", snapshot.PatternULP: "differs by rounding",
	snapshot.PatternHigher: "is higher on one side", snapshot.PatternLower: "is higher on one side",
}
