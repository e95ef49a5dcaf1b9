package report

import (
	"fmt"
	"io"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/extsim"
)

// ConformanceDocument is desynctool.sim-check/1: what a conformance test of a simulator
// outside this process found.
type ConformanceDocument struct {
	Head
	Target string              `json:"target"`
	Name   string              `json:"name"`
	Build  string              `json:"build"`
	Can    []bisect.Capability `json:"can"`
	Checks []CheckDocument     `json:"checks"`
}

// CheckDocument is one part of a conformance test.
type CheckDocument struct {
	Name    string         `json:"name"`
	Outcome extsim.Outcome `json:"outcome"`
	Detail  string         `json:"detail"`
}

// ConformanceStatus returns the outcome of a conformance test.
func ConformanceStatus(c *extsim.Conformance) Status {
	if c.Passed() {
		return InSync
	}
	return Diverged
}

// Conformance returns the JSON document of a conformance test.
func Conformance(c *extsim.Conformance) *ConformanceDocument {
	d := &ConformanceDocument{
		Head:   head("sim-check", ConformanceStatus(c), nil),
		Target: c.Target, Name: c.Name, Build: c.Build, Can: list(c.Can), Checks: []CheckDocument{},
	}
	for _, f := range c.Findings {
		d.Checks = append(d.Checks, CheckDocument(f))
	}
	return d
}

// ConformanceText writes a conformance test for a person.
func ConformanceText(w io.Writer, c *extsim.Conformance, s Style) error {
	out := lines{w: w}
	wrong, supported := 0, 0
	for _, f := range c.Findings {
		if f.Outcome != extsim.Skipped {
			supported++
		}
		if f.Outcome == extsim.Wrong {
			wrong++
		}
	}
	verdict := s.good.Sprintf("CONFORMS: %d parts, all it supports", supported)
	if wrong > 0 {
		verdict = s.bad.Sprintf("WRONG in %d of %d parts", wrong, supported)
	}
	out.put(verdict, ": ", Safe(c.Target))
	out.put("  it says it is ", Safe(fmt.Sprintf("%q, build %q", c.Name, c.Build)))
	out.put()
	for _, f := range c.Findings {
		name := fmt.Sprintf("%-17s ", f.Name)
		switch f.Outcome {
		case extsim.Passed:
			out.put("  ", s.good.Sprint("ok     "), name, Safe(f.Detail))
		case extsim.Wrong:
			out.put("  ", s.bad.Sprint("WRONG  "), name, Safe(f.Detail))
		default:
			out.put("  ", s.faint.Sprint("-      "+name+string(f.Outcome)))
		}
	}
	return out.err
}
