package verdicts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/tools/internal/try"
)

// Question is a question that a verdict may answer.
type Question string

// Questions.
const (
	WhichKind      Question = "kind" // whether states differ, checksums, or both
	WhichTick      Question = "tick"
	WhichSystem    Question = "system"
	WhichArchetype Question = "archetype"
	WhichComponent Question = "component"
	WhichPeer      Question = "peer"
)

// Questions returns the questions of narrowing down, in order.
func Questions() []Question {
	return []Question{WhichKind, WhichTick, WhichSystem, WhichArchetype, WhichComponent, WhichPeer}
}

// Mark is how good an answer is.
type Mark string

// Marks.
const (
	Exact   Mark = "exact"
	Unknown Mark = "unknown" // correct, because the evidence does not show it
	Missed  Mark = "missed"  // not answered, although the evidence shows it
	Wrong   Mark = "wrong"
	Guessed Mark = "guessed" // answered, although the evidence does not show it
)

// Good reports whether an answer is not wrong.
func (m Mark) Good() bool { return m == Exact || m == Unknown }

// Score is the score of the verdict about one session.
type Score struct {
	Session Session
	Bit     bool // the mistake appeared
	Marks   map[Question]Mark
	Answers map[Question]string // answers that are not good, and the truth
	Alarm   string              // for a clean session: the false report
	Causes  []CauseScore        // without a simulator, with one, with the peer's own
	Rules   []RuleScore         // rules that fit without a simulator
}

// Measure plays a session in dir and scores the conclusion.
func Measure(s Session, dir string, m Measured) (score *Score, err error) {
	defer func() {
		if err != nil {
			score, err = nil, fmt.Errorf("%s: %w", s, err)
		}
	}()
	defer try.Catch(&err)
	defer os.RemoveAll(filepath.Join(dir, "s"))
	r := try.Get(s.Game.Play(s, filepath.Join(dir, "s")))
	played := differing(r)
	s.take(r)
	score = &Score{Session: s, Bit: s.shows(r), Marks: map[Question]Mark{}, Answers: map[Question]string{}}
	dirs := lists.Map(r.Peers, func(p session.Recorded) string { return p.Dir })
	sim := try.Get(s.Game.Sim(""))
	v := try.Get(m(dirs, sim, nil))
	if !score.Bit {
		score.alarm(v)
		return score, nil
	}
	h := s.holds(r, differing(r))
	replayed := h
	if s.network() && s.Lack != LogsGone { // the correct build computes the states of both sides
		replayed = s.holds(r, played)
	}
	score.mark(r.Truth, replayed, v)
	without := try.Get(m(dirs, nil, nil))
	score.locus(r.Truth, h, without)
	score.cause(s.shape(r), without)
	if s.Lack == LogsGone {
		return score, nil // there is nothing to replay
	}
	score.cause(WithSim, v)
	score.cause(WithOwn, try.Get(m(dirs, sim, try.Get(s.Game.Sim(s.Fault)))))
	return score, nil
}

// alarm records a verdict about a session without a mistake.
func (s *Score) alarm(v *verdict.Conclusion) {
	if v.Kind == "" {
		return
	}
	s.Alarm = string(v.Kind)
	if v.Bracket != nil {
		s.Alarm = fmt.Sprintf("%s at state point %s", v.Kind, v.Bracket.Bad)
	}
}

// mark compares a verdict with the truth.
func (s *Score) mark(t *session.Truth, h held, v *verdict.Conclusion) {
	good := func(q Question, held, known, right, bounded bool, said, truth any) {
		m := markOf(held, known, right, bounded)
		s.Marks[q] = m
		if !m.Good() {
			s.Answers[q] = fmt.Sprintf("said %v, is %v", said, truth)
		}
	}
	kind := bisect.StateDiffers
	if t.Checksum != nil {
		kind = bisect.Kind(t.Checksum.Kind)
	}
	told := v.Kind
	if told == bisect.InputsDiffer {
		told = "" // for states and checksums that means nothing
	}
	unseen := !h.kind && (told == bisect.StateDiffers || told == "")
	good(WhichKind, h.kind, told != "" && !unseen, told == kind, true, told, kind)
	if t.Bracket == nil {
		return // the states never differed
	}
	if t.LoadedAt != nil {
		s.Marks[WhichTick] = Exact
		if v.Tick != nil || v.InitialState || v.Bracket == nil || v.Bracket.Bad.Tick < *t.LoadedAt {
			s.Marks[WhichTick], s.Answers[WhichTick] = Wrong, fmt.Sprintf("said %s in (%s], diverged by loading at %d", tickOf(v), bracketOf(v), *t.LoadedAt)
		} else if s.Session.Lack != LogsGone && (v.Loaded == nil || v.Bracket.Bad.Tick != *t.LoadedAt) {
			s.Marks[WhichTick], s.Answers[WhichTick] = Missed, fmt.Sprintf("said (%s], diverged by loading at %d", bracketOf(v), *t.LoadedAt)
		}
	} else if *t.InitialState {
		s.Marks[WhichTick] = Exact
		if !v.InitialState || v.Tick != nil {
			s.Marks[WhichTick], s.Answers[WhichTick] = Wrong, "the initial state differs, which is not said"
		}
	} else {
		inside := v.Bracket != nil && v.Bracket.Bad.Tick >= t.Bracket.Bad && (v.Bracket.Good == nil || v.Bracket.Good.Tick <= *t.Bracket.Good)
		good(WhichTick, h.tick, v.Tick != nil, v.Tick != nil && v.Tick.Number == *t.Bracket.Good, inside && !v.InitialState, tickOf(v), *t.Bracket.Good)
		good(WhichSystem, h.system, v.System != "", t.System != nil && v.System == *t.System, true, v.System, systemOf(t))
	}
	root, known := v.Root()
	candidates := len(v.Archetypes) == 0 || slices.Contains(v.Archetypes, *t.Archetype)
	good(WhichArchetype, h.archetype, known, known && root == *t.Archetype, candidates, v.Archetypes, *t.Archetype)
	good(WhichComponent, h.component, v.Component != "", v.Component == *t.Component, true, v.Component, *t.Component)
	blamed := fmt.Sprint(v.Guilty)
	if s.Session.network() {
		blamed = fmt.Sprint(v.Guilty, " inputs ", v.Inputs.Differ())
		logs := s.Session.Lack != LogsGone
		good(WhichPeer, logs, v.Inputs.Differ() || len(v.Guilty) > 0, v.Inputs.Differ() && len(v.Guilty) == 0, true, blamed, "inputs")
		return
	}
	good(WhichPeer, h.guilty, len(v.Guilty) > 0 || v.Inputs.Differ(), slices.Equal(v.Guilty, []string{t.Peer}) && !v.Inputs.Differ(), true, blamed, t.Peer)
}

// markOf marks an answer: whether the evidence contains it, whether it was given, and whether it is right or the truth
// is among the remaining possibilities.
func markOf(held, known, right, bounded bool) Mark {
	switch {
	case held && known && right:
		return Exact
	case known && !right || !bounded:
		return Wrong
	case held:
		return Missed
	case known:
		return Guessed
	}
	return Unknown
}

// systemOf returns the system of the truth, "" if none made the difference: the tick began with a state that a rollback
// had restored wrongly.
func systemOf(t *session.Truth) string {
	if t.System == nil {
		return ""
	}
	return *t.System
}

func number(n *uint64) string {
	if n == nil {
		return "unknown"
	}
	return fmt.Sprint(*n)
}

func bracketOf(c *verdict.Conclusion) string {
	if c.Bracket == nil {
		return "none"
	}
	good := "-"
	if c.Bracket.Good != nil {
		good = c.Bracket.Good.String()
	}
	return good + "," + c.Bracket.Bad.String()
}

func tickOf(c *verdict.Conclusion) string {
	if c.Tick == nil {
		return number(nil)
	}
	return number(&c.Tick.Number)
}
