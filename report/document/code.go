package document

import (
	"fmt"
	"strconv"

	"github.com/desynctool/desynctool/bisect/code"
	"github.com/desynctool/desynctool/bisect/code/flow"
	"github.com/desynctool/desynctool/internal/prose"
)

// CodeKind is what is known about the code in which two builds depart.
type CodeKind string

// Kinds of findings in the code.
const (
	CodeBranch   CodeKind = CodeKind(flow.Branch)   // the builds go different ways
	CodeUnsteady CodeKind = CodeKind(flow.Unsteady) // one build goes another way each time
	CodeWrite    CodeKind = "write"                 // the builds write different values
	CodeData     CodeKind = CodeKind(flow.Data)     // the same branches: other values by the same logic
	CodeUnknown  CodeKind = CodeKind(flow.Unknown)
)

// Code is where in the code two builds depart in the divergent tick. Its own fields are the finding that counts: the
// first branch that differs, unless it follows from an earlier difference of values, else the first write.
type Code struct {
	Kind  CodeKind `json:"kind"`          // branch, unsteady, write, data or unknown
	Why   string   `json:"why,omitempty"` // it is not known
	Tick  *uint64  `json:"tick,omitempty"`
	Equal uint64   `json:"equal"`        // what both do alike before
	By    string   `json:"by,omitempty"` // what Equal counts: branches, lines, writes
	CodePlace
	Stack []CodePlace `json:"stack,omitempty"` // the calls of the place
	// Values are what the builds write, by their names.
	Values map[string]string `json:"values,omitempty"`
	// Branches and Writes are what each search found, nil if it was not asked for.
	Branches *Branches `json:"branches,omitempty"`
	Writes   *Writes   `json:"writes,omitempty"`
}

// CodePlace is a place in a program.
type CodePlace struct {
	Function string `json:"function,omitempty"`
	File     string `json:"file,omitempty"` // in the folder of sources, else as the compiler was given it
	Line     int    `json:"line,omitempty"`
	Text     string `json:"text,omitempty"` // the line of source
	Module   string `json:"module,omitempty"`
	Offset   string `json:"offset,omitempty"`
}

// newCodePlaces returns places as a document has them.
func newCodePlaces(list []code.Place) []CodePlace {
	out := []CodePlace{}
	for _, p := range list {
		out = append(out, CodePlace{p.Function, p.File, p.Line, p.Text, p.Module, fmt.Sprintf("0x%x", p.Offset)})
	}
	return out
}

// String returns "apply_damage (combat.c:212)", or the module and the offset where no name is known.
func (p CodePlace) String() string { return Safe(p.place().String()) }

// At returns "combat.c:212", or "" if the line is not known.
func (p CodePlace) At() string { return Safe(p.place().At()) }

func (p CodePlace) place() code.Place {
	offset, _ := strconv.ParseUint(p.Offset, 0, 64) // 0 in a document that was edited
	return code.Place{Function: p.Function, File: p.File, Line: p.Line, Module: p.Module, Offset: offset}
}

func stackText(list []CodePlace) string {
	stack := make(code.Stack, len(list))
	for i, p := range list {
		stack[i] = p.place()
	}
	return Safe(stack.String())
}

// CodeBlock is a finding as people read it: a sentence, what each build does, and more about it.
type CodeBlock struct {
	Known    bool
	Sentence string // without a full stop
	Text     string // the line of source that the sentence names
	Sides    []CodeSide
	More     []string
}

// CodeSide is what one build, or run, does at a difference.
type CodeSide struct {
	Who, Does string
	At        *CodePlace // nil where its tick ends
}

// String returns "“exec:./own” goes on at step (game.c:12)   x++;".
func (s CodeSide) String() string {
	if s.At == nil {
		return s.Who + " " + s.Does
	}
	return s.Who + " " + s.Does + " " + s.At.withText()
}

func (p CodePlace) withText() string {
	if p.Text != "" {
		return p.String() + "   " + Safe(p.Text)
	}
	return p.String()
}

// Blocks returns what each search found; the one that counts is the first.
func (c *Code) Blocks() (list []CodeBlock) {
	if c.Branches != nil {
		list = append(list, c.Branches.block())
	}
	if c.Writes != nil {
		list = append(list, c.Writes.block())
	}
	if len(list) == 2 && c.Kind == CodeWrite {
		list[0], list[1] = list[1], list[0]
	}
	if len(list) == 0 && c.Why != "" {
		list = append(list, CodeBlock{Sentence: "not known: " + Safe(c.Why)})
	}
	return list
}

// codeText prints a finding below a name.
func codeText(out *Text, name string, b CodeBlock) {
	first := b.Sentence
	switch {
	case !b.Known:
		first = out.Style.warn.Sprint(first)
	case b.Text != "":
		first += "   " + b.Text
	}
	out.Row(name, first)
	for _, s := range b.Sides {
		out.Row("", s.String())
	}
	for _, more := range b.More {
		out.Row("", more)
	}
}

// code shows where in the code the builds depart.
func (t *reportText) code() {
	if t.r.Code == nil {
		return
	}
	t.section("code", "where the builds depart")
	for _, b := range t.r.Code.Blocks() {
		t.wrap("  ", 4, b.Sentence, nil)
		for _, s := range b.Sides {
			t.wrap("    ", 6, s.String(), t.s.name)
		}
		for _, more := range b.More {
			t.wrap("    ", 6, more, t.s.faint)
		}
	}
}

func equalText(n uint64, by string) string {
	switch by {
	case "lines":
		return prose.Count(n, "equal line", "equal lines")
	case "writes":
		return prose.Count(n, "equal write", "equal writes")
	}
	return prose.Count(n, "equal branch", "equal branches")
}
