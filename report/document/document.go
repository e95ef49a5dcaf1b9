package document

import (
	"bufio"
	"errors"
	"io"
	"reflect"

	"github.com/desynctool/desynctool/bisect/hunt"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
)

// Document is the result of a command, ready to be written.
type Document struct {
	Status Status

	// Both are made when they are wanted: they may be much longer than the result.
	json func() any
	text func(out *Text, all bool)
}

// documentOf returns the document of a result that knows its own status. JSON makes what is written for a
// script.
func documentOf[R Result, D any](r R, json func(R) D, text func(out *Text, r R, all bool)) Document {
	return Document{
		StatusOf(r),
		func() any { return json(r) },
		func(out *Text, all bool) { text(out, r, all) },
	}
}

// JSON writes the document for a script, as the schemas in docs describe it.
func (d Document) JSON(w io.Writer) error {
	return WriteFilled(w, d.json())
}

// WriteFilled is WriteJSON with empty lists in place of nil, as fillLists makes them.
func WriteFilled(w io.Writer, document any) error {
	fillLists(reflect.ValueOf(document))
	return WriteJSON(w, document)
}

// Text writes the document for a person: about a screenful, or everything in the result if all is set.
func (d Document) Text(w io.Writer, s Style, all bool) error {
	buffered := bufio.NewWriterSize(w, 64<<10)
	out := s.Text(buffered)
	d.text(out, all)
	return errors.Join(out.err, buffered.Flush())
}

// Failure is the document of a command that has no result; triage uses NoReport instead. docs/document.schema.json has
// the keys that all documents have in common, including this one.
type Failure struct {
	Head
	Error string `json:"error"` // on one line
}

// StatusOfError returns the status of a command that ended with an error: Inconclusive if evidence is missing, else
// Failed.
func StatusOfError(err error) Status {
	if limits.Ended(err) || errors.Is(err, frame.ErrLacking) || errors.Is(err, hunt.ErrCannot) {
		return Inconclusive
	}
	return Failed
}

// Result is the finding of a command. A result may also have a method Failed, which reports that an argument was
// unusable, such as a simulator. A proven divergence outweighs that.
type Result interface {
	Diverged() bool
	Incomplete() bool
}

// StatusOf returns the status of the command that found a result, and of its document.
func StatusOf(result Result) Status {
	failing, ok := result.(interface{ Failed() bool })
	switch {
	case result.Diverged():
		return Diverged
	case ok && failing.Failed():
		return Failed
	case result.Incomplete():
		return Inconclusive
	}
	return InSync
}
