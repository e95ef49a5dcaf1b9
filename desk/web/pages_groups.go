package web

import (
	"cmp"
	"errors"
	"net/url"
	"slices"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
)

// groupsPage is the list of groups.
type groupsPage struct {
	Title       string
	Query       string // the words of the filter
	Sort        string // empty for the default order
	Wrong       string // error in the filter
	Filters     []choices
	Sorts       []choice
	Rows        []groupLine
	First, Next string // links, empty if there is no such page
	Ungrouped   *desk.ReportList
}

// choices are links; one of them is the current one.
type choices struct {
	Name    string
	Choices []choice
}

type choice struct {
	Text, To string
	Here     bool
}

// groupLine is a group in the list.
type groupLine struct {
	Code, Title, Game, Cause string
	Marks                    []render.Mark
	Reports, Unit, Share     string
	Trend                    *trend
	Builds, Days             string
}

// usualFilter is the list's filter if the reader has not chosen one.
const usualFilter = "state:open"

// groups shows the list of groups that match a filter.
func (v *visit) groups() error {
	q := v.r.URL.Query()
	p := &groupsPage{Title: "Groups", Query: q.Get("q"), Sort: q.Get("sort")}
	if !q.Has("q") {
		p.Query = usualFilter
	}
	order := desk.Order(cmp.Or(p.Sort, string(desk.Orders()[0])))
	if desk.Orders()[0] == order {
		p.Sort = ""
	}
	code := 200
	f, err := desk.ParseFilter(p.Query)
	if err != nil {
		p.Wrong, code = "The filter cannot be read: "+err.Error()+".", 400
	} else {
		err = v.listGroups(p, f, order, q.Get("after"))
		var unknown *desk.UnknownBuildError
		switch {
		case errors.As(err, &unknown), err != nil && errors.Unwrap(err) == nil:
			p.Wrong, code = sentence(err.Error()), 400
		case err != nil:
			return err
		}
	}
	p.Filters = []choices{{"State", nil}, {"Known", nil}}
	for _, state := range []string{"open", "closed", "ignored", "any"} {
		p.Filters[0].Choices = append(p.Filters[0].Choices, p.choose(f, desk.Term{Key: "state", Op: "=", Value: state}, state))
	}
	for _, known := range []struct{ value, text string }{{"no", "well"}, {"yes", "weakly"}} {
		p.Filters[1].Choices = append(p.Filters[1].Choices, p.choose(f, desk.Term{Key: "weak", Op: "=", Value: known.value}, known.text))
	}
	names := map[desk.Order]string{desk.ByReports: "most matches", desk.ByLast: "last played", desk.ByFirst: "newest"}
	for _, o := range desk.Orders() {
		p.Sorts = append(p.Sorts, choice{names[o], p.link(f.String(), string(o), ""), o == order})
	}
	return v.show(code, "groups", p.Title, p)
}

// choose is a link that adds a term to the filter, or removes it if it is there.
func (p *groupsPage) choose(f desk.Filter, t desk.Term, text string) choice {
	if slices.Contains(f.Terms, t) {
		return choice{text, p.link(f.Without(t).String(), p.Sort, ""), true}
	}
	return choice{text, p.link(f.With(t).String(), p.Sort, ""), false}
}

func (p *groupsPage) link(query, sort, after string) string {
	q := url.Values{"q": {query}}
	if sort != "" && sort != string(desk.Orders()[0]) {
		q.Set("sort", sort)
	}
	if after != "" {
		q.Set("after", after)
	}
	return "/?" + q.Encode()
}

// perPage is how many rows a list has.
const perPage = 50

func (v *visit) listGroups(p *groupsPage, f desk.Filter, order desk.Order, after string) error {
	list, err := v.Store.Groups(v.ctx, f, order, desk.Page{After: after, Limit: perPage})
	if err != nil {
		return err
	}
	p.Title = render.Many(list.Total, "group", "groups")
	if after == "" {
		if p.Ungrouped, err = v.Store.Ungrouped(v.ctx, f, desk.Page{Limit: 10}); err != nil {
			return err
		}
	}
	for i := range list.Groups {
		p.Rows = append(p.Rows, lineOf(&list.Groups[i]))
	}
	if after != "" {
		p.First = p.link(p.Query, p.Sort, "")
	}
	if list.Next != "" {
		p.Next = p.link(p.Query, p.Sort, list.Next)
	}
	return nil
}

func lineOf(g *desk.Group) groupLine {
	line := groupLine{
		Code: g.Code, Title: g.Called(), Marks: render.Marks(g), Reports: render.Thousands(g.Reports), Unit: "matches",
		Share: share(g), Trend: weeks(&g.Trend), Builds: render.Between(g.FirstBuild, g.LastBuild), Days: render.Between(g.FirstDay, g.LastDay),
	}
	if g.Reports == 1 {
		line.Unit = "match"
	}
	if !g.Says(g.Game) {
		line.Game = g.Game
	}
	if !g.Says(g.Cause) {
		line.Cause = g.Cause
	}
	return line
}

// share describes the group's part of the game's matches.
func share(g *desk.Group) string {
	if g.OfGame == 0 {
		return ""
	}
	return render.Percent(g.Share()) + " of " + render.Thousands(g.OfGame)
}
