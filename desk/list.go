package desk

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
)

// Order is the order of a list of groups. Groups that are equal in it are ordered by age.
type Order string

// Orders of groups, each descending.
const (
	ByReports Order = "matches" // most matches
	ByLast    Order = "last"    // the last that was played
	ByFirst   Order = "first"   // newest: its first match was played last
)

// Orders returns all orders, the default first.
func Orders() []Order { return []Order{ByReports, ByLast, ByFirst} }

var orderColumns = map[Order]string{ByReports: "g.reports", ByLast: "g.last_day", ByFirst: "g.first_day"}

// Page selects a part of a list.
type Page struct {
	After string // Next of the previous page; empty for the first page
	Limit int    // number of entries; 0 for 25, at most 500
}

func (p Page) limit() int {
	if p.Limit <= 0 {
		return 25
	}
	return min(p.Limit, 500)
}

// Group is the part of a group that a list shows.
type Group struct {
	ID       int64      `json:"-"`
	Code     string     `json:"code"`
	Game     string     `json:"game"`
	Title    string     `json:"title"` // made from its first report
	Name     string     `json:"name"`  // given by a person, may be empty
	State    GroupState `json:"state"`
	MergedIn string     `json:"merged_in,omitempty"` // code of the group that has its reports
	FixedIn  string     `json:"fixed_in,omitempty"`
	CameBack string     `json:"came_back,omitempty"` // build in which it was seen after it was closed
	Weak     bool       `json:"weak"`                // too little is known to distinguish it from others
	Reports  int64      `json:"matches"`
	Peers    int64      `json:"peers"` // in all of its matches
	// OfGame is how many reports of its game diverged, including its own.
	OfGame     int64  `json:"matches_of_game"`
	FirstBuild string `json:"first_build,omitempty"`
	LastBuild  string `json:"last_build,omitempty"`
	FirstDay   string `json:"first_day,omitempty"` // 2026-01-31; empty if the evidence does not contain it
	LastDay    string `json:"last_day,omitempty"`
	Trend      Trend  `json:"trend"`
	// Cause is the most frequent class of likeliest causes in its reports, Causes how many reports have it. They are
	// empty and 0 if no report has a cause.
	Cause  string `json:"cause,omitempty"`
	Causes int64  `json:"cause_matches,omitempty"`

	game              int64
	firstDay, lastDay int64
}

// Called returns the name of the group, or its title.
func (g *Group) Called() string {
	return cmp.Or(g.Name, g.Title)
}

// Says reports whether the group's name or title contains a name, such as the name of its game or of a class of
// mistakes. The name need not be repeated then.
func (g *Group) Says(name string) bool {
	plain := strings.NewReplacer(",", " ", ":", " ").Replace
	return name != "" && strings.Contains(" "+plain(g.Called())+" ", " "+plain(name)+" ")
}

// Share is the group's part of all diverged reports of the game, 0 to 1.
func (g *Group) Share() float64 {
	if g.OfGame == 0 {
		return 0
	}
	return float64(g.Reports) / float64(g.OfGame)
}

// TrendWeeks is the number of weeks in a trend.
const TrendWeeks = 8

// Trend counts matches over time, up to the last day in the game's evidence.
type Trend struct {
	Until string `json:"until,omitempty"` // that day; empty if unknown
	// Last7 counts the last 7 days, Before7 the 7 days before, and so on.
	Last7    int64 `json:"last_7"`
	Before7  int64 `json:"before_7"`
	Last28   int64 `json:"last_28"`
	Before28 int64 `json:"before_28"`
	// Weeks has the count of each week, the last week last.
	Weeks [TrendWeeks]int64 `json:"weeks"`
}

// GroupList is a page of a list of groups.
type GroupList struct {
	Groups []Group
	Total  int64  // of the whole list
	Next   string // next page, empty if there is none
	// Ungrouped are reports that belong to no group, for lists that show them; nil otherwise. See Store.Ungrouped.
	Ungrouped *ReportList
}

// Groups lists the groups that match a filter. Unless the filter has a state, it omits groups that were merged into
// others, because they have no reports any more.
func (s *Store) Groups(ctx context.Context, f Filter, by Order, page Page) (*GroupList, error) {
	column := orderColumns[by]
	if column == "" {
		return nil, fmt.Errorf("order %q, expected one of %v", by, Orders())
	}
	var w where
	if err := s.ofGroups(ctx, &w, f); err != nil {
		return nil, err
	}
	list := &GroupList{Groups: []Group{}}
	var after *cursor
	if page.After != "" {
		c, err := parseCursor(page.After)
		if err != nil {
			return nil, err
		}
		after = &c
	}
	limit := page.limit()
	order := fmt.Sprintf("%s DESC, g.id DESC LIMIT %d", column, limit+1)
	if w.searches {
		ids, err := s.found(ctx, &w, column, after, limit+1, &list.Total)
		if err != nil {
			return nil, err
		}
		w = where{}
		w.ids("g.id IN ({{ids}})", ids)
	} else {
		if err := s.countGroups(ctx, &w, &list.Total); err != nil {
			return nil, err
		}
		if after != nil {
			w.add("("+column+", g.id) < ({{value}}, {{end}})", after.value, after.id)
		}
	}
	err := s.groups(ctx, &w, order, func(g *Group) { list.Groups = append(list.Groups, *g) })
	if err != nil {
		return nil, err
	}
	if len(list.Groups) > limit {
		list.Groups = list.Groups[:limit]
		last := list.Groups[limit-1]
		list.Next = cursor{map[Order]int64{ByReports: last.Reports, ByLast: last.lastDay, ByFirst: last.firstDay}[by], last.ID}.String()
	}
	return list, s.count(ctx, list.Groups)
}

func (s *Store) countGroups(ctx context.Context, w *where, total *int64) error {
	if err := s.read.QueryRowContext(ctx, w.fill("list.groups.count", ""), w.args...).Scan(total); err != nil {
		return fmt.Errorf("list.groups.count: %w", err)
	}
	return nil
}

// found searches for groups once, counts them, and returns the numbers of the groups on a page.
func (s *Store) found(ctx context.Context, w *where, column string, after *cursor, limit int, total *int64) (ids []int64, err error) {
	behind := where{args: w.args}
	if after != nil {
		behind.add("(f.place, f.id) < ({{value}}, {{end}})", after.value, after.id)
	}
	text := strings.NewReplacer("{{rank}}", column, "{{where}}", w.String(), "{{after}}", behind.String(), "{{limit}}", strconv.Itoa(limit)).Replace(statement("list.groups.found"))
	rows, err := s.read.QueryContext(ctx, text, behind.args...)
	if err != nil {
		return nil, fmt.Errorf("list.groups.found: %w", err)
	}
	err = eachOf(rows, "list.groups.found", func(scan func(...any) error) error {
		var id int64
		err := scan(total, &id)
		ids = append(ids, id)
		return err
	})
	if err == nil && len(ids) == 0 && after != nil { // there are some before
		err = s.countGroups(ctx, w, total)
	}
	return ids, err
}

// groups reads groups without the counts over their variants.
func (s *Store) groups(ctx context.Context, w *where, order string, f func(*Group)) error {
	rows, err := s.read.QueryContext(ctx, w.fill("list.groups", order), w.args...)
	if err != nil {
		return fmt.Errorf("list.groups: %w", err)
	}
	return eachOf(rows, "list.groups", func(scan func(...any) error) error {
		var g Group
		err := scan(&g.ID, &g.Code, &g.game, &g.Game, &g.Title, &g.Name, &g.State, &g.MergedIn, &g.FixedIn, &g.CameBack, &g.Weak, &g.Reports, &g.Peers,
			&g.firstDay, &g.lastDay, &g.FirstBuild, &g.LastBuild)
		g.FirstDay, g.LastDay = Day(g.firstDay), Day(g.lastDay)
		f(&g)
		return err
	})
}

// count adds the counts of each group: its share, trend and cause.
func (s *Store) count(ctx context.Context, list []Group) error {
	if len(list) == 0 {
		return nil
	}
	of, err := s.gameReports(ctx)
	if err != nil {
		return err
	}
	var ids []int64
	at, until := map[int64]int{}, map[int64]int64{}
	earliest := int64(math.MaxInt64)
	for i := range list {
		g := &list[i]
		ids, at[g.ID] = append(ids, g.ID), i
		g.OfGame = of[g.game]
		if _, known := until[g.game]; !known {
			if until[g.game], err = s.lastDay(ctx, g.game); err != nil {
				return err
			}
			earliest = min(earliest, until[g.game])
		}
		g.Trend.Until = Day(until[g.game])
	}
	err = s.eachOfIDs(ctx, "list.days", ids, []any{earliest - 7*TrendWeeks}, func(scan func(...any) error) error {
		var id, day, n int64
		err := scan(&id, &day, &n)
		g := &list[at[id]]
		g.Trend.add(until[g.game]-day, n)
		return err
	})
	if err != nil {
		return err
	}
	return s.eachOfIDs(ctx, "list.causes", ids, nil, func(scan func(...any) error) error {
		var id, n int64
		var cause string
		err := scan(&id, &cause, &n)
		if g := &list[at[id]]; n > g.Causes {
			g.Cause, g.Causes = cause, n
		}
		return err
	})
}

// add counts n matches that were ago days before the last day.
func (t *Trend) add(ago, n int64) {
	if ago < 0 || ago >= 7*TrendWeeks {
		return
	}
	t.Weeks[TrendWeeks-1-ago/7] += n
	switch {
	case ago < 7:
		t.Last7 += n
	case ago < 14:
		t.Before7 += n
	}
	if ago < 28 {
		t.Last28 += n
	} else {
		t.Before28 += n
	}
}

func (s *Store) eachOfIDs(ctx context.Context, name string, ids []int64, args []any, f func(scan func(...any) error) error) error {
	rows, err := s.read.QueryContext(ctx, withIDs(statement(name), ids), args...)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return eachOf(rows, name, f)
}

// gameReports returns how many reports of each game diverged.
func (s *Store) gameReports(ctx context.Context) (map[int64]int64, error) {
	of := map[int64]int64{}
	err := s.each(ctx, "list.game-reports", nil, func(scan func(...any) error) error {
		var game, n int64
		err := scan(&game, &n)
		of[game] = n
		return err
	})
	return of, err
}

// lastDay returns the day with which trends of a game end: the last day in the evidence. It ignores days that are more
// than 4 weeks after all others and have less than a hundredth of the reports, because they come from wrong clocks.
func (s *Store) lastDay(ctx context.Context, game int64) (int64, error) {
	type count struct{ day, n int64 }
	var days []count // newest first
	var all int64
	err := s.each(ctx, "list.game-days", []any{game}, func(scan func(...any) error) error {
		var c count
		err := scan(&c.day, &c.n)
		days, all = append(days, c), all+c.n
		return err
	})
	if err != nil || len(days) == 0 {
		return 0, err
	}
	last, after := 0, int64(0)
	for i, d := range days {
		if i > 0 && days[i-1].day-d.day > 28 && after*100 < all {
			last = i
		}
		after += d.n
	}
	return days[last].day, nil
}

// Report is the part of a report that a list shows.
type Report struct {
	ID       int64  `json:"id"`
	Bundle   string `json:"bundle"` // hash of the received content
	File     string `json:"file"`   // name of the first arrival
	Match    int    `json:"match"`  // from 1
	Status   string `json:"status"`
	Game     string `json:"game"`
	Build    string `json:"build,omitempty"`
	Seed     string `json:"seed,omitempty"`
	Day      string `json:"day,omitempty"`
	Tick     *int64 `json:"tick"` // the divergent tick or the first possible one, null if unknown
	Peers    int64  `json:"peers"`
	Complete int    `json:"complete"` // how much is known, 0 to 100
	Verdict  string `json:"verdict"`  // its first sentence
	Tool     string `json:"tool"`     // version of the program that triaged it last
	Times    int64  `json:"times"`    // how often it was triaged
	Group    string `json:"group,omitempty"`
	Title    string `json:"title,omitempty"` // of its variant

	bundle int64
}

// ReportList is a page of a list of reports.
type ReportList struct {
	Reports []Report
	Total   int64 // of the whole list; MostCounted means at least that many
	Next    string
}

// MostCounted is the limit up to which the reports of a list are counted.
const MostCounted = 10_000

// Reports lists the reports that match a filter, newest first.
func (s *Store) Reports(ctx context.Context, f Filter, page Page) (*ReportList, error) {
	var w where
	if err := s.ofReports(ctx, &w, f); err != nil {
		return nil, err
	}
	list := &ReportList{Reports: []Report{}}
	counting := where{conditions: w.conditions, args: w.args}
	count := strings.Replace(counting.fill("list.reports.count", ""), "LIMIT $1", fmt.Sprintf("LIMIT %d", MostCounted), 1)
	if err := s.read.QueryRowContext(ctx, count, counting.args...).Scan(&list.Total); err != nil {
		return nil, fmt.Errorf("list.reports.count: %w", err)
	}
	if page.After != "" {
		c, err := parseCursor(page.After)
		if err != nil {
			return nil, err
		}
		w.add("r.id < {{value}}", c.id)
	}
	limit := page.limit()
	err := s.reports(ctx, &w, fmt.Sprintf("r.id DESC LIMIT %d", limit+1), func(r *Report) { list.Reports = append(list.Reports, *r) })
	if len(list.Reports) > limit {
		list.Reports = list.Reports[:limit]
		list.Next = cursor{0, list.Reports[limit-1].ID}.String()
	}
	return list, err
}

// Ungrouped lists diverged reports without a group, because too little is known, among the reports that match a filter of
// open groups. It returns nil for a filter that is about groups themselves.
func (s *Store) Ungrouped(ctx context.Context, f Filter, page Page) (*ReportList, error) {
	var own Filter
	for _, t := range f.Terms {
		switch t.Key {
		case "state":
			if t.Value != string(GroupOpen) && t.Value != "any" {
				return nil, nil
			}
			continue
		case "weak", "group", "first", "back":
			return nil, nil
		}
		own.Terms = append(own.Terms, t)
	}
	return s.Reports(ctx, own.With(Term{Key: "group", Op: "=", Value: ungrouped}), page)
}

func (s *Store) reports(ctx context.Context, w *where, order string, f func(*Report)) error {
	rows, err := s.read.QueryContext(ctx, w.fill("list.reports", order), w.args...)
	if err != nil {
		return fmt.Errorf("list.reports: %w", err)
	}
	return eachOf(rows, "list.reports", func(scan func(...any) error) error {
		var r Report
		var day, tick int64
		err := scan(&r.ID, &r.Bundle, &r.File, &r.Match, &r.Status, &r.Game, &r.Build, &r.Seed, &day, &tick, &r.Peers, &r.Complete, &r.Verdict, &r.Tool, &r.Times, &r.bundle, &r.Group, &r.Title)
		if r.Day = Day(day); tick >= 0 {
			r.Tick = &tick
		}
		f(&r)
		return err
	})
}

// BundlesOf returns the numbers of the bundles with a report that matches a filter, in order.
func (s *Store) BundlesOf(ctx context.Context, f Filter) (ids []int64, err error) {
	var w where
	if err := s.ofReports(ctx, &w, f); err != nil {
		return nil, err
	}
	rows, err := s.read.QueryContext(ctx, w.fill("list.reports.bundles", ""), w.args...)
	if err != nil {
		return nil, fmt.Errorf("list.reports.bundles: %w", err)
	}
	return columnOf[int64](rows, "list.reports.bundles")
}

// UnknownReportError reports that no report has a name, or that several match it.
type UnknownReportError struct {
	Name string
	Some []string // reports that match
}

func (e *UnknownReportError) Error() string {
	if len(e.Some) > 0 {
		return fmt.Sprintf("report %s: several begin so: %s", prose.Name(e.Name), strings.Join(e.Some, ", "))
	}
	return fmt.Sprintf("report %s: there is none; desynctool desk list --reports has them", prose.Name(e.Name))
}

// ReportByName returns a report by its number, or by its bundle's hash or the first digits of it. If the bundle has
// several matches, # and the number of the match follow. Otherwise the error is an *UnknownReportError.
func (s *Store) ReportByName(ctx context.Context, name string) (*Report, error) {
	hash, match, ofMatch := strings.Cut(strings.ToLower(name), "#")
	no, err := strconv.Atoi(match)
	if ofMatch && err != nil {
		return nil, &UnknownReportError{Name: name}
	}
	var found []Report
	look := func(condition string, values ...any) error {
		var w where
		w.add(condition, values...)
		if ofMatch {
			w.add("r.match_no = {{value}}", no)
		}
		return s.reports(ctx, &w, "r.id LIMIT 5", func(r *Report) { found = append(found, *r) })
	}
	var id int64
	if _, err := fmt.Sscanf(hash, "%d", &id); err == nil && fmt.Sprint(id) == hash && !ofMatch {
		if err := look("r.id = {{value}}", id); err != nil {
			return nil, err
		}
	}
	if value, err := hexDigits(64)(hash); len(found) == 0 && err == nil && len(value) >= 4 {
		if err := look(statement("reports.hash"), value, value+"g"); err != nil {
			return nil, err
		}
	}
	if len(found) == 1 {
		return &found[0], nil
	}
	e := &UnknownReportError{Name: name}
	for _, r := range found {
		e.Some = append(e.Some, fmt.Sprintf("%s#%d", r.Bundle[:min(len(r.Bundle), 12)], r.Match))
	}
	return nil, e
}

// groupByCode returns a group by its code, or by the first digits of the code if they are unique.
func (s *Store) groupByCode(ctx context.Context, code string) (*Group, error) {
	unknown := &UnknownGroupError{Code: code}
	from, to, ok := codeRange(strings.ToLower(code))
	if !ok {
		return nil, unknown
	}
	var w where
	w.add("g.code >= {{value}} AND g.code < {{end}}", from, to)
	var found []Group
	if err := s.groups(ctx, &w, "g.code LIMIT 5", func(g *Group) { found = append(found, *g) }); err != nil {
		return nil, err
	}
	if len(found) > 0 && found[0].Code == from {
		found = found[:1]
	}
	if len(found) == 1 {
		return &found[0], s.count(ctx, found)
	}
	unknown.Some = append(unknown.Some, lists.Map(found, func(g Group) string { return g.Code })...)
	return nil, unknown
}

// one reads a single number.
func (s *Store) one(ctx context.Context, name string, args ...any) (n int64, err error) {
	if err = s.row(ctx, name, args, &n); errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, err
}
