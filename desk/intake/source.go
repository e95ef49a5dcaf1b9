package intake

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/report/document"
)

// Source is the origin of a bundle.
type Source struct {
	Path   string
	Name   string
	Folder bool
	// Content, if not nil, is read instead of Path.
	Content io.Reader
}

// How is how folders are treated.
type How int

// Ways to take folders.
const (
	Look How = iota // depends on the content, see Find
	One             // a folder is one bundle
	Each            // each entry of a folder is a bundle
)

// looked is how many entries of a folder are read at most to find a readable one.
const looked = 8

// Find lists the bundles at a path, in the order of their names. A file is a bundle. A folder is usually one bundle.
// Each of its entries is a bundle if the folder contains only archives and folders, and the first readable one has
// files of more than one peer or match, unless all entries together are one match: some games leave every peer a file
// of each of the others. Entries with names that begin with a dot are then skipped.
func (x *Intake) Find(ctx context.Context, path string, how How) (list []Source, err error) {
	stat, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	name := path
	if abs, err := filepath.Abs(path); err == nil {
		name = abs
	}
	whole := []Source{{Path: path, Name: filepath.Base(name), Folder: stat.IsDir()}}
	if !stat.IsDir() {
		if !stat.Mode().IsRegular() {
			return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("is neither a file nor a folder")}
		}
		return whole, nil
	}
	if how == One {
		return whole, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || !e.IsDir() && !e.Type().IsRegular() {
			continue
		}
		if how == Look && !e.IsDir() && !archive.Named(e.Name()) {
			return whole, nil
		}
		if limits.Entries.Over(int64(len(list)) + 1) {
			return nil, limits.Entries.Reached(path, int64(len(list)))
		}
		list = append(list, Source{Path: filepath.Join(path, e.Name()), Name: e.Name(), Folder: e.IsDir()})
	}
	if how == Each {
		return list, nil
	}
	for _, s := range list[:min(len(list), looked)] {
		if several, ok := x.several(ctx, s); several && len(list) <= looked && x.oneMatch(ctx, whole[0]) {
			return whole, nil
		} else if several {
			return list, nil
		} else if ok {
			break
		}
	}
	return whole, context.Cause(ctx)
}

// oneMatch reports whether a path has files of one match, and can be read.
func (x *Intake) oneMatch(ctx context.Context, s Source) bool {
	t, err := x.Triage(ctx, s.Path, s.Name, true)
	return err == nil && len(t.Readings) == 1 && t.Readings[0].Report.Status != document.Failed
}

// several reports whether a path has files of more than one peer or match, and whether it can be read.
func (x *Intake) several(ctx context.Context, s Source) (yes, ok bool) {
	t, err := x.Triage(ctx, s.Path, s.Name, true)
	if err != nil || len(t.Readings) == 0 {
		return false, false
	}
	if len(t.Readings) > 1 {
		return true, true
	}
	r := t.Readings[0].Report
	return len(r.Peers) > 1, r.Status != document.Failed
}
