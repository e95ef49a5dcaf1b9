package peers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// readDocument reads a saved document of at most limits.Report bytes.
func readDocument(r io.Reader, name string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limits.Report.Max()+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if limits.Report.Over(int64(len(b))) {
		return nil, limits.Report.Reached(name, 0)
	}
	return b, nil
}

// maxReportValues is how many values a saved document may have to be read as a whole: small values take many times more
// memory than their text. Real ones have some ten thousand.
const maxReportValues = 1 << 20

// boundValues refuses a document with too many values. It need not be JSON.
func boundValues(b []byte, name string) error {
	values, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\':
			i++
		case !quoted && (c == ',' || c == '[' || c == '{'):
			values++
		}
	}
	if values > maxReportValues {
		return &frame.Error{Name: name, Msg: fmt.Sprintf("%d values, a saved report has at most %d", values, maxReportValues), Err: frame.ErrCorrupt}
	}
	return nil
}

// ReadSaved reads a *document.Report, a *Report or a *Merged, by its schema, or a []*document.Report for several
// matches.
func ReadSaved(r io.Reader, name string) (any, error) {
	b, err := readDocument(r, name)
	if err != nil {
		return nil, err
	}
	if inner, ok := bytes.CutPrefix(bytes.TrimSpace(b), []byte("[")); ok && bytes.HasPrefix(bytes.TrimSpace(inner), []byte("{")) {
		if err := boundValues(b, name); err != nil {
			return nil, err
		}
		return document.ReadReports(bytes.NewReader(b), name)
	}
	schema := schemaOf(b)
	switch schema {
	case document.ReportSchema:
		if err := boundValues(b, name); err != nil {
			return nil, err
		}
		return document.ReadReport(bytes.NewReader(b), name)
	case MergedSchema:
		return ReadMerged(bytes.NewReader(b), name)
	case Schema:
		return Read(bytes.NewReader(b), name)
	}
	msg := fmt.Sprintf("its schema is %q", prose.Cut(schema, 80))
	switch {
	case len(b) == 0:
		msg = "empty file"
	case schema == "":
		msg = "not JSON with a schema"
	}
	return nil, &frame.Error{Name: name, Err: frame.ErrUnrecognized, Msg: fmt.Sprintf("%s, expected %q, %q or %q", msg, Schema, MergedSchema, document.ReportSchema)}
}

// schemaOf returns the schema of a document, which may be cut off or damaged after it;
// empty if it has none.
func schemaOf(b []byte) string {
	d := json.NewDecoder(bytes.NewReader(b))
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return ""
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return ""
		}
		if key == "schema" {
			value, _ := d.Token()
			schema, _ := value.(string)
			return schema
		}
		if d.Decode(new(json.RawMessage)) != nil {
			return ""
		}
	}
	return ""
}
