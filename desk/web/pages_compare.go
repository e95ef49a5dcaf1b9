package web

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/page"
)

// comparison is the page of two reports.
type comparison struct {
	A, B   string // their numbers, as in the form
	Sides  []comparedReport
	Kinds  []fields
	Same   int
	Differ int
	Only   bool // show only differences
}

// comparedReport is one of the two.
type comparedReport struct {
	ID    int64
	Title string
	Links []page.Link
}

// compare shows two reports side by side.
func (v *visit) compare() error {
	q := v.r.URL.Query()
	c := &comparison{A: q.Get("a"), B: q.Get("b"), Only: q.Get("only") == "differs"}
	if c.A == "" || c.B == "" {
		return v.show(200, "compare", "Compare two reports", c)
	}
	var docs [2]*document.Report
	for i, text := range []string{c.A, c.B} {
		id, err := reportID(text)
		if err != nil {
			return err
		}
		if docs[i], err = v.document(id); err != nil {
			return err
		}
		links, err := v.around(id)
		if err != nil {
			return err
		}
		s := docs[i].Session
		c.Sides = append(c.Sides, comparedReport{id, strings.TrimSpace(cmp.Or(s.Game, "unknown game") + " " + s.Build), append([]page.Link{{Text: "Report", To: fmt.Sprintf("/reports/%d", id)}}, links[1:len(links)-1]...)})
	}
	c.Kinds = compare(docs[0], docs[1])
	for _, kind := range c.Kinds {
		c.Differ += kind.Differ()
		c.Same += len(kind.Rows) - kind.Differ()
	}
	if c.Only {
		c.onlyDiffering()
	}
	return v.show(200, "compare", fmt.Sprintf("Reports %s and %s", c.A, c.B), c)
}

// onlyDiffering removes the fields that are the same.
func (c *comparison) onlyDiffering() {
	var kinds []fields
	for _, kind := range c.Kinds {
		rows := lists.Where(kind.Rows, func(row field) bool { return !row.Same })
		if kind.Rows = rows; len(rows) > 0 {
			kinds = append(kinds, kind)
		}
	}
	c.Kinds = kinds
}

// Fields counts the compared fields.
func (c *comparison) Fields() int { return c.Same + c.Differ }
