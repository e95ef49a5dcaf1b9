package verdicts

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/verdict"
)

// Questions that a verdict answers in addition to the questions of narrowing down.
const (
	// WhichLocus is the place of the first divergence in a verdict without a simulator: tick, system, archetype and
	// component at once.
	WhichLocus Question = "locus"
)

var ofReports = []Question{WhichLocus}

// maxGroup is how many classes may be named as indistinguishable.
const maxGroup = 3

// classes are the classes in docs/causes.md for the games' mistakes.
var classes = map[string][]string{
	"rng-leak":          {verdict.RNGLeak},
	"map-order":         {verdict.IterationOrder},
	"unsorted-merge":    {verdict.IterationOrder, verdict.ThreadTiming},
	"unstable-sort":     {verdict.UnstableSort},
	"float-fma":         {verdict.Float},
	"float-reassoc":     {verdict.Float},
	"float-flush":       {verdict.Float},
	"uninitialized":     {verdict.Uninitialized},
	"stale-cache":       {verdict.StaleCache},
	"impure-validation": {verdict.ImpureValidation},
	"prediction-leak":   {verdict.PredictionLeak},
	"save-omits-field":  {verdict.SaveForgets},
	"load-loses":        {verdict.SaveForgets},
	"timer-off":         {verdict.TimerOff},
	"initial-state":     {verdict.InitialState},
	"locale-sort":       {verdict.Locale},
	"locale-number":     {verdict.Locale},
	"wall-clock":        {verdict.WallClock},
	"order-dropped":     {verdict.InputDropped},
	"order-duplicated":  {verdict.InputDuplicated},
	"order-reordered":   {verdict.InputReordered},
	"order-altered":     {verdict.InputAltered},
	"order-late":        {verdict.InputLate},
	"bit-flip":          {verdict.BitFlip},
	"foreign-write":     {verdict.ForeignWrite},
	"host-only":         {verdict.HostOnly},
	"reconverge":        {verdict.SelfHealed},
	"data-mismatch":     {verdict.DifferentData},
	"blind-checksum":    {verdict.ChecksumDefect},

	"rollback-keeps": {verdict.PredictionLeak, verdict.SaveForgets},
	"rng-kept":       {verdict.PredictionLeak, verdict.SaveForgets},
	"guess-stays":    {verdict.PredictionLeak},
	"rollback-short": {verdict.PredictionLeak},
	"smooth-leak":    {verdict.PredictionLeak},
	"menu-write":     {verdict.ForeignWrite},
	"checksum-only":  {verdict.ChecksumDefect},

	// Of causes that no class covers.
	"other-than-logged": {},
	"system-skipped":    {},
	"system-twice":      {},
	"half-system":       {},
}

// Shape is the kind of evidence about the cause.
type Shape string

// Shapes. Only the last two include a replay.
const (
	OfTick   Shape = "states of the end of the tick"
	Traced   Shape = "none of that moment, traces"
	Untraced Shape = "none of that moment, no traces"
	LogsOnly Shape = "order logs alone"
	WithSim  Shape = "`--sim`"
	WithOwn  Shape = "`--sim --own`"
)

// Shapes returns all shapes.
func Shapes() []Shape { return []Shape{OfTick, Traced, Untraced, LogsOnly, WithSim, WithOwn} }

// Outcome is how well a cause was named.
type Outcome string

// Outcomes. Right is a group of at most three classes that contains the true one. A mistake that no class covers is never
// right.
const (
	Right    Outcome = "right"
	NotKnown Outcome = "not known"
	Open     Outcome = "not excluded" // more than three classes are, and the true one is among them if there is one
	False    Outcome = "wrong"
)

// CauseScore is the score of the causes in one verdict.
type CauseScore struct {
	Shape   Shape
	Truth   []string // the classes that are correct for the session's mistake
	Said    []string
	Shown   bool // by an experiment, or by the evidence: not as the class that is left
	Outcome Outcome
	Tested  []string // the experiments that were made, with their results
}

// RuleScore is the score of one rule that fits the differences, whether or not it was reported.
type RuleScore struct {
	Sign  verdict.SignKind
	Right bool
}

// shape returns the kind of evidence about the cause.
func (s Session) shape(r *session.Recording) Shape {
	switch {
	case s.Lack == NoStates && s.Trace == session.TraceNone:
		return LogsOnly
	case s.showsTick(r):
		return OfTick
	case s.Trace == session.TraceNone:
		return Untraced
	}
	return Traced
}

// cause scores the causes of a verdict.
func (s *Score) cause(shape Shape, c *verdict.Conclusion) {
	x := CauseScore{Shape: shape, Truth: classes[s.fault()], Outcome: NotKnown}
	x.Said = lists.Map(c.Causes, func(x verdict.Cause) string { return x.Class })
	x.Shown = len(c.Causes) > 0 && c.Causes[0].Confirmed()
	switch {
	case len(x.Said) == 0:
	case len(x.Truth) == 0 && c.Causes[0].Standing == verdict.NotExcluded:
		x.Outcome = Open // a list of what no experiment excludes names no cause
	case len(x.Said) <= maxGroup && overlap(x.Said, x.Truth):
		x.Outcome = Right
	case (c.Causes[0].Standing == verdict.NotExcluded || c.Causes[0].Standing == verdict.Shown) && overlap(x.Said, x.Truth):
		x.Outcome = Open
	default:
		x.Outcome = False
	}
	for i := range c.Experiments {
		e := &c.Experiments[i]
		result := string(e.Result)
		if e.Result == verdict.Impossible {
			result += ": " + e.Why
		}
		x.Tested = append(x.Tested, fmt.Sprintf("%s %s", e.Mode, result))
	}
	s.Causes = append(s.Causes, x)
	if shape == WithSim || shape == WithOwn {
		return
	}
	for i := range c.Likenesses {
		l := &c.Likenesses[i]
		s.Rules = append(s.Rules, RuleScore{l.Sign.Kind, overlap(l.Classes, x.Truth)})
	}
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(name string) bool { return slices.Contains(b, name) })
}

// locus scores the place of the first divergence in a report. It is exact if each part that the evidence shows is
// exact, and no other part is named.
func (s *Score) locus(t *session.Truth, h held, c *verdict.Conclusion) {
	if t.Bracket == nil || t.Checksum != nil {
		return
	}
	if c.Bracket == nil {
		s.Marks[WhichLocus], s.Answers[WhichLocus] = Missed, "said nothing"
		return
	}
	initial := *t.InitialState
	if t.LoadedAt != nil {
		return
	}
	var parts []Mark
	if initial {
		parts = append(parts, markOf(true, true, c.InitialState && c.Tick == nil, true))
	} else {
		parts = append(parts, markOf(h.tick, c.Tick != nil, c.Tick != nil && c.Tick.Number == *t.Bracket.Good, !c.InitialState),
			markOf(h.system, c.System != "", t.System != nil && c.System == *t.System, true))
	}
	root, known := c.Root()
	list := c.MayBeFirst()
	parts = append(parts, markOf(h.archetype, known, known && root == *t.Archetype, len(list) == 0 || slices.Contains(list, *t.Archetype)),
		markOf(h.component, c.Component != "", c.Component == *t.Component, true))
	m := slices.MaxFunc(parts, func(a, b Mark) int { return slices.Index(severity, a) - slices.Index(severity, b) })
	s.Marks[WhichLocus] = m
	if m.Good() {
		return
	}
	system, good := "", ""
	if !initial {
		system, good = systemOf(t), number(t.Bracket.Good)
	}
	s.Answers[WhichLocus] = fmt.Sprintf("said tick %s, %q, %q %q, is tick %s, %q, %q %q",
		tickOf(c), c.System, list, c.Component, good, system, *t.Archetype, *t.Component)
}

// severity orders marks from best to worst.
var severity = []Mark{Exact, Unknown, Missed, Guessed, Wrong}

// CauseTable writes two Markdown tables: the outcomes by kind of evidence, and by mistake. Below them it lists each
// wrong verdict.
func CauseTable(w io.Writer, scores []*Score) error {
	var b strings.Builder
	b.WriteString("| Evidence | sessions | right | not excluded | not known | wrong |\n|---|---|---|---|---|---|\n")
	for _, shape := range Shapes() {
		n := tallyCauses(scores, func(_ *Score, c *CauseScore) bool { return c.Shape == shape })
		if all := n.all(); all > 0 {
			fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %s |\n", shape, all, n[Right], n[Open], n[NotKnown], percent(n[False], all))
		}
	}
	b.WriteString("\n| Mistake |")
	for _, shape := range Shapes() {
		fmt.Fprintf(&b, " %s |", shape)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(Shapes())) + "\n")
	for _, name := range worstFirst(scores) {
		fmt.Fprintf(&b, "| `%s` |", name)
		for _, shape := range Shapes() {
			n := tallyCauses(scores, func(s *Score, c *CauseScore) bool { return c.Shape == shape && s.fault() == name })
			fmt.Fprintf(&b, " %s |", n)
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	shown := tallyCauses(scores, func(_ *Score, c *CauseScore) bool { return c.Shape == WithOwn && c.Shown })
	left := tallyCauses(scores, func(_ *Score, c *CauseScore) bool { return c.Shape == WithOwn && !c.Shown })
	fmt.Fprintf(&b, "With `--sim --own`, shown: %d right, %d of more than three, %d wrong; not excluded: %d right, %d of more than three, %d wrong.\n\n", shown[Right], shown[Open], shown[False], left[Right], left[Open], left[False])
	for _, s := range scores {
		for _, c := range s.Causes {
			if c.Outcome == False {
				fmt.Fprintf(&b, "- %s, %s: said %s\n", s.Session, c.Shape, strings.Join(c.Said, " or "))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// worstFirst returns the names of the mistakes, starting with the one that is named right least often.
func worstFirst(scores []*Score) []string {
	names := faults(scores)
	right := map[string]float64{}
	for _, name := range names {
		n := tallyCauses(scores, func(s *Score, _ *CauseScore) bool { return s.fault() == name })
		right[name] = float64(n[Right]-n[False]) / float64(max(n.all(), 1))
	}
	lists.SortStable(names, func(a, b string) int { return cmp.Compare(right[a], right[b]) })
	return names
}

// RuleTable writes how often each rule was right that separates causes from similar differences, as Go source.
func RuleTable(w io.Writer, scores []*Score) error {
	right, all := map[verdict.SignKind]int{}, map[verdict.SignKind]int{}
	for _, s := range scores {
		for _, r := range s.Rules {
			all[r.Sign]++
			if r.Right {
				right[r.Sign]++
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		if _, err := fmt.Fprintf(w, "%-18s {%d, %d},\n", kind.String()+":", right[kind], all[kind]); err != nil {
			return err
		}
	}
	return nil
}

// causeTally counts outcomes.
type causeTally map[Outcome]int

func tallyCauses(scores []*Score, only func(*Score, *CauseScore) bool) causeTally {
	n := causeTally{}
	for _, s := range scores {
		for i := range s.Causes {
			if c := &s.Causes[i]; only(s, c) {
				n[c.Outcome]++
			}
		}
	}
	return n
}

func (n causeTally) all() int { return n[Right] + n[Open] + n[NotKnown] + n[False] }

// String returns how many of all are right. It also reports the wrong ones.
func (n causeTally) String() string {
	switch {
	case n.all() == 0:
		return "–"
	case n[False] > 0:
		return fmt.Sprintf("%d of %d, %d wrong", n[Right], n.all(), n[False])
	}
	return fmt.Sprintf("%d of %d", n[Right], n.all())
}

func percent(n, all int) string {
	return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(all))
}
