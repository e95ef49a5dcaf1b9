package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
)

func newDeskAudit(d *deskEnv) *cobra.Command {
	most := 100
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "List who did what to the desk",
		Long: `audit lists the last actions, newest first: arrivals, edits of groups, logins,
and changes of tokens, links and webhooks. If a bundle arrived more than 200
times, the first 200 arrivals are listed.

Exit status: 0, or 2 if there is no desk.`,
		Example: `  desynctool desk audit
  desynctool desk audit --most 20 --format json`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().IntVar(&most, "most", most, "how many entries are listed")
	cmd.RunE = d.listing(cli.AddFormat(cmd), func(s *desk.Store) (texts, error) {
		if most < 1 {
			return nil, fmt.Errorf("--most is %d, expected 1 or more", most)
		}
		all, _, err := s.AuditList(d.Context, desk.AuditMark{}, most)
		return render.NewAudit(all), err
	})
	return cmd
}
