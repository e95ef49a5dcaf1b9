package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/intake"
	"github.com/desynctool/desynctool/desk/queue"
	"github.com/desynctool/desynctool/desk/render"
)

// deskAgainFlags are the flags of desk again.
type deskAgainFlags struct {
	intakeFlags
	where       string
	dry, queued bool
	format      *cli.Outputs
}

func newDeskAgain(d *deskEnv) *cobra.Command {
	var flags deskAgainFlags
	cmd := &cobra.Command{
		Use:   "again",
		Short: "Triage stored bundles again, and show what changed",
		Long: `again triages bundles that already have reports, with this version of the tool.
It replaces the old reports with the new ones, and lists the differences:
status, tick, system, locus, cause, fingerprint, group. --where takes the words
of desk list; it selects a bundle if it selects one of its reports. A bundle
keeps its reports if its content is no longer stored, or if it cannot be triaged
now.

With --queue the bundles wait for desk work, after all others.

Exit status:
  0  all were triaged, whatever changed
  2  an argument or the store is unusable
  3  a bundle could not be triaged; its reports are as they were
`,
		Example: `  desynctool desk again --dry-run
  desynctool desk again --where "status:inconclusive build:1.4.2"`,
		Args: cobra.NoArgs,
	}
	flags.add(cmd)
	f := cmd.Flags()
	f.StringVar(&flags.where, "where", "", "only bundles with a report that these words of desk list select")
	f.BoolVar(&flags.dry, "dry-run", false, "show what would change, and write nothing")
	f.BoolVar(&flags.queued, "queue", false, "leave the triage to desk work")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "queue")
	flags.format = cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return d.doAgain(&flags) }
	return cmd
}

func (d *deskEnv) doAgain(flags *deskAgainFlags) error {
	if err := flags.check(); err != nil {
		return err
	}
	filter, err := desk.ParseFilter(flags.where)
	if err != nil {
		return fmt.Errorf("--where: %w", err)
	}
	store, err := d.open(false)
	if err != nil {
		return err
	}
	defer store.Close()
	bundles, err := store.BundlesOf(d.Context, filter)
	if err != nil {
		return err
	}
	doc := render.NewAgain(flags.dry)
	if doc.Queued = flags.queued; flags.queued {
		var q *queue.Queue
		if q, err = queue.Open(d.Context, store); err == nil {
			doc.Bundles, err = q.Again(d.Context, bundles)
		}
	} else {
		err = d.againHere(store, bundles, flags, doc)
	}
	if err != nil {
		return err
	}
	if err := d.writeDocument(flags.format, doc); err != nil {
		return err
	}
	return cli.Ended(doc.Status)
}

// againHere triages bundles in this process.
func (d *deskEnv) againHere(store *desk.Store, bundles []int64, flags *deskAgainFlags, doc *render.Again) error {
	x, err := d.intake(store, &flags.intakeFlags, "desk again")
	if err != nil {
		return err
	}
	show, end := d.Progress("bundles", "bundles")
	defer end()
	return x.Again(d.Context, bundles, flags.jobs, flags.dry, func(r intake.Retriaged) error {
		doc.Add(r)
		if show != nil {
			show(int64(doc.Bundles), int64(len(bundles)))
		}
		return nil
	})
}
