package accuracy

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/report"
)

// What a report answers besides the questions of narrowing.
const (
	// WhichLocus is where the report has the first divergence: tick, system, archetype
	// and component at once.
	WhichLocus Question = "locus"
	// WhichCause is what the mistake was: its class must be in the first group of causes.
	WhichCause Question = "cause"
)

var ofReports = []Question{WhichLocus, WhichCause}

// maxGroup is how many classes may be named as indistinguishable.
const maxGroup = 3

// classes are the classes of docs/causes.md that the reference sim's faults are of.
var classes = map[string]string{
	"rng-leak":          "rng-leak",
	"map-order":         "iteration-order",
	"unsorted-merge":    "iteration-order",
	"unstable-sort":     "unstable-sort",
	"float-fma":         "float",
	"float-reassoc":     "float",
	"uninitialized":     "uninitialized-memory",
	"stale-cache":       "stale-cache",
	"impure-validation": "impure-validation",
	"prediction-leak":   "prediction-leak",
	"save-omits-field":  "save-forgets",
	"initial-state":     "initial-state",
	"locale-sort":       "locale",
	"wall-clock":        "wall-clock",
	"order-dropped":     "input-dropped",
	"order-duplicated":  "input-duplicated",
	"order-reordered":   "input-reordered",
	"order-altered":     "input-altered",
	"order-late":        "input-late",
	"bit-flip":          "bit-flip",
	"reconverge":        "self-healed",
	"data-mismatch":     "different-data",
	"blind-checksum":    "checksum-defect",
	"checksum-only":     "checksum-defect",
}

// CauseScore is how the causes of one report did.
type CauseScore struct {
	Truth string   // the class of the session's mistake
	First []string // the classes of the first group, the likeliest first
	Right bool     // the truth is in the first group, and that is small enough
	Held  bool     // the evidence shows the cause
}

// cause scores the causes of a report.
func (s *Score) cause(h held, r *report.Report) {
	c := &CauseScore{Truth: classes[s.fault()], Held: h.cause}
	for i := range r.Causes {
		if r.Causes[i].Group == r.Causes[0].Group {
			c.First = append(c.First, r.Causes[i].Class)
		}
	}
	c.Right = len(c.First) <= maxGroup && slices.Contains(c.First, c.Truth)
	s.Cause = c
	switch {
	case !c.Held:
		s.Marks[WhichCause] = Unknown // right or wrong, nobody could know
	case c.Right:
		s.Marks[WhichCause] = Exact
	case len(c.First) == 0:
		s.Marks[WhichCause] = Missed
	default:
		s.Marks[WhichCause] = Wrong
	}
	if !s.Marks[WhichCause].Good() {
		s.Answers[WhichCause] = fmt.Sprintf("said %s, is %s", said(c.First), c.Truth)
	}
}

// said returns the classes of a group as one text.
func said(group []string) string {
	if len(group) == 0 {
		return "nothing"
	}
	return strings.Join(group, " or ")
}

// locus scores where a report has the first divergence. It is exact if each of its parts
// that the evidence shows is, and it names none of the others.
func (s *Score) locus(t *session.Truth, h held, r *report.Report) {
	if t.Bracket == nil || t.Checksum != nil {
		return
	}
	d := r.FirstDivergence
	if d == nil {
		s.Marks[WhichLocus], s.Answers[WhichLocus] = Missed, "said nothing"
		return
	}
	initial := *t.InitialState
	var parts []Mark
	if initial {
		parts = append(parts, markOf(true, true, d.InitialState && d.Tick == nil, true))
	} else {
		parts = append(parts, markOf(h.tick, d.Tick != nil, d.Tick != nil && *d.Tick == *t.Bracket.Good, !d.InitialState),
			markOf(h.system, d.System != "", d.System == *t.System, true))
	}
	root := ""
	if len(d.Archetypes) > 0 {
		root = d.Archetypes[0]
	}
	known := d.Root
	parts = append(parts, markOf(h.archetype, known, known && root == *t.Archetype, len(d.Archetypes) == 0 || slices.Contains(d.Archetypes, *t.Archetype)),
		markOf(h.component, d.Component != "", d.Component == *t.Component, true))
	m := slices.MaxFunc(parts, func(a, b Mark) int { return slices.Index(severity, a) - slices.Index(severity, b) })
	s.Marks[WhichLocus] = m
	if m.Good() {
		return
	}
	system, good := "", ""
	if !initial {
		system, good = *t.System, number(t.Bracket.Good)
	}
	s.Answers[WhichLocus] = fmt.Sprintf("said tick %s, %q, %q %q, is tick %s, %q, %q %q",
		number(d.Tick), d.System, d.Archetypes, d.Component, good, system, *t.Archetype, *t.Component)
}

// severity orders marks, the worst last.
var severity = []Mark{Exact, Unknown, Missed, Guessed, Wrong}

// CauseTable writes a table in Markdown of what reports say about causes, a row for each fault,
// and below it how often by what the sessions left.
func CauseTable(w io.Writer, scores []*Score) error {
	var b strings.Builder
	b.WriteString("| Fault | class | evidence shows it | all sessions | classes in the group | locus | said instead |\n|---|---|---|---|---|---|---|\n")
	row := func(fault, class string, only func(*Score) bool) {
		c := countCauses(scores, only)
		locus := Count(scores, func(s *Score) bool { return s.Cause != nil && only(s) }).Marks[WhichLocus]
		fmt.Fprintf(&b, "| %s | %s | %s | %d of %d | %s | %s | %s |\n", fault, class, of(c.heldRight, c.held), c.right, c.all, c.mean(), cell(locus), c.instead())
	}
	for _, name := range faults(scores) {
		row("`"+name+"`", classes[name], func(s *Score) bool { return s.fault() == name })
	}
	row("all", "", func(*Score) bool { return true })
	for _, part := range []struct {
		title string
		only  func(*Score) bool
	}{
		{"own names", func(s *Score) bool { return !s.Session.Shuffled }},
		{"shuffled names", func(s *Score) bool { return s.Session.Shuffled }},
	} {
		row(part.title, "", part.only)
	}
	b.WriteString("\n| Left behind | evidence shows it | all sessions |\n|---|---|---|\n")
	for _, trace := range traces {
		for _, lack := range []Lack{Nothing, StateGone, LogsGone, Sparse} {
			c := countCauses(scores, func(s *Score) bool { return s.Session.Trace == trace && s.Session.Lack == lack })
			if c.all > 0 {
				fmt.Fprintf(&b, "| trace %s, %s | %s | %d of %d |\n", trace, cmp.Or(string(lack), "nothing missing"), of(c.heldRight, c.held), c.right, c.all)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// causeTally counts CauseScores.
type causeTally struct {
	all, right, held, heldRight int
	named, groups               int            // classes in all first groups, and how many groups there are
	wrong                       map[string]int // what was said though the evidence shows the truth
}

func countCauses(scores []*Score, only func(*Score) bool) causeTally {
	t := causeTally{wrong: map[string]int{}}
	for _, s := range scores {
		c := s.Cause
		if c == nil || !only(s) {
			continue
		}
		t.all++
		if len(c.First) > 0 {
			t.named += len(c.First)
			t.groups++
		}
		if c.Right {
			t.right++
		}
		if !c.Held {
			continue
		}
		t.held++
		if c.Right {
			t.heldRight++
		} else {
			t.wrong[said(c.First)]++
		}
	}
	return t
}

// mean returns how many classes a first group has.
func (t *causeTally) mean() string {
	if t.groups == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", float64(t.named)/float64(t.groups))
}

// instead lists what was said that was wrong, the most frequent first.
func (t *causeTally) instead() string {
	list := slices.SortedFunc(maps.Keys(t.wrong), func(a, b string) int {
		return cmp.Or(t.wrong[b]-t.wrong[a], strings.Compare(a, b))
	})
	for i, group := range list {
		list[i] = fmt.Sprintf("%s: %d", group, t.wrong[group])
	}
	return strings.Join(list, "; ")
}

func of(n, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d", n, all)
}
