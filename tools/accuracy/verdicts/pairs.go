package verdicts

import (
	"fmt"
	"io"
	"slices"

	"github.com/desynctool/desynctool/report/document"
)

// Pairs counts pairs of reports that share the fingerprint of a level.
type Pairs struct {
	OneBug, OfOneBug int // pairs of reports of one bug
	Others, OfOthers int // pairs of reports of different bugs
}

// PairsOf counts all pairs of reports with a view. A pair shares a level as triage --same-by has it: the level's
// fingerprint, or the strict one.
func PairsOf(list []Grouped, view View, level document.Level) (p Pairs) {
	list = only(list, func(g *Grouped) bool { return g.View == view })
	for i := range list {
		for k := range i {
			n, of := &p.Others, &p.OfOthers
			if list[i].Bug == list[k].Bug {
				n, of = &p.OneBug, &p.OfOneBug
			}
			if *of++; list[i].shares(&list[k], level) {
				*n++
			}
		}
	}
	return p
}

func (g *Grouped) shares(other *Grouped, level document.Level) bool {
	return g.Strict != "" && g.Strict == other.Strict || slices.ContainsFunc(g.Found, func(f document.Fingerprint) bool {
		return f.Level == level && slices.ContainsFunc(other.Found, func(o document.Fingerprint) bool { return o.Level == level && o.Digest == f.Digest })
	})
}

// PairTable writes rows of a Markdown table with the levels of --same-by, for one game.
func PairTable(w io.Writer, game string, list []Grouped, views ...View) error {
	for _, v := range views {
		for _, level := range document.SameBy() {
			p := PairsOf(list, v, level)
			if _, err := fmt.Fprintf(w, "| %s, %s | %s | %s | %s |\n", game, v, level, share(p.OneBug, p.OfOneBug), share(p.Others, p.OfOthers)); err != nil {
				return err
			}
		}
	}
	return nil
}

// share returns "24 of 660 (3.6 %)".
func share(n, of int) string {
	return fmt.Sprintf("%d of %d (%.1f %%)", n, of, 100*float64(n)/float64(max(of, 1)))
}
