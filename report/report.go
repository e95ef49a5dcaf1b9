// Package report renders results: as JSON documents for scripts and as text
// for people. It decides nothing; the packages that produce results do.
//
// Every JSON document is one object that begins with
//
//	"schema"    desynctool.<what>/1
//	"status"    in-sync, diverged, inconclusive or error
//	"warnings"  an array of strings
//
// Values are strings in the notation of the text twin (snapshot.Value), keys of
// rows are strings, ticks and state points are integers. docs/cli.md lists the
// keys that scripts may rely on.
package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/fatih/color"

	"github.com/desynctool/desynctool/snapshot"
)

// Status is the outcome of a comparison.
type Status string

// The outcomes, and the exit status that each has.
const (
	InSync       Status = "in-sync"      // 0
	Diverged     Status = "diverged"     // 1
	Failed       Status = "error"        // 2
	Inconclusive Status = "inconclusive" // 3
)

// ExitCode returns the exit status of a command with that outcome.
func (s Status) ExitCode() int {
	switch s {
	case InSync:
		return 0
	case Diverged:
		return 1
	case Inconclusive:
		return 3
	}
	return 2
}

// Head begins every document.
type Head struct {
	Schema   string   `json:"schema"`
	Status   Status   `json:"status"`
	Warnings []string `json:"warnings"`
}

// NewHead returns the head of a document of that kind.
func NewHead(what string, status Status, warnings []string) Head { return head(what, status, warnings) }

func head(what string, status Status, warnings []string) Head {
	return Head{"desynctool." + what + "/1", status, list(warnings)}
}

// ErrorDocument is what a command writes that could not do its work.
type ErrorDocument struct {
	Head
	Error string `json:"error"`
}

// list returns an empty list instead of nil, which JSON would call null.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// Native are the engine's own names of a state point and of the step to it.
type Native struct {
	State string `json:"state,omitempty"`
	Step  string `json:"step,omitempty"`
}

func native(p snapshot.Point) *Native {
	if p.Native == "" {
		return nil
	}
	return &Native{State: p.Words()}
}

// WriteJSON writes a document, indented, with a line end.
func WriteJSON(w io.Writer, document any) error {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(document); err != nil {
		return err
	}
	_, err := w.Write(EscapeJSON(buf.Bytes()))
	return err
}

// EscapeJSON escapes what JSON allows in a string and a terminal may
// take for a command: control characters from U+007F on, marks that change the
// direction of text.
func EscapeJSON(doc []byte) []byte {
	bad := func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
	if bytes.IndexFunc(doc, bad) < 0 {
		return doc
	}
	out := make([]byte, 0, len(doc)+64)
	for len(doc) > 0 {
		r, size := utf8.DecodeRune(doc)
		switch {
		case !bad(r):
			out = append(out, doc[:size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		doc = doc[size:]
	}
	return out
}

// Style colours text by meaning.
type Style struct {
	bad, good, warn, name, faint, bold *color.Color
	badMark, goodMark                  *color.Color // of changed characters
}

// NewStyle returns a Style with colours on or off.
func NewStyle(on bool) Style {
	mk := func(attributes ...color.Attribute) *color.Color {
		c := color.New(attributes...)
		if on {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
		return c
	}
	return Style{
		bad: mk(color.FgRed, color.Bold), good: mk(color.FgGreen, color.Bold), warn: mk(color.FgYellow),
		name: mk(color.FgCyan), faint: mk(color.Faint), bold: mk(color.Bold),
		badMark: mk(color.FgRed, color.Bold, color.Underline), goodMark: mk(color.FgGreen, color.Bold, color.Underline),
	}
}

// Warning colours a warning for a terminal.
func (s Style) Warning(text string) string { return s.warn.Sprint(text) }

// Error colours an error for a terminal.
func (s Style) Error(text string) string { return s.bad.Sprint(text) }

// verdict returns the word that begins a text.
func (s Style) verdict(status Status) string {
	switch status {
	case InSync:
		return s.good.Sprint("IN SYNC")
	case Diverged:
		return s.bad.Sprint("DIVERGED")
	case Inconclusive:
		return s.warn.Sprint("INCONCLUSIVE")
	}
	return s.bad.Sprint("ERROR")
}

// Safe returns text that came from a file as it may go to a terminal: what is
// not printable is escaped.
func Safe(s string) string {
	clean := true
	for _, r := range s {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	quoted := strconv.Quote(s)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

// pointName returns a state point for people.
func pointName(p snapshot.Point) string { return Safe(p.String()) }

// bothNames returns a state point by the engine's own name and by ours.
func bothNames(p snapshot.Point) string {
	if p.Native == "" {
		return pointName(p)
	}
	return fmt.Sprintf("%s (%d)", pointName(p), p.Tick)
}

// pad pads s, which takes width columns, to n columns.
func pad(s string, width, n int) string {
	if width >= n {
		return s
	}
	return s + strings.Repeat(" ", n-width)
}

// columns returns how many columns of a terminal s takes, counting runes.
func columns(s string) int { return utf8.RuneCountInString(s) }

// shorten cuts s to n columns at most.
func shorten(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	runes := []rune(s)
	return string(runes[:n-1]) + "…"
}

// plural returns "1 row" or "2 rows".
func plural(n uint64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatUint(n, 10) + " " + many
}

// LabelName returns the label of a leaf for people: the RNG has none.
func LabelName(label string) string {
	if label == "" {
		return "RNG"
	}
	return Safe(label)
}

// tableName returns the name of an archetype or a cache for people.
func tableName(label string, cache bool) string {
	if cache {
		return "cache " + Safe(label)
	}
	return LabelName(label)
}

// lines writes text line by line and keeps the first error.
type lines struct {
	w   io.Writer
	err error
}

func (l *lines) put(parts ...string) {
	if l.err == nil {
		_, l.err = io.WriteString(l.w, strings.TrimRight(strings.Join(parts, ""), " ")+"\n")
	}
}

// TableText writes rows of columns, the first row being the heading.
func TableText(w io.Writer, rows [][]string, s Style) error {
	var wide []int
	for _, r := range rows {
		for i, cell := range r {
			if i == len(wide) {
				wide = append(wide, 0)
			}
			wide[i] = max(wide[i], columns(cell))
		}
	}
	out := lines{w: w}
	for n, r := range rows {
		var line []string
		for i, cell := range r {
			text := pad(cell, columns(cell), wide[i]) + "  "
			if n == 0 {
				text = s.bold.Sprint(text)
			}
			line = append(line, text)
		}
		out.put(line...)
	}
	return out.err
}
