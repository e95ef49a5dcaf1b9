package desk

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
)

// Ranked is a group with its points, and the reasons for them.
type Ranked struct {
	Group
	Points  int      `json:"points"`
	Reasons []Reason `json:"reasons"`
}

// Reason is a reason for points.
type Reason struct {
	Points int    `json:"points"`
	Text   string `json:"text"`
}

// Points of groups. docs/desk-filters.md lists them in a table.
const (
	pointsBack     = 30 // it came back
	pointsNew      = 20 // it was first seen in the last build, or in the last 7 days
	pointsDoubled  = 10 // for each doubling of matches since the 7 days before
	maxDoubled     = 20
	pointsMatches  = 10 // for each power of two of matches in the last 28 days, or of all if no day is known
	pointsComplete = 10 // for a report with complete data
)

// Top returns the open groups that match a filter and should be examined first, at most n. The points depend only on
// the store: today is the last day in the game's evidence.
func (s *Store) Top(ctx context.Context, f Filter, n int) ([]Ranked, error) {
	var w where
	if err := s.ofGroups(ctx, &w, f.With(Term{Key: "state", Op: "=", Value: string(GroupOpen)})); err != nil {
		return nil, err
	}
	list, err := s.rankable(ctx, &w)
	if err != nil || len(list) == 0 {
		return []Ranked{}, err
	}
	if err := s.trends(ctx, list); err != nil {
		return nil, err
	}
	last, err := s.lastBuilds(ctx)
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].rank(last[list[i].game], false)
	}
	byPoints := func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Points, a.Points), cmp.Compare(b.Reports, a.Reports), cmp.Compare(a.ID, b.ID))
	}
	slices.SortFunc(list, byPoints)
	// Completeness adds at most pointsComplete, so groups that are further from the nth cannot be in the result.
	n = min(max(n, 1), len(list), 500)
	near := n
	for near < len(list) && list[near].Points+pointsComplete >= list[n-1].Points {
		near++
	}
	list = list[:near]
	for i := range list {
		list[i].Points = 0
		list[i].rank(last[list[i].game], true)
	}
	if err := s.complete(ctx, list); err != nil {
		return nil, err
	}
	slices.SortFunc(list, byPoints)
	list = list[:n]
	return list, s.describeTop(ctx, list)
}

// rankable reads the data for points, except the groups' days and completeness.
func (s *Store) rankable(ctx context.Context, w *where) (list []Ranked, err error) {
	rows, err := s.read.QueryContext(ctx, w.fill("top.groups", ""), w.args...)
	if err != nil {
		return nil, fmt.Errorf("top.groups: %w", err)
	}
	err = eachOf(rows, "top.groups", func(scan func(...any) error) error {
		var r Ranked
		err := scan(&r.ID, &r.game, &r.FixedIn, &r.CameBack, &r.Reports, &r.firstDay, &r.FirstBuild)
		r.FirstDay = Day(r.firstDay)
		list = append(list, r)
		return err
	})
	return list, err
}

// describeTop reads everything that a list shows about groups.
func (s *Store) describeTop(ctx context.Context, list []Ranked) error {
	ids := lists.Map(list, func(x Ranked) int64 { return x.ID })
	var w where
	w.ids("g.id IN ({{ids}})", ids)
	groups := make([]Group, len(list))
	if err := s.groups(ctx, &w, "g.id", func(g *Group) { groups[slices.Index(ids, g.ID)] = *g }); err != nil {
		return err
	}
	if err := s.count(ctx, groups); err != nil {
		return err
	}
	for i := range list {
		list[i].Group = groups[i]
	}
	return nil
}

// trends counts the days of all groups in the games of a list.
func (s *Store) trends(ctx context.Context, list []Ranked) error {
	at, games := map[int64]*Ranked{}, map[int64]int64{}
	for i := range list {
		g := &list[i]
		at[g.ID] = g
		if _, known := games[g.game]; !known {
			last, err := s.lastDay(ctx, g.game)
			if err != nil {
				return err
			}
			games[g.game] = last
		}
		g.Trend.Until = Day(games[g.game])
	}
	for game, last := range games {
		err := s.each(ctx, "top.days", []any{game, last - 7*TrendWeeks}, func(scan func(...any) error) error {
			var id, day, n int64
			err := scan(&id, &day, &n)
			if g := at[id]; g != nil {
				g.Trend.add(last-day, n)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lastBuilds returns the last build of each game.
func (s *Store) lastBuilds(ctx context.Context) (map[int64]string, error) {
	all, err := s.builds(ctx)
	last := map[int64]Build{}
	for _, b := range all {
		if have, known := last[b.game]; !known || CompareBuilds(b.Build, have) > 0 {
			last[b.game] = b.Build
		}
	}
	names := map[int64]string{}
	for game, b := range last {
		names[game] = b.Name
	}
	return names, err
}

// because adds points, and the reason if say is set.
func (r *Ranked) because(say bool, points int, format string, args ...any) {
	r.Points += points
	if !say {
		return
	}
	r.Reasons = append(r.Reasons, Reason{points, fmt.Sprintf(format, args...)})
}

// log2 returns the logarithm of 1+n, times points, rounded.
func log2(n int64, points int) int { return int(math.Round(math.Log2(1+float64(n)) * float64(points))) }

// rank computes the points of a group, except for completeness. It adds the reasons if say is set.
func (r *Ranked) rank(lastBuild string, say bool) {
	if r.CameBack != "" {
		after := ""
		if r.FixedIn != "" {
			after = " after it was fixed in " + prose.Name(r.FixedIn)
		}
		r.because(say, pointsBack, "came back in %s%s", prose.Name(r.CameBack), after)
	}
	t := &r.Trend
	switch ofLastDays := t.Until != "" && r.firstDay > dayNumber(t.Until)-7; {
	case r.CameBack != "":
	case lastBuild != "" && r.FirstBuild == lastBuild:
		r.because(say, pointsNew, "new in %s, the last build", prose.Name(lastBuild))
	case ofLastDays:
		r.because(say, pointsNew, "new: first seen on %s", r.FirstDay)
	}
	if t.Last7 > t.Before7 {
		if points := min(log2(t.Last7, pointsDoubled)-log2(t.Before7, pointsDoubled), maxDoubled); points > 0 {
			r.because(say, points, "%s in the 7 days to %s, %d in the 7 before", prose.Count(t.Last7, "match", "matches"), t.Until, t.Before7)
		}
	}
	switch {
	case t.Until == "" || r.firstDay == 0:
		r.because(say, log2(r.Reports, pointsMatches), "%s; when they were played is not known", prose.Count(r.Reports, "match", "matches"))
	case t.Last28 > 0:
		r.because(say, log2(t.Last28, pointsMatches), "%s in the 28 days to %s", prose.Count(t.Last28, "match", "matches"), t.Until)
	}
}

// complete adds points for completeness.
func (s *Store) complete(ctx context.Context, list []Ranked) error {
	at := map[int64]*Ranked{}
	var ids []int64
	for i := range list {
		at[list[i].ID], ids = &list[i], append(ids, list[i].ID)
	}
	return s.eachOfIDs(ctx, "top.complete", ids, nil, func(scan func(...any) error) error {
		var id, complete int64
		err := scan(&id, &complete)
		if points := int(complete * pointsComplete / 100); points > 0 {
			at[id].because(true, points, "a report contains %d %% of what can be known", complete)
		}
		return err
	})
}
