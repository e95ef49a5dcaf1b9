package web

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/desk"
	"github.com/desynctool/desynctool/report/desk/render"
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
}

// stateWords are what pages call the states of bundles.
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
	for i := range list {
		p.Rows = append(p.Rows, rowOf(&list[i]))
	}
	return v.show(200, "bundles", "Bundles", p)
}

func rowOf(b *desk.Bundle) bundleRow {
	row := bundleRow{b, b.Hash[:min(12, len(b.Hash))], moment(b.Received), string(b.State), render.Size(b.Bytes), render.Size(b.KeptBytes)}
	for _, s := range stateWords {
		if s.state == b.State {
			row.State = s.text
		}
	}
	return row
}

// bundlePage is one bundle, and what became of it.
type bundlePage struct {
	bundleRow
	CanLoad bool // what is kept of it may be downloaded
	Reports []reportRow
	More    string
}

// bundle shows what became of a bundle.
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
	p.Reports = rowsOf(list.Reports)
	if rest := list.Total - int64(len(p.Reports)); rest > 0 {
		p.More = prose.Count(rest, "further match is", "further matches are") + " not shown."
	}
	return v.show(200, "bundle", b.Name, p)
}

// moment writes a time of this machine.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// uploadPage has the address for programs.
type uploadPage struct{ Address string }

// upload shows the form by which bundles are sent; who takes them is not of the pages.
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
