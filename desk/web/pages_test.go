package web_test

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/web"
	"github.com/desynctool/desynctool/report/document"
)

var link = regexp.MustCompile(`href="/groups/([0-9a-f]{8})"`)

// codes are the codes of the groups on a page, in order.
func codes(html string) (list []string) {
	for _, m := range link.FindAllStringSubmatch(html, -1) {
		list = append(list, m[1])
	}
	return list
}

// TestList: the list shows open groups, those with most matches first; filters are links.
func TestList(t *testing.T) {
	s := filled(t)
	open := s.page("/")
	if got := codes(open); len(got) != 3 {
		t.Fatalf("%d groups: %s", len(got), open)
	}
	all := s.page("/?q=")
	if got := codes(all); len(got) != 4 || got[0] != codes(open)[0] {
		t.Fatalf("%v", got)
	}
	if !strings.Contains(all, "fixed in 1.4.0") || !strings.Contains(all, ">weak<") {
		t.Error(all)
	}
	if got := codes(s.page("/?q=Movement")); len(got) != 1 || got[0] != codes(open)[1] {
		t.Errorf("%v", got)
	}
	for _, m := range regexp.MustCompile(`href="(/\?[^"]*)"`).FindAllStringSubmatch(open, -1) {
		s.page(strings.ReplaceAll(m[1], "&amp;", "&"))
	}
	if a := s.get("/?q=" + url.QueryEscape("bild:1.4")); a.Code != 400 || !strings.Contains(a.Body, "build") || !strings.Contains(a.Body, `value="bild:1.4"`) {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if a := s.get("/?q=&after=x"); a.Code != 400 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

// TestPaging: links to the next page lead through all groups, once each.
func TestPaging(t *testing.T) {
	s := serve(t)
	const n = 120
	for i := range n {
		s.add(fmt.Sprintf("b%d", i), diverged(fmt.Sprintf("System%d", i), "Health.hp", "", "1.0.0", "2026-02-01", "linux"), 50)
	}
	seen := map[string]bool{}
	next := regexp.MustCompile(`href="([^"]*)" rel="next"`)
	for path := "/?q="; path != ""; {
		html := s.page(path)
		for _, code := range codes(html) {
			if seen[code] {
				t.Errorf("%s is listed twice", code)
			}
			seen[code] = true
		}
		path = ""
		if m := next.FindStringSubmatch(html); m != nil {
			path = strings.ReplaceAll(m[1], "&amp;", "&")
		}
	}
	if len(seen) != n {
		t.Errorf("%d groups, expected %d", len(seen), n)
	}
}

// TestEdits makes each edit by its form, and takes it back.
func TestEdits(t *testing.T) {
	s := filled(t)
	list := codes(s.page("/"))
	large, small := list[0], list[1]
	group := "/groups/" + large
	undo := regexp.MustCompile(`name="event" value="(\d+)"`)
	for _, one := range []struct {
		edit string
		form url.Values
		says string // where it leads according to the page
		on   string // what the page of the group then has, and has not after the undo; empty if that is the event
	}{
		{"name", url.Values{"name": {"The <b> bug"}}, "Done: Named", "<h1><bdi>The &lt;b&gt; bug</bdi></h1>"},
		{"note", url.Values{"note": {"seen with mods"}}, "Done: A note was added.", ""},
		{"link", url.Values{"address": {"https://example.org/issues/7"}}, "Done: An issue was linked.", `<a href="https://example.org/issues/7"`},
		{"close", url.Values{"build": {"1.5.0"}}, "Done: Closed, fixed in 1.5.0.", ">fixed in 1.5.0<"},
		{"ignore", nil, "Done: Ignored.", `<span class="tag">ignored</span>`},
		{"merge", url.Values{"into": {small}}, "Done: Group " + large + " was merged into this one, with 3 variants.", "It was merged into"},
		{"split", url.Values{"variant": {"1"}}, "Done: 1 variant was split off group " + large + ".", ""},
	} {
		a := s.post(group, group+"/"+one.edit, one.form)
		if a.Code != 200 || !strings.Contains(a.Body, one.says) || !strings.Contains(a.Path, "?done=") {
			t.Errorf("%s: %d %s: %s", one.edit, a.Code, a.Path, a.Body)
			continue
		}
		head := func() string { // without what was done
			html, _, _ := strings.Cut(s.page(group), "<h2>What was done</h2>")
			return html
		}
		if !strings.Contains(head(), one.on) {
			t.Errorf("%s: the page of the group lacks %q", one.edit, one.on)
		}
		form := undo.FindStringSubmatch(a.Body)
		if form == nil {
			t.Fatalf("%s: the page has no undo", one.edit)
		}
		if a = s.post(a.Path, "/undo", url.Values{"event": {form[1]}}); a.Code != 200 || !strings.Contains(a.Body, "Done: Undone: ") {
			t.Errorf("%s: %d %s", one.edit, a.Code, a.Body)
		}
		if one.on != "" && strings.Contains(head(), one.on) {
			t.Errorf("%s: after the undo the page of the group has %q", one.edit, one.on)
		}
	}
	if a := s.post(group, group+"/merge", url.Values{"into": {"ffffffff"}}); a.Code != 404 || !strings.Contains(a.Body, "Nothing was changed") {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	for edit, form := range map[string]url.Values{"merge": {"into": {large}}, "reopen": nil, "note": {"note": {" "}}, "link": {"address": {"javascript:alert(1)"}}, "split": {"variant": {"1", "2", "3"}}} {
		if a := s.post(group, group+"/"+edit, form); a.Code != 409 || !strings.Contains(a.Body, "Nothing was changed: ") {
			t.Errorf("%s: %d %s", edit, a.Code, a.Body)
		}
	}
}

// TestWho: who may only read sees no form, and none is taken; who may not read sees nothing; a form without
// the token of its page, or from another site, is refused.
func TestWho(t *testing.T) {
	s := filled(t)
	code := codes(s.page("/"))[0]
	group := "/groups/" + code
	token := tokenField.FindStringSubmatch(s.page(group))[1]
	refused := func(why string, a answer, want int) {
		t.Helper()
		if a.Code != want {
			t.Errorf("%s: status %d, expected %d", why, a.Code, want)
		}
		if strings.Contains(s.page("/?q="+code), "ignored</span>") {
			t.Fatalf("%s: the group was changed", why)
		}
	}
	refused("no token", s.send(group+"/ignore", nil), 403)
	refused("another token", s.send(group+"/ignore", url.Values{"csrf": {"x"}}), 403)
	s.who.Name = "eve"
	refused("the token of another person", s.send(group+"/ignore", url.Values{"csrf": {token}}), 403)
	s.who = web.Who{Name: "ada", Read: true}
	refused("only reading", s.send(group+"/ignore", url.Values{"csrf": {token}}), 403)
	if html := s.page(group); strings.Contains(html, `action="/groups/`) || strings.Contains(html, `action="/undo"`) {
		t.Error("who may only read sees forms that change groups")
	}
	if html := s.page("/"); strings.Contains(html, `href="/upload"`) {
		t.Error("who may not upload sees the link")
	}
	s.who = web.Who{}
	for _, path := range []string{"/", group, group + "/reports", "/reports/1", "/reports/1.json", "/compare?a=1&b=2", "/bundles", "/upload", "/bundles/" + fmt.Sprintf("%064x", "old.zip") + "/download"} {
		if a := s.get(path); a.Code != 401 || strings.Contains(a.Body, "Health") {
			t.Errorf("%s: status %d for who may not read", path, a.Code)
		}
	}
}

// TestPolicy: every page has the policy under which it loads nothing of others.
func TestPolicy(t *testing.T) {
	s := filled(t)
	for _, path := range []string{"/", "/groups/" + codes(s.page("/"))[0], "/compare?a=1&b=2", "/bundles", "/upload", "/none"} {
		a := s.get(path)
		if got := a.Header.Get("Content-Security-Policy"); !strings.HasPrefix(got, "default-src 'none'; style-src 'self'; script-src 'self';") || strings.Contains(got, "unsafe") {
			t.Errorf("%s: %s", path, got)
		}
		if strings.Contains(a.Body, " style=") || strings.Contains(a.Body, "<style") || regexp.MustCompile(`(?i)\son[a-z]+=|<script[^>]*>[^<]|https?://[^"<]*\.(js|css)`).MatchString(a.Body) {
			t.Errorf("%s: it has what its policy forbids", path)
		}
		for _, m := range regexp.MustCompile(`(?:src|href)="(/(?:style|script)-[^"]+)"`).FindAllStringSubmatch(a.Body, -1) {
			if got := s.get(m[1]); got.Code != 200 || !strings.Contains(got.Header.Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %d", m[1], got.Code)
			}
		}
	}
	if a := s.get("/reports/1"); !strings.Contains(a.Body, `http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;`) || !strings.Contains(a.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
		t.Error("a report has no policy")
	}
}

// TestAddresses: what is not there says so, and paths lead nowhere else.
func TestAddresses(t *testing.T) {
	s := filled(t)
	for path, want := range map[string]int{
		"/none": 404, "/groups/ffffffff": 404, "/groups/xyz": 404, "/groups/ffffffff/reports": 404, "/reports/0": 404, "/reports/99": 404, "/reports/x.json": 404, "/reports/1.json": 200,
		"/compare?a=1&b=99": 404, "/bundles?state=none": 400, "/bundles/none/download": 404, "/groups/..%2f..%2fetc": 404,
	} {
		if a := s.get(path); a.Code != want {
			t.Errorf("%s: status %d, expected %d: %s", path, a.Code, want, a.Body)
		}
	}
	a := s.get("/bundles/" + fmt.Sprintf("%064x", "old.zip") + "/download")
	if a.Body != "the bundle old.zip" || a.Header.Get("Content-Disposition") != "attachment; filename=old.zip" || a.Header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("%+v", a)
	}
	for _, back := range []string{"https://example.org/", "//example.org", `/\example.org`, "javascript:alert(1)"} {
		if a := s.send("/theme", url.Values{"theme": {"dark"}, "back": {back}}); a.Path != "/" || !strings.Contains(a.Body, `data-theme="dark"`) {
			t.Errorf("%s leads to %s", back, a.Path)
		}
	}
}

// TestBundleOutcomes: a bundle says in lists and on its page of which groups its matches are.
func TestBundleOutcomes(t *testing.T) {
	s := filled(t)
	ctx := context.Background()
	hash := fmt.Sprintf("%064x", "several.zip")
	var groups []string
	err := s.Store.Write(ctx, func(tx *desk.Tx) error {
		b, _, err := tx.Receive(ctx, desk.Bundle{Hash: hash, Name: "several.zip", Bytes: 4096}, desk.Receipt{Name: "several.zip", Source: "desk add"})
		if err != nil {
			return err
		}
		readings := []desk.Reading{{Report: document.NoReport(document.InSync, "Nothing diverged.")}}
		for _, step := range []string{"Combat", "Movement", "Economy", "Combat"} {
			readings = append(readings, desk.Reading{Report: diverged(step, step+".x", step, "1.4.2", "2026-02-03", "linux")})
		}
		changes, err := tx.Put(ctx, b.ID, "test", readings)
		for _, c := range changes {
			groups = append(groups, c.Group)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	link := func(i int, title string) string {
		return `<a href="/groups/` + groups[i] + `"><bdi>` + title + `</bdi></a>`
	}
	list := s.page("/bundles?state=read")
	if want := `in-sync <small>(1 match)</small><br>diverged <small>(2 matches)</small>: ` + link(1, "arena: first differs after Combat") + `<br>diverged <small>(1 match)</small>: ` + link(2, "arena: first differs after Movement") + `<br><small>and 1 more</small></td>`; !strings.Contains(list, want) {
		t.Errorf("%s\nexpected %s", list, want)
	}
	if want := `<td class="outcome" data-label="Outcome">diverged: <a href="/groups/`; strings.Count(list, want) != 24 {
		t.Errorf("%d bundles have an outcome, expected 24: %s", strings.Count(list, want), list)
	}
	if _, err := (&desk.Editor{Store: s.Store, Who: "ada"}).Name(ctx, groups[3], "the coins"); err != nil {
		t.Fatal(err)
	}
	page := s.page("/bundles/" + hash)
	for _, want := range []string{`<td class="outcome" data-label="Outcome">in-sync</td>`, `<td class="outcome" data-label="Outcome">diverged: ` + link(3, "the coins") + `</td>`} {
		if !strings.Contains(page, want) {
			t.Errorf("%s\nexpected %s", page, want)
		}
	}
	if strings.Contains(s.page("/groups/"+groups[1]), "Outcome") {
		t.Error("the page of a group says of each report that it is of the group")
	}
}
