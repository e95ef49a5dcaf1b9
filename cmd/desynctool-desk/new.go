package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
)

func newDeskNew(d *deskEnv) *cobra.Command {
	var since, game string
	cmd := &cobra.Command{
		Use:   "new --since BUILD [FILTER...]",
		Short: "List the groups that are new since a build, or came back",
		Long: `new lists the groups that were seen only in builds after BUILD, and the groups
that were closed and came back in such a build. Ignored groups are left out.

Builds with a version in their names are in the order of the versions (Semantic
Versioning 2.0.0); other builds come after them, by the first day on which they
were played. If BUILD is a version, it need not be the build of a report.

` + filterHelp + `

Exit status: 0 on success, whatever is new; 2 if an argument is unusable.`,
		Example: `  desynctool desk new --since 1.4.2
  desynctool desk new --since 1.4.2 --game arena os:linux --format markdown`,
	}
	f := cmd.Flags()
	f.StringVar(&since, "since", "", "the build")
	f.StringVar(&game, "game", "", "only groups of this game")
	format := cli.AddFormats(cmd, "text", "json", "csv", "markdown")
	cmd.RunE = d.asking(format, func(s *desk.Store, args []string) (*render.View, error) {
		if since == "" {
			return nil, errors.New("--since is missing: the build after which groups are new")
		}
		filter, err := filterOfGame(args, game)
		if err != nil {
			return nil, err
		}
		n, err := s.NewSince(d.Context, since, filter)
		if err != nil {
			return nil, err
		}
		return render.Since(n), nil
	})
	return cmd
}

// filterOfGame parses the words of a filter, and adds the game from --game.
func filterOfGame(args []string, game string) (desk.Filter, error) {
	filter, err := parseFilter(args)
	if err == nil && game != "" {
		filter = filter.With(desk.Term{Key: "game", Op: "=", Value: game})
	}
	return filter, err
}
