package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
)

func newDeskCheck(d *deskEnv) *cobra.Command {
	var build, game, failOn string
	cmd := &cobra.Command{
		Use:   "check --build BUILD [FILTER...]",
		Short: "Fail if a build has groups that are new, or that came back",
		Long: `check looks at the groups that were seen in a build, for continuous integration.
It fails only on open groups: new are groups that were seen in no older build,
regression are groups that were closed and came back in this build, any are all
of them. Ignored and closed groups do not make it fail.

If no report of a build is known, the build neither passes nor fails: the status
is 3. check warns of bundles that wait to be triaged, because their builds are
not known yet.

` + filterHelp + `

Exit status:
  0  nothing to fail on
  1  it fails
  2  an argument is unusable
  3  there is no report of the build`,
		Example: `  desynctool desk check --build 1.5.0 --format junit=desk.xml
  desynctool desk check --build 1.5.0 --fail-on any --game arena`,
	}
	f := cmd.Flags()
	f.StringVar(&build, "build", "", "the build")
	f.StringVar(&game, "game", "", "only groups of this game")
	f.StringVar(&failOn, "fail-on", string(desk.FailOnNew)+","+string(desk.FailOnRegression), "groups that make it fail: new, regression or any, separated by commas")
	format := cli.AddFormats(cmd, "text", "json", "csv", "markdown", "junit")
	cmd.RunE = d.asking(format, func(s *desk.Store, args []string) (*render.View, error) {
		if build == "" {
			return nil, errors.New("--build is missing: the build to check")
		}
		on, err := desk.ParseFailOn(failOn)
		if err != nil {
			return nil, fmt.Errorf("--fail-on is %w", err)
		}
		filter, err := filterOfGame(args, game)
		if err != nil {
			return nil, err
		}
		c, err := s.CheckBuild(d.Context, build, on, filter)
		if err != nil {
			return nil, err
		}
		return render.Check(c), nil
	})
	return cmd
}
