package document

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// BothNames returns an engine's own name of a tick or a state point, and its number unless that is part of the name.
func BothNames(native string, n uint64) string {
	number := strconv.FormatUint(n, 10)
	if native != tracediff.UnknownTick {
		native = said(PointOf(native, n)).Words()
	}
	switch {
	case native == "":
		return number
	case slices.Contains(strings.Fields(native), number), native == tracediff.UnknownTick:
		return native
	}
	if p := PointOf(native, n); p.Relation == snapshot.Some { // its number shows nothing
		return p.String()
	}
	return native + " (" + number + ")"
}

// PointName names a state point within a sentence.
func PointName(p snapshot.Point) string {
	p = said(p)
	switch {
	case p.Relation == snapshot.Some && p.Native != "":
		return p.String()
	case p.Native == "" || !spoken(p.Native):
		return "state point " + BothNames(p.Words(), p.Tick)
	case p.Relation == snapshot.After:
		return "the state after " + p.Native
	case p.Relation == snapshot.EndOf:
		return "the end of " + p.Native
	}
	return BothNames(p.Native, p.Tick)
}

// AtPoint describes the time of a state.
func AtPoint(p snapshot.Point) string {
	p = said(p)
	if p.Relation == snapshot.After && p.Native != "" {
		return "after " + p.Native
	}
	return "at " + PointName(p)
}

// PointOf returns a state point from its number and the words of its native name in a document.
func PointOf(native string, n uint64) snapshot.Point { return snapshot.Point{Tick: n}.Named(native) }

// InTick names a tick within a sentence. The name may already contain the unit: "turn 12", "tick 000adee0".
func InTick(name string) string {
	if spoken(name) {
		return name
	}
	return "tick " + name
}

// spoken reports whether a name already contains the unit: "frame 600", not "000adee0".
func spoken(name string) bool {
	first, _, more := strings.Cut(name, " ")
	return more && strings.IndexFunc(first, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}
