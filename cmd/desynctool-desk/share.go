package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
	"github.com/desynctool/desynctool/desk/server"
)

func newDeskShare(d *deskEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "share",
		Short: "Give players a link to what they may see of a report",
		Long: `share makes links to what triage --redact leaves of a report. Nobody can guess one, and
nothing else of the desk can be seen with it. Whoever has the link can pass it on; desk
share revoke ends it.

Exit status: that of its commands.`,
		Example: `  desynctool desk share add 1
  desynctool desk share list`,
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	var base string
	add := &cobra.Command{
		Use: "add REPORT", Short: "Make a link to a report, and print it once",
		Long: `add prints the link to a report, whose number desk show and the address of its page have.

Exit status: 0 if it was made, 2 if there is no such report.`,
		Example: `  desynctool desk share add 1
  desynctool desk share add 1 --url https://desk.example.org`,
		Args: cobra.ExactArgs(1),
	}
	add.Flags().StringVar(&base, "url", "", "where others reach the desk; without it the path of the link is printed")
	add.RunE = d.changing(addAs(add), false, func(s *desk.Store, who string, args []string) (string, error) {
		ids, err := numbers("report", args)
		if err != nil {
			return "", err
		}
		secret, err := s.Share(d.Context, who, ids[0])
		return strings.TrimRight(base, "/") + server.SharePath(secret), err
	})
	list := &cobra.Command{
		Use: "list", Short: "List the links, without their secrets",
		Long: `list numbers all links, those that were revoked as well.

Exit status: 0, or 2 if there is no desk.`,
		Example: `  desynctool desk share list
  desynctool desk share list --format json`,
		Args: cobra.NoArgs,
	}
	list.RunE = d.listing(cli.AddFormat(list), func(s *desk.Store) (texts, error) {
		all, err := s.Shares(d.Context)
		return render.NewShares(all), err
	})
	revoke := &cobra.Command{
		Use: "revoke LINK", Short: "End a link, by its number",
		Long: `revoke ends a link: it shows nothing any more.

Exit status: 0 if it was revoked, 2 if there is no valid one of the number.`,
		Example: `  desynctool desk share revoke 1
  desynctool desk share revoke 2 --as ann`,
		Args: cobra.ExactArgs(1),
	}
	revoke.RunE = d.changing(addAs(revoke), false, func(s *desk.Store, who string, args []string) (string, error) {
		ids, err := numbers("link", args)
		if err != nil {
			return "", err
		}
		return "", s.Unshare(d.Context, who, ids[0])
	})
	cmd.AddCommand(add, list, revoke)
	return cmd
}
