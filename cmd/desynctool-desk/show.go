package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
)

func newDeskShow(d *deskEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show GROUP",
		Short: "Show everything that is known about a group, or a report",
		Long: `show shows a group: the report to open first, the platforms that set the group
apart from the other matches of the game that diverged (a table of two by two
each, as odds ratio with its 95 % interval), the evidence that would help most,
its variants and builds, and its edits. If too little is known about a group,
show lists other groups that may be the same bug. A group is named by its code,
or by enough first digits of the code that no other group has them.

show report REPORT shows the report that triage wrote about a match. A report is
named by its number, or by the first digits of its bundle's hash, with # and the
number of the match where the bundle has several.

Exit status: 0 on success, 2 if there is no such group.`,
		Example: `  desynctool desk show 3f9a2c12
  desynctool desk show report 1 --format json`,
		Args: cobra.ExactArgs(1),
	}
	format := cli.AddFormats(cmd, "text", "json", "csv", "markdown")
	cmd.RunE = d.asking(format, func(s *desk.Store, args []string) (*render.View, error) {
		g, err := s.Group(d.Context, args[0])
		if err != nil {
			return nil, err
		}
		return render.Group(g)
	})
	cmd.AddCommand(newDeskShowReport(d))
	return cmd
}

func newDeskShowReport(d *deskEnv) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "report REPORT",
		Short: "Show the report that triage wrote about a match",
		Long: `report shows the report that triage wrote about a match, as triage itself would.
REPORT is its number, or the first digits of its bundle's hash, with # and the
number of the match where the bundle has several: ab12cd34#2.

Exit status: 0 on success, 2 if there is no such report.`,
		Example: `  desynctool desk show report 1
  desynctool desk show report 1 --format html=report.html`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVarP(&all, "all", "a", false, "print all of a long answer")
	format := cli.AddReportFormats(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) (err error) {
		store, err := d.open(false)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		r, err := store.ReportByName(d.Context, args[0])
		if err != nil {
			return err
		}
		document, err := store.Document(d.Context, r.ID)
		if err != nil {
			return err
		}
		return d.RenderReport(format, document, all)
	}
	return cmd
}
