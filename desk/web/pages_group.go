package web

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/page"
)

// How much of a group its page shows.
const (
	maxBuilds  = 30 // newest first
	maxTraits  = 25 // traits that set it apart come first
	maxWanted  = 8
	maxReports = 10
)

// groupPage is everything about a group.
type groupPage struct {
	Code, Title, Name string
	Made              string // generated title, if it has a name
	Marks             []render.Mark
	MergedInto        string
	IsOpen            bool
	Done              *doneView
	Tiles             []tile
	Open              *openView
	Trend             *trend
	Builds            []buildRow
	MoreBuilds        string
	Traits            []traitRow
	TraitsAbout       string
	Evidence          []string
	Nearest           []nearRow
	KindOnly          bool
	Variants          []desk.Variant
	MoreVariants      string
	Split             bool // variants may be split off
	Reports           []reportRow
	AllReports        string
	Links             []string // issues
	Events            []eventRow
	MoreEvents        string
}

// tile is one of the key facts.
type tile struct{ Name, Value, More string }

// undoForm is the data for a form that reverts an event.
type undoForm struct {
	Token string
	Event int64 // 0 if there is nothing to revert
}

// doneView describes the edit that was just made.
type doneView struct {
	Text string
	Undo *undoForm // nil for an undo
}

// openView is the report to open first, with the reason.
type openView struct {
	ID           int64
	Name         string
	Why, Verdict string
	Links        []page.Link
	Share        *shareForm // nil if the visitor may not share
}

// shareForm creates a link to the players' view of a report. Handling it is not part of the pages.
type shareForm struct {
	Report int64
	Token  string
}

type buildRow struct {
	Name  string
	Count int64
	Part  int64 // per 1000
	Share string
}

type traitRow struct {
	Fact, Value, Here, Others, Ratio, Sure string
	Apart                                  bool
}

type nearRow struct{ Code, Title, Why string }

type reportRow struct {
	ID                      int64
	Name, Match, Build, Day string
	Tick                    string
	Peers                   int64
	Complete                int
	Outcome                 *foundRow // nil if all belong to one group
}

type eventRow struct {
	Text    string
	Quote   []string // lines that a person wrote
	Who, At string
	Undone  bool
	Undo    undoForm
}

// group shows everything about a group.
func (v *visit) group() error {
	d, err := v.Store.Group(v.ctx, v.r.PathValue("code"))
	if err != nil {
		return err
	}
	p := &groupPage{
		Code: d.Code, Title: d.Called(), Name: d.Name, Marks: render.Marks(&d.Group), MergedInto: d.MergedIn, IsOpen: d.State == desk.GroupOpen,
		Tiles: tiles(d), Trend: days(d.Days), KindOnly: d.KindOnly,
		Variants: d.Variants, Split: v.who.Triage && len(d.Variants) > 1,
	}
	if d.Name != "" {
		p.Made = d.Title
	}
	if rest := d.VariantCount - int64(len(d.Variants)); rest > 0 {
		p.MoreVariants = prose.Count(rest, "further variant is", "further variants are") + " not shown."
	}
	p.builds(d)
	p.traits(d)
	for i, w := range d.Send {
		if i == maxWanted {
			break
		}
		p.Evidence = append(p.Evidence, wanted(w, len(d.Best)))
	}
	for _, n := range d.Near {
		p.Nearest = append(p.Nearest, nearRow{n.Code, n.Called, near(n)})
	}
	if err := v.reportsOf(p, d); err != nil {
		return err
	}
	v.events(p, d)
	return v.show(200, "group", p.Title, p)
}

// reportsOf adds the reports of the group: the one to open first, and the newest ones.
func (v *visit) reportsOf(p *groupPage, d *desk.GroupDetail) error {
	if len(d.Best) > 0 {
		b := &d.Best[0]
		p.Open = &openView{ID: b.ID, Name: b.File, Why: why(d), Verdict: b.Verdict, Links: []page.Link{{Text: "Its JSON", To: fmt.Sprintf("/reports/%d.json", b.ID)}}}
		if v.who.Triage {
			p.Open.Share = &shareForm{b.ID, v.token()}
		}
		if v.Blob != nil {
			p.Open.Links = append(p.Open.Links, page.Link{Text: "Its bundle", To: "/bundles/" + b.Bundle + "/download"})
		}
		if len(d.Best) > 1 {
			p.Open.Links = append(p.Open.Links, page.Link{Text: fmt.Sprintf("Next to report %d, the next one", d.Best[1].ID), To: fmt.Sprintf("/compare?a=%d&b=%d", b.ID, d.Best[1].ID)})
		}
	}
	list, err := v.Store.Reports(v.ctx, ofGroup(d.Code), desk.Page{Limit: maxReports})
	if err != nil {
		return err
	}
	p.Reports = rowsOf(list.Reports)
	if list.Next != "" {
		p.AllReports = "/groups/" + d.Code + "/reports"
	}
	return nil
}

// ofGroup returns the filter for a group's reports.
func ofGroup(code string) desk.Filter {
	return desk.Filter{Terms: []desk.Term{{Key: "group", Op: "=", Value: code}}}
}

func rowsOf(list []desk.Report) (rows []reportRow) {
	for i := range list {
		r := &list[i]
		row := reportRow{ID: r.ID, Name: r.File, Build: r.Build, Day: r.Day, Peers: r.Peers, Complete: r.Complete}
		if r.Match > 1 {
			row.Match = fmt.Sprintf("match %d", r.Match)
		}
		if r.Tick != nil {
			row.Tick = strconv.FormatInt(*r.Tick, 10)
		}
		rows = append(rows, row)
	}
	return rows
}

// reportsPage lists the reports of a group.
type reportsPage struct {
	Code, Title string
	Reports     []reportRow
	First, Next string
}

// reports lists the reports of a group.
func (v *visit) reports() error {
	code := v.r.PathValue("code")
	after := v.r.URL.Query().Get("after")
	groups, err := v.Store.Groups(v.ctx, ofGroup(code), desk.ByReports, desk.Page{Limit: 1})
	if err != nil {
		return err
	}
	if len(groups.Groups) == 0 || groups.Groups[0].Code != code {
		return &desk.UnknownGroupError{Code: code}
	}
	list, err := v.Store.Reports(v.ctx, ofGroup(code), desk.Page{After: after, Limit: perPage})
	if err != nil {
		return err
	}
	p := &reportsPage{Code: code, Title: groups.Groups[0].Called(), Reports: rowsOf(list.Reports)}
	base := "/groups/" + code + "/reports"
	if after != "" {
		p.First = base
	}
	if list.Next != "" {
		p.Next = base + "?" + url.Values{"after": {list.Next}}.Encode()
	}
	return v.show(200, "reports", "Reports of "+p.Title, p)
}

func tiles(d *desk.GroupDetail) []tile {
	var out []tile
	add := func(name, value, more string) {
		if value != "" {
			out = append(out, tile{name, value, more})
		}
	}
	add("Matches", render.Thousands(d.Reports), share(&d.Group))
	add("Peers", render.Thousands(d.Peers), "in these matches")
	first, last := d.FirstBuild, d.LastBuild
	add("First build", first, d.FirstDay)
	if last != first {
		add("Last build", last, d.LastDay)
	}
	if first == "" {
		add("Days", render.Between(d.FirstDay, d.LastDay), "")
	}
	if d.Trend.Until != "" {
		add("In the last week", render.Thousands(d.Trend.Last7), fmt.Sprintf("%d in the week before, up to %s", d.Trend.Before7, d.Trend.Until))
	}
	if d.Cause != "" {
		add("Likely cause", d.Cause, "in "+ofAll(d.Causes, d.Reports))
	}
	if len(d.Kinds) > 0 {
		add("Kind", strings.ReplaceAll(d.Kinds[0].Name, "-", " "), "")
	}
	return out
}

// days draws the days of a group.
func days(list []desk.Count) *trend {
	var counts []dayCount
	for _, c := range list {
		if t, err := time.Parse(time.DateOnly, c.Name); err == nil {
			counts = append(counts, dayCount{t.Unix() / (24 * 60 * 60), c.Reports})
		}
	}
	if len(counts) == 0 {
		return nil
	}
	t := newTrend(counts, counts[0].Day, counts[len(counts)-1].Day, 90)
	t.Large = true
	return t
}

// builds adds the newest builds, newest first.
func (p *groupPage) builds(d *desk.GroupDetail) {
	for i := len(d.Builds) - 1; i >= 0 && len(p.Builds) < maxBuilds; i-- {
		b := d.Builds[i]
		p.Builds = append(p.Builds, buildRow{b.Name, b.Reports, max(1, b.Reports*1000/max(1, d.Reports)), render.Percent(float64(b.Reports) / float64(max(1, d.Reports)))})
	}
	if rest := len(d.Builds) - len(p.Builds); rest > 0 {
		p.MoreBuilds = prose.Count(rest, "older build is", "older builds are") + " not shown."
	}
}
