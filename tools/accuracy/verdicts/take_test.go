package verdicts

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/bundle"
)

// Pieces of evidence that Less takes away.
const (
	theOwn    = "the build of the peer"
	theSim    = "the trusted build"
	theTraces = "traces"
	oneTrace  = "the trace of the host"
	theLogs   = "order logs"
	oneLog    = "the order log of the host"
	theFirst  = "the states where the peers first differ"
	someOdd   = "every second state"
	theStates = "all other states"
)

// Less plays a session in dir, takes its pieces of evidence away one by one, and returns a line
// for each answer that is right with less evidence, and wrong or not known with more. The seed
// is of the order in which the pieces go.
func Less(s Session, dir string, m Measured, seed uint64) (lines []string, err error) {
	defer os.RemoveAll(filepath.Join(dir, "s"))
	r, err := s.Game.Play(s, filepath.Join(dir, "s"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s, err)
	}
	if s.take(r); !s.shows(r) {
		return nil, nil
	}
	dirs := lists.Map(r.Peers, func(p session.Recorded) string { return p.Dir })
	sim, err := s.Game.Sim("")
	if err != nil {
		return nil, err
	}
	own, err := s.Game.Sim(s.Fault)
	if err != nil {
		return nil, err
	}
	pieces := []string{theOwn, theSim, oneTrace, theTraces, oneLog, theLogs, theFirst, someOdd, theStates}
	dice := rand.New(rand.NewPCG(seed, 3))
	dice.Shuffle(len(pieces), func(i, k int) { pieces[i], pieces[k] = pieces[k], pieces[i] })
	if slices.Index(pieces, theSim) < slices.Index(pieces, theOwn) { // which is used with it only
		i, k := slices.Index(pieces, theSim), slices.Index(pieces, theOwn)
		pieces[i], pieces[k] = pieces[k], pieces[i]
	}
	before := &Score{}
	for i := range len(pieces) + 1 {
		if i > 0 {
			switch piece := pieces[i-1]; piece {
			case theOwn:
				own = nil
			case theSim:
				sim = nil
			default:
				if err := remove(r, piece); err != nil {
					return nil, err
				}
			}
		}
		if left, err := filepath.Glob(filepath.Join(dir, "s", "*", "*.*")); err != nil || len(left) < len(dirs) {
			return lines, err
		}
		now, err := s.answers(r.Truth, dirs, sim, own, m)
		if alone := (*bundle.AloneError)(nil); errors.As(err, &alone) {
			return lines, nil // nothing is left to compare, so nothing is known
		}
		if err != nil {
			return nil, fmt.Errorf("%s, without %q: %w", s, pieces[:i], err)
		}
		for _, q := range Questions() {
			if i > 0 && now.Marks[q] == Exact && before.Marks[q] != Exact {
				lines = append(lines, fmt.Sprintf("%s, without %q: %s is right only without %s: with it %s", s, pieces[:i-1], q, pieces[i-1], before.Answers[q]))
			}
		}
		if i > 0 && now.Causes[0].Outcome == Right && before.Causes[0].Outcome != Right {
			lines = append(lines, fmt.Sprintf("%s, without %q: the cause is right (%v) only without %s: with it %v after %v", s, pieces[:i-1], now.Causes[0].Said, pieces[i-1], before.Causes[0].Said, before.Causes[0].Tested))
		}
		before = now
	}
	return lines, nil
}

// answers scores a conclusion as if the evidence showed everything.
func (s Session) answers(t *session.Truth, dirs []string, sim, own *bisect.Sim, m Measured) (*Score, error) {
	c, err := m(dirs, sim, own)
	if err != nil {
		return nil, err
	}
	x := &Score{Session: s, Marks: map[Question]Mark{}, Answers: map[Question]string{}}
	x.mark(t, held{true, true, true, true, true, true}, c)
	x.cause(WithOwn, c)
	return x, nil
}

// remove removes the files of a piece of evidence.
func remove(r *session.Recording, piece string) error {
	for i, p := range r.Peers {
		var gone []string
		switch {
		case piece == theLogs || piece == oneLog && i == 0:
			gone = append(gone, p.Log)
		case piece == theTraces || piece == oneTrace && i == 0:
			traces, err := filepath.Glob(filepath.Join(p.Dir, "*.trace"))
			if err != nil {
				return err
			}
			gone = traces
		}
		for k, point := range p.Points {
			first := r.Truth.Bracket != nil && point == r.Truth.Bracket.Bad
			if piece == theFirst && first || piece == someOdd && !first && k%2 == 1 || piece == theStates && !first && k%2 == 0 {
				gone = append(gone, p.Snapshots[k])
			}
		}
		for _, file := range gone {
			if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
				return err
			}
		}
	}
	return nil
}
