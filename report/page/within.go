package page

import (
	"io"
	"net/url"
	"strings"

	"github.com/desynctool/desynctool/report/document"
)

// Link is a link in the bar above a report.
type Link struct{ Text, To string }

// target returns where a link leads: to a page of the same host, or nowhere.
func (l Link) target() string {
	u, err := url.Parse(l.To)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") {
		return "#"
	}
	return u.String()
}

// Within describes where a page is, if it is part of other pages.
type Within struct {
	// Links lead to the pages around the report. There may be none.
	Links []Link
	// Theme is "dark" or "light", empty for the system's preference.
	Theme string
}

// WriteWithin writes a report as Write does, with links to the pages around it.
func WriteWithin(w io.Writer, r *document.Report, in Within) error { return write(w, r, in) }

// Style returns the style that other pages share with reports: colours, type, tables, tags, callouts, and the rules for
// print.
func Style() []byte {
	style, err := concatenated("style/", []string{"page", "sections", "print"}, ".css")
	if err != nil {
		panic(err) // they are embedded
	}
	return style
}
