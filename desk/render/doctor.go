package render

import (
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// Doctor is desynctool.desk-doctor/1: the faults in a store. Its status is inconclusive if there is damage.
type Doctor struct {
	document.Head
	Found     int64         `json:"found"`      // number of faults
	Faults    []DoctorFault `json:"faults"`     // at most --most of each kind
	Left      int64         `json:"left"`       // number of blobs older than a day that no bundle needs
	LeftBytes int64         `json:"left_bytes"` // their stored size
	LeftOver  []string      `json:"left_over"`  // hashes, at most --most
	Do        []string      `json:"do"`         // advice
	Rows      int64         `json:"rows"`       // read, without documents
	Documents int64         `json:"documents"`  // read
	Bundles   int64         `json:"bundles"`    // read
	Contents  int64         `json:"contents"`   // read, and compared with their hashes
	Bytes     int64         `json:"bytes"`      // of these, unpacked
	Audit     string        `json:"audit"`      // the link of its last entry: 64 hex digits, or empty
}

// DoctorFault is a fault in a store.
type DoctorFault struct {
	Kind  string `json:"kind"`  // database, row, count, document or content
	Where string `json:"where"` // a table, report, group or bundle
	Why   string `json:"why"`   // the fault, and what was expected
}

// NewDoctor returns the document of an examination.
func NewDoctor(x *desk.Examined) Doctor {
	status := document.InSync
	if x.Found > 0 {
		status = document.Inconclusive
	}
	d := Doctor{Head: document.NewHead("desk-doctor", status, nil), Found: x.Found, Faults: []DoctorFault{}, Left: x.Left, LeftBytes: x.LeftBytes, LeftOver: append([]string{}, x.LeftOver...), Do: []string{},
		Rows: x.Rows, Documents: x.Documents, Bundles: x.Bundles, Contents: x.Contents, Bytes: x.Bytes, Audit: x.Audit}
	kinds := map[desk.FaultKind]bool{}
	for _, f := range x.Faults {
		kinds[f.Kind] = true
		d.Faults = append(d.Faults, DoctorFault{string(f.Kind), f.Where, f.Why})
	}
	if kinds[desk.ContentFault] {
		d.Do = append(d.Do, "Content of bundles: desk add of the same bundle writes it again, or put the files that are called by these hashes back from a backup.")
	}
	delete(kinds, desk.ContentFault)
	if len(kinds) > 0 {
		d.Do = append(d.Do, "Database, rows, counts and documents: put the database back from a backup, or bring the last export into a new store with desk import. Keep the damaged one until then.")
	}
	if x.Left > 0 {
		d.Do = append(d.Do, "Left over: desk prune deletes what no bundle needs.")
	}
	return d
}

// Text describes the result, a line for each fault, and what to do about it.
func (d Doctor) Text() string {
	var b strings.Builder
	for _, f := range d.Faults {
		fmt.Fprintf(&b, "%-8s  %s: %s\n", f.Kind, prose.Printable(f.Where), prose.Printable(f.Why))
	}
	if more := d.Found - int64(len(d.Faults)); more > 0 {
		fmt.Fprintf(&b, "… and %d more\n", more)
	}
	for _, hash := range d.LeftOver {
		fmt.Fprintf(&b, "left over %s\n", hash)
	}
	if more := d.Left - int64(len(d.LeftOver)); more > 0 {
		fmt.Fprintf(&b, "… and %d more\n", more)
	}
	verdict := "Sound"
	if d.Found > 0 {
		verdict = "DAMAGED, " + prose.Count(d.Found, "fault", "faults")
	}
	fmt.Fprintf(&b, "%s. Read: %s, %s, %s, the content of %d, %s.\n", verdict, prose.Count(d.Rows, "row", "rows"), prose.Count(d.Documents, "document", "documents"),
		prose.Count(d.Bundles, "bundle", "bundles"), d.Contents, prose.Count(d.Bytes, "byte", "bytes"))
	if d.Audit != "" {
		fmt.Fprintf(&b, "The chain of the audit ends with %s.\n", prose.Printable(d.Audit))
	}
	for _, line := range d.Do {
		b.WriteString(line + "\n")
	}
	return b.String()
}
