package ci

import (
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// The elements of JUnit's XML, which no standard defines: as in Jenkins' schema (junit-10.xsd) and the schema of Ant's
// JUnitReport, without the latter's time stamp, since the same report gives the same bytes.
type junitSuite struct {
	junitCounts
	Name       string
	Package    string
	ID         int
	Properties []junitProperty
	Cases      []junitCase
	Out        string
	Err        string
}

type junitCounts struct{ Tests, Failures, Errors int }

type junitProperty struct {
	Name  string
	Value string
}

type junitCase struct {
	Name      string
	Classname string
	Element   string // failure or error, "" for a test that passes
	junitOutcome
}

type junitOutcome struct {
	Message string
	Type    string
	Text    string
}

// triageName is the name of suites of triage.
const triageName = "desynctool triage"

// junitClass is the class of the test cases.
const junitClass = "desynctool.triage"

// add adds a test and counts it: it passes in sync, fails if its peers diverged, and is an error otherwise.
func (s *junitSuite) add(name, class string, status document.Status, outcome junitOutcome) {
	element := ""
	s.Tests++
	switch status {
	case document.InSync:
	case document.Diverged:
		element = "failure"
		s.Failures++
	default:
		element = "error"
		s.Errors++
	}
	s.Cases = append(s.Cases, junitCase{name, class, element, outcome})
}

// property adds a property unless its value is empty.
func (s *junitSuite) property(name, value string) {
	if value != "" {
		s.Properties = append(s.Properties, junitProperty{name, safe(value, maxText)})
	}
}

// noTime is the time that a test took: a report does not contain it.
const noTime = "0"

// JUnit writes a report as a suite of one test, which is named after the session. It fails if the peers diverged, and
// has an error if there is no verdict: evidence is lost, missing or unusable. The narrowing and the warnings are the
// suite's output.
func JUnit(w io.Writer, r *document.Report) error {
	return writeSuites(w, triageName, []junitSuite{suiteOf(r)})
}

// JUnitOfMatches writes a suite for each of several reports. Their names stay the same if other matches are added or the
// folder is moved, since CI systems keep the history of a test by its name.
func JUnitOfMatches(w io.Writer, each document.Each) error {
	var list []junitSuite
	seen := map[string]int{}
	for r, err := range each {
		if err != nil {
			return err
		}
		suite := suiteOf(r)
		suite.ID = len(list)
		name := &suite.Cases[0].Name
		if seen[*name]++; seen[*name] > 1 {
			*name += fmt.Sprintf(" (%d)", seen[*name])
		}
		suite.Name += " " + *name
		list = append(list, suite)
	}
	return writeSuites(w, triageName, list)
}

func suiteOf(r *document.Report) junitSuite {
	suite := junitSuite{Name: triageName, Package: "desynctool"}
	suite.add(sessionName(r), junitClass, r.Status, junitOutcome{title(r), safe(string(r.Status), maxText), text(summary(r))})
	property := suite.property
	property("status", string(r.Status))
	property("game", r.Session.Game)
	property("seed", r.Session.Seed)
	property("build", r.Session.Build)
	property("fingerprint", r.Fingerprint)
	for _, f := range r.Fingerprints {
		property("fingerprint_"+safe(string(f.Level), maxText), f.Digest)
	}
	if k := r.Code; k != nil && k.Kind != document.CodeUnknown && k.Kind != document.CodeData {
		property("code", k.String())
	}
	for _, p := range r.Peers {
		property("peer", p.Name)
	}
	var ladder []string
	for i := range r.Ladder {
		ladder = append(ladder, rungLine(&r.Ladder[i]))
	}
	suite.Out, suite.Err = text(ladder), text(r.Warnings)
	if r.Match != nil {
		property("match", r.Match.Name)
	}
	return suite
}

// attributes are the attributes of a suite's counts.
func (c junitCounts) attributes() []string {
	return []string{"tests", strconv.Itoa(c.Tests), "failures", strconv.Itoa(c.Failures), "errors", strconv.Itoa(c.Errors)}
}

func (s *junitSuite) write(x *xmlDocument) {
	x.begin("testsuite", slices.Concat([]string{"name", s.Name, "package", s.Package, "id", strconv.Itoa(s.ID), "hostname", "localhost"}, s.attributes(), []string{"time", noTime})...)
	if len(s.Properties) > 0 {
		x.begin("properties")
		for _, p := range s.Properties {
			x.element("property", "", "name", p.Name, "value", p.Value)
		}
		x.end()
	}
	for _, c := range s.Cases {
		x.begin("testcase", "name", c.Name, "classname", c.Classname, "time", noTime)
		if c.Element != "" {
			x.element(c.Element, c.Text, "message", c.Message, "type", c.Type)
		}
		x.end()
	}
	x.element("system-out", s.Out)
	x.element("system-err", s.Err)
	x.end()
}

func writeSuites(w io.Writer, name string, suites []junitSuite) error {
	var all junitCounts
	for _, s := range suites {
		all.Tests, all.Failures, all.Errors = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors
	}
	var x xmlDocument
	x.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
	x.begin("testsuites", append([]string{"name", name}, all.attributes()...)...)
	for i := range suites {
		suites[i].write(&x)
	}
	x.end()
	_, err := io.WriteString(w, x.String()+"\n")
	return err
}

// sessionName names a session by its game and its match, else by its game and seed, else by its peers:
// "openttd, seed 00000000000004d2". A match that is named after a folder has the folder's name, without the path.
func sessionName(r *document.Report) string {
	var parts []string
	if r.Session.Game != "" {
		parts = append(parts, r.Session.Game)
	}
	if r.Match != nil && r.Match.Name != "" {
		name, folder, in := strings.Cut(r.Match.Name, " in ")
		if name = path.Base(filepath.ToSlash(name)); in {
			name += " in " + path.Base(filepath.ToSlash(folder))
		}
		parts = append(parts, name)
	} else if r.Session.Seed != "" {
		parts = append(parts, "seed "+r.Session.Seed)
	} else if len(r.Peers) > 0 {
		const most = 4
		names := lists.Map(r.Peers[:min(len(r.Peers), most)], func(p document.TriagedPeer) string { return prose.Name(p.Name) })
		if more := len(r.Peers) - len(names); more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		parts = append(parts, strings.Join(names, " and "))
	}
	if name := safe(strings.Join(parts, ", "), maxTitle); strings.TrimSpace(name) != "" {
		return name
	}
	return "session"
}

func rungLine(s *document.Rung) string {
	line := safe(s.Step, maxText) + " " + safe(string(s.State), maxText) + ": " + safe(s.Found, maxText)
	if s.Evidence != "" {
		line += " (" + safe(s.Evidence, maxText) + ")"
	}
	return line
}

// text joins lines that become the content of an element.
func text(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(safe(line, 4*maxText) + "\n")
	}
	return b.String()
}
