package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"slices"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// pair is a name and a value that sum up a report.
type pair struct{ name, value string }

// report is a kind of reports that the program itself writes: how it begins, and how it is summed up. An error means that
// the report is cut or damaged.
type report struct {
	kind  string
	begin *lazyregexp.Regexp
	sum   func(text []byte) ([]pair, error)
}

var written = []report{
	{"JSON document", lazyregexp.New(`^\s*\[?\s*\{\s*("schema": ?"desynctool\.|"fault": ?"[^"]*",\s*"place": ?)`), sumDocument},
	{"SARIF report", lazyregexp.New(`^\{\s*"\$schema": ?"[^"]*sarif[^"]*"[^\]]*"name": ?"desynctool"`), sumSARIF},
	{"JUnit report", lazyregexp.New(`^<\?xml[^>]*>\s*<testsuites name="desynctool `),
		sumMarkup(lazyregexp.New(`<(?:property name="(status)" value|(failure|error) message)="([^"]*)"`), "</testsuites>")},
	{"HTML page", lazyregexp.New(`^<!DOCTYPE html>[^\0]*<title>Desync report`), sumMarkup(lazyregexp.New(`(?s)^.*?<(title)()>([^<]*)<`), "</html>")},
}

// Written reports whether a file begins like a report that the program itself writes.
func Written(head []byte) bool { return writtenKind(head) >= 0 }

func writtenKind(head []byte) int {
	return slices.IndexFunc(written, func(r report) bool { return r.begin.Match(head) })
}

// dumpWritten writes the kind of such a report, its status and the first sentence of its verdict.
func dumpWritten(w io.Writer, r io.Reader, name string, head []byte) error {
	text, err := io.ReadAll(io.LimitReader(r, limits.Report.Max()+1))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	size := int64(len(text))
	if limits.Report.Over(size) {
		return limits.Report.Reached(name, size)
	}
	kind := &written[writtenKind(head)]
	pairs, err := kind.sum(text)
	if err != nil {
		if wrong := (*json.SyntaxError)(nil); errors.As(err, &wrong) {
			size = wrong.Offset
		}
		return &frame.Error{Name: name, Offset: size, Msg: fmt.Sprintf("%s of desynctool: %v", kind.kind, err), Err: frame.ErrCorrupt}
	}
	for _, p := range append([]pair{{"kind", kind.kind}}, pairs...) {
		if _, err := fmt.Fprintf(w, "%s = %q\n", p.name, p.value); err != nil {
			return err
		}
	}
	return nil
}

// sumDocument sums up a document, or each of an array.
func sumDocument(text []byte) (pairs []pair, err error) {
	var list []struct {
		Schema, Status, Fault, Place, Peer string
		Tick                               json.Number
		Verdict                            []string
	}
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		return nil, err
	}
	if bytes.TrimSpace(text)[0] == '{' {
		text = slices.Concat([]byte("["), text, []byte("]"))
	}
	err = json.Unmarshal(text, &list)
	if other := (*json.UnmarshalTypeError)(nil); errors.As(err, &other) { // a member of that name in another document
		err = nil
	}
	for _, d := range list {
		verdict := append(d.Verdict, "")[0]
		for _, p := range []pair{{"schema", d.Schema}, {"status", d.Status}, {"fault", d.Fault}, {"place", d.Place}, {"peer", d.Peer}, {"tick", d.Tick.String()}, {"verdict", verdict}} {
			if p.value != "" {
				pairs = append(pairs, p)
			}
		}
	}
	return pairs, err
}

func sumSARIF(text []byte) (pairs []pair, err error) {
	var log struct {
		Runs []struct {
			Results []struct{ Message struct{ Text string } }
		}
	}
	err = json.Unmarshal(text, &log)
	for _, run := range log.Runs {
		for _, result := range run.Results {
			pairs = append(pairs, pair{"message", result.Message.Text})
		}
	}
	return pairs, err
}

// sumMarkup sums up XML or HTML with an end. Of what the pattern matches the name is one of two groups, the value the
// third.
func sumMarkup(pattern *lazyregexp.Regexp, end string) func(text []byte) ([]pair, error) {
	return func(text []byte) (pairs []pair, err error) {
		for _, m := range pattern.FindAllStringSubmatch(string(text), -1) {
			pairs = append(pairs, pair{m[1] + m[2], html.UnescapeString(m[3])})
		}
		if !bytes.HasSuffix(bytes.TrimSpace(text), []byte(end)) {
			err = fmt.Errorf("expected %s at its end", end)
		}
		return pairs, err
	}
}
