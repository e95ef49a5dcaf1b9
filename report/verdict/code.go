package verdict

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/report/document"
)

// Coder compares what the builds do in a tick with the orders of a peer: the branches that they take, and what they write;
// nil for what nobody asked for. The error is why no tick was compared.
type Coder func(peer string, tick uint64) (*document.Branches, *document.Writes, error)

// code finds where in the code the builds depart, if somebody asked, and decides which finding counts.
func (c *Conclusion) code(e Evidence) {
	if e.Code == nil {
		return
	}
	c.Code = &document.Code{Kind: document.CodeUnknown}
	switch {
	case c.Bracket == nil:
		c.Code.Why = "no states are known to differ"
	case c.InitialState || c.Loaded != nil:
		c.Code.Why = "the states differ, but not by what a tick computes"
	case c.Tick == nil || !c.narrowed():
		c.Code.Why = "the divergent tick is not known"
	case len(c.Guilty) == 0:
		c.Code.Why = "no peer is known to be wrong whose orders the builds could play"
	default:
		b, w, err := e.Code(c.Guilty[0], c.Tick.Number)
		if err != nil {
			c.Code.Why = err.Error()
			return
		}
		c.Code = chosen(b, w)
	}
}

// chosen returns the finding that counts: a branch, unless it follows from values that differ before; else a write; else
// that branch, or that there is none.
func chosen(b *document.Branches, w *document.Writes) *document.Code {
	out := &document.Code{Kind: document.CodeUnknown, Branches: b, Writes: w}
	branch := b != nil && (b.Kind == document.CodeBranch || b.Kind == document.CodeUnsteady)
	written := w != nil && w.Tick != nil && w.Firsts() != [2]*document.Written{}
	switch {
	case branch && (!b.Consequence || !written):
		out.Kind, out.Tick, out.Equal, out.By, out.Stack = b.Kind, b.Tick, b.Equal, b.By, b.Stack
		if at := b.Leads(); at != nil {
			out.CodePlace = *at
		}
	case written:
		first := w.Firsts()
		out.Kind, out.Tick, out.Equal, out.By, out.Values = document.CodeWrite, w.Tick, uint64(max(w.Equal, 0)), "writes", map[string]string{}
		for i := range first { // the place of the build that is wrong, where it writes
			if f := first[i]; f != nil {
				out.CodePlace, out.Stack, out.Values[w.Builds[i].Name] = f.CodePlace, f.Stack, f.New
			}
		}
	case b != nil && b.Kind == document.CodeData:
		out.Kind, out.Tick, out.Equal, out.By = b.Kind, b.Tick, b.Equal, b.By
	default:
		var why []string
		if b != nil {
			why = append(why, b.Why)
		}
		if w != nil {
			why = append(why, w.Why)
		}
		why = slices.DeleteFunc(why, func(s string) bool { return s == "" })
		out.Why = strings.Join(slices.Compact(why), "; ")
	}
	return out
}

// line returns the line of the code at which the builds depart as names that are the same in every session, nil if it is
// not known, or if it follows from an earlier difference.
func (c *Conclusion) line() []string {
	k := c.Code
	if k == nil || k.Function == "" || k.Line == 0 || k.Branches != nil && k.Branches.Consequence && k.Kind != document.CodeWrite {
		return nil
	}
	return []string{k.Function, path.Base(strings.ReplaceAll(k.File, `\`, "/")) + ":" + strconv.Itoa(k.Line)}
}
