package document

import (
	"fmt"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/code"
	"github.com/desynctool/desynctool/bisect/code/flow"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
)

// Replayed are replays, and where in the code the builds go different ways.
type Replayed struct {
	bisect.Trials
	Branches *Branches // nil if nobody asked
	Writes   *Writes   // nil if nobody asked
}

// Branches is where two builds, or two runs of one build, take different branches in a tick: see [flow.Finding].
type Branches struct {
	Kind        CodeKind        `json:"kind"`
	Why         string          `json:"why,omitempty"` // it is not known
	Tick        *uint64         `json:"tick,omitempty"`
	Builds      []string        `json:"builds,omitempty"`
	Thread      uint32          `json:"thread"`
	Equal       uint64          `json:"equal"`
	By          string          `json:"by,omitempty"` // branches, lines
	At          []CodePlace     `json:"at,omitempty"`
	Next        *[2][]CodePlace `json:"next,omitempty"`
	Alone       *int            `json:"alone,omitempty"`
	Calls       []string        `json:"calls,omitempty"` // of the block that decides
	Stack       []CodePlace     `json:"stack,omitempty"`
	System      string          `json:"system,omitempty"`
	StateFirst  string          `json:"state_first,omitempty"`
	Consequence bool            `json:"consequence,omitempty"`
	Notes       []string        `json:"notes,omitempty"`
}

// NewBranches returns a finding as a document has it, or why there is none.
func NewBranches(f *flow.Finding, err error) *Branches {
	if err != nil {
		return &Branches{Kind: CodeUnknown, Why: err.Error()}
	}
	doc := &Branches{
		Kind: CodeKind(f.Kind), Tick: &f.Tick, Builds: f.Builds[:], Thread: f.Thread, Equal: f.Equal, By: "branches", Alone: f.Alone,
		System: f.System, StateFirst: f.StateFirst, Consequence: f.Consequence, Notes: f.Notes,
	}
	if f.Lines {
		doc.By = "lines"
	}
	if f.Kind == flow.Branch || f.Kind == flow.Unsteady {
		doc.At, doc.Stack, doc.Calls = newCodePlaces(f.At), newCodePlaces(f.Stack), f.Calls
		doc.Next = &[2][]CodePlace{newCodePlaces(f.Next[0]), newCodePlaces(f.Next[1])}
	}
	return doc
}

// Leads returns the line that leads to the difference: the one that decides, else where a build goes on, the wrong build
// first; nil if neither is known.
func (b *Branches) Leads() *CodePlace {
	if len(b.At) > 0 {
		return &b.At[0]
	}
	for _, i := range []int{1, 0} {
		if b.Next != nil && len(b.Next[i]) > 0 && !(code.Place{File: b.Next[i][0].File}).Library() {
			return &b.Next[i][0]
		}
	}
	return nil
}

// build returns the name of a build; a document that was edited may lack it.
func (b *Branches) build(i int) string {
	if i < 0 || i >= len(b.Builds) {
		return "a build"
	}
	return prose.Name(b.Builds[i])
}

func (b *Branches) block() CodeBlock {
	if b.Tick == nil || b.Why != "" {
		return CodeBlock{Sentence: "not known: " + Safe(b.Why)}
	}
	out := CodeBlock{Known: b.Kind != CodeUnknown, Sentence: b.sentence()}
	if len(b.At) > 0 {
		out.Text = Safe(b.At[0].Text)
	}
	for i := 0; b.Next != nil && i < 2; i++ {
		side := CodeSide{Who: b.build(i), Does: "goes on at"}
		if b.Kind == CodeUnsteady {
			side.Who = fmt.Sprintf("run %d", i+1)
		} else if b.Alone != nil && *b.Alone != i {
			continue
		}
		if side.Does += " the end of its tick"; len(b.Next[i]) > 0 {
			side.Does, side.At = "goes on at", &b.Next[i][0]
		}
		out.Sides = append(out.Sides, side)
	}
	if len(b.At) > 1 {
		out.More = append(out.More, "inlined in "+stackText(b.At[1:]))
	}
	if len(b.Stack) > 0 {
		out.More = append(out.More, "called from "+stackText(b.Stack))
	}
	if b.System != "" {
		out.More = append(out.More, b.stateSentence())
	}
	out.More = append(out.More, lists.Map(b.Notes, Safe)...)
	return out
}

// sentence describes the finding.
func (b *Branches) sentence() string {
	thread := ""
	if b.Thread > 0 {
		thread = fmt.Sprintf(" of thread %d", b.Thread)
	}
	equal := equalText(b.Equal, b.By) + thread
	at := "at the first branch"
	if len(b.At) > 0 {
		at = "in " + b.At[0].String()
	} else if b.Equal > 0 {
		at = "at a line that is not known"
	}
	switch b.Kind {
	case CodeBranch:
		if b.Alone != nil {
			return fmt.Sprintf("in tick %d, %s alone goes another way, after %s, %s", *b.Tick, b.build(*b.Alone), prose.Count(b.Equal, "branch", "branches"), at)
		}
		return fmt.Sprintf("in tick %d, after %s, the builds go different ways %s", *b.Tick, equal, at)
	case CodeUnsteady:
		return fmt.Sprintf("in tick %d, %s takes other branches each time: after %s, two runs go different ways %s", *b.Tick, b.build(0), equal, at)
	case CodeData:
		return fmt.Sprintf("in tick %d, both builds take the same %s: they compute other values by the same logic", *b.Tick, prose.Count(b.Equal, "branch", "branches"))
	}
	return fmt.Sprintf("not known: in tick %d, the builds do not differ at a line that can be compared", *b.Tick)
}

// stateSentence tells how a finding relates to the states after the systems.
func (b *Branches) stateSentence() string {
	system := prose.Name(b.System)
	switch {
	case b.Consequence:
		return fmt.Sprintf("this is in %s, but the states differ before it, after %s: the values that %s wrote are the reason", system, prose.Name(b.StateFirst), prose.Name(b.StateFirst))
	case b.StateFirst == b.System:
		return fmt.Sprintf("this is in %s, after which the states differ first", system)
	case b.StateFirst != "":
		return fmt.Sprintf("this is in %s; the states differ first after %s", system, prose.Name(b.StateFirst))
	}
	return "this is in " + system
}
