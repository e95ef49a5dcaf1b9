package render

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/ci"
	"github.com/desynctool/desynctool/report/document"
)

// View is a result that can be written in several formats.
type View struct {
	Status document.Status
	// Document is the JSON document.
	Document any

	title    string
	lines    []string // below the title
	sections []section
	csv      [][]string // with the heading as the first row; nil if there is no CSV
	suite    *ci.Suite  // nil if there is no JUnit
}

// section is a part of a result, with a table, a list or both.
type section struct {
	title string
	table [][]string // with the heading as the first row
	// rows are the table's rows for text, nil if they are the same. A row with one cell spans all columns.
	rows  [][]string
	items []string
	notes []string
}

// listHead returns the head of a document that lists this many diverged reports or groups, this many reports in sync,
// and this many reports in all. It is diverged if one diverged, in sync if it lists reports and all are in sync, and
// inconclusive otherwise: a list without reports does not show that peers agree. It is not the exit status.
func listHead(what string, diverged, inSync, all int) document.Head {
	status := document.Inconclusive
	switch {
	case diverged > 0:
		status = document.Diverged
	case all > 0 && inSync == all:
		status = document.InSync
	}
	return document.NewHead(what, status, nil)
}

// Write writes a view as text, json, csv, markdown or junit.
func (v *View) Write(w io.Writer, format string, s document.Style) error {
	switch {
	case format == "text":
		return v.text(w, s)
	case format == "json":
		return document.WriteJSON(w, v.Document)
	case format == "csv" && v.csv != nil:
		return writeCSV(w, v.csv)
	case format == "markdown":
		return v.markdown(w)
	case format == "junit" && v.suite != nil:
		return ci.JUnitOfSuite(w, *v.suite)
	}
	return fmt.Errorf("no format %q", format)
}

func (v *View) text(w io.Writer, s document.Style) error {
	buffered := bufio.NewWriter(w)
	out := s.Text(buffered)
	if v.title != "" {
		out.Line(s.Paint(document.Bold, v.title))
	}
	for _, line := range v.lines {
		out.Line(line)
	}
	for i, x := range v.sections {
		if i > 0 || v.title != "" || len(v.lines) > 0 {
			out.Line()
		}
		if x.title != "" {
			out.Line(s.Paint(document.Bold, x.title))
		}
		rows := x.rows
		if rows == nil {
			rows = x.table
		}
		if len(rows) > 0 {
			out.Table(rows)
		}
		for _, item := range x.items {
			out.Line("  ", item)
		}
		for _, note := range x.notes {
			out.Line("  ", s.Paint(document.Faint, note))
		}
	}
	return errors.Join(out.Err(), buffered.Flush())
}

func (v *View) markdown(w io.Writer) error {
	var b strings.Builder
	if v.title != "" {
		fmt.Fprintf(&b, "## %s\n", document.MarkdownText(v.title))
	}
	paragraphs := func(lines []string) {
		for _, line := range lines {
			fmt.Fprintf(&b, "\n%s\n", document.MarkdownText(line))
		}
	}
	paragraphs(v.lines)
	for _, x := range v.sections {
		if x.title != "" {
			fmt.Fprintf(&b, "\n### %s\n", document.MarkdownText(x.title))
		}
		for i, row := range x.table {
			if i == 0 {
				b.WriteByte('\n')
			}
			cells := lists.Map(row, document.MarkdownText)
			fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
			if i == 0 {
				fmt.Fprintf(&b, "|%s\n", strings.Repeat(" --- |", len(row)))
			}
		}
		for i, item := range x.items {
			if i == 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "- %s\n", document.MarkdownText(item))
		}
		paragraphs(x.notes)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeCSV writes rows as CSV (RFC 4180). If a spreadsheet would interpret a cell as a formula, an apostrophe at its
// begin makes it text.
func writeCSV(w io.Writer, rows [][]string) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = prose.Printable(cell)
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r\n") {
				cells[i] = "'" + cells[i]
			}
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
