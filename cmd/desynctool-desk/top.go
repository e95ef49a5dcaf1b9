package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
)

func newDeskTop(d *deskEnv) *cobra.Command {
	n := 3
	cmd := &cobra.Command{
		Use:   "top [FILTER...]",
		Short: "Show which groups to look at first, and why",
		Long: `top ranks the open groups by points, and shows the reasons for the points:

  30  it came back after it was closed
  20  it is new: in the last build of the game, or within the last 7 days
  20  at most: its matches grew, 10 each time that they doubled in 7 days
  10  for one match in the last 28 days, 20 for three, 30 for seven, and so on
  10  at most: how complete the most complete report is

Days come from the evidence, and the last day is the day of the last match of
the game; the clock of this machine is not used. Where no day is known, all
matches count.

` + filterHelp + `

Exit status: 0 on success, 2 if an argument is unusable.`,
		Example: `  desynctool desk top
  desynctool desk top -n 5 game:arena`,
	}
	cmd.Flags().IntVarP(&n, "number", "n", n, "number of groups to show, at most 100")
	format := cli.AddFormats(cmd, "text", "json", "csv", "markdown")
	cmd.RunE = d.asking(format, func(s *desk.Store, args []string) (*render.View, error) {
		if n < 1 || n > 100 {
			return nil, fmt.Errorf("--number is %d, expected 1 to 100", n)
		}
		filter, err := parseFilter(args)
		if err != nil {
			return nil, err
		}
		list, err := s.Top(d.Context, filter, n)
		if err != nil {
			return nil, err
		}
		return render.Top(list), nil
	})
	return cmd
}
