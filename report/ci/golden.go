package ci

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect/golden"
	"github.com/desynctool/desynctool/report/document"
)

// goldenName is the name of suites of golden replays.
const goldenName = "desynctool golden"

// JUnitOfGolden writes a suite for each run of golden replays, which is named after its platform and build, with a test
// for each replay: it fails if the replay differs from its golden trace, and has an error if it was not played or is
// unusable.
func JUnitOfGolden(w io.Writer, t *golden.Table) error {
	var suites []junitSuite
	labels := t.Labels()
	for i := range t.Runs {
		r := &t.Runs[i]
		suite := goldenSuite(labels[i], i)
		suite.property("platform", r.Platform)
		suite.property("game", r.Game)
		suite.property("build", r.Build.Build)
		for _, name := range slices.Sorted(maps.Keys(r.Facts)) {
			suite.property("fact_"+safe(name, maxText), r.Facts[name])
		}
		for k := range r.Replays {
			suite.addReplay(&r.Replays[k])
		}
		suites = append(suites, suite)
	}
	if len(t.Unread) > 0 {
		suite := goldenSuite("results", len(suites))
		suite.add("results", goldenClass, document.Failed, junitOutcome{"results cannot be used", string(document.Failed), text(t.Unread)})
		suites = append(suites, suite)
	}
	if facts := document.GoldenFacts(t); len(suites) > 0 {
		suites[0].Out = text(facts)
	}
	return writeSuites(w, goldenName, suites)
}

// JUnitOfGoldenFailed writes a suite of one test with an error, for a command that ended without a result.
func JUnitOfGoldenFailed(w io.Writer, why string) error {
	suite := goldenSuite("", 0)
	suite.Name = goldenName
	suite.add("golden", goldenClass, document.Failed, junitOutcome{"no result", string(document.Failed), text([]string{why})})
	return writeSuites(w, goldenName, []junitSuite{suite})
}

// goldenClass is the class of the test cases.
const goldenClass = "desynctool.golden"

func goldenSuite(label string, id int) junitSuite {
	return junitSuite{Name: goldenName + " " + safe(label, maxTitle), Package: fmt.Sprintf("desynctool.golden%d", id+1), ID: id}
}

// addReplay adds a test for a golden replay.
func (s *junitSuite) addReplay(o *golden.Outcome) {
	class := goldenClass + "." + safe(strings.ReplaceAll(strings.TrimPrefix(s.Name, goldenName+" "), ".", "-"), maxTitle)
	status := map[golden.Result]document.Status{golden.Same: document.InSync, golden.Diverged: document.Diverged}[o.Result]
	outcome := document.GoldenOutcome(o)
	s.add(safe(o.Replay, maxTitle), class, status, junitOutcome{safe(outcome, maxText), string(o.Result), text([]string{outcome})})
}

// GitHubOfGolden writes golden replays as workflow commands: an error for each that differs, a warning for each that was not
// played or is unusable and for results that cannot be used, at most ten of a kind, and a notice if all is well.
func GitHubOfGolden(w io.Writer, t *golden.Table) error {
	var out strings.Builder
	labels := t.Labels()
	texts := map[string][][2]string{}
	add := func(kind, title, message string) { texts[kind] = append(texts[kind], [2]string{title, message}) }
	for i := range t.Runs {
		for k := range t.Runs[i].Replays {
			o := &t.Runs[i].Replays[k]
			title := fmt.Sprintf("%s on %s", safe(o.Replay, maxTitle), safe(labels[i], maxTitle))
			switch o.Result {
			case golden.Same:
			case golden.Diverged:
				add("error", title, document.GoldenOutcome(o))
			default:
				add("warning", title, document.GoldenOutcome(o))
			}
		}
	}
	for _, unread := range t.Unread {
		add("warning", "results cannot be used", unread)
	}
	summary := append([]string{document.GoldenTitle(t)}, document.GoldenFacts(t)...)
	for i := range summary {
		summary[i] = safe(summary[i], maxText)
	}
	kind := "notice"
	switch document.StatusOf(t) {
	case document.Diverged, document.Failed:
		kind = "error"
	case document.Inconclusive:
		kind = "warning"
	}
	annotate(&out, kind, "golden replays", strings.Join(summary, "\n"))
	for _, each := range []string{"error", "warning"} {
		room := maxAnnotations
		if each == kind {
			room-- // the summary is one
		}
		annotateAll(&out, each, "more replays", texts[each], room)
	}
	_, err := io.WriteString(w, out.String())
	return err
}
