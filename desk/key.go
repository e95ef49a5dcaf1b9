package desk

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/desynctool/desynctool/report/document"
)

// Key is by what a report is put together with others.
type Key struct {
	// Coarse is what reports of one bug have in common, 16 hex digits. It is of the game, the kind
	// of the divergence and one place: the finest that is the same each time that a bug strikes.
	Coarse string
	// Strict is the strict fingerprint, empty if too little is known.
	Strict string
	// Weak says that nothing but the kind, or what the game said itself, is known: reports of
	// different bugs may have this key.
	Weak bool
	// Title is what it is made of, for people: the game and the kind, then the names of the levels. It
	// says each name once.
	Title string
	// By are the levels that Coarse is of, without that of the kind; none if nothing else is known.
	By []document.Level
}

// KeyOf returns the key of a report, and false for one without a divergence. It depends on the
// report alone, so that groups do not depend on the order in which reports arrive.
//
// What a bug leaves differs from session to session: which archetypes it hits, how many entities,
// how many fields follow in the same tick. What stays is, in this order: how the orders differ
// and of which kind the first of them is; what differs in an initial state; the step, and the
// component if it is the only one that differs after it; without a step the components.
// docs/desk-accuracy.md measures it.
func KeyOf(r *document.Report) (Key, bool) {
	if r.Status != document.Diverged || len(r.Fingerprints) == 0 {
		return Key{}, false
	}
	has := map[document.Level]*document.Fingerprint{}
	for i := range r.Fingerprints {
		has[r.Fingerprints[i].Level] = &r.Fingerprints[i]
	}
	k := Key{Strict: r.Fingerprint}
	var parts, title []string
	use := func(levels ...document.Level) bool {
		for _, level := range levels {
			if has[level] == nil {
				return false
			}
		}
		for _, level := range levels {
			parts = append(parts, string(level), has[level].Digest)
			title = withName(title, has[level].Name)
			if level != document.LevelKind {
				k.By = append(k.By, level)
			}
		}
		return true
	}
	use(document.LevelKind)
	of := func(level document.Level) int {
		if has[level] == nil {
			return 0
		}
		return len(has[level].Of)
	}
	switch {
	case of(document.LevelOrder) > 0 && use(document.LevelOrder): // the orders differ
	case of(document.LevelComponent) == 1 && use(document.LevelStep, document.LevelComponent):
	case use(document.LevelStep):
	case use(document.LevelComponent) || use(document.LevelArchetype) || use(document.LevelCause):
	default:
		use(document.LevelMessage)
		k.Weak = true
	}
	k.Title = strings.TrimSpace(strings.Join(title, ", ")) // no game begins with a blank
	h := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	k.Coarse = hex.EncodeToString(h[:8])
	return k, true
}

// withName adds a name to a title, unless it stands there: a class of mistakes may be the kind and the
// cause, and a component may be called after its step.
func withName(title []string, name string) []string {
	for i, part := range title {
		if part == name || i == 0 && strings.HasSuffix(part, " "+name) {
			return title
		}
	}
	return append(title, name)
}
