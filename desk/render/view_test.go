package render_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
	"github.com/desynctool/desynctool/report/document"
)

// TestHostile: what people and files have named is text in every format: no formula, no markup, no escape sequence.
func TestHostile(t *testing.T) {
	for _, name := range []string{"=HYPERLINK(\"http://x\")", "+1", "-1+2", "@SUM(1)", "\t=1", "<script>alert(1)</script>", "a|b\n| c |", "\x1b[31mred", "@everyone #1", `"quoted", twice`} {
		g := desk.Group{Code: "3f9a2c12", Game: name, Title: name, Name: name, State: desk.GroupOpen, FirstBuild: name, LastBuild: name, Cause: name, Reports: 1, OfGame: 1}
		views := []*render.View{
			render.Groups(desk.Filter{}, desk.ByReports, &desk.GroupList{Groups: []desk.Group{g}, Total: 1}, 0),
			render.Top([]desk.Ranked{{Group: g}}),
			render.Check(&desk.Checked{Build: name, Reports: 1, FailOn: desk.FailOns(), Groups: []desk.CheckedGroup{{Group: g, Fails: true, New: true}}}),
		}
		for _, v := range views {
			write := func(format string) string {
				var b bytes.Buffer
				if err := v.Write(&b, format, document.NewStyle(false)); err != nil {
					t.Fatal(format, err)
				}
				return b.String()
			}
			rows, err := csv.NewReader(strings.NewReader(write("csv"))).ReadAll()
			if err != nil || len(rows) != 2 {
				t.Fatal(rows, err)
			}
			for _, cell := range rows[1] {
				if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t") {
					t.Errorf("%q is a formula", cell)
				}
			}
			for _, format := range []string{"text", "markdown", "csv", "json"} {
				if strings.Contains(write(format), "\x1b") {
					t.Errorf("%s has an escape sequence", format)
				}
			}
			if md := write("markdown"); strings.Contains(md, "<script>") || strings.Contains(md, "@everyone") || strings.Contains(md, "\n| c |") {
				t.Error(md)
			}
		}
		var b bytes.Buffer
		if err := views[2].Write(&b, "junit", document.NewStyle(false)); err != nil {
			t.Fatal(err)
		}
		var suites struct {
			Failures int `xml:"failures,attr"`
		}
		if err := xml.Unmarshal(b.Bytes(), &suites); err != nil || suites.Failures != 1 {
			t.Error(suites, err)
		}
	}
}

// TestBeside: the line below a group does not repeat the group's name.
func TestBeside(t *testing.T) {
	list := &desk.GroupList{Total: 3, Groups: []desk.Group{
		{Code: "1", State: desk.GroupOpen, Game: "OpenTTD", Title: "OpenTTD stale-cache", Cause: "stale-cache", FirstBuild: "OpenTTD", LastBuild: "OpenTTD"},
		{Code: "2", State: desk.GroupOpen, Game: "0 A.D.", Title: "0 A.D. state, Health", Cause: "stale-cache", FirstBuild: "26", LastBuild: "27"},
		{Code: "3", State: desk.GroupOpen, Game: "OpenTTD", Title: "OpenTTD state", Name: "OpenTTD2 towns, of one build", Cause: "wall-clock"},
	}}
	var b bytes.Buffer
	if err := render.Groups(desk.Filter{}, desk.ByReports, list, 0).Write(&b, "text", document.NewStyle(false).Wide(80)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  OpenTTD stale-cache\n          build OpenTTD\n", "  0 A.D. state, Health\n          builds 26 to 27 · looks like stale-cache\n", "  OpenTTD2 towns, of one build\n          OpenTTD · looks like wall-clock\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in:\n%s", want, b.String())
		}
	}
}

// TestGame: games with formats that are read have their names, others have the names in files.
func TestGame(t *testing.T) {
	stats := &desk.Stats{Games: []desk.GameCount{{Name: "0 A.D.", Reports: 3}, {Name: "nobody diverged", Reports: 2}, {Name: "C&C Generals", Reports: 1}}}
	var b bytes.Buffer
	if err := render.Stats(stats).Write(&b, "text", document.NewStyle(false)); err != nil {
		t.Fatal(err)
	}
	if want := "0 A.D. 3, “nobody diverged” 2, C&C Generals 1"; !strings.Contains(b.String(), want) {
		t.Errorf("%q is not in:\n%s", want, b.String())
	}
}

// TestWidth: in a terminal of 80 columns no line of a list is longer.
func TestWidth(t *testing.T) {
	list := &desk.GroupList{Total: 2}
	for _, game := range []string{"arena", "another game"} {
		list.Groups = append(list.Groups, desk.Group{Code: "3f9a2c12", Game: game, Title: strings.Repeat("long ", 30), State: desk.GroupOpen, CameBack: "1.5.0-rc.1", Weak: true,
			Reports: 1_000_000, OfGame: 3_000_000, FirstBuild: "1.4.0+5f2c1e0", LastBuild: "1.5.0-rc.1+77aa01", LastDay: "2026-01-31", Cause: "uninitialized-memory",
			Trend: desk.Trend{Until: "2026-01-31", Weeks: [desk.TrendWeeks]int64{0, 1, 2, 3, 4, 5, 6, 7}}})
	}
	var b bytes.Buffer
	if err := render.Groups(desk.Filter{}, desk.ByReports, list, 3).Write(&b, "text", document.NewStyle(false).Wide(80)); err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(b.String(), "\n") {
		if n := len([]rune(line)); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if !strings.Contains(b.String(), "\n3f9a2c12  1,000,000  ") || !strings.Contains(b.String(), "·▂▃▄▅▆▇█") {
		t.Error(b.String())
	}
}

// TestStatusOfLists: a document that lists a divergence, or nothing, is not in sync.
func TestStatusOfLists(t *testing.T) {
	reports := func(statuses ...string) *render.View {
		list := &desk.ReportList{}
		for _, status := range statuses {
			list.Reports = append(list.Reports, desk.Report{Status: status})
		}
		return render.Reports(desk.Filter{}, list)
	}
	stats := func(counts ...desk.Count) *render.View { return render.Stats(&desk.Stats{Reports: counts}) }
	group := desk.Group{Code: "3f9a2c12", State: desk.GroupOpen, Reports: 1}
	of, err := render.Group(&desk.GroupDetail{Group: group})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		v    *render.View
		want document.Status
	}{
		"reports: none":            {reports(), document.Inconclusive},
		"reports: in sync":         {reports("in-sync", "in-sync"), document.InSync},
		"reports: one diverged":    {reports("in-sync", "error", "diverged", "in-sync"), document.Diverged},
		"reports: one unread":      {reports("in-sync", "error"), document.Inconclusive},
		"reports: inconclusive":    {reports("inconclusive"), document.Inconclusive},
		"groups: none":             {render.Groups(desk.Filter{}, desk.ByReports, &desk.GroupList{}, 3), document.Inconclusive},
		"groups":                   {render.Groups(desk.Filter{}, desk.ByReports, &desk.GroupList{Groups: []desk.Group{group}, Total: 1}, 0), document.Diverged},
		"groups: reports in none":  {render.Groups(desk.Filter{}, desk.ByReports, &desk.GroupList{Ungrouped: &desk.ReportList{Total: 1, Reports: []desk.Report{{Status: "diverged"}}}}, 0), document.Diverged},
		"group":                    {of, document.Diverged},
		"top: none":                {render.Top(nil), document.Inconclusive},
		"top":                      {render.Top([]desk.Ranked{{Group: group}}), document.Diverged},
		"new: none":                {render.Since(&desk.SinceBuild{}), document.Inconclusive},
		"new":                      {render.Since(&desk.SinceBuild{New: []desk.Group{group}}), document.Diverged},
		"came back":                {render.Since(&desk.SinceBuild{Back: []desk.Group{group}}), document.Diverged},
		"numbers: none":            {stats(), document.Inconclusive},
		"numbers: in sync":         {stats(desk.Count{Name: "in-sync", Reports: 3}), document.InSync},
		"numbers: one diverged":    {stats(desk.Count{Name: "in-sync", Reports: 3}, desk.Count{Name: "diverged", Reports: 1}), document.Diverged},
		"numbers: one not decided": {stats(desk.Count{Name: "in-sync", Reports: 3}, desk.Count{Name: "inconclusive", Reports: 1}), document.Inconclusive},
	} {
		var b bytes.Buffer
		var head document.Head
		if err := c.v.Write(&b, "json", document.NewStyle(false)); err != nil {
			t.Fatal(name, err)
		}
		if err := json.Unmarshal(b.Bytes(), &head); err != nil || head.Status != c.want || c.v.Status.ExitCode() != 0 {
			t.Errorf("%s: status %q, exit status %d, expected %q and 0", name, head.Status, c.v.Status.ExitCode(), c.want)
		}
	}
}
