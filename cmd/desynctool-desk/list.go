package main

import (
	"fmt"
	"slices"

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
	f.IntVarP(&page.Limit, "number", "n", 25, "how many to show, 500 at most; without it json and csv have all")
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
		machine := slices.ContainsFunc(format.List, func(o cli.Output) bool { return o.Format == "json" || o.Format == "csv" })
		all := machine && !cmd.Flags().Changed("number")
		if all {
			page.Limit = 500
		}
		var v *render.View
		var shown int
		var next string
		if reports {
			list, err := s.Reports(d.Context, filter, page)
			for err == nil && all && list.Next != "" {
				var more *desk.ReportList
				if more, err = s.Reports(d.Context, filter, desk.Page{After: list.Next, Limit: page.Limit}); err == nil {
					list.Reports, list.Next = append(list.Reports, more.Reports...), more.Next
				}
			}
			if err != nil {
				return nil, err
			}
			v, shown, next = render.Reports(filter, list), len(list.Reports), list.Next
		} else {
			list, hidden, shownFilter, err := listGroups(d, s, filter, desk.Order(order), page, all)
			if err != nil {
				return nil, err
			}
			v, shown, next = render.Groups(shownFilter, desk.Order(order), list, hidden), len(list.Groups), list.Next
		}
		if machine && next != "" {
			d.Warn([]string{fmt.Sprintf("the first %d only; --after %s lists the next", shown, next)})
		}
		return v, nil
	})
	return cmd
}

// listGroups returns a page of groups, or all, the filter with what it leaves out itself, and how many that are.
func listGroups(d *deskEnv, s *desk.Store, filter desk.Filter, order desk.Order, page desk.Page, all bool) (list *desk.GroupList, hidden int64, shown desk.Filter, err error) {
	shown = filter
	if filter.Of("state") == "" && filter.Of("group") == "" {
		shown = filter.With(desk.Term{Key: "state", Op: "=", Value: string(desk.GroupOpen)})
	}
	list, err = s.Groups(d.Context, shown, order, page)
	for err == nil && all && list.Next != "" {
		var more *desk.GroupList
		if more, err = s.Groups(d.Context, shown, order, desk.Page{After: list.Next, Limit: page.Limit}); err == nil {
			list.Groups, list.Next = append(list.Groups, more.Groups...), more.Next
		}
	}
	if err == nil && len(shown.Terms) > len(filter.Terms) {
		var whole *desk.GroupList
		if whole, err = s.Groups(d.Context, filter, order, desk.Page{Limit: 1}); err == nil {
			hidden = whole.Total - list.Total
		}
	}
	return list, hidden, shown, err
}
