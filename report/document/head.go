// Package document renders results: as JSON documents for scripts and as text for people. It computes and decides
// nothing; the packages that produce results do that.
//
// A function with the name of a command takes the command's result and returns its Document, which can be written as
// JSON or as text. The types that mirror results in JSON are not an API: a script reads the keys. Only triage's types
// are exported, since a saved report of triage can be read and rendered again.
//
// Every JSON document is one object that begins with
//
//	"schema"    desynctool.<what>/1
//	"status"    in-sync, diverged, inconclusive or error
//	"warnings"  an array of strings
//
// Values are strings in the notation of the text twin (snapshot.Value), keys of
// rows are strings, ticks and state points are integers. The
// schemas in docs have the keys that scripts may rely on.
package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/fatih/color"

	"github.com/desynctool/desynctool/internal/prose"
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

// Known returns s, or Failed if it is not one of the outcomes: a document that was read may contain anything.
func (s Status) Known() Status {
	switch s {
	case InSync, Diverged, Inconclusive:
		return s
	}
	return Failed
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

// ReportedOrder is an order as reports show it.
type ReportedOrder struct {
	Tick     uint64 `json:"tick"`
	SubTick  uint32 `json:"sub_tick_time"` // µs
	Player   uint32 `json:"player"`
	Sequence uint32 `json:"sequence"`
	Kind     string `json:"kind"`
	Payload  string `json:"payload"` // hex
	// Local orders need not be the same on all peers.
	Local bool `json:"local,omitempty"`
}

// list returns an empty list instead of nil, which JSON would call null.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

// orNull returns a value for a document, or nil, which is null there, if it is not known.
func orNull[T any](is bool, value T) *T {
	if !is {
		return nil
	}
	return &value
}

// tickOf returns the number of a state point, nil for none.
func tickOf(p *snapshot.Point) *uint64 {
	if p == nil {
		return nil
	}
	return &p.Tick
}

// fillLists replaces nil by an empty list everywhere in a document, as list does. It leaves bytes alone, and types that
// write their own JSON, and fields with the tag nil:"null".
func fillLists(v reflect.Value) {
	if v.Kind() != reflect.Pointer && v.Type().Implements(marshaler) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fillLists(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" && f.Tag.Get("nil") != "null" {
				fillLists(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		if v.IsNil() && v.CanSet() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			fillLists(v.Index(i))
		}
	}
}

var marshaler = reflect.TypeFor[json.Marshaler]()

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

// EscapeJSON escapes characters that JSON allows in a string but that a terminal may take for a command, or not show:
// control characters from U+007F on, marks that change the direction of text, characters without a width; and U+FFFD,
// which the encoder escapes where a string is not UTF-8, so that a document that was read is written unchanged.
func EscapeJSON(doc []byte) []byte {
	bad := func(r rune) bool { return r != '\n' && (prose.Unseen(r) || r == utf8.RuneError) }
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
	on                                 bool

	width int // columns of a line, 0 if it is not cut
}

// The least and the most columns that we assume a terminal to have.
const (
	minWidth = 60
	maxWidth = 200
)

// Wide returns the style for a terminal of a width in columns: longer lines are cut at spaces, but not within names,
// paths, commands and values. There are at least 60 and at most 200.
func (s Style) Wide(columns int) Style {
	s.width = min(max(columns, minWidth), maxWidth)
	return s
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
		on:      on,
		badMark: mk(color.FgRed, color.Bold, color.Underline), goodMark: mk(color.FgGreen, color.Bold, color.Underline),
	}
}

// Colored reports whether colours are on.
func (s Style) Colored() bool { return s.on }

// Meaning is the role of a piece of text. Code that writes texts uses meanings; only Style knows colours.
type Meaning int

// Meanings.
const (
	Bad   Meaning = iota // wrong, or of the side that is taken to be
	Good                 // right
	Warn                 // lost, lacking or doubtful
	Name                 // of a peer
	Faint                // minor information
	Bold                 // a heading
)

// Paint colours text by its meaning.
func (s Style) Paint(m Meaning, text string) string {
	return [...]*color.Color{s.bad, s.good, s.warn, s.name, s.faint, s.bold}[m].Sprint(text)
}

// Verdict returns the word that begins a text, coloured.
func (s Style) Verdict(status Status) string {
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

// Safe returns text from a file in a form that is safe for a terminal: characters that are not printable are escaped.
func Safe(s string) string { return prose.Printable(s) }

// pointName returns a state point for people.
func pointName(p snapshot.Point) string { return said(p).String() }

// bothNames returns a state point by the engine's own name and by ours.
func bothNames(p snapshot.Point) string { return said(p).Names() }

// said returns a state point with a native name that fits in a sentence.
func said(p snapshot.Point) snapshot.Point {
	p.Native = prose.Moment(p.Native)
	return p
}

// LabelName returns the label of a leaf for people: the RNG has none.
func LabelName(label string) string {
	return prose.Name(snapshot.LabelName(label))
}

// tableName returns the name of an archetype or a cache for people.
func tableName(label string, cache bool) string {
	if cache {
		return "cache " + prose.Name(label)
	}
	return LabelName(label)
}
