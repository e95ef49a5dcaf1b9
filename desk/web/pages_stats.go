package web

import (
	"net/url"
	"strconv"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
	"github.com/desynctool/desynctool/internal/lists"
)

// statsPage shows the content of a store.
type statsPage struct {
	Tiles  []tile
	Tables []countTable
}

// countTable is a table of counts, each with a link to the groups that it counts.
type countTable struct {
	ID, Title, Name, Unit string
	Rows                  []countRow
	More                  string
}

type countRow struct {
	Name, To string
	Count    string
	Part     int64 // per 1000, of the largest
}

// maxCounts is how many rows a table of counts has.
const maxCounts = 40

// stats shows the content of the store.
func (v *visit) stats() error {
	x, err := v.Store.Stats(v.ctx)
	if err != nil {
		return err
	}
	p := &statsPage{}
	var bundles int64
	for _, b := range x.Bundles {
		bundles += b.Bundles
	}
	p.Tiles = []tile{
		{"Bundles", render.Thousands(bundles), "came " + render.Many(x.Receipts, "time", "times")},
		{"Waiting", render.Thousands(x.Of(desk.Waiting)), "to be triaged"},
		{"Set aside", render.Thousands(x.Of(desk.Aside)), "could not be triaged"},
		{"Received", render.Size(x.Bytes), render.Size(x.KeptBytes) + " as they are stored"},
		{"Weak groups", render.Thousands(x.Weak), "too little is known to tell them from others"},
	}
	if x.FirstDay != "" {
		p.Tiles = append(p.Tiles, tile{"Played", render.Between(x.FirstDay, x.LastDay), ""})
	}
	games := make([]desk.Count, len(x.Games))
	for i, g := range x.Games {
		games[i] = desk.Count{Name: g.Name, Reports: g.Reports}
	}
	newest := make([]desk.Count, 0, len(x.Builds))
	for i := range x.Builds {
		newest = append(newest, x.Builds[len(x.Builds)-1-i])
	}
	p.count("status", "Matches by outcome", "Outcome", "Matches", x.Reports, desk.Term{})
	p.count("groups", "Groups by state", "State", "Groups", x.Groups, desk.Term{Key: "state"})
	p.count("games", "Matches that diverged, by game", "Game", "Matches", games, desk.Term{Key: "game"})
	p.count("builds", "Matches that diverged, by build", "Build", "Matches", newest, desk.Term{Key: "build"})
	p.count("systems", "Operating systems that files state", "System", "Matches", x.Systems, desk.Term{Key: "fact", Fact: "os"})
	return v.show(200, "stats", "Figures", p)
}

// count adds a table. If the term has a key, the rows link to its groups.
func (p *statsPage) count(id, title, name, unit string, list []desk.Count, term desk.Term) {
	if len(list) == 0 {
		return
	}
	t := countTable{ID: id, Title: title, Name: name, Unit: unit}
	var most int64 = 1
	for _, c := range list {
		most = max(most, c.Reports)
	}
	for _, c := range list[:min(len(list), maxCounts)] {
		row := countRow{Name: c.Name, Count: render.Thousands(c.Reports), Part: c.Reports * 1000 / most}
		if term.Key != "" && c.Name != "" {
			term.Op, term.Value = "=", c.Name
			row.To = "/?" + url.Values{"q": {desk.Filter{Terms: []desk.Term{term}}.String()}}.Encode()
		}
		t.Rows = append(t.Rows, row)
	}
	if rest := len(list) - len(t.Rows); rest > 0 {
		t.More = render.Many(int64(rest), "further row is", "further rows are") + " not shown."
	}
	p.Tables = append(p.Tables, t)
}

// topPage shows the groups to examine first.
type topPage struct {
	Groups []topGroup
}

type topGroup struct {
	groupLine
	Points  int
	Reasons []desk.Reason
}

// maxTop is how many groups the page of groups to examine first has.
const maxTop = 10

// top shows the groups to examine first, with reasons.
func (v *visit) top() error {
	list, err := v.Store.Top(v.ctx, desk.Filter{}, maxTop)
	if err != nil {
		return err
	}
	p := &topPage{}
	p.Groups = lists.Map(list, func(x desk.Ranked) topGroup { return topGroup{lineOf(&x.Group), x.Points, x.Reasons} })
	return v.show(200, "top", "Look at first", p)
}

// maxAudit is how many entries a page of the audit has.
const maxAudit = 100

// auditPage lists actions.
type auditPage struct {
	Rows        []auditRow
	First, Next string
}

// auditRow is one action.
type auditRow struct {
	At, Who, What, About string
	To                   string // link to its object, if that has a page
}

// audit shows the actions of users.
func (v *visit) audit() error {
	if !v.who.Triage {
		return &failure{403, "This needs a token with the scope triage."}
	}
	from, err := desk.ParseAuditMark(v.r.URL.Query().Get("from"))
	if err != nil {
		return badRequest("The audit has no such page.")
	}
	list, next, err := v.Store.AuditList(v.ctx, from, maxAudit)
	if err != nil {
		return err
	}
	p := &auditPage{}
	if from != (desk.AuditMark{}) {
		p.First = "/audit"
	}
	if next != (desk.AuditMark{}) {
		p.Next = "/audit?from=" + next.String()
	}
	for _, e := range list {
		row := auditRow{At: moment(e.At), Who: e.Who, What: e.What, About: e.About}
		switch _, err := strconv.ParseUint(e.About, 16, 32); {
		case len(e.About) == 64:
			row.To, row.About = "/bundles/"+url.PathEscape(e.About), e.About[:12]+"…"
		case len(e.About) == 8 && err == nil:
			row.To = "/groups/" + e.About
		}
		p.Rows = append(p.Rows, row)
	}
	return v.show(200, "audit", "Audit", p)
}
