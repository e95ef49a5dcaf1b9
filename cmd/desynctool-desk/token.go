package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
)

func newDeskToken(d *deskEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Set who may reach the desk by HTTP",
		Long: `token makes, lists and revokes tokens. A desk that never had a token is open
only to this machine. Once a token was made, desk serve asks everybody for one,
and may listen on other addresses. The desk stores only a hash of a token, so
the token is shown once.

Exit status: the status of its commands.`,
		Example: `  desynctool desk token add bob --scope read
  desynctool desk token list`,
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	var scope string
	add := &cobra.Command{
		Use: "add NAME", Short: "Make a token, and print it once",
		Long: `add makes a token and prints it. --scope sets its purpose: upload sends bundles
and asks for their results, read reads everything, triage does both and corrects
groups.

Exit status: 0 if it was made, 2 if a valid token has the name.`,
		Example: `  desynctool desk token add ci --scope upload
  desynctool desk token add bob --scope triage`,
		Args: cobra.ExactArgs(1),
	}
	add.Flags().StringVar(&scope, "scope", "", "the purpose of the token: upload, read or triage")
	as := addAs(add)
	add.RunE = d.changing(as, true, func(s *desk.Store, who string, args []string) (string, error) {
		if scope == "" {
			return "", fmt.Errorf("--scope is missing: expected upload, read or triage")
		}
		return s.AddToken(d.Context, who, args[0], desk.Scope(scope))
	})
	list := &cobra.Command{
		Use: "list", Short: "List the tokens, without their secrets",
		Long: `list shows all tokens by name, also the revoked tokens.

Exit status: 0, or 2 if there is no desk.`,
		Example: `  desynctool desk token list
  desynctool desk token list --format json`,
		Args: cobra.NoArgs,
	}
	list.RunE = d.listing(cli.AddFormat(list), func(s *desk.Store) (texts, error) {
		all, err := s.Tokens(d.Context)
		return render.NewTokens(all), err
	})
	revoke := &cobra.Command{
		Use: "revoke NAME", Short: "End a token, and the sessions of browsers that logged in with it",
		Long: `revoke ends a token. A running server applies this at once.

Exit status: 0 if it was revoked, 2 if there is no valid token with the name.`,
		Example: `  desynctool desk token revoke crash-uploader
  desynctool desk token revoke ann --as root`,
		Args: cobra.ExactArgs(1),
	}
	revoke.RunE = d.changing(addAs(revoke), false, func(s *desk.Store, who string, args []string) (string, error) {
		return "", s.RevokeToken(d.Context, who, args[0])
	})
	cmd.AddCommand(add, list, revoke)
	return cmd
}
