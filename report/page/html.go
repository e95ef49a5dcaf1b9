package page

import (
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// markup is HTML. Only constants become markup without a conversion, so a text of a report cannot be taken for it.
type markup string

// html is a page that is being written.
type html struct {
	out strings.Builder
	ids ids
}

// escape makes a text harmless within an element and within a quoted attribute.
var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "+", "&#43;", "\x00", "\uFFFD")

// put writes markup. A value takes the place of each § in it, escaped and printable; a value that is markup is written
// unchanged.
func (h *html) put(m markup, values ...any) {
	for rest := string(m); ; {
		before, after, more := strings.Cut(rest, "§")
		h.out.WriteString(before)
		if !more {
			break
		}
		h.value(values[0])
		rest, values = after, values[1:]
	}
	if len(values) > 0 {
		panic("page: markup with more values than places: " + string(m))
	}
}

func (h *html) value(v any) {
	switch v := v.(type) {
	case markup:
		h.out.WriteString(string(v))
	case string:
		escape.WriteString(&h.out, document.Safe(v))
	default:
		if r := reflect.ValueOf(v); r.Kind() == reflect.String { // a text, and not a method's words for it
			escape.WriteString(&h.out, document.Safe(r.String()))
			return
		}
		escape.WriteString(&h.out, fmt.Sprint(v))
	}
}

// iff returns one of two pieces of markup.
func iff(condition bool, yes, no markup) markup {
	if condition {
		return yes
	}
	return no
}

// id returns an id made of the parts that is unique in the page.
func (h *html) id(parts ...any) string {
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = fmt.Sprint(part)
	}
	return h.ids.unique(texts...)
}

// begin writes the begin of a section with its heading, a text or markup.
func (h *html) begin(id string, title any) { h.section(id, "", "h2", title) }

// section writes the begin of a section with further attributes, and its heading.
func (h *html) section(id string, attributes, heading markup, title any) {
	id = h.ids.of(id)
	h.put("<section id=\"§\" aria-labelledby=\"§-title\"§>\n<§ id=\"§-title\">§</§>\n", id, id, attributes, heading, id, title, heading)
}

// table writes the begin of a table that can be scrolled; columns is its first row.
func (h *html) table(name string, columns markup) {
	h.put(`<div class="scroll" tabindex="0" role="group" aria-label="§"><table class="stack"><thead><tr>§</tr></thead>`+"\n<tbody>", name, columns)
}

// endTable is the end of what table begins.
const endTable markup = "</tbody></table></div>"

func (h *html) peer(p peer) {
	h.put(`<span class="peer §"><svg width="14" height="14" aria-hidden="true"><path d="§"/></svg><bdi>§</bdi></span>`, p.Class, p.Path(), p.Name)
}

// named writes the peers, with a space after each.
func (h *html) named(peers []peer) {
	for _, p := range peers {
		h.peer(p)
		h.put(" ")
	}
}

// text writes a sentence, in which no line breaks within an option of a command.
func (h *html) text(text string) { h.runs(textRuns(text)) }

func (h *html) runs(runs []run) {
	for _, r := range runs {
		switch r.Kind {
		case "option":
			h.put(`<span class="nowrap">§</span>`, r.Text)
		case "code":
			h.put("<code>")
			h.text(r.Text)
			h.put("</code>")
		case "em":
			h.put("<em>§</em>", r.Text)
		case "strong":
			h.put("<strong>§</strong>", r.Text)
		default:
			h.put("§", r.Text)
		}
	}
}

// title writes a sentence in large letters: a line may break within its names.
func (h *html) title(text string) {
	for _, r := range textRuns(text) {
		if r.Kind != "" {
			h.runs([]run{r})
		} else {
			h.pieces(r.Text)
		}
	}
}

// pieces writes a text with places at which a line may break.
func (h *html) pieces(text string) {
	for i, piece := range prose.Pieces(text) {
		h.put("§§", iff(i > 0, "<wbr>", ""), piece)
	}
}

// anchor writes a link to a place of the page.
func (h *html) anchor(id string) {
	h.put(`<a class="anchor" href="#§" aria-label="Link to this place">#</a>`, id)
}

// paragraph writes a sentence, if there is one.
func (h *html) paragraph(m markup, text string) {
	h.put(m)
	h.text(text)
	h.put("</p>")
}

func (h *html) list(texts []string) {
	h.put("<ul>")
	for _, text := range texts {
		h.put("<li>")
		h.text(text)
		h.put("</li>")
	}
	h.put("</ul>")
}

// step writes something to do.
func (h *html) step(s step) {
	if s.Command == "" {
		h.text(s.About)
		return
	}
	id := h.id("command", s.Command)
	h.put(`<span class="command"><code id="§">`, id)
	h.text(s.Command)
	h.put(`</code> <button type="button" class="small" data-copy="§" hidden>Copy</button></span>`, id)
	if s.About != "" {
		h.put(` <span class="about">`)
		h.text(s.About)
		h.put("</span>")
	}
}

// writeTo writes what there is of the page since the last call.
func (h *html) writeTo(w io.Writer) error {
	_, err := io.WriteString(w, h.out.String())
	h.out.Reset()
	return err
}
