package triage

import (
	"bufio"
	"encoding/json"
	"io"
	"os"

	"github.com/desynctool/desynctool/report/document"
)

// maxHead is how many bytes of a file are read to see whether it is a saved report.
const maxHead = 4 << 10

// saved returns the reports that a file holds which triage wrote as JSON, and whether as an array, nil if it is anything else.
// What is damaged in one is a failedError.
func saved(path, name string) (list []*document.Report, several bool, err error) {
	stat, err := os.Stat(path)
	if err != nil || !stat.Mode().IsRegular() || stat.Size() == 0 {
		return nil, false, nil // reading it as evidence reports the error
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false, nil
	}
	defer f.Close()
	is, several := isSaved(io.LimitReader(f, maxHead))
	if !is {
		return nil, false, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, false, err
	}
	if several {
		list, err = document.ReadReports(bufio.NewReader(f), name)
	} else {
		var one *document.Report
		one, err = document.ReadReport(bufio.NewReader(f), name)
		list = append(list, one)
	}
	if err != nil {
		return nil, false, &failedError{document.StatusOfError(err), said(err)}
	}
	for _, r := range list {
		r.Status = r.Status.Known()
	}
	return list, several, nil
}

// isSaved reports whether JSON begins as a report of triage does, or an array of them: with its schema.
func isSaved(r io.Reader) (is, several bool) {
	d := json.NewDecoder(r)
	next := func() json.Token {
		t, err := d.Token()
		if err != nil {
			return nil
		}
		return t
	}
	t := next()
	if several = t == json.Delim('['); several {
		t = next()
	}
	return t == json.Delim('{') && next() == "schema" && next() == document.ReportSchema, several
}
