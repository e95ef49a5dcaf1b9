package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// written are the reports that the program itself writes: how they begin, and the variables that sum them up.
var written = []struct {
	kind  string
	begin *lazyregexp.Regexp
	sum   func(text []byte) []string
}{
	{"JSON document", lazyregexp.New(`^\s*\[?\s*\{\s*"schema": ?"desynctool\.`), sumJSON},
	{"truth of record", lazyregexp.New(`^\{\s*"fault": ?"[^"]*",\s*"place": `), sumJSON},
	{"SARIF report", lazyregexp.New(`^\{\s*"\$schema": "[^"]*sarif[^"]*"[^\]]*"name": "desynctool"`), sumJSON},
	{"JUnit report", lazyregexp.New(`^<\?xml[^>]*>\s*<testsuites name="desynctool `), sumText(`<property name="(status)" value="([^"]*)"|<(failure|error) message="([^"]*)"`)},
	{"HTML page", lazyregexp.New(`^<!DOCTYPE html>[^\0]*<title>Desync report`), sumText(`<(title)>([^<]*)<`)},
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

// dumpWritten writes the kind of such a report, its status and its verdict.
func dumpWritten(w io.Writer, r io.Reader, name string) error {
	text, err := io.ReadAll(io.LimitReader(r, limits.Report.Max()+1))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if limits.Report.Over(int64(len(text))) {
		return limits.Report.Reached(name, 0)
	}
	for i := range written {
		if written[i].begin.Match(text[:min(len(text), HeadLen)]) {
			lines := append([]string{fmt.Sprintf("kind = %q", written[i].kind)}, written[i].sum(text)...)
			_, err = io.WriteString(w, strings.Join(lines, "\n")+"\n")
			break
		}
	}
	return err
}

// sumText returns pairs of groups of an expression as variables.
func sumText(expr string) func(text []byte) []string {
	pairs := lazyregexp.New(expr)
	return func(text []byte) (lines []string) {
		for _, m := range pairs.FindAllStringSubmatch(string(text), -1) {
			for i := 1; i < len(m); i += 2 {
				if m[i] != "" {
					lines = append(lines, fmt.Sprintf("%s = %q", m[i], html.UnescapeString(m[i+1])))
				}
			}
		}
		return lines
	}
}

// sumJSON returns what sums up one or several documents.
func sumJSON(text []byte) (lines []string) {
	if text = bytes.TrimSpace(text); !bytes.HasPrefix(text, []byte("[")) {
		text = append(append([]byte("["), text...), ']')
	}
	var list []struct {
		Schema, Status, Peer, Fault, Place string
		Tick                               json.RawMessage
		Verdict, Warnings                  []string
		Runs                               []struct {
			Results []struct{ Message struct{ Text string } }
		}
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return []string{fmt.Sprintf("damaged = %q", err.Error())}
	}
	put := func(name string, values ...string) {
		for _, value := range values {
			if value != "" {
				lines = append(lines, fmt.Sprintf("%s = %q", name, value))
			}
		}
	}
	for _, d := range list {
		put("schema", d.Schema)
		put("status", d.Status)
		put("fault", d.Fault)
		put("place", d.Place)
		put("peer", d.Peer)
		if n := string(d.Tick); n != "" && n != "null" {
			lines = append(lines, "tick = "+n)
		}
		put("verdict", d.Verdict...)
		put("warning", d.Warnings...)
		for _, run := range d.Runs {
			for _, result := range run.Results {
				put("result", result.Message.Text)
			}
		}
	}
	return lines
}
