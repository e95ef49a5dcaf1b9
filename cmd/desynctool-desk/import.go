package main

import (
	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
)

func newDeskImport(d *deskEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import FILE",
		Short: "Make a store from a file that desk export wrote",
		Long: `import makes a store from a file that desk export wrote, in a folder or in a
database. The store must be empty, or must not exist yet. The file is checked
first: a file that was cut off or changed leaves everything as it was.

Exit status: 0 if it was done, 2 if it cannot be, 3 if the export reports that
content of bundles is missing.`,
		Example: `  desynctool desk import desk.tar.zst
  desynctool desk import desk.tar.zst --store other --format json`,
		Args: cobra.ExactArgs(1),
	}
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		e, err := desk.Import(d.Context, d.where(), desk.Options{}, d.openBlobs, args[0])
		if err != nil {
			return err
		}
		return d.renderExport(format, "desk-import", "Imported", e)
	}
	return cmd
}
