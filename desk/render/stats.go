package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/ci"
	"github.com/desynctool/desynctool/report/document"
)

// statsDocument is desynctool.desk-stats/1.
type statsDocument struct {
	document.Head
	*desk.Stats
}

// Stats shows the content of a store.
func Stats(x *desk.Stats) *View {
	var all, diverged, inSync int
	for _, c := range x.Reports {
		all += int(c.Reports)
		switch document.Status(c.Name) {
		case document.Diverged:
			diverged = int(c.Reports)
		case document.InSync:
			inSync = int(c.Reports)
		}
	}
	v := &View{Status: document.InSync, Document: statsDocument{listHead("desk-stats", diverged, inSync, all), x}}
	v.csv = [][]string{{"what", "name", "count"}}
	add := func(what, name string, n int64) {
		v.csv = append(v.csv, []string{what, name, strconv.FormatInt(n, 10)})
	}
	rows := [][]string{{"What", "Count", "Of them"}}
	sum := func(list []desk.Count) (n int64) {
		for _, c := range list {
			n += c.Reports
		}
		return n
	}
	var bundles int64
	var states []desk.Count
	for _, b := range x.Bundles {
		bundles += b.Bundles
		states = append(states, desk.Count{Name: string(b.State), Reports: b.Bundles})
		add("bundles", string(b.State), b.Bundles)
		add("bytes", string(b.State), b.Bytes)
		add("kept bytes", string(b.State), b.KeptBytes)
	}
	rows = append(rows, []string{"bundles", Thousands(bundles), tally(states, same)})
	rows = append(rows, []string{"receipts", Thousands(x.Receipts), ""})
	add("receipts", "", x.Receipts)
	for _, of := range []struct {
		what string
		list []desk.Count
	}{{"reports", x.Reports}, {"groups", x.Groups}} {
		rows = append(rows, []string{of.what, Thousands(sum(of.list)), tally(of.list, same)})
		for _, c := range of.list {
			add(of.what, c.Name, c.Reports)
		}
	}
	rows = append(rows, []string{"weak groups", Thousands(x.Weak), ""})
	add("groups", "weak", x.Weak)
	var games []desk.Count
	for _, g := range x.Games {
		games = append(games, desk.Count{Name: g.Name, Reports: g.Reports})
		add("matches of game", g.Name, g.Reports)
		add("groups of game", g.Name, g.Groups)
	}
	newest := slices.Clone(x.Builds)
	slices.Reverse(newest)
	rows = append(rows, []string{"games", Thousands(int64(len(games))), counts(games, 5, game)}, []string{"builds", Thousands(int64(len(newest))), counts(newest, 5, prose.Name)}, []string{"systems", Thousands(int64(len(x.Systems))), counts(x.Systems, 5, prose.Name)})
	for _, c := range x.Builds {
		add("matches of build", c.Name, c.Reports)
	}
	for _, c := range x.Systems {
		add("matches of system", c.Name, c.Reports)
	}
	s := section{table: rows}
	for i := range s.table {
		s.table[i][2] = document.Safe(s.table[i][2])
	}
	s.notes = append(s.notes, fmt.Sprintf("%s received, %s kept.", Size(x.Bytes), Size(x.KeptBytes)))
	if x.FirstDay != "" {
		s.notes = append(s.notes, "Played "+Between(x.FirstDay, x.LastDay)+".")
	}
	s.notes = append(s.notes, waiting(x.Of(desk.Waiting), x.Of(desk.Aside))...)
	v.sections = []section{s}
	return v
}

// waiting describes the bundles without a report.
func waiting(waiting, aside int64) (list []string) {
	if waiting > 0 {
		list = append(list, Many(waiting, "bundle waits", "bundles wait")+" to be triaged: their content is not counted.")
	}
	if aside > 0 {
		list = append(list, Many(aside, "bundle is", "bundles are")+" set aside: triage did not get through.")
	}
	return list
}

// checkDocument is desynctool.desk-check/1.
type checkDocument struct {
	document.Head
	*desk.Checked
}

// Check shows the result of checking a build.
func Check(c *desk.Checked) *View {
	status := document.StatusOf(c)
	warnings := waiting(c.Waiting, c.Aside)
	v := &View{Status: status, Document: checkDocument{document.NewHead("desk-check", status, warnings), c}, title: "Build " + prose.Name(c.Build)}
	on := lists.Map(c.FailOn, func(f desk.FailOn) string { return string(f) })
	result := fmt.Sprintf("%s of it, %s seen in it; the check on %s", Many(c.Reports, "match is", "matches are"), Many(int64(len(c.Groups)), "group was", "groups were"), strings.Join(on, " and "))
	switch status {
	case document.Diverged:
		result += fmt.Sprintf(" fails on %d.", c.Failing())
	case document.InSync:
		result += " passes."
	default:
		result = "It has no report: there is nothing to check."
	}
	v.lines = append([]string{result}, warnings...)
	v.suite = &ci.Suite{Name: "desk check", Class: "desynctool.desk", Warnings: warnings,
		Properties: [][2]string{{"build", c.Build}, {"fail-on", strings.Join(on, ",")}, {"matches", strconv.FormatInt(c.Reports, 10)}}}
	if status == document.Inconclusive {
		v.suite.Cases = []ci.Case{{Name: "build " + prose.Name(c.Build), Status: status, Message: result, Text: []string{result}}}
	}
	if status == document.InSync && len(c.Groups) == 0 {
		v.suite.Cases = []ci.Case{{Name: "build " + prose.Name(c.Build), Status: status}}
	}
	var groups, failing, others []desk.Group
	for i := range c.Groups {
		g := &c.Groups[i]
		groups = append(groups, g.Group)
		test := ci.Case{Name: g.Code + " " + called(&g.Group), Status: document.InSync}
		if !g.Fails {
			others = append(others, g.Group)
		} else {
			failing = append(failing, g.Group)
			test.Status = document.Diverged
			test.Message = fmt.Sprintf("%s: %s", why(g), Many(g.Reports, "match in all", "matches in all"))
			test.Text = []string{test.Message, beside(&g.Group, true), "desynctool desk show " + g.Code}
		}
		v.suite.Cases = append(v.suite.Cases, test)
	}
	v.csv = groupCSV(groups)
	for i := range v.csv {
		fails, reason := "fails", "why"
		if i > 0 {
			fails, reason = strconv.FormatBool(c.Groups[i-1].Fails), why(&c.Groups[i-1])
		}
		v.csv[i] = append([]string{v.csv[i][0], fails, reason}, v.csv[i][1:]...)
	}
	for _, part := range []struct {
		title string
		list  []desk.Group
	}{{"Fails on", failing}, {"Also seen", others}} {
		if len(part.list) > 0 {
			table, rows := groupTable(part.list)
			v.sections = append(v.sections, section{title: part.title, table: table, rows: rows})
		}
	}
	return v
}

// why describes the relation of a group to a build.
func why(g *desk.CheckedGroup) string {
	switch {
	case g.Regression:
		return "came back"
	case g.New:
		return "new"
	}
	return "known"
}
