package ci

import (
	"io"

	"github.com/desynctool/desynctool/report/document"
)

// Suite has the results of a command, as one suite of JUnit.
type Suite struct {
	Name  string // of the command: "desk check"
	Class string // "desynctool.desk"
	// Properties are pairs of a name and a value.
	Properties [][2]string
	Cases      []Case
	Warnings   []string
}

// Case is one thing that was checked.
type Case struct {
	Name string
	// Status is the outcome: Diverged is a failure, and any status other than that and InSync is an error.
	Status  document.Status
	Message string // of what is not well, in a line
	Text    []string
}

// JUnitOfSuite writes a suite.
func JUnitOfSuite(w io.Writer, s Suite) error {
	name := "desynctool " + s.Name
	suite := junitSuite{Name: name, Package: "desynctool", Err: text(s.Warnings)}
	for _, p := range s.Properties {
		suite.Properties = append(suite.Properties, junitProperty{safe(p[0], maxText), safe(p[1], maxText)})
	}
	for _, c := range s.Cases {
		suite.add(safe(c.Name, maxTitle), s.Class, c.Status, junitOutcome{safe(c.Message, maxText), string(c.Status), text(c.Text)})
	}
	return writeSuites(w, name, []junitSuite{suite})
}
