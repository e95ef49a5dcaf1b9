package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
)

func newDeskList(d *deskEnv) *cobra.Command {
	var reports bool
	var order string
	var page desk.Page
	cmd := &cobra.Command{
		Use:   "list [FILTER...]",
		Short: "List groups, or reports",
		Long: `list shows the groups of a desk: how many matches each has, which part that is of all
matches of the game that diverged, how many there were in each of the last 8 weeks that
evidence has, in which builds and on which days it was seen, and which cause most of
its reports look like. Without a word about states it shows those that are open.
--reports lists single reports instead, those that came last first.

` + filterHelp + `

A word is held against a group by itself: os:linux build:1.4.2 are groups with a match
on Linux and one of that build. With --reports all words hold of each report.

Exit status: 0 on success, 2 if an argument is unusable.`,
		Example: `  desynctool desk list
  desynctool desk list os:linux 'build:>=1.4.0' --order last
  desynctool desk list --reports status:inconclusive --format csv=open.csv`,
	}
	f := cmd.Flags()
	f.BoolVar(&reports, "reports", false, "list reports")
	f.StringVar(&order, "order", string(desk.ByReports), "the order of groups: matches (most first), last (last played) or first (newest)")
	f.IntVarP(&page.Limit, "number", "n", 25, "how many to show, 500 at most")
	f.StringVar(&page.After, "after", "", "go on after this, as the list before says it")
	format := cli.AddFormats(cmd, "text", "json", "csv", "markdown")
	cmd.RunE = d.asking(format, func(s *desk.Store, args []string) (*render.View, error) {
		filter, err := parseFilter(args)
		switch {
		case err != nil:
			return nil, err
		case page.Limit < 1 || page.Limit > 500:
			return nil, fmt.Errorf("--number is %d, expected 1 to 500", page.Limit)
		case reports && cmd.Flags().Changed("order"):
			return nil, fmt.Errorf("--order is of groups, --reports lists reports")
		}
		if reports {
			list, err := s.Reports(d.Context, filter, page)
			if err != nil {
				return nil, err
			}
			return render.Reports(filter, list), nil
		}
		return listGroups(d, s, filter, desk.Order(order), page)
	})
	return cmd
}

func listGroups(d *deskEnv, s *desk.Store, filter desk.Filter, order desk.Order, page desk.Page) (*render.View, error) {
	shown := filter
	if filter.Of("state") == "" && filter.Of("group") == "" {
		shown = filter.With(desk.Term{Key: "state", Op: "=", Value: string(desk.GroupOpen)})
	}
	list, err := s.Groups(d.Context, shown, order, page)
	if err != nil {
		return nil, err
	}
	var hidden int64
	if len(shown.Terms) > len(filter.Terms) {
		all, err := s.Groups(d.Context, filter, order, desk.Page{Limit: 1})
		if err != nil {
			return nil, err
		}
		hidden = all.Total - list.Total
	}
	return render.Groups(shown, order, list, hidden), nil
}
