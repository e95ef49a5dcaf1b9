package desk

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/report/document"
)

// Key determines which reports are grouped together.
type Key struct {
	// Coarse is common to all reports of one bug, 16 hex digits. It is derived from the game, the kind of divergence
	// and one place: the finest place that is the same each time the bug occurs.
	Coarse string
	// Strict is the strict fingerprint, empty if too little is known.
	Strict string
	// Weak means that only the class of mistakes, or the game's own message, is known. Reports of different bugs may have
	// this key.
	Weak bool
	// Title describes the key for people: the game, what differs and how, the step, and the kind unless it is the usual one.
	Title string
	// By are the levels in Coarse, without the level of the kind. It is empty if nothing else is known.
	By []document.Level
}

// KeyOf returns the key of a report, and false for a report without a divergence. If only the kind of the divergence is
// known, KeyOf also returns false: the report is in no group. The key depends only on the report, so groups do not depend
// on the order in which reports arrive.
//
// The traces of a bug differ from session to session: the affected archetypes, the number of entities, and the fields
// that follow in the same tick. These properties stay the same, in this order: the way the orders differ and the kind
// of the first different order; the differences in an initial state; the step, and the component if only one differs
// after it, with its fields and the pattern of their values; without a step the components. docs/desk-accuracy.md contains
// measurements.
func KeyOf(r *document.Report) (Key, bool) {
	if r.Status != document.Diverged || len(r.Fingerprints) == 0 {
		return Key{}, false
	}
	has := map[document.Level]*document.Fingerprint{}
	for i := range r.Fingerprints {
		has[r.Fingerprints[i].Level] = &r.Fingerprints[i]
	}
	k := Key{Strict: r.Fingerprint}
	var parts []string
	var t title
	use := func(levels ...document.Level) bool {
		if slices.ContainsFunc(levels, func(level document.Level) bool { return has[level] == nil }) {
			return false
		}
		for _, level := range levels {
			parts = append(parts, string(level), has[level].Digest)
			if level != document.LevelKind {
				k.By = append(k.By, level)
			}
		}
		return true
	}
	if use(document.LevelKind) {
		t.kind = kindOf(has[document.LevelKind], r.Session.Game)
	}
	pattern := func() bool { // the fields by their names, and how they differ
		t.what = differ(has[document.LevelComponent].Of, "")
		if f := has[document.LevelField]; f != nil {
			parts = append(append(parts, string(document.LevelField), f.Pattern), f.Of...)
			k.By = append(k.By, document.LevelField)
			t.what = differ(f.Of, patternOf(r, f))
		}
		return true
	}
	of := func(level document.Level) int {
		if has[level] == nil {
			return 0
		}
		return len(has[level].Of)
	}
	switch step := has[document.LevelStep]; {
	case of(document.LevelOrder) > 0 && use(document.LevelOrder):
		t.what = "orders differ: " + has[document.LevelOrder].Name
	case of(document.LevelComponent) == 1 && use(document.LevelStep, document.LevelComponent) && pattern():
		t.after = step.Name
	case use(document.LevelStep):
		t.after = step.Name
	case of(document.LevelComponent) == 1 && use(document.LevelComponent) && pattern():
	case use(document.LevelComponent):
		t.what = differ(has[document.LevelComponent].Of, "")
	case use(document.LevelArchetype):
		t.what = differ(has[document.LevelArchetype].Of, "")
	case use(document.LevelCause):
		t.what, k.Weak = has[document.LevelCause].Name, true
	case use(document.LevelMessage):
		t.what, k.Weak = has[document.LevelMessage].Name, true
	default:
		return Key{}, false // every divergence of the game has the kind
	}
	k.Title = t.text(r.Session.Game)
	h := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	k.Coarse = hex.EncodeToString(h[:8])
	return k, true
}
