package document

import (
	"fmt"

	"github.com/desynctool/desynctool/bisect/extsim"
)

// conformanceDocument is desynctool.sim-check/1: the result of a conformance test of a simulator
// outside this process.
type conformanceDocument struct {
	Head
	*extsim.Conformance
}

// Conformance returns the document of a conformance test.
func Conformance(c *extsim.Conformance) Document {
	return documentOf(c, conformanceJSON, conformanceText)
}

func conformanceJSON(c *extsim.Conformance) *conformanceDocument {
	return &conformanceDocument{head("sim-check", StatusOf(c), nil), c}
}

func conformanceText(out *Text, c *extsim.Conformance, all bool) {
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
	out.put("  it calls itself ", Safe(fmt.Sprintf("%q, build %q", c.Name, c.Build)))
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
