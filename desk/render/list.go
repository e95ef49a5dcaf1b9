package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/formats"
)

// Mark is a short remark about a group, with a class: good, warn, bad, or empty.
type Mark struct{ Text, Class string }

// Marks returns the remarks about a group: that it came back, is weak, or is not open.
func Marks(g *desk.Group) (list []Mark) {
	switch {
	case g.State == desk.GroupMerged && g.MergedIn != "":
		list = append(list, Mark{"merged into " + g.MergedIn, ""})
	case g.State == desk.GroupClosed && g.FixedIn != "":
		list = append(list, Mark{"fixed in " + prose.Name(g.FixedIn), "good"})
	case g.State != desk.GroupOpen:
		list = append(list, Mark{string(g.State), ""})
	case g.CameBack != "":
		list = append(list, Mark{"came back in " + prose.Name(g.CameBack), "bad"})
	}
	if g.Weak {
		list = append(list, Mark{"weak", "warn"})
	}
	return list
}

// markTexts returns the texts of a group's marks.
func markTexts(g *desk.Group) []string {
	return lists.Map(Marks(g), func(m Mark) string { return m.Text })
}

// maxCalled is the maximum width of a group's name in a list, in columns.
const maxCalled = 60

func called(g *desk.Group) string {
	if g.Called() == "" {
		return "(nothing known)"
	}
	return prose.Shorten(document.Safe(g.Called()), maxCalled)
}

// game returns the name of a game, which may be unknown. A name from a file is escaped like other texts from files.
func game(name string) string {
	switch {
	case name == "":
		return "a game that is not named"
	case formats.IsGame(name):
		return name
	}
	return prose.Name(name)
}

// beside returns the line below a group in a list. It omits facts that the group's name already contains, and may
// contain the game.
func beside(g *desk.Group, withGame bool) string {
	parts := markTexts(g)
	if withGame && !g.Says(g.Game) {
		parts = append(parts, game(g.Game))
	}
	if g.FirstBuild != "" {
		parts = append(parts, builds(g))
	}
	if g.LastDay != "" {
		parts = append(parts, "last "+g.LastDay)
	}
	if g.Cause != "" && !g.Says(g.Cause) {
		parts = append(parts, "looks like "+prose.Name(g.Cause))
	}
	if len(parts) == 0 {
		return "neither build nor day are known"
	}
	return strings.Join(parts, besides)
}

// builds returns the builds of a group. They may have the same name as their game.
func builds(g *desk.Group) string {
	word := "builds "
	if g.FirstBuild == g.LastBuild {
		word = "build "
	}
	return word + Between(prose.Name(g.FirstBuild), prose.Name(g.LastBuild))
}

// besides separates the parts of the line below a group.
const besides = " · "

// besideColumns is the width of the line below a group, which lets it fit into 80 columns.
const besideColumns = 70

// packed puts parts into lines of this width, if they fit.
func packed(parts []string, columns int) (lines []string) {
	for _, part := range parts {
		if last := len(lines) - 1; last >= 0 && prose.Columns(lines[last]+besides+part) <= columns {
			lines[last] += besides + part
		} else {
			lines = append(lines, part)
		}
	}
	return lines
}

var groupHeading = []string{"Code", "Matches", "Share", "Trend", "Group"}

// groupTable returns a table of groups for Markdown, and its rows for text: two lines for each group.
func groupTable(list []desk.Group) (table, rows [][]string) {
	table = [][]string{{"Code", "Matches", "Share", "Trend", "Group", "Game", "Builds", "Days", "Looks like", "Marks"}}
	rows = [][]string{groupHeading}
	several := slices.ContainsFunc(list, func(g desk.Group) bool { return g.Game != list[0].Game })
	for i := range list {
		g := &list[i]
		line := []string{g.Code, Thousands(g.Reports), Percent(g.Share()), Sparkline(&g.Trend), called(g)}
		rows = append(rows, line)
		for _, line := range packed(strings.Split(beside(g, several), besides), besideColumns) {
			rows = append(rows, []string{strings.Repeat(" ", 10) + line})
		}
		table = append(table, append(line, g.Game, Between(g.FirstBuild, g.LastBuild), Between(g.FirstDay, g.LastDay), g.Cause, strings.Join(markTexts(g), ", ")))
	}
	return table, rows
}

// groupCSV returns groups for a spreadsheet.
func groupCSV(list []desk.Group) [][]string {
	rows := [][]string{{"code", "game", "title", "name", "state", "fixed_in", "came_back", "weak", "matches", "peers", "share", "first_build", "last_build", "first_day", "last_day",
		"last_7", "before_7", "last_28", "before_28", "cause", "cause_matches"}}
	for i := range list {
		g := &list[i]
		n := func(n int64) string { return strconv.FormatInt(n, 10) }
		rows = append(rows, []string{g.Code, g.Game, g.Title, g.Name, string(g.State), g.FixedIn, g.CameBack, strconv.FormatBool(g.Weak), n(g.Reports), n(g.Peers), strconv.FormatFloat(g.Share(), 'f', 4, 64),
			g.FirstBuild, g.LastBuild, g.FirstDay, g.LastDay, n(g.Trend.Last7), n(g.Trend.Before7), n(g.Trend.Last28), n(g.Trend.Before28), g.Cause, n(g.Causes)})
	}
	return rows
}

// groupsDocument is desynctool.desk-list/1.
type groupsDocument struct {
	document.Head
	Filter string       `json:"filter"`
	Order  desk.Order   `json:"order"`
	Total  int64        `json:"total"`
	Next   string       `json:"next,omitempty"` // value for --after
	Groups []desk.Group `json:"groups"`
	// NotGrouped counts the diverged reports without a group; the last of them follow.
	NotGrouped int64         `json:"not_grouped,omitempty"`
	Ungrouped  []desk.Report `json:"ungrouped,omitempty"`
}

// Groups shows a page of a list of groups. hidden is how many groups match the filter but are not shown because they
// are not open.
func Groups(f desk.Filter, by desk.Order, list *desk.GroupList, hidden int64) *View {
	d := groupsDocument{Filter: f.String(), Order: by, Total: list.Total, Next: list.Next, Groups: list.Groups}
	if u := list.Ungrouped; u != nil {
		d.NotGrouped, d.Ungrouped = u.Total, u.Reports
	}
	d.Head = listHead("desk-list", len(list.Groups)+int(d.NotGrouped), 0, 0)
	v := &View{Status: document.InSync, Document: d, csv: groupCSV(list.Groups)}
	table, rows := groupTable(list.Groups)
	s := section{table: table, rows: rows}
	if len(list.Groups) == 0 {
		s = section{}
		v.lines = append(v.lines, "No group fits.")
	} else {
		s.notes = append(s.notes, fmt.Sprintf("%d of %s.", len(list.Groups), Many(list.Total, "group", "groups")))
	}
	if hidden > 0 {
		s.notes = append(s.notes, fmt.Sprintf("%s not open; state:any shows all.", Many(hidden, "more is", "more are")))
	}
	if list.Next != "" {
		s.notes = append(s.notes, "--after "+list.Next+" shows the next.")
	}
	v.sections = append(v.sections, s)
	if u := list.Ungrouped; u != nil && u.Total > 0 {
		s := section{title: "Not grouped: too little is known of what differs first", table: [][]string{{"Report", "Game", "Verdict"}}}
		for i := range u.Reports {
			r := &u.Reports[i]
			s.table = append(s.table, []string{strconv.FormatInt(r.ID, 10), r.Game, r.Verdict})
			s.rows = append(s.rows, []string{strconv.FormatInt(r.ID, 10) + "  " + game(r.Game) + ": " + document.Safe(r.Verdict)})
		}
		if n := u.Total - int64(len(u.Reports)); n > 0 {
			s.notes = append(s.notes, Many(n, "more", "more")+": desynctool desk list --reports group:none")
		}
		v.sections = append(v.sections, s)
	}
	return v
}

// reportsDocument is desynctool.desk-reports/1.
type reportsDocument struct {
	document.Head
	Filter  string        `json:"filter"`
	Total   int64         `json:"total"` // at most MostCounted
	Next    string        `json:"next,omitempty"`
	Reports []desk.Report `json:"reports"`
}

// Reports shows a page of a list of reports.
func Reports(f desk.Filter, list *desk.ReportList) *View {
	statuses := map[string]int{}
	for i := range list.Reports {
		statuses[list.Reports[i].Status]++
	}
	head := listHead("desk-reports", statuses[string(document.Diverged)], statuses[string(document.InSync)], len(list.Reports))
	v := &View{Status: document.InSync, Document: reportsDocument{head, f.String(), list.Total, list.Next, list.Reports}}
	v.csv = [][]string{{"id", "bundle", "file", "match", "status", "game", "build", "seed", "day", "tick", "peers", "complete", "group", "verdict"}}
	table := [][]string{{"Report", "Group", "Status", "Known", "File", "Match", "Game", "Build", "Day", "Verdict"}}
	rows := [][]string{{"Report", "Group", "Status", "Known", "File"}}
	for i := range list.Reports {
		r := &list.Reports[i]
		id, tick := strconv.FormatInt(r.ID, 10), ""
		if r.Tick != nil {
			tick = strconv.FormatInt(*r.Tick, 10)
		}
		file := prose.Shorten(document.Safe(r.File), 40)
		line := []string{id, r.Group, r.Status, fmt.Sprintf("%d %%", r.Complete), file}
		beside := []string{game(r.Game)}
		for _, part := range []string{prose.Name(r.Build), r.Day} {
			if part != "" && part != `""` {
				beside = append(beside, part)
			}
		}
		if r.Match > 1 {
			beside = append(beside, fmt.Sprintf("match %d", r.Match))
		}
		rows = append(rows, line, []string{"        " + strings.Join(beside, " · ")})
		table = append(table, append(line, strconv.Itoa(r.Match), r.Game, r.Build, r.Day, r.Verdict))
		v.csv = append(v.csv, []string{id, r.Bundle, r.File, strconv.Itoa(r.Match), r.Status, r.Game, r.Build, r.Seed, r.Day, tick, strconv.FormatInt(r.Peers, 10), strconv.Itoa(r.Complete), r.Group, r.Verdict})
	}
	if len(list.Reports) == 0 {
		v.lines = []string{"No report fits."}
		return v
	}
	of := Many(list.Total, "report", "reports")
	if list.Total == desk.MostCounted {
		of = "at least " + of
	}
	s := section{table: table, rows: rows, notes: []string{fmt.Sprintf("%d of %s.", len(list.Reports), of)}}
	if list.Next != "" {
		s.notes = append(s.notes, "--after "+list.Next+" shows the next.")
	}
	v.sections = []section{s}
	return v
}

// sinceDocument is desynctool.desk-new/1.
type sinceDocument struct {
	document.Head
	*desk.SinceBuild
}

// Since shows what is new since a build.
func Since(n *desk.SinceBuild) *View {
	v := &View{Status: document.InSync, Document: sinceDocument{listHead("desk-new", len(n.New)+len(n.Back), 0, 0), n}, title: "Since " + prose.Name(n.Since)}
	v.lines = []string{fmt.Sprintf("%s new, %s back.", Many(int64(len(n.New)), "group is", "groups are"), Many(int64(len(n.Back)), "came", "came"))}
	v.csv = groupCSV(append(append([]desk.Group{}, n.New...), n.Back...))
	v.csv[0] = append([]string{"what"}, v.csv[0]...)
	for i := range v.csv[1:] {
		what := "new"
		if i >= len(n.New) {
			what = "came-back"
		}
		v.csv[i+1] = append([]string{what}, v.csv[i+1]...)
	}
	for _, part := range []struct {
		title string
		list  []desk.Group
	}{{"New", n.New}, {"Came back", n.Back}} {
		if len(part.list) > 0 {
			table, rows := groupTable(part.list)
			v.sections = append(v.sections, section{title: part.title, table: table, rows: rows})
		}
	}
	return v
}

// topDocument is desynctool.desk-top/1.
type topDocument struct {
	document.Head
	Groups []desk.Ranked `json:"groups"`
}

// Top shows which groups to look at first, and why.
func Top(list []desk.Ranked) *View {
	v := &View{Status: document.InSync, Document: topDocument{listHead("desk-top", len(list), 0, 0), list}}
	groups := lists.Map(list, func(x desk.Ranked) desk.Group { return x.Group })
	v.csv = groupCSV(groups)
	for i := range v.csv {
		points := "points"
		if i > 0 {
			points = strconv.Itoa(list[i-1].Points)
		}
		v.csv[i] = append([]string{v.csv[i][0], points}, v.csv[i][1:]...)
	}
	if len(list) == 0 {
		v.lines = []string{"No group is open."}
	}
	for i := range list {
		r := &list[i]
		s := section{title: r.Code + "  " + called(&r.Group), items: []string{beside(&r.Group, true)}}
		for _, why := range r.Reasons {
			s.items = append(s.items, fmt.Sprintf("%+4d  %s", why.Points, why.Text))
		}
		s.items = append(s.items, fmt.Sprintf("%4d  in all", r.Points))
		v.sections = append(v.sections, s)
	}
	return v
}
