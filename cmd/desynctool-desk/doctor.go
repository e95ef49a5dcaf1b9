package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
)

func newDeskDoctor(d *deskEnv) *cobra.Command {
	most := 100
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Read all of a store, and list the damage in it",
		Long: `doctor reads everything in a store: the database, which SQLite checks page by
page; rows, and whether the objects that they refer to exist; the counts that
are stored next to them; every document, and whether it is the document of its
report and its group; the content of every bundle, and whether it has its hash.
Other commands read only the data that they need, and do not see damage
elsewhere.

Each fault is a line; the end of the output shows what to do about the faults.
Content that no bundle needs is listed and is not a fault. Nothing is repaired.
Others may work with the store at the same time.

Exit status:
  0  the store is sound
  2  it cannot be read: wrong usage, no store, one of a newer program, no answer
  3  it is damaged, the output shows where`,
		Example: `  desynctool desk doctor
  desynctool desk doctor --store other --format json`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().IntVar(&most, "most", most, "how many faults of each kind are listed")
	format := cli.AddFormat(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		if most < 1 {
			return fmt.Errorf("--most is %d, expected 1 or more", most)
		}
		progress, end := d.Progress("reading", "")
		x, err := desk.Examine(d.Context, d.where(), desk.Options{}, d.openBlobs, desk.Examination{Most: most, Progress: progress})
		end()
		if err != nil {
			return err
		}
		doc := render.NewDoctor(x)
		if err := d.writeDocument(format, doc); err != nil {
			return err
		}
		return cli.Ended(doc.Status)
	}
	return cmd
}
