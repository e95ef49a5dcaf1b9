package web

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
	"github.com/desynctool/desynctool/internal/prose"
)

// bundlesPage lists bundles.
type bundlesPage struct {
	States      []choice
	Rows        []bundleRow
	First, Next string
}

type bundleRow struct {
	*desk.Bundle
	Short, At, State, Size, Stored string
	Found                          []foundRow
	More                           string // number of other groups
}

// foundRow is an outcome of a bundle's matches.
type foundRow struct{ Status, Code, Title, Count string }

// maxFound is how many groups are shown for a bundle in a list.
const maxFound = 3

// stateWords are the pages' words for the states of bundles.
var stateWords = []struct {
	state desk.State
	text  string
}{{"", "all"}, {desk.Aside, "set aside"}, {desk.Waiting, "waiting"}, {desk.Read, "read"}}

// bundles lists the bundles of a state, or all.
func (v *visit) bundles() error {
	q := v.r.URL.Query()
	state := desk.State(q.Get("state"))
	p := &bundlesPage{}
	link := func(s desk.State, before int64) string {
		values := url.Values{}
		if s != "" {
			values.Set("state", string(s))
		}
		if before > 0 {
			values.Set("before", strconv.FormatInt(before, 10))
		}
		return "/bundles?" + values.Encode()
	}
	for _, s := range stateWords {
		p.States = append(p.States, choice{s.text, link(s.state, 0), s.state == state})
	}
	if !slices.ContainsFunc(p.States, func(c choice) bool { return c.Here }) {
		return badRequest("Bundles are waiting, read or aside.")
	}
	before, _ := strconv.ParseInt(q.Get("before"), 10, 64)
	list, err := v.Store.Bundles(v.ctx, state, before, perPage+1)
	if err != nil {
		return err
	}
	if before > 0 {
		p.First = link(state, 0)
	}
	if len(list) > perPage {
		list = list[:perPage]
		p.Next = link(state, list[perPage-1].ID)
	}
	outcomes, err := v.Store.Outcomes(v.ctx, list)
	if err != nil {
		return err
	}
	for i := range list {
		row := rowOf(&list[i])
		row.found(outcomes[row.ID])
		p.Rows = append(p.Rows, row)
	}
	return v.show(200, "bundles", "Bundles", p)
}

func rowOf(b *desk.Bundle) bundleRow {
	row := bundleRow{Bundle: b, Short: b.Hash[:min(12, len(b.Hash))], At: moment(b.Received), State: string(b.State), Size: render.Size(b.Bytes), Stored: render.Size(b.KeptBytes)}
	for _, s := range stateWords {
		if s.state == b.State {
			row.State = s.text
		}
	}
	return row
}

// found adds the outcomes of the bundle's matches.
func (b *bundleRow) found(list []desk.Outcome) {
	for i := range list[:min(len(list), maxFound)] {
		o := &list[i]
		row := foundRow{Status: o.Status, Code: o.Group, Title: o.Called}
		if len(list) > 1 || o.Reports > 1 {
			row.Count = render.Many(o.Reports, "match", "matches")
		}
		b.Found = append(b.Found, row)
	}
	if rest := len(list) - maxFound; rest > 0 {
		b.More = fmt.Sprintf("and %d more", rest)
	}
}

// bundlePage is one bundle and its state.
type bundlePage struct {
	bundleRow
	CanLoad bool // its content can be downloaded
	Reports []reportRow
	Rest    string
}

// bundle shows a bundle and its state.
func (v *visit) bundle() error {
	b, err := v.Store.Bundle(v.ctx, v.r.PathValue("hash"))
	if err != nil {
		return err
	}
	p := &bundlePage{bundleRow: rowOf(b), CanLoad: v.Blob != nil && b.Kept != ""}
	list, err := v.Store.Reports(v.ctx, desk.Filter{Terms: []desk.Term{{Key: "hash", Op: "=", Value: b.Hash}}}, desk.Page{Limit: perPage})
	if err != nil {
		return err
	}
	outcomes, err := v.Store.Outcomes(v.ctx, []desk.Bundle{*b})
	if err != nil {
		return err
	}
	called := map[string]string{}
	for _, o := range outcomes[b.ID] {
		called[o.Group] = o.Called
	}
	p.Reports = rowsOf(list.Reports)
	for i := range list.Reports {
		r := &list.Reports[i]
		p.Reports[i].Outcome = &foundRow{Status: r.Status, Code: r.Group, Title: called[r.Group]}
	}
	if rest := list.Total - int64(len(p.Reports)); rest > 0 {
		p.Rest = prose.Count(rest, "further match is", "further matches are") + " not shown."
	}
	return v.show(200, "bundle", b.Name, p)
}

// moment formats a time of this machine.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// uploadPage contains the address for programs.
type uploadPage struct{ Address string }

// upload shows the form for sending bundles. Receiving them is not part of the pages.
func (v *visit) upload() error {
	if !v.who.Upload {
		return &failure{403, "This needs a token with the scope upload or triage."}
	}
	scheme := "http://"
	if v.r.TLS != nil {
		scheme = "https://"
	}
	return v.show(200, "upload", "Upload", uploadPage{scheme + v.r.Host})
}
