package formats

import (
	"encoding/json"
	"fmt"
	"html"
	"io"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// written are the reports that the program itself writes: how they begin, and the names and values that sum them up.
// Values are strings of JSON, or attributes and texts of XML and HTML.
var written = []struct {
	kind         string
	begin, pairs *lazyregexp.Regexp
}{
	{"JSON document", lazyregexp.New(`^\s*\[?\s*\{\s*("schema": ?"desynctool\.|"fault": ?"[^"]*",\s*"place": )`),
		lazyregexp.New(`(?m)^ {2,4}"(schema|status|fault|place|peer|tick)": ?("[^\n]*"|\d+)|^ {2,4}"(verdict)": \[\s*("[^\n]*")`)},
	{"SARIF report", lazyregexp.New(`^\{\s*"\$schema": "[^"]*sarif[^"]*"[^\]]*"name": "desynctool"`), lazyregexp.New(`"(message)": \{\s*"text": ("[^\n]*")`)},
	{"JUnit report", lazyregexp.New(`^<\?xml[^>]*>\s*<testsuites name="desynctool `), lazyregexp.New(`<property name="(status)" value="([^"]*)"|<(failure|error) message="([^"]*)"`)},
	{"HTML page", lazyregexp.New(`^<!DOCTYPE html>[^\0]*<title>Desync report`), lazyregexp.New(`<(title)>([^<]*)<`)},
}

// Written reports whether a file begins like a report that the program itself writes.
func Written(head []byte) bool {
	for i := range written {
		if written[i].begin.Match(head) {
			return true
		}
	}
	return false
}

// dumpWritten writes the kind of such a report, its status and the first sentence of its verdict.
func dumpWritten(w io.Writer, r io.Reader, head []byte) error {
	text, err := io.ReadAll(io.LimitReader(r, limits.Report.Max()))
	for i := range written {
		if err != nil || !written[i].begin.Match(head) {
			continue
		}
		fmt.Fprintf(w, "kind = %q\n", written[i].kind)
		for _, m := range written[i].pairs.FindAllStringSubmatch(string(text), -1) {
			name, value := m[1], m[2]
			if name == "" {
				name, value = m[3], m[4]
			}
			if i > 1 || !json.Valid([]byte(value)) {
				value = fmt.Sprintf("%q", html.UnescapeString(value))
			}
			if _, err = fmt.Fprintf(w, "%s = %s\n", name, value); err != nil {
				break
			}
		}
		break
	}
	return err
}
