package page

import (
	"strings"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// run is a piece of a text that looks one way.
type run struct {
	Kind string // option, code, em or strong; empty for plain text
	Text string
}

// option is an option of a command in a text, which no line breaks in.
var option = lazyregexp.New(`(^|[\s(“"'` + "`" + `=])(--?[A-Za-z][\w-]*)`)

// textRuns splits a text at the options of commands in it.
func textRuns(text string) (runs []run) {
	at := 0
	for _, m := range option.FindAllStringSubmatchIndex(text, -1) {
		if m[4] > at {
			runs = append(runs, run{Text: text[at:m[4]]})
		}
		runs = append(runs, run{"option", text[m[4]:m[5]]})
		at = m[5]
	}
	if at < len(text) {
		runs = append(runs, run{Text: text[at:]})
	}
	return runs
}

// marks are the Markdown marks around a piece of a document, and the role of the piece.
var marks = []struct{ mark, kind string }{{"`", "code"}, {"**", "strong"}, {"*", "em"}}

// markedRuns splits a paragraph of our documents at its marks.
func markedRuns(text string) (runs []run) {
	plain := func(s string) {
		if s != "" {
			runs = append(runs, textRuns(s)...)
		}
	}
	for from := 0; ; {
		i := strings.IndexAny(text[from:], "`*")
		if i < 0 {
			plain(text)
			return runs
		}
		i += from
		found := false
		for _, m := range marks {
			rest, ok := strings.CutPrefix(text[i:], m.mark)
			if !ok {
				continue
			}
			if n := strings.Index(rest, m.mark); n > 0 {
				plain(text[:i])
				runs = append(runs, run{m.kind, rest[:n]})
				text, from, found = rest[n+len(m.mark):], 0, true
			}
			break
		}
		if !found {
			from = i + 1
		}
	}
}
