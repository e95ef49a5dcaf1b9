package web

import (
	"html/template"

	"github.com/desynctool/desynctool/report/page"
)

// parse reads the templates. Each page has one of its own name.
func parse() (*template.Template, error) {
	t, err := template.New("").ParseFS(files, "templates/*.html")
	if err != nil {
		return nil, err
	}
	page.Guard(t)
	return t, nil
}

// pageLink is a link in the bar.
type pageLink struct {
	To, Text string
	Here     bool
}

// Page is a link to a page, as the bar has it.
func (s *shell) Page(to, text string) pageLink { return pageLink{to, text, s.r.URL.Path == to} }
