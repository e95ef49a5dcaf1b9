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
		Long: `list shows the groups of a desk. For each group it shows how many matches it
has, their share of all matches of the game that diverged, their number in each
of the last 8 weeks of the evidence, the builds and days in which it was seen,
and the cause that most of its reports look like. Without a word about states it
shows the open groups. --reports lists single reports instead, in the order in
which they arrived, the last first.

` + filterHelp + `

Each word is compared with a group separately: os:linux build:1.4.2 lists groups
with a match on Linux and a match of that build. With --reports each report must
match all words.

Exit status: 0 on success, 2 if an argument is unusable.`,
		Example: `  desynctool desk list
  desynctool desk list os:linux 'build:>=1.4.0' --order last
  desynctool desk list --reports status:inconclusive --format csv=open.csv`,
	}
	f := cmd.Flags()
	f.BoolVar(&reports, "reports", false, "list reports")
	f.StringVar(&order, "order", string(desk.ByReports), "the order of groups: matches (most first), last (last played) or first (newest)")
	f.IntVarP(&page.Limit, "number", "n", 25, "number of entries to show, at most 500; without it json and csv contain all")
	f.StringVar(&page.After, "after", "", "continue after this entry, as the list before shows it")
	format := cli.AddFormats(cmd, "text", "json", "csv", "markdown")
	cmd.RunE = d.asking(format, func(s *desk.Store, args []string) (*render.View, error) {
		filter, err := parseFilter(args)
		switch {
		case err != nil:
			return nil, err
		case page.Limit < 1 || page.Limit > 500:
			return nil, fmt.Errorf("--number is %d, expected 1 to 500", page.Limit)
		case reports && cmd.Flags().Changed("order"):
			return nil, fmt.Errorf("--order sorts groups, and --reports lists reports")
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
			if err == nil && page.After == "" {
				list.Ungrouped, err = s.Ungrouped(d.Context, filter, desk.Page{Limit: 10})
			}
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
