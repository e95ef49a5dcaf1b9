// Package page writes a Report as one HTML file that stands by itself: styles, script and
// pictures are in it, and its content security policy lets it load nothing. The same report
// gives the same bytes.
//
// Each picture is drawn in Go, as SVG, and has a table with the same numbers behind it. The
// script only adds what needs a hand: the line that names the number under the pointer or
// the keys, the change between light and dark, the filter of what differs, and copying. What only it
// can do is hidden until it runs. Without it the page still reads.
//
// What a report holds came from players' files. Templates escape it by where it stands, and
// every value that they print first goes through document.Safe (see guard), so that neither
// markup nor control characters nor marks of text direction reach the page.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

//go:embed *.html style/*.css script/*.js
var files embed.FS

// The styles and scripts of a page, in the order in which they count.
var (
	styles  = []string{"page", "sections", "values", "pictures", "map", "axis", "print"}
	scripts = []string{"theme", "copy", "values", "pictures", "axis", "links"}
)

// Write writes a report as an HTML page.
func Write(w io.Writer, r *document.Report) error { return write(w, r, Within{}) }

func write(w io.Writer, r *document.Report, in Within) error {
	style, err := concatenated("style/", styles, ".css")
	if err != nil {
		return err
	}
	script, err := concatenated("script/", scripts, ".js")
	if err != nil {
		return err
	}
	ids := newIDs()
	t, err := template.New("page.html").Funcs(template.FuncMap{
		"printable": printable,
		"runs":      textRuns,
		"pieces":    prose.Pieces,
		"class":     classOf,
		"step":      stepOf,
		"printed":   func(digits string) string { return bytesText(strings.TrimSuffix(digits, "…")) },
		"id": func(parts ...any) string {
			texts := make([]string, len(parts))
			for i, part := range parts {
				texts[i] = fmt.Sprint(part)
			}
			return ids.unique(texts...)
		},
	}).ParseFS(files, "*.html")
	if err != nil {
		return err
	}
	guard(t)
	v := newView(r, ids)
	v.Within = in
	v.Style, v.Script, v.Policy = template.CSS(style), template.JS(script), policy(style, script)
	var out bytes.Buffer
	if err := t.Execute(&out, v); err != nil {
		return err
	}
	_, err = w.Write(out.Bytes())
	return err
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
