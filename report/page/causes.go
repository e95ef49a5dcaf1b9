package page

import (
	"strings"

	"github.com/desynctool/desynctool/docs"
)

// classText is the documentation's text about a class of causes.
type classText struct {
	Line  []run
	Parts []classPart
}

// classPart is a paragraph with its heading.
type classPart struct {
	Name string
	Text []run
}

// classParts are the paragraphs of a class that a page has.
var classParts = []string{"Symptoms", "Check", "Fix"}

// classOf returns the text of docs/causes.md about a class, nil if it has none of that name.
func classOf(name string) *classText {
	_, text, ok := strings.Cut(docs.Causes, "\n## "+name+"\n")
	if !ok {
		return nil
	}
	text, _, _ = strings.Cut(text, "\n## ")
	out := &classText{}
	for _, paragraph := range strings.Split(text, "\n\n") {
		paragraph = strings.Join(strings.Fields(paragraph), " ")
		head, rest, ok := strings.Cut(strings.TrimPrefix(paragraph, "**"), "**")
		switch name := strings.TrimSuffix(head, "."); {
		case !ok || !strings.HasPrefix(paragraph, "**"):
		case rest == "" && out.Line == nil:
			out.Line = markedRuns(head)
		default:
			for _, want := range classParts {
				if name == want {
					out.Parts = append(out.Parts, classPart{name, markedRuns(strings.TrimSpace(rest))})
				}
			}
		}
	}
	return out
}
