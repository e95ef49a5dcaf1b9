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
		Short: "Give players a link to the part of a report that they may see",
		Long: `share makes links to the part of a report that triage --redact leaves. Nobody
can guess a link, and a link shows nothing else of the desk. Anyone who has the
link can pass it on; desk share revoke ends it.

Exit status: the status of its commands.`,
		Example: `  desynctool desk share add 1
  desynctool desk share list`,
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	var base string
	add := &cobra.Command{
		Use: "add REPORT", Short: "Make a link to a report, and print it once",
		Long: `add prints the link to a report. desk show and the address of the report's page
contain the number of the report.

Exit status: 0 if it was made, 2 if there is no such report.`,
		Example: `  desynctool desk share add 1
  desynctool desk share add 1 --url https://desk.example.org`,
		Args: cobra.ExactArgs(1),
	}
	add.Flags().StringVar(&base, "url", "", "the address at which others reach the desk; without it the path of the link is printed")
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
		Long: `list shows all links with their numbers, also the revoked links.

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
		Long: `revoke ends a link: the link shows nothing any more.

Exit status: 0 if it was revoked, 2 if there is no valid link with the number.`,
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
