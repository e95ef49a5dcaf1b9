package document

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// ReportSchema is the schema of a Report.
const ReportSchema = "desynctool.triage/1"

// ReadReport reads a saved Report.
func ReadReport(r io.Reader, name string) (*Report, error) {
	b, err := readSaved(r, name)
	if err != nil {
		return nil, err
	}
	return ParseReport(b, name)
}

// readSaved reads the bytes of saved reports.
func readSaved(r io.Reader, name string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limits.Report.Max()+1))
	if err == nil && limits.Report.Over(int64(len(b))) {
		err = limits.Report.Reached(name, 0)
	}
	return b, err
}

// ReadReports reads the array of reports that MatchesJSON wrote.
func ReadReports(r io.Reader, name string) (list []*Report, err error) {
	b, err := readSaved(r, name)
	if err != nil {
		return nil, err
	}
	if err := boundValues(b, name); err != nil {
		return nil, err
	}
	var all []json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("%s: not saved reports: %w", name, err)
	}
	for i, one := range all {
		r, err := ParseReport(one, fmt.Sprintf("%s, report %d", name, i+1))
		if err != nil {
			return nil, err
		}
		if r.Match == nil {
			r.Match = &MatchDocument{Number: i + 1}
		}
		list = append(list, r)
	}
	return list, nil
}

// ParseReport reads a Report from its JSON; name is its name in errors.
func ParseReport(b []byte, name string) (*Report, error) {
	if err := boundValues(b, name); err != nil {
		return nil, err
	}
	var out Report
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, fmt.Errorf("%s: not a saved report: %w", name, err)
	}
	out.Splits = list(out.Splits) // reports of before have none
	if out.Schema != ReportSchema {
		return nil, fmt.Errorf("%s: its schema is %q, expected %q", name, out.Schema, ReportSchema)
	}
	return &out, nil
}
