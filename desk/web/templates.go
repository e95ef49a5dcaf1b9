package web

import (
	"html/template"
	"slices"

	"github.com/desynctool/desynctool/internal/prose"
)

// parseTemplates parses the templates. Each page has one with its name.
func parseTemplates() (*template.Template, error) {
	t, err := template.New("").Funcs(template.FuncMap{"has": has, "pieces": prose.Pieces, "printable": printable}).ParseFS(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	guard(t)
	return t, nil
}

// has reports whether any of the reports has a build, a day, a tick or an outcome. Columns that are empty in all rows
// are omitted.
func has(what string, rows []reportRow) bool {
	return slices.ContainsFunc(rows, func(r reportRow) bool {
		return map[string]bool{"Build": r.Build != "", "Day": r.Day != "", "Tick": r.Tick != "", "Outcome": r.Outcome != nil}[what]
	})
}

// pageLink is a link in the bar.
type pageLink struct {
	To, Text string
	Here     bool
}

// Page returns a link to a page for the bar.
func (s *shell) Page(to, text string) pageLink { return pageLink{to, text, s.r.URL.Path == to} }
