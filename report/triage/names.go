package triage

import (
	"context"
	"errors"
	"io"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
)

// Names has reports made without the names of players.
type Names struct {
	// Key is what pseudonyms are made with. A process that reads gets it too.
	Key string
	// New returns what takes the names out of the reports of one bundle.
	New func(key string) (Scrubber, error)
}

// Scrubber takes the names of players out of the reports of one bundle.
type Scrubber interface {
	// Open is [bundle.OpenMatches] with other names of the peers.
	Open(tree *archive.Tree, paths []string) (*bundle.Matches, error)
	// Report replaces what is left of names in a report of evidence that Open has opened.
	Report(*document.Report)
	// Saved replaces the names in reports that were made elsewhere, with the names of players.
	Saved([]*document.Report)
	// Copy writes the evidence at a path, which Open has opened, without names. It returns where in the copy names may
	// be left, a line each.
	Copy(ctx context.Context, path string, out io.Writer) (left []string, err error)
}

// errNames reports that a process was asked for names that it cannot replace.
var errNames = errors.New("this process does not know how to replace names")

// kept is the Scrubber that leaves names as they are.
type kept struct{}

func (kept) Open(tree *archive.Tree, paths []string) (*bundle.Matches, error) {
	return bundle.OpenMatches(tree, paths)
}

func (kept) Report(*document.Report) {}

func (kept) Saved([]*document.Report) {}

func (kept) Copy(context.Context, string, io.Writer) ([]string, error) { return nil, errNames }

// scrubber returns what takes names out of the reports of a bundle; nil names stay as they are.
func (n *Names) scrubber() (Scrubber, error) {
	if n == nil {
		return kept{}, nil
	}
	return n.New(n.Key)
}
