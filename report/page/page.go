// Package page writes a Report as one self-contained HTML file: styles, script and pictures are in it, and its content
// security policy lets it load nothing. The same report gives the same bytes.
//
// Go code draws each picture as SVG, and adds a table with the same numbers. The script only adds interaction: the line
// that shows the number under the pointer or the keys, the change between light and dark, the filter for differences,
// and copying. Controls that need the script are hidden until it runs. The page is readable without it.
//
// The content of a report comes from players' files. Every text that is put into the markup first goes through
// document.Safe and is then escaped (see html.put), so that neither markup nor control characters nor marks of text
// direction reach the page.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io"

	"github.com/desynctool/desynctool/report/document"
)

//go:embed style/*.css script/*.js
var files embed.FS

// The styles and scripts of a page, in the order in which they count.
var (
	styles  = []string{"page", "sections", "values", "pictures", "map", "axis", "print"}
	scripts = []string{"theme", "copy", "values", "pictures", "axis", "links"}
)

// Write writes a report as an HTML page.
func Write(w io.Writer, r *document.Report) error { return write(w, r, Within{}) }

func write(w io.Writer, r *document.Report, in Within) error {
	h := html{ids: newIDs("")}
	v := newView(r, h.ids)
	if err := h.page(v.Title, in); err != nil {
		return err
	}
	h.put(`<div class="frame">
<nav aria-label="Sections"><ol>`)
	h.contents(v)
	h.put(`</ol></nav>
<main id="content" tabindex="-1">
`)
	h.report(v)
	h.put("</main>\n</div>\n")
	if err := h.endPage(); err != nil {
		return err
	}
	return h.writeTo(w)
}

// page writes the begin of a page, up to the bar at its top.
func (h *html) page(title string, in Within) error {
	style, err := concatenated("style/", styles, ".css")
	if err != nil {
		return err
	}
	script, err := concatenated("script/", scripts, ".js")
	if err != nil {
		return err
	}
	h.put("<!DOCTYPE html>\n" + `<html lang="en"`)
	if in.Theme != "" {
		h.put(` data-theme="§"`, in.Theme)
	}
	h.put(`>
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="§">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>§</title>
<style>§</style>
</head>
<body>
<a class="skip" href="#content">Skip to the report</a>
<header class="bar">
<p class="brand">desynctool <span>triage</span></p>
`, policy(style, script), title, markup(style))
	if len(in.Links) > 0 {
		h.put(`<nav class="pages" aria-label="Desk">`)
		for _, l := range in.Links {
			h.put(`<a href="§">§</a>`, l.target(), l.Text)
		}
		h.put("</nav>\n")
	}
	h.put(`<button type="button" id="theme" hidden>Dark</button>` + "\n</header>\n")
	return nil
}

// endPage writes the end of a page, with the script.
func (h *html) endPage() error {
	script, err := concatenated("script/", scripts, ".js")
	if err != nil {
		return err
	}
	h.put("<script>§</script>\n</body>\n</html>\n", markup(script))
	return nil
}

// contents writes links to the sections of a report.
func (h *html) contents(v *view) {
	for _, s := range v.Sections {
		h.put(`<li><a href="#§">§</a></li>`, h.ids.of(s.ID), s.Title)
	}
}

// report writes the sections of a report.
func (h *html) report(v *view) {
	h.verdict(v)
	h.put("\n")
	for _, block := range []struct {
		id    string
		write func(v *view)
	}{
		{"gamelogs", h.gamelogs}, {"ladder", h.ladder}, {"code", h.code}, {"first", h.first}, {"locus", h.locus}, {"timeline", h.time}, {"tree", h.tree}, {"map", h.ground},
		{"causes", h.causes}, {"inputs", h.inputs}, {"peers", h.peers}, {"evidence", h.evidence}, {"next", h.next}, {"fingerprint", h.fingerprint},
	} {
		if v.has(block.id) {
			h.put(`<div class="block">`)
			h.anchor(h.ids.of(block.id))
			block.write(v)
			h.put("</div>")
		}
		h.put("\n")
	}
}

// concatenated returns files one after the other.
func concatenated(folder string, names []string, ext string) ([]byte, error) {
	var out []byte
	for _, name := range names {
		b, err := files.ReadFile(folder + name + ext)
		if err != nil {
			return nil, err
		}
		out = append(out, b...)
	}
	return out, nil
}

// policy returns the content security policy: nothing is loaded from anywhere, and only the
// page's own style and script count, known by their hashes.
func policy(style, script []byte) string {
	hash := func(b []byte) string {
		sum := sha256.Sum256(b)
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + hash(style) + "; script-src " + hash(script) +
		"; img-src 'none'; base-uri 'none'; form-action 'none'"
}
