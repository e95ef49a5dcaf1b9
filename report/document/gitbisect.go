package document

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect/gitbisect"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
)

// gitBisectDocument is desynctool.gitbisect/1.
type gitBisectDocument struct {
	Head
	Range     string           `json:"range"`
	Build     string           `json:"build,omitempty"` // the command
	Test      string           `json:"test"`            // the simulator or the command
	First     *commitDocument  `json:"first_bad"`       // null if it is not known: it is one of Left
	Left      []commitDocument `json:"left"`
	Good      []commitDocument `json:"good"` // the parents of those, which are good
	Bad       *commitDocument  `json:"bad"`  // the bad end
	Confirmed bool             `json:"confirmed"`
	Steady    bool             `json:"steady"` // the bad end failed in all its runs
	Odds      float64          `json:"odds"`   // how likely it is that one of Good is bad

	Commits          int `json:"commits"` // in the range
	Builds           int `json:"builds"`
	SkippedBuilds    int `json:"skipped_builds"`
	ConfirmingBuilds int `json:"confirming_builds"`
	Runs             int `json:"runs"`

	Steps          []stepDocument `json:"steps"`
	Interrupted    bool           `json:"interrupted"`
	Contradictions []string       `json:"contradictions"`
	Notes          []string       `json:"notes"`
}

// commitDocument is a commit and the results of its runs.
type commitDocument struct {
	Commit  string `json:"commit"`
	Tree    string `json:"tree"`
	Subject string `json:"subject"`
	Passed  int    `json:"passed"`
	Failed  int    `json:"failed"`
	Skipped bool   `json:"skipped"`
	Why     string `json:"why,omitempty"`
}

// stepDocument is one run.
type stepDocument struct {
	Commit  string            `json:"commit"`
	Role    gitbisect.Role    `json:"role"`
	Left    int               `json:"left"` // candidates when it was made
	Built   bool              `json:"built"`
	Verdict gitbisect.Verdict `json:"verdict"`
	Why     string            `json:"why,omitempty"`
}

// GitBisect returns the document of a search for a commit.
func GitBisect(f *gitbisect.Found) Document {
	return documentOf(f, gitBisectJSON, gitBisectText)
}

func gitBisectJSON(f *gitbisect.Found) *gitBisectDocument {
	d := &gitBisectDocument{
		Head: head("gitbisect", StatusOf(f), nil), Range: f.Range.Spec, Build: strings.Join(f.Build, " "), Test: f.Test,
		Left: commitsJSON(f, f.Left), Good: commitsJSON(f, f.Edge), Confirmed: f.Confirmed, Steady: f.Steady, Odds: f.Odds,
		Commits: f.Candidates, Runs: len(f.Steps), Interrupted: f.Interrupted,
		Notes: gitBisectNotes(f),
	}
	bad := commitJSON(f, f.Graph.Bad)
	d.Bad = &bad
	if f.First >= 0 {
		first := commitJSON(f, f.First)
		d.First = &first
	}
	d.Builds, d.SkippedBuilds, d.ConfirmingBuilds = f.Builds()
	for _, s := range f.Steps {
		d.Steps = append(d.Steps, stepDocument{f.Graph.Nodes[s.Commit].ID, s.Role, s.Left, s.Built, s.Verdict, s.Why})
	}
	for _, c := range f.Contradictions {
		d.Contradictions = append(d.Contradictions, contradictionText(f, c))
	}
	return d
}

func commitsJSON(f *gitbisect.Found, nodes []int) []commitDocument {
	return lists.Map(nodes, func(n int) commitDocument { return commitJSON(f, n) })
}

func commitJSON(f *gitbisect.Found, n int) commitDocument {
	c, t := f.Commits[n], &f.Tallies[n]
	return commitDocument{f.Graph.Nodes[n].ID, c.Tree, c.Subject, t.Passed, t.Failed, t.Skipped, t.Why}
}

// runsText describes the outcomes of all runs of a commit.
func runsText(t *gitbisect.Tally) string {
	switch {
	case t.Skipped:
		return "skipped: " + t.Why
	case t.Passed == 0 && t.Failed == 0:
		return "not run"
	case t.Failed == 0:
		return fmt.Sprintf("passes in %s", prose.Count(t.Passed, "run", "runs"))
	case t.Passed == 0:
		return fmt.Sprintf("fails in %s: %s", prose.Count(t.Failed, "run", "runs"), t.Why)
	}
	return fmt.Sprintf("fails in %d of %d runs", t.Failed, t.Failed+t.Passed)
}

// oddsText writes odds as one in so many.
func oddsText(odds float64) string {
	if n := math.Round(1 / odds); n < 1e6 {
		return fmt.Sprintf("1 in %.0f", n)
	}
	return "less than 1 in a million"
}

func contradictionText(f *gitbisect.Found, c gitbisect.Contradicted) string {
	id := gitbisect.Short(f.Graph.Nodes[c.Commit].ID)
	t := &f.Tallies[c.Commit]
	switch c.Kind {
	case gitbisect.NoLongerFails:
		how := "when it is run again"
		if i := slices.IndexFunc(f.Steps, func(s gitbisect.Step) bool {
			return s.Commit == c.Commit && s.Role == gitbisect.Confirms && s.Built
		}); i >= 0 {
			how = "when built again"
		}
		return fmt.Sprintf("the first bad commit no longer fails %s: %s failed in %s and then passed in %d", how, id, prose.Count(t.Failed, "run", "runs"), t.Passed)
	case gitbisect.GoodFails:
		return fmt.Sprintf("%s was to be good, as a good end or an ancestor of one, and fails in %d of %s: %s", id, t.Failed, prose.Count(t.Failed+t.Passed, "run", "runs"), t.Why)
	case gitbisect.Heals:
		return fmt.Sprintf("%s is good and descends from a bad commit: the fault was repaired there or before, and came back; there may be another first bad commit", id)
	}
	return string(c.Kind)
}

// gitBisectNotes returns the limits of the answer.
func gitBisectNotes(f *gitbisect.Found) (notes []string) {
	short := func(n int) string { return gitbisect.Short(f.Graph.Nodes[n].ID) }
	for n := range f.Tallies {
		if t := &f.Tallies[n]; t.Mixed() && n != f.First && (f.Steady || n == f.Graph.Bad) {
			notes = append(notes, fmt.Sprintf("%s fails in %d of %d runs", short(n), t.Failed, t.Failed+t.Passed))
		}
	}
	if f.First >= 0 && f.Tallies[f.First].Mixed() && f.Steady {
		notes = append(notes, "the bad end fails in each of its runs, the first bad commit only in some: a later commit may have changed how often")
	}
	for _, n := range f.Unconfirmed {
		notes = append(notes, fmt.Sprintf("%s was not run again: %s", short(n), f.Tallies[n].Why))
	}
	if f.First >= 0 && f.Odds >= gitbisect.MaxOdds {
		notes = append(notes, fmt.Sprintf("that a bad commit was taken for good has odds of %s, not below %s: it fails too seldom to be sure", oddsText(f.Odds), oddsText(gitbisect.MaxOdds)))
	}
	if f.Range.Shallow {
		notes = append(notes, "the repository is a shallow clone: commits that it lacks were not searched")
	}
	if f.Range.Submodules {
		notes = append(notes, "submodules are not checked out; a build command can do so: git submodule update --init")
	}
	return notes
}

func gitBisectHeadline(f *gitbisect.Found) string {
	switch {
	case f.Interrupted:
		return "  interrupted: the same command goes on from here"
	case f.BadIsGood:
		return "  the bad end passes all its runs: there is nothing to find"
	case len(f.Contradictions) > 0 && f.First < 0:
		return "  the runs contradict each other"
	case f.First >= 0:
		return "  first bad commit " + gitbisect.Short(f.Graph.Nodes[f.First].ID) + "  " + Safe(f.Commits[f.First].Subject)
	}
	return fmt.Sprintf("  the first bad commit is one of %d, and only the last of them can be tested", len(f.Left))
}

func gitBisectText(out *Text, f *gitbisect.Found, all bool) {
	s := out.Style
	short := func(n int) string { return gitbisect.Short(f.Graph.Nodes[n].ID) }
	out.put(s.Verdict(StatusOf(f)), gitBisectHeadline(f))
	out.Row("range", fmt.Sprintf("%s, %s", Safe(f.Range.Spec), prose.Count(f.Candidates, "commit", "commits")))
	if len(f.Build) > 0 {
		out.Row("build", Safe(strings.Join(f.Build, " ")))
	}
	out.Row("test", Safe(f.Test))
	name := "bad"
	for i, n := range f.Left {
		if i == shownTexts && !all && len(f.Left) > shownTexts+1 {
			out.Row("", s.faint.Sprintf("… and %d more  (--all)", len(f.Left)-i-1))
			n = f.Left[len(f.Left)-1]
		} else if i > shownTexts && !all {
			break
		}
		out.Row(name, s.bad.Sprint(short(n)), "  ", Safe(f.Commits[n].Subject), "; ", Safe(runsText(&f.Tallies[n])))
		name = ""
	}
	name = "good"
	for _, n := range f.Edge {
		out.Row(name, s.good.Sprint(short(n)), "  ", Safe(f.Commits[n].Subject), "; ", Safe(runsText(&f.Tallies[n])))
		name = ""
	}
	if f.BadIsGood {
		n := f.Graph.Bad
		out.Row("end", short(n), "  ", Safe(f.Commits[n].Subject), "; ", runsText(&f.Tallies[n]))
	}
	builds, skipped, confirming := f.Builds()
	text := fmt.Sprintf("%s, %s", prose.Count(builds, "build", "builds"), prose.Count(len(f.Steps), "run", "runs"))
	if skipped > 0 {
		text = fmt.Sprintf("%s, %d of them of commits that were skipped, %s", prose.Count(builds, "build", "builds"), skipped, prose.Count(len(f.Steps), "run", "runs"))
	}
	out.Row("tested", text)
	if f.Confirmed {
		again := "in the builds of the search"
		if confirming > 0 {
			again = prose.Count(confirming, "build of them was", "builds of them were") + " made again"
		}
		out.Row("again", fmt.Sprintf("both ends were run again, %s; odds that a good one is bad: %s", again, oddsText(f.Odds)))
	}
	for _, c := range f.Contradictions {
		out.Row("conflict", s.warn.Sprint(Safe(contradictionText(f, c))))
	}
	for _, note := range gitBisectNotes(f) {
		out.Row("note", Safe(note))
	}
	if len(f.Steps) > 0 {
		out.put()
		out.put("  what was tested")
		stepsText(out, f)
	}
}

// stepsText writes a line for each row of runs of one commit, in order.
func stepsText(out *Text, f *gitbisect.Found) {
	rows := [][]string{}
	for i := 0; i < len(f.Steps); {
		first := f.Steps[i]
		var row gitbisect.Tally
		built, why := false, ""
		j := i
		for ; j < len(f.Steps) && f.Steps[j].Commit == first.Commit && f.Steps[j].Role == first.Role && (j == i || !f.Steps[j].Built); j++ {
			step := &f.Steps[j]
			built = built || step.Built
			switch step.Verdict {
			case gitbisect.Good:
				row.Passed++
			case gitbisect.Bad:
				row.Failed++
			default:
				row.Skipped = row.Passed+row.Failed == 0
			}
			if why == "" || step.Verdict != gitbisect.Good {
				why = step.Why
			}
		}
		i = j
		role := string(first.Role)
		if first.Role == gitbisect.Middle {
			role = fmt.Sprintf("of %d", first.Left)
		}
		how := "run"
		if built {
			how = "built"
		}
		verdict := string(gitbisect.Good)
		switch {
		case row.Skipped:
			verdict = string(gitbisect.Skipped)
		case row.Failed > 0 && row.Passed > 0:
			verdict = fmt.Sprintf("bad in %d of %d", row.Failed, row.Failed+row.Passed)
		case row.Failed > 0:
			verdict = string(gitbisect.Bad)
		}
		if n := row.Passed + row.Failed; n > 1 && !row.Mixed() {
			verdict += fmt.Sprintf(" ×%d", n)
		}
		rows = append(rows, []string{role, gitbisect.Short(f.Graph.Nodes[first.Commit].ID), how, verdict, Safe(why)})
	}
	out.rows(rows, table{indent: "    "})
}
