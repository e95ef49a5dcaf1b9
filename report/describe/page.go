package describe

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/survey"
	"github.com/desynctool/desynctool/snapshot"
)

// position returns the paths from a row to its place on the ground, nil if no names show two coordinates.
func position(t *Table) (out []string) {
	var columns []snapshot.ColumnInfo
	for _, c := range t.Columns {
		columns = append(columns, snapshot.ColumnInfo{Schema: snapshot.Schema{Component: c.component, Field: c.field, Type: snapshot.Scalar}})
	}
	axes, names := compare.PlaceColumns(columns)
	if len(axes) != 2 {
		return nil
	}
	for _, name := range names {
		i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.component+"."+c.field == name })
		if t.Columns[i].Path == "" || !description.IsPath(t.Columns[i].Name) {
			return nil
		}
		out = append(out, t.Columns[i].Name)
	}
	return out
}

// writer writes a page.
type writer struct {
	guess  *Guess
	groups []survey.Group
	out    strings.Builder
}

// line writes a line.
func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.out, format, args...)
	w.out.WriteByte('\n')
}

// page returns the page.
func (w *writer) page() string {
	w.line("# The files of a game, as desynctool understood them by itself: every line below is a guess. Correct what is wrong,")
	w.line("# and check the page with: desynctool describe --check PATH. The keys are in docs/anygame.md.")
	w.line("")
	w.line("game = \"My game\"  # its name in reports")
	w.files()
	w.lines()
	w.names()
	w.state()
	w.tables()
	return w.out.String()
}

// files writes the patterns of each kind of files.
func (w *writer) files() {
	w.line("")
	w.line("[files]")
	for kind := description.State; kind <= description.Other; kind++ {
		var globs []string
		whole := true
		for _, f := range w.guess.Files {
			if f.Kind != kind.String() {
				continue
			}
			what := prose.Printable(f.Title)
			if kind == description.State {
				what = "states as " + what
			}
			if kind == description.Other {
				what = "not read; take out what is evidence"
			}
			w.line("# %s (%s): %s", prose.Count(len(f.Paths), "file", "files"), prose.Printable(filepath.Base(f.Paths[0])), what)
			for _, glob := range f.Globs {
				if !slices.Contains(globs, glob) {
					globs = append(globs, glob)
				}
			}
			whole = whole && len(f.Globs) > 0
		}
		switch {
		case !whole:
			w.line("# No globs fit these files and no others: left to desynctool.")
		case len(globs) > 0:
			w.line("%s = %s", kind, list(globs))
		}
	}
}

// lines writes patterns for the lines with checksums, as comments: desynctool reads these lines without them, and also
// sees then which checksums were predicted or of other peers.
func (w *writer) lines() {
	var done []string
	for _, g := range w.groups {
		for _, pattern := range g.Lines {
			if slices.Contains(done, pattern) {
				continue
			}
			if len(done) == 0 {
				w.line("")
				w.line("# The lines with checksums. desynctool finds them by itself: %s", prose.Printable(g.Title))
				w.line("# Where that is wrong, remove the signs # and correct the patterns. Then no other lines have checksums.")
			}
			done = append(done, pattern)
			w.line("#[[line]]  # %s", prose.Printable(filepath.Base(g.Files[0])))
			w.line("#pattern = '%s'", pattern)
		}
	}
}

// states returns the groups of states.
func (w *writer) states() []survey.Group {
	return slices.DeleteFunc(slices.Clone(w.groups), func(g survey.Group) bool { return g.Kind != description.State })
}

// byNames reports whether the names of all states show their ticks.
func (w *writer) byNames() bool {
	return !slices.ContainsFunc(w.states(), func(g survey.Group) bool { return !g.Named })
}

// inStates returns the path to something that all states have at one path, empty if they do not.
func (w *writer) inStates(of func(*survey.Group) string) string {
	found := ""
	for i, g := range w.states() {
		if path := of(&g); i > 0 && path != found || !description.IsPath(path) {
			return ""
		} else {
			found = path
		}
	}
	return found
}

func tickOf(g *survey.Group) string { return g.Tick }
func peerOf(g *survey.Group) string { return g.Peer }

// names writes where the tick and the peer are in names.
func (w *writer) names() {
	var patterns, examples []string
	shown := false
	for _, g := range w.groups {
		shown = shown || g.Named || g.NamesPeer
		switch {
		case !g.Named && !g.NamesPeer || slices.Contains(patterns, g.Pattern):
			continue
		case g.Pattern == "":
			patterns = nil
		default:
			patterns, examples = append(patterns, g.Pattern), append(examples, prose.Printable(filepath.Base(g.Files[0])))
			continue
		}
		break
	}
	if shown {
		w.line("")
	}
	var folders []string
	for _, g := range w.states() {
		if dir := filepath.Base(filepath.Dir(g.Files[0])); !g.NamesPeer && g.Peer == "" && !slices.Contains(folders, dir) {
			folders = append(folders, dir)
		}
	}
	switch {
	case !shown:
		return
	case !w.fits(patterns):
		w.line("# Names of files show the tick or the peer, and no patterns fit all of them: left to desynctool.")
		return
	}
	w.line("[names]")
	if len(patterns) == 1 {
		w.line("pattern = %s  # %s", text(patterns[0]), examples[0])
	} else {
		w.line("pattern = [")
		for i, p := range patterns {
			w.line("  %s,  # %s", text(p), examples[i])
		}
		w.line("]")
	}
	if len(folders) > 1 {
		w.line("# The peer is the folder: %s.", prose.Few(prose.Names(folders), 4))
	}
}

// fits reports whether the first pattern that fits the name of a file is the right one, and no pattern fits a file with
// a name that shows nothing.
func (w *writer) fits(patterns []string) bool {
	if len(patterns) == 0 {
		return false
	}
	page := "game = 'x'\n[names]\npattern = " + list(patterns) + "\n"
	d, err := description.Parse([]byte(page), description.Base)
	if err != nil {
		return false
	}
	for _, g := range w.groups {
		for _, path := range g.Files {
			fits := ""
			for i, p := range d.Name {
				if fits == "" && p.MatchString(compression.PlainName(filepath.Base(path))) {
					fits = patterns[i]
				}
			}
			if fits != g.Pattern {
				return false
			}
		}
	}
	return true
}

// state writes where parts of the states are.
func (w *writer) state() {
	g := w.guess
	tick, peer := w.inStates(tickOf), w.inStates(peerOf)
	var noise []Noise
	unnamed := 0
	for _, n := range g.Noise {
		if n.Path != "" {
			noise = append(noise, n)
		} else {
			unnamed++
		}
	}
	if len(w.states()) == 0 || tick == "" && peer == "" && len(g.RNG)+len(g.Noise) == 0 {
		return
	}
	w.line("")
	w.line("[state]")
	switch {
	case tick != "" && w.byNames():
		w.line("# The tick is also at %s, and the same as in the names.", prose.Printable(tick))
	case tick != "":
		w.line("tick = %s", text(tick))
	}
	if peer != "" {
		w.line("peer = %s", text(peer))
	}
	if len(g.RNG) > 0 {
		w.line("rng = %s  # by the names", list(g.RNG))
	}
	mark := ""
	if g.NoiseCompared {
		mark = "# "
		w.line("# These differ in every dump, and nothing else does. If they are noise, take the marks of comments away.")
	}
	if len(noise) > 0 {
		w.line("%snoise = [", mark)
		for _, n := range noise {
			why := "differs in every dump, while nothing else differs in several"
			if n.Looks {
				why = "differs in every dump, and looks like a clock, a path, a machine or an address"
			}
			w.line("%s  %s,  # %s", mark, text(n.Path), why)
		}
		w.line("%s]", mark)
	}
	if unnamed > 0 {
		w.line("# %s without a path of their own: left to desynctool.", prose.Count(unnamed, "more column is noise,", "more columns are noise,"))
	}
}

// tables writes the tables.
func (w *writer) tables() {
	for i := range w.guess.Tables {
		t := &w.guess.Tables[i]
		w.line("")
		mark := ""
		switch {
		case t.By == "only row":
			w.line("# What belongs to no table is the only row of the table %s.", prose.Name(t.Label))
			w.columns(t)
			continue
		case !t.described || t.Path == "" && t.Key == "" && t.Position == nil:
			mark = "# "
		}
		w.line("# %s: %s", prose.Name(t.Label), prose.Count(t.Rows, "row at most", "rows at most"))
		w.line("%s[[table]]", mark)
		w.line("%spath = %s", mark, text(t.Path))
		words := (&document.Identified{Table: t.Label, Key: t.Key, By: t.By}).Why()
		if t.Key != "" {
			w.line("%skey = %s  # %s", mark, text(t.Key), words)
		} else {
			w.line("# no key: rows are found again by %s", words)
		}
		if t.Position != nil {
			w.line("%sposition = %s  # by the names", mark, list(t.Position))
		}
		w.columns(t)
	}
}

// mostColumns is how many columns of a table a page lists.
const mostColumns = 64

// columns writes the columns of a table with their types, as a comment.
func (w *writer) columns(t *Table) {
	for i, c := range t.Columns {
		if i == mostColumns {
			w.line("#   and %d more", len(t.Columns)-i)
			break
		}
		name := cmp.Or(c.Name, "(the value)")
		w.line("#   %s", strings.TrimSuffix(prose.Printable(name)+": "+strings.Join(c.Types, " or "), ": "))
	}
}

// text returns a text in the notation of a page.
func text(s string) string {
	if strings.ContainsAny(s, `\"`) && !strings.ContainsFunc(s, func(r rune) bool { return r == '\'' || prose.Unseen(r) }) {
		return "'" + s + "'"
	}
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r != utf8.RuneError && prose.Unseen(r):
			fmt.Fprintf(&out, `\U%08X`, r)
		default:
			out.WriteRune(r)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// list returns a list of texts in the notation of a page.
func list(texts []string) string {
	out := lists.Map(texts, text)
	if one := "[" + strings.Join(out, ", ") + "]"; len(one) < 100 || len(out) == 1 {
		return one
	}
	return "[\n  " + strings.Join(out, ",\n  ") + ",\n]"
}
