package formats

import (
	"io"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/report/document"
)

// ListDocument is desynctool.formats/1.
type ListDocument struct {
	document.Head
	Formats []FormatDocument `json:"formats"`
}

// FormatDocument is one format.
type FormatDocument struct {
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Files       string   `json:"files"`
	Gives       []string `json:"gives"`
	Native      bool     `json:"native"`
	Checksummed bool     `json:"checksummed"`
}

// Document returns the JSON document of the list.
func Document(list []engine.Format) *ListDocument {
	doc := &ListDocument{Head: document.NewHead("formats", document.InSync, nil), Formats: []FormatDocument{}}
	for _, f := range list {
		doc.Formats = append(doc.Formats, FormatDocument{f.Name, f.Title, f.Files, f.Gives, f.Native, f.Checksummed})
	}
	return doc
}

// Text writes the list for a person.
func Text(w io.Writer, list []engine.Format, s document.Style) error {
	rows := [][]string{{"NAME", "FILES", "GIVES", "CHECKSUMS", "WHAT"}}
	for _, f := range list {
		checked := "no"
		if f.Checksummed {
			checked = "yes"
		}
		gives := ""
		for i, g := range f.Gives {
			if i > 0 {
				gives += ", "
			}
			gives += g
		}
		rows = append(rows, []string{f.Name, f.Files, gives, checked, f.Title})
	}
	out := s.Text(w)
	out.Table(rows)
	return out.Err()
}
