package survey

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
)

// Games with rollback keep states of ticks for which they guessed inputs, and mark these next to the tick: "inputs_confirmed":
// false. Such a state is not compared: the game replaces it once it knows the inputs.

// mostMarked is how many files of a group are read if one of them has such a mark.
const mostMarked = 1 << 10

// The words of the names of marks: one of them means that a state is final or guessed, and all others are of these.
const (
	finalWords   = " confirmed final finalized finalised verified "
	guessedWords = " predicted prediction speculative unconfirmed provisional "
	markedWords  = " input inputs is are all frame tick state save slot "
)

// isGuess reports whether a state is marked as a prediction. The names next to the tick are those without a table or map.
func isGuess(w *snapshot.World) bool {
	t := w.Table(snapshot.Archetype, states.GlobalLabel)
	if t == nil || t.Rows() != 1 {
		return false
	}
	return slices.ContainsFunc(t.Columns, func(c snapshot.Column) bool {
		if c.Component != states.GlobalLabel || !c.Has(0) {
			return false
		}
		switch final, is := markOf(c.Field); strings.ToLower(strings.Trim(c.At(0).String(), `"`)) {
		case "true", "1", "yes":
			return is && !final
		case "false", "0", "no":
			return is && final
		}
		return false
	})
}

// markOf reports whether a name is one of a mark, and whether it marks states as final.
func markOf(name string) (final, is bool) {
	for _, word := range strings.FieldsFunc(states.Words(name), func(r rune) bool { return r < 'a' || r > 'z' }) {
		word = " " + word + " "
		switch {
		case strings.Contains(finalWords, word) && !is:
			final, is = true, true
		case strings.Contains(guessedWords, word) && !is:
			is = true
		case !strings.Contains(markedWords, word):
			return false, false
		}
	}
	return final, is
}

// guesses takes files with states that are marked as predictions out of the groups, unless nothing else is left.
func (s *Survey) guesses() {
	left := map[*group][]string{}
	more := len(s.found) > 0
	for _, g := range s.order {
		g.withoutGuesses()
		if g.marked && !g.several && len(g.bases) <= mostMarked {
			left[g] = slices.DeleteFunc(slices.Clone(g.bases), func(base string) bool { return s.isGuessed(g, base) })
		}
		more = more || !g.marked || len(left[g]) > 0
	}
	for _, g := range s.order {
		if len(left[g]) == len(g.bases) || left[g] == nil || !more {
			continue
		}
		var guessed []string
		for _, base := range g.bases {
			if path := filepath.Join(g.dir, base); !slices.Contains(left[g], base) {
				guessed = append(guessed, path)
				s.rest[path] = true
			}
		}
		g.bases = left[g]
		g.samples = slices.DeleteFunc(g.samples, func(p sample) bool { return !slices.Contains(g.bases, p.base) })
		s.notes = append(s.notes, prose.Few(guessed, mostNamed)+": marked as predictions, and not compared")
	}
	s.order = slices.DeleteFunc(s.order, func(g *group) bool { return len(g.bases) == 0 || len(g.samples) == 0 })
}

// isGuessed reports whether all states of a file are marked as predictions.
func (s *Survey) isGuessed(g *group, base string) bool {
	text, err := s.read(filepath.Join(g.dir, base), sampleText)
	if err != nil || len(text) == sampleText {
		return false
	}
	worlds, _, err := g.schema.Read(g.notation, text)
	return err == nil && len(worlds) > 0 && !slices.ContainsFunc(worlds, func(w *snapshot.World) bool { return !isGuess(w) })
}

// withoutGuesses takes the states that are marked as predictions out of the samples.
func (g *group) withoutGuesses() {
	for i := range g.samples {
		p := &g.samples[i]
		n := len(p.worlds)
		p.worlds = slices.DeleteFunc(p.worlds, isGuess)
		g.marked = g.marked || len(p.worlds) < n
	}
}
