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
		Long: `check looks at the groups that were seen in a build, for continuous integration. It fails on
open groups only: new, which were seen in no older build; regression, which were closed
and came back in this build; any, all of them. Ignored and closed ones do not fail it.

A build of which no report is known is neither well nor not: the status is 3. Bundles
that wait to be triaged are warned of: their builds are not known yet.

` + filterHelp + `

Exit status:
  0  nothing to fail on
  1  it fails
  2  an argument is unusable
  3  no report is of the build`,
		Example: `  desynctool desk check --build 1.5.0 --format junit=desk.xml
  desynctool desk check --build 1.5.0 --fail-on any --game arena`,
	}
	f := cmd.Flags()
	f.StringVar(&build, "build", "", "the build")
	f.StringVar(&game, "game", "", "of this game only")
	f.StringVar(&failOn, "fail-on", string(desk.FailOnNew)+","+string(desk.FailOnRegression), "what it fails on: new, regression or any, with commas between")
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
