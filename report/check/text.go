package check

import (
	"fmt"
	"io"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// document is desynctool.check/1.
type outcome struct {
	document.Head
	Conforms bool           `json:"conforms"`
	Files    []fileDocument `json:"files"`
}

// fileDocument is one file, or a folder with files that are compared with each other.
type fileDocument struct {
	Path     string            `json:"path"`
	Format   string            `json:"format,omitempty"` // none of a folder
	Conforms bool              `json:"conforms"`
	Errors   int               `json:"errors"`
	Advices  int               `json:"advices"`
	Findings []findingDocument `json:"findings"`
}

type findingDocument struct {
	Level  Level  `json:"level"`
	Rule   string `json:"rule"`
	Text   string `json:"text"`
	Offset *int64 `json:"offset,omitempty"`
	Line   int64  `json:"line,omitempty"`
	In     string `json:"in,omitempty"`
	Anchor string `json:"anchor"` // docs/orderlog.md#framing
	Quote  string `json:"quote"`
}

// Document returns the JSON document of a check.
func (r Result) Document() any {
	status := document.StatusOf(r)
	doc := &outcome{Head: document.NewHead("check", status, nil), Conforms: !r.Diverged(), Files: []fileDocument{}}
	for _, f := range r {
		d := fileDocument{Path: f.Path, Format: f.Format, Conforms: f.Errors == 0, Errors: f.Errors, Advices: f.Advices, Findings: []findingDocument{}}
		for i := range f.Findings {
			x := &f.Findings[i]
			fd := findingDocument{Level: x.Rule.Level, Rule: x.Rule.ID, Text: x.Text, Line: x.Line, In: x.In, Anchor: x.Rule.Anchor(), Quote: x.Rule.Said()}
			if x.HasOffset {
				fd.Offset = &x.Offset
			}
			d.Findings = append(d.Findings, fd)
		}
		doc.Files = append(doc.Files, d)
	}
	return doc
}

// shownFindings is how many findings of a level of a file are shown by default.
const shownFindings = 8

// Text writes the findings for a person. It quotes a rule where it is first broken.
func (r Result) Text(w io.Writer, s document.Style, all bool) error {
	out := s.Text(w)
	quotedRules := map[*Rule]bool{}
	given := map[string]bool{} // advice that was shown of an earlier file
	for _, f := range r {
		verdict := s.Paint(document.Good, "CONFORMS")
		if f.Errors > 0 {
			verdict = s.Paint(document.Bad, "DOES NOT CONFORM")
		}
		what := f.Title
		if f.Format == "" {
			what = "between the files"
		}
		var counts []string
		if f.Errors > 0 {
			counts = append(counts, prose.Count(f.Errors, "error", "errors"))
		}
		if f.Advices > 0 {
			counts = append(counts, prose.Count(f.Advices, "piece of advice", "pieces of advice"))
		}
		line := fmt.Sprintf("%s  %s  %s", verdict, document.Safe(f.Path), s.Paint(document.Faint, what))
		if len(counts) > 0 {
			line += ": " + strings.Join(counts, ", ")
		}
		out.Line(line)
		for _, level := range []Level{Error, Advice} {
			shown, again, total := 0, 0, f.Errors
			meaning := document.Bad
			if level == Advice {
				total, meaning = f.Advices, document.Warn
			}
			for i := range f.Findings {
				x := &f.Findings[i]
				if x.Rule.Level != level {
					continue
				}
				if key := x.Rule.ID + "\x00" + x.Text; level == Advice && !all {
					if given[key] {
						again++
						continue
					}
					given[key] = true
				}
				if shown == shownFindings && !all {
					break
				}
				shown++
				out.Row(string(level), s.Paint(meaning, x.Rule.ID), "  ", document.Safe(where(x)), document.Safe(x.Text))
				if !quotedRules[x.Rule] {
					quotedRules[x.Rule] = true
					out.Row("", s.Paint(document.Faint, fmt.Sprintf("%s  “%s”", x.Rule.Anchor(), document.Safe(x.Rule.Said()))))
				}
			}
			if again > 0 {
				out.Row(string(level), s.Paint(document.Faint, fmt.Sprintf("%d as above", again)))
			}
			if shown += again; shown < total {
				more := "with --all"
				if all {
					more = "are not kept"
				}
				out.Row(string(level), s.Paint(document.Faint, fmt.Sprintf("%d more, %s", total-shown, more)))
			}
		}
	}
	return out.Err()
}

// where returns the place of a finding, with a colon after it.
func where(f *Finding) string {
	text := ""
	switch {
	case f.HasOffset:
		text = fmt.Sprintf("offset %d", f.Offset)
	case f.Line > 0:
		text = fmt.Sprintf("line %d", f.Line)
	}
	switch {
	case text == "" && f.In == "":
		return ""
	case text == "":
		return f.In + ": "
	case f.In == "":
		return text + ": "
	}
	return text + " (" + f.In + "): "
}
