// Package describe writes the page desynctool.toml of a game from the guesses that desynctool makes about its files without
// one, and checks how a page fits files.
//
// A page that [New] writes changes no answer: with it the same files are read in the same way. A guess that no key can
// express is left out, and stays a guess.
package describe

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/survey"
	"github.com/desynctool/desynctool/snapshot"
)

// Guess is a page, and the guesses in it.
type Guess struct {
	Files  []Files
	Tables []Table
	RNG    []string // paths
	Noise  []Noise
	// NoiseCompared is set if nothing but noise differs, so that it is compared.
	NoiseCompared bool
	Page          string
}

// Files are files of a kind with names of one form. The files of the kind other are not read.
type Files struct {
	Kind  string   `json:"kind"`
	Title string   `json:"title,omitempty"`
	Paths []string `json:"paths"`
	Globs []string `json:"globs"`
}

// Table is a table of the states.
type Table struct {
	Label    string   `json:"table"`
	Path     string   `json:"path"`
	Key      string   `json:"key,omitempty"`
	By       string   `json:"by"` // see document.Identified
	Rows     int      `json:"rows"`
	Position []string `json:"position,omitempty"`
	Columns  []Column `json:"columns"`

	described bool // it has a separate place on the page
}

// Column is a column of a table.
type Column struct {
	Name  string   `json:"name"`
	Path  string   `json:"path,omitempty"` // from the document on, empty if it has none
	Types []string `json:"types"`

	component, field string
}

// Noise is a column that differs between peers in every dump.
type Noise struct {
	Table string `json:"table"`
	Name  string `json:"name"`
	Path  string `json:"path,omitempty"` // empty if no path is that column alone
	Looks bool   `json:"looks_like_noise"`
}

// mostRead is how many files with states are read for types of columns.
const mostRead = 24

// New writes a page from a survey without one.
func New(s *survey.Survey) (*Guess, error) {
	if known := s.Known(); known != "" {
		return nil, fmt.Errorf("%s has a known format, and needs no page", known)
	}
	g := &Guess{RNG: slices.DeleteFunc(slices.Clone(s.RNG()), func(path string) bool { return !description.IsPath(path) })}
	groups := s.Groups()
	if len(groups) == 0 {
		return nil, fmt.Errorf("no states, logs or inputs are understood in these files: %w", frame.ErrLacking)
	}
	g.files(s, groups)
	g.tables(s)
	g.types(s, groups)
	g.noise(s)
	g.Page = (&writer{guess: g, groups: groups}).page()
	if _, err := description.Parse([]byte(g.Page), description.Base); err != nil {
		return nil, fmt.Errorf("a page that cannot be read: %w", err)
	}
	return g, nil
}

// files finds globs for the files of each kind that fit no others.
func (g *Guess) files(s *survey.Survey, groups []survey.Group) {
	kinds := map[string]description.Kind{}
	for _, group := range groups {
		for _, path := range group.Files {
			if kinds[path] == description.Undescribed {
				kinds[path] = group.Kind
			}
		}
	}
	for _, group := range groups {
		paths := slices.DeleteFunc(slices.Clone(group.Files), func(path string) bool { return kinds[path] != group.Kind })
		if len(paths) > 0 {
			g.add(s, kinds, Files{Kind: group.Kind.String(), Title: group.Title, Paths: paths}, group.Kind, group.Globs)
		}
	}
	rest := Files{Kind: description.Other.String()}
	for _, path := range s.Files() {
		if kinds[path] == description.Undescribed {
			rest.Paths = append(rest.Paths, path)
		}
	}
	if len(rest.Paths) > 0 {
		g.add(s, kinds, rest, description.Undescribed, nil)
	}
}

// add adds files with the first glob that fits none of another kind, or with their names.
func (g *Guess) add(s *survey.Survey, kinds map[string]description.Kind, f Files, kind description.Kind, globs []string) {
	alone := func(glob string) bool {
		return !slices.ContainsFunc(s.Files(), func(path string) bool { return kinds[path] != kind && description.Fits(glob, path) })
	}
	if i := slices.IndexFunc(globs, alone); i >= 0 {
		f.Globs = globs[i : i+1]
	} else {
		f.Globs = named(f.Paths, alone)
	}
	if i := slices.IndexFunc(g.Files, func(o Files) bool { return o.Kind == f.Kind && slices.Equal(o.Globs, f.Globs) && o.Title == f.Title }); i >= 0 {
		g.Files[i].Paths = append(g.Files[i].Paths, f.Paths...)
		return
	}
	g.Files = append(g.Files, f)
}

// mostNames is how many globs there are of files that have no form in common.
const mostNames = 100

// named returns globs for single files, as short as they can be. Of many files it returns globs for the endings of their
// names, none if others have these.
func named(paths []string, alone func(glob string) bool) (out []string) {
	if len(paths) > mostNames {
		for _, file := range paths {
			if glob := "*" + survey.Literal(filepath.Ext(file)); !slices.Contains(out, glob) {
				out = append(out, glob)
			}
		}
		if len(out) <= mostNames && !slices.ContainsFunc(out, func(glob string) bool { return !alone(glob) }) {
			return out
		}
		out = nil
	}
	for _, file := range paths {
		if slices.ContainsFunc(out, func(glob string) bool { return description.Fits(glob, file) }) {
			continue
		}
		base, dir := filepath.Base(file), survey.Literal(filepath.Base(filepath.Dir(file)))
		candidates := []string{survey.AnyNumbers(base), survey.Literal(base), path.Join(dir, survey.Literal(base))}
		i := slices.IndexFunc(candidates, alone)
		if i < 0 || len(out) == mostNames {
			return nil
		}
		out = append(out, candidates[i])
	}
	return out
}

// tables takes the tables and their columns.
func (g *Guess) tables(s *survey.Survey) {
	count := map[string]int{}
	for _, t := range s.Tables() {
		if t.HasRows() {
			count[t.Path]++
		}
	}
	for _, t := range s.Tables() {
		out := Table{Label: t.Label, Path: t.Path, Key: t.Key, By: string(t.Why)}
		for _, c := range t.Columns {
			name := c.Component + "." + c.Field
			if c.Path != "" {
				name = strings.TrimPrefix(strings.TrimPrefix(c.Path, t.Path), ".")
			}
			out.Columns = append(out.Columns, Column{Name: name, Path: c.Path, component: c.Component, field: c.Field})
		}
		out.described = t.HasRows() && count[t.Path] == 1 && (t.Path == "" || description.IsPath(t.Path)) && (t.Key == "" || description.IsPath(t.Key))
		if out.described {
			out.Position = position(&out)
		}
		g.Tables = append(g.Tables, out)
	}
}

// types reads some states to find out what the values of columns are, and how many rows tables have.
func (g *Guess) types(s *survey.Survey, groups []survey.Group) {
	type place struct{ table, component, field string }
	columns, tables := map[place]*Column{}, map[string]*Table{}
	for i := range g.Tables {
		t := &g.Tables[i]
		tables[t.Label] = t
		for k := range t.Columns {
			columns[place{t.Label, t.Columns[k].component, t.Columns[k].field}] = &t.Columns[k]
		}
	}
	for _, path := range some(groups) {
		content, err := s.States(path)
		if err != nil {
			continue // triage reports what cannot be read
		}
		for _, w := range content.Worlds {
			for i := range w.Tables {
				t := &w.Tables[i]
				if to := tables[t.Label]; to != nil {
					to.Rows = max(to.Rows, t.Rows())
				}
				for k := range t.Columns {
					c := &t.Columns[k]
					if to := columns[place{t.Label, c.Component, c.Field}]; to != nil {
						to.Types = typesOf(to.Types, c)
					}
				}
			}
		}
	}
}

// some returns some of the files with states.
func some(groups []survey.Group) (out []string) {
	states := lists.Count(groups, func(g survey.Group) bool { return g.Kind == description.State })
	for _, g := range groups {
		if g.Kind == description.State {
			out = append(out, survey.Picks(g.Files, max(1, mostRead/states))...)
		}
	}
	return out[:min(len(out), mostRead)]
}

// typesOf adds the types of the values of a column to others.
func typesOf(types []string, c *snapshot.Column) []string {
	for row := range c.Rows() {
		if !c.Has(row) {
			continue
		}
		if t := typeOf(c.Raw(row)); !slices.Contains(types, t) {
			types = append(types, t)
		}
	}
	if slices.Contains(types, "number") { // which an integer is, too
		types = slices.DeleteFunc(types, func(t string) bool { return t == "integer" })
	}
	slices.Sort(types)
	return types
}

// typeOf returns the type of a value as a snapshot.Scalar has it.
func typeOf(raw []byte) string {
	switch {
	case len(raw) > 0 && raw[0] == '"':
		return "text"
	case len(raw) > 0 && raw[0] == 'x':
		return "bytes"
	case string(raw) == "true" || string(raw) == "false":
		return "boolean"
	case string(raw) == "null":
		return "null"
	case strings.Trim(string(raw), "-0123456789") == "":
		return "integer"
	}
	return "number"
}

// noise takes the columns that are noise. A path is kept if all that it leads to is noise.
func (g *Guess) noise(s *survey.Survey) {
	list, compared := s.Noise()
	g.NoiseCompared = compared
	noisy := func(t *Table, c *Column) bool {
		return slices.ContainsFunc(list, func(n survey.NoisyColumn) bool {
			return n.Table == t.Label && n.Component == c.component && n.Field == c.field
		})
	}
	for _, n := range list {
		path := n.Path
		for i := range g.Tables {
			for k := range g.Tables[i].Columns {
				c := &g.Tables[i].Columns[k]
				if (c.Path == n.Path || strings.HasPrefix(c.Path, n.Path+".")) && !noisy(&g.Tables[i], c) {
					path = ""
				}
			}
		}
		if !description.IsPath(path) {
			path = ""
		}
		g.Noise = append(g.Noise, Noise{Table: n.Table, Name: n.Component + "." + n.Field, Path: path, Looks: n.Looks})
	}
}
