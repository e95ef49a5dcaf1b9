package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/internal/browser"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/page"
)

// addOpen adds the flag --open.
func addOpen(cmd *cobra.Command, open *bool) {
	cmd.Flags().BoolVar(open, "open", false, "open the page with the pictures in a browser: the file of --format html=FILE, else a temporary file")
}

// openPage opens a page in a browser: the file that it was written to, else a temporary one. If it cannot
// be opened, stderr shows the path, and the command does not fail.
func (e *env) openPage(o *cli.Outputs, write func(io.Writer) error) error {
	var path string
	if i := slices.IndexFunc(o.List, func(out cli.Output) bool { return out.Format == "html" && out.File != "" }); i >= 0 {
		path = o.List[i].File
	} else {
		var err error
		if path, err = writePage(write); err != nil {
			return err
		}
	}
	if err := browser.Open(path); err != nil {
		fmt.Fprintf(e.Stderr, "%s the page is in %s (%s)\n", e.ErrStyle().Paint(document.Warn, "not opened:"), document.Safe(path), prose.OneLine(err.Error()))
	}
	return nil
}

// pageOf writes the page of a report.
func pageOf(r *document.Report) func(io.Writer) error {
	return func(w io.Writer) error { return page.Write(w, r) }
}

// writePage writes a page into a temporary folder that only the user can read. The folder stays, because
// a browser may read it at any time.
func writePage(write func(io.Writer) error) (path string, err error) {
	dir, err := os.MkdirTemp("", "desynctool-")
	if err != nil {
		return "", files.NoTemporary(os.TempDir(), err)
	}
	path = filepath.Join(dir, "report.html")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	return path, errors.Join(write(f), f.Close())
}

// openedPage opens pages from explore and writes each of them once.
type openedPage struct {
	mu    sync.Mutex
	paths map[*document.Report]string
}

// open opens the page of a report, and returns its path.
func (o *openedPage) open(r *document.Report) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	path, written := o.paths[r]
	if !written {
		var err error
		if path, err = writePage(pageOf(r)); err != nil {
			return "", err
		}
		if o.paths == nil {
			o.paths = map[*document.Report]string{}
		}
		o.paths[r] = path
	}
	if err := browser.Open(path); err != nil {
		return fmt.Sprintf("not opened: the page is in %s (%v)", path, err), nil
	}
	return "opened " + path, nil
}
