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
		property := func(name, value string) {
			if value != "" {
				suite.Properties = append(suite.Properties, junitProperty{name, safe(value, maxText)})
			}
		}
		property("platform", r.Platform)
		property("game", r.Game)
		property("build", r.Build.Build)
		for _, name := range slices.Sorted(maps.Keys(r.Facts)) {
			property("fact_"+safe(name, maxText), r.Facts[name])
		}
		for k := range r.Replays {
			suite.add(goldenCase(&r.Replays[k], suite.Name))
		}
		suites = append(suites, suite)
	}
	if len(t.Unread) > 0 {
		suite := goldenSuite("results", len(suites))
		suite.add(junitCase{Name: "results", Classname: goldenClass, Time: noTime, Error: &junitOutcome{
			Message: "results cannot be used", Type: string(document.Failed), Text: text(t.Unread),
		}})
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
	suite.add(junitCase{Name: "golden", Classname: goldenClass, Time: noTime, Error: &junitOutcome{
		Message: "no result", Type: string(document.Failed), Text: text([]string{why}),
	}})
	return writeSuites(w, goldenName, []junitSuite{suite})
}

// goldenClass is the class of the test cases.
const goldenClass = "desynctool.golden"

func goldenSuite(label string, id int) junitSuite {
	return junitSuite{Name: goldenName + " " + safe(label, maxTitle), Package: fmt.Sprintf("desynctool.golden%d", id+1), ID: id, Hostname: "localhost", Time: noTime}
}

func goldenCase(o *golden.Outcome, suite string) junitCase {
	c := junitCase{Name: safe(o.Replay, maxTitle), Classname: goldenClass + "." + safe(strings.ReplaceAll(strings.TrimPrefix(suite, goldenName+" "), ".", "-"), maxTitle), Time: noTime}
	outcome := &junitOutcome{Message: safe(document.GoldenOutcome(o), maxText), Type: string(o.Result), Text: text([]string{document.GoldenOutcome(o)})}
	switch o.Result {
	case golden.Same:
	case golden.Diverged:
		c.Failure = outcome
	default:
		c.Error = outcome
	}
	return c
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
		list := texts[each]
		for i, one := range list {
			if i == room-1 && len(list) > room {
				annotate(&out, each, "more replays", fmt.Sprintf("and %d more, which the report lists", len(list)-i))
				break
			}
			annotate(&out, each, one[0], safe(one[1], maxAnnotation))
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}
