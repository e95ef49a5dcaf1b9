package ci

import (
	"strings"
	"unicode/utf8"
)

// xmlDocument is XML in the making, an element a line. The standard library's encoder links a decoder too, which is more
// than the rest of this package.
type xmlDocument struct {
	strings.Builder
	open []string // elements
	leaf bool     // the last one has no elements in it
}

// begin begins an element with attributes: pairs of a name and a value.
func (x *xmlDocument) begin(name string, attributes ...string) {
	if len(x.open) > 0 {
		x.line()
	}
	x.WriteString("<" + name)
	for i := 0; i+1 < len(attributes); i += 2 {
		x.WriteString(" " + attributes[i] + `="` + xmlText(attributes[i+1]) + `"`)
	}
	x.WriteString(">")
	x.open, x.leaf = append(x.open, name), true
}

// end ends the element that began last.
func (x *xmlDocument) end() {
	last := len(x.open) - 1
	name := x.open[last]
	x.open = x.open[:last]
	if !x.leaf {
		x.line()
	}
	x.WriteString("</" + name + ">")
	x.leaf = false
}

// element writes an element that contains only text.
func (x *xmlDocument) element(name, text string, attributes ...string) {
	x.begin(name, attributes...)
	x.WriteString(xmlText(text))
	x.end()
}

func (x *xmlDocument) line() { x.WriteString("\n" + strings.Repeat("  ", len(x.open))) }

var xmlEscapes = strings.NewReplacer(`"`, "&#34;", "'", "&#39;", "&", "&amp;", "<", "&lt;", ">", "&gt;", "\t", "&#x9;", "\r", "&#xD;")

// xmlText escapes text. Characters that XML cannot have are replaced. A line end stays: no attribute has one, see safe.
func xmlText(s string) string {
	return xmlEscapes.Replace(strings.Map(func(r rune) rune {
		if r < ' ' && !strings.ContainsRune("\t\n\r", r) || r == utf8.RuneError || r == 0xfffe || r == 0xffff {
			return utf8.RuneError
		}
		return r
	}, s))
}
