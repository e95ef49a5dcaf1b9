package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/render"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/report/document"
)

func newDeskExport(d *deskEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export FILE",
		Short: "Write all of a store into one file",
		Long: `export writes everything in a store into one file: reports, groups, the
decisions of people, and the content of the bundles. desk import makes a store
from it, in a folder or in a database. Equal stores give equal files.

The file contains the secrets of the store, such as the secrets of webhooks. It
does not contain the jobs of the queue: bundles that wait to be triaged still
wait afterwards.

Exit status: 0 if it was done, 2 if it cannot be, 3 if content of bundles is missing.`,
		Example: `  desynctool desk export desk.tar.zst
  desynctool desk export desk.tar.zst --store other --format json`,
		Args: cobra.ExactArgs(1),
	}
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return d.withBundles(func(s *desk.Store, b blobs.Store) error {
			var e *desk.Exported
			err := files.Replace(args[0], func(f *os.File) (err error) {
				e, err = desk.Export(d.Context, s, b, f)
				return err
			})
			if err != nil {
				return err
			}
			return d.renderExport(format, "desk-export", "Exported", e)
		})
	}
	return cmd
}

func (d *deskEnv) renderExport(format *cli.Outputs, kind, done string, e *desk.Exported) error {
	status := document.InSync
	if len(e.Missing) > 0 {
		status = document.Inconclusive
	}
	err := d.Render(format, func(w io.Writer, _ document.Style) error { return render.Export(w, done, e) }, func() any { return render.ExportDocument(kind, status, e) })
	if err != nil {
		return err
	}
	return cli.Ended(status)
}
