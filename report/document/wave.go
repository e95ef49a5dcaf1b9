package document

import "github.com/desynctool/desynctool/internal/prose"

// Wave is one or more parts of the state that differed from one tick to another, equally often.
type Wave struct {
	CascadeDocument          // the first part
	Parts           []string // names of the scopes, or of the systems where no scope is known
}

// Waves joins the neighbouring parts of a cascade that differ from and to the same tick, after the same system if they
// have scopes.
func Waves(cascade []CascadeDocument) []Wave {
	var out []Wave
	var last CascadeDocument
	for _, c := range cascade {
		alike := c // what parts of one wave have in common
		if c.Scope == "" {
			alike.System = ""
		} else {
			alike.Scope = "any"
		}
		if len(out) == 0 || alike != last {
			out = append(out, Wave{CascadeDocument: c})
		}
		last = alike
		w := &out[len(out)-1]
		w.Parts = append(w.Parts, partName(c))
	}
	return out
}

// partName names a part of a cascade.
func partName(c CascadeDocument) string {
	switch {
	case c.Scope != "":
		return prose.Name(c.Scope)
	case c.System != "":
		return prose.Name(c.System)
	}
	return "an unnamed checkpoint"
}

// Text names the first parts, at most so many, and the system if they are scopes: "Health, Ammo and 3 more after Combat".
func (w *Wave) Text(most int) string {
	text := prose.FirstOf(w.Parts, most)
	if w.Scope != "" && w.System != "" {
		text += " after " + prose.Name(w.System)
	}
	return text
}
