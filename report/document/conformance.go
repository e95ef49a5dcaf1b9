package document

import (
	"fmt"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/extsim"
)

// conformanceDocument is desynctool.sim-check/1: what a conformance test of a simulator
// outside this process found.
type conformanceDocument struct {
	Head
	Target string              `json:"target"`
	Name   string              `json:"name"`
	Build  string              `json:"build"`
	Can    []bisect.Capability `json:"can"`
	Checks []checkDocument     `json:"checks"`
}

// checkDocument is one part of a conformance test.
type checkDocument struct {
	Name    string         `json:"name"`
	Outcome extsim.Outcome `json:"outcome"`
	Detail  string         `json:"detail"`
}

// Conformance returns the document of a conformance test.
func Conformance(c *extsim.Conformance) Document {
	return Document{
		StatusOf(c),
		func() any { return conformanceJSON(c) },
		func(out *Text, all bool) { conformanceText(out, c) },
	}
}

func conformanceJSON(c *extsim.Conformance) *conformanceDocument {
	d := &conformanceDocument{
		Head:   head("sim-check", StatusOf(c), nil),
		Target: c.Target, Name: c.Name, Build: c.Build, Can: list(c.Can), Checks: []checkDocument{},
	}
	for _, f := range c.Findings {
		d.Checks = append(d.Checks, checkDocument(f))
	}
	return d
}

func conformanceText(out *Text, c *extsim.Conformance) {
	s := out.Style
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
}
