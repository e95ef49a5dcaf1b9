package main

import (
	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
)

func newDeskStats(d *deskEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show how much a desk contains",
		Long: `stats counts bundles by state, reports by status, groups by state, games, builds
and operating systems, and the bytes that were received and are stored. No other
list shows bundles that wait to be triaged, or that triage did not get through.

Exit status: 0 on success, 2 if there is no store.`,
		Example: `  desynctool desk stats
  desynctool desk stats --format csv`,
		Args: cobra.NoArgs,
	}
	format := cli.AddFormats(cmd, "text", "json", "csv", "markdown")
	cmd.RunE = d.asking(format, func(s *desk.Store, _ []string) (*render.View, error) {
		x, err := s.Stats(d.Context)
		if err != nil {
			return nil, err
		}
		return render.Stats(x), nil
	})
	return cmd
}
