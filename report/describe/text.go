package describe

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// guessDocument is desynctool.describe/1.
type guessDocument struct {
	document.Head
	Page   string   `json:"page"` // the text of the page
	Files  []Files  `json:"files"`
	Tables []Table  `json:"tables"`
	RNG    []string `json:"rng"`
	Noise  []Noise  `json:"noise"`
	// NoiseCompared is set if nothing but noise differs, so that it is compared.
	NoiseCompared bool `json:"noise_compared,omitempty"`
}

// Document returns the JSON document of a page that was written.
func (g *Guess) Document(warnings []string) any {
	return &guessDocument{document.NewHead("describe", document.InSync, warnings), g.Page, g.Files, g.Tables, g.RNG, g.Noise, g.NoiseCompared}
}

// checkDocument is desynctool.describe-check/1.
type checkDocument struct {
	document.Head
	Game   string   `json:"game"`
	Page   string   `json:"page"` // its path
	Fits   bool     `json:"fits"`
	Files  []File   `json:"files"`
	Unused []Misfit `json:"unused"` // parts of the page that fit nothing
}

// Document returns the JSON document of a check.
func (c *Check) Document(warnings []string) any {
	return &checkDocument{document.NewHead("describe-check", document.StatusOf(c), warnings), c.Game, c.Page, !c.Incomplete(), c.Files, c.Unused}
}

// shownFiles and shownMisfits are how many files that fit and how many misfits of a file a person sees unless all are
// asked for.
const (
	shownFiles   = 24
	shownMisfits = 8
)

// Text writes a check for a person.
func (c *Check) Text(w io.Writer, s document.Style, all bool) error {
	out := s.Text(w)
	verdict := s.Paint(document.Good, "FITS")
	if c.Incomplete() {
		verdict = s.Paint(document.Warn, "DOES NOT FIT")
	}
	out.Line(verdict, "  ", prose.Name(c.Game), s.Paint(document.Faint, "  "+prose.Path(c.Page)))
	rows := [][]string{{"kind", "peer", "tick", "file", "what is read (rows × columns)"}}
	var misfits [][2]string
	left := 0
	for i := range c.Files {
		f := &c.Files[i]
		for k, m := range f.Misfits {
			if k == shownMisfits && !all {
				misfits = append(misfits, [2]string{prose.Path(f.Path), fmt.Sprintf("%d more  (--all)", len(f.Misfits)-k+f.MoreMisfits)})
				break
			}
			misfits = append(misfits, [2]string{at(prose.Path(f.Path), m.Line), m.Text})
		}
		if all && f.MoreMisfits > 0 {
			misfits = append(misfits, [2]string{prose.Path(f.Path), fmt.Sprintf("%d more, which are not kept", f.MoreMisfits)})
		}
		if len(rows) > shownFiles && !all {
			left++
			continue
		}
		rows = append(rows, f.row())
	}
	if len(rows) > 1 {
		out.Table(rows)
	}
	if left > 0 {
		out.Line(s.Paint(document.Faint, fmt.Sprintf("… and %s  (--all)", prose.Count(left, "more file", "more files"))))
	}
	for _, m := range c.Unused {
		misfits = append(misfits, [2]string{at(prose.Path(c.Page), m.Line), m.Text})
	}
	if len(misfits) > 0 {
		out.Line("")
	}
	for _, m := range misfits {
		out.Line(s.Paint(document.Warn, m[0]), ": ", document.Safe(m[1]))
	}
	return out.Err()
}

// at returns a place as compilers write it.
func at(path string, line int) string {
	if line == 0 {
		return path
	}
	return fmt.Sprintf("%s:%d", path, line)
}

// row returns what is read of a file as a row.
func (f *File) row() []string {
	kind, peer, tick := f.Kind, strings.Join(prose.Names(f.Peers), ", "), ""
	if peer == "" && slices.Contains([]string{"states", "logs", "inputs"}, kind) {
		peer = "by folder"
	}
	if f.First != nil {
		tick = fmt.Sprint(*f.First)
		if *f.Last != *f.First {
			tick = fmt.Sprintf("%d–%d", *f.First, *f.Last)
		}
	}
	var parts []string
	count := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, prose.Count(n, one, many))
		}
	}
	if f.States > 1 {
		count(f.States, "state", "states")
	}
	count(f.Checkpoints, "checkpoint", "checkpoints")
	count(f.Claims, "message about a desync", "messages about a desync")
	count(f.Orders, "order", "orders")
	var tables []string
	for _, t := range f.Tables {
		label := prose.Name(t.Label)
		if t.Class != "archetype" {
			label = t.Class + " " + label
		}
		tables = append(tables, fmt.Sprintf("%s %d×%d", label, t.Rows, t.Columns))
	}
	if len(tables) > 0 {
		parts = append(parts, strings.Join(tables, ", "))
	}
	switch {
	case len(parts) > 0:
	case f.Kind == "other":
		parts = []string{"nothing: no evidence"}
	case f.Kind == "" && f.Title != "":
		parts = []string{document.Safe(f.Title) + ", as without a page"}
	default:
		parts = []string{"nothing"}
	}
	kind = cmp.Or(kind, "–")
	return []string{kind, peer, tick, prose.Path(f.Path), strings.Join(parts, "; ")}
}
