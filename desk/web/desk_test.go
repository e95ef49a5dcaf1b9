package web_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/web"
	"github.com/desynctool/desynctool/report/document"
)

// triage is who may do everything.
var triage = web.Who{Name: "ada", Read: true, Triage: true, Upload: true}

// site is a desk that is served.
type site struct {
	t      *testing.T
	Store  *desk.Store
	Server *httptest.Server
	who    web.Who
	client *http.Client
}

// serve serves the pages of an empty store.
func serve(t *testing.T) *site {
	t.Helper()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	store, err := desk.Open(context.Background(), filepath.Join(t.TempDir(), "desk"), desk.Options{Create: true, Unsynced: true, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := &site{t: t, Store: store, who: triage}
	pages, err := web.New(web.Config{
		Store: store, Of: func(*http.Request) web.Who { return s.who },
		Blob: func(_ context.Context, b *desk.Bundle) (io.ReadCloser, string, error) {
			return io.NopCloser(strings.NewReader("the bundle " + b.Name)), b.Name, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Server = httptest.NewServer(pages)
	t.Cleanup(s.Server.Close)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.client = &http.Client{Jar: jar}
	return s
}

// answer is what a request got.
type answer struct {
	Code   int
	Path   string // after redirects
	Header http.Header
	Body   string
}

func (s *site) do(req *http.Request, err error) answer {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Request.URL.RequestURI(), resp.Header, string(body)}
}

func (s *site) get(path string) answer {
	s.t.Helper()
	return s.do(http.NewRequest(http.MethodGet, s.Server.URL+path, nil))
}

// page gets a page that must be there.
func (s *site) page(path string) string {
	s.t.Helper()
	a := s.get(path)
	if a.Code != http.StatusOK {
		s.t.Fatalf("%s: status %d: %s", path, a.Code, a.Body)
	}
	return a.Body
}

var tokenField = regexp.MustCompile(`name="csrf" value="([^"]+)"`)

// post sends a form as a page has it, with the page's token.
func (s *site) post(page, path string, form url.Values) answer {
	s.t.Helper()
	m := tokenField.FindStringSubmatch(s.page(page))
	if m == nil {
		s.t.Fatalf("%s: no form", page)
	}
	values := url.Values{"csrf": {m[1]}}
	for k, v := range form {
		values[k] = v
	}
	return s.send(path, values)
}

func (s *site) send(path string, form url.Values) answer {
	s.t.Helper()
	req, err := http.NewRequest(http.MethodPost, s.Server.URL+path, strings.NewReader(form.Encode()))
	if err == nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return s.do(req, err)
}

// add puts a bundle with one match into the store, and returns the number of its report and the code
// of its group.
func (s *site) add(name string, r *document.Report, complete int) (id int64, group string) {
	s.t.Helper()
	ctx := context.Background()
	err := s.Store.Write(ctx, func(tx *desk.Tx) error {
		b, _, err := tx.Receive(ctx, desk.Bundle{Hash: fmt.Sprintf("%064x", name), Name: name, Bytes: 4096, Kept: name, KeptBytes: 1024}, desk.Receipt{Name: name, Source: "desk add"})
		if err != nil {
			return err
		}
		changes, err := tx.Put(ctx, b.ID, "test", []desk.Reading{{Report: r, Complete: complete}})
		if err == nil {
			id, group = changes[0].Report, changes[0].Group
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return id, group
}

// diverged is a report of a bug that has a place and a field.
func diverged(step, field, strict, build, day, os string) *document.Report {
	r := document.NoReport(document.Diverged, "host and client diverged in tick 77, in system "+step+": "+field+" differs.")
	r.Error = ""
	r.Kind = "state"
	r.Session = document.Session{Game: "arena", Build: build, Seed: "0000000000000007", TickRate: 60, First: 0, Last: 3600, Played: &document.Played{First: day + "T10:00:00Z", Last: day + "T10:30:00Z", By: "the header"}}
	r.Peers = []document.TriagedPeer{{Name: "host", Group: 1, Snapshots: 3, OrderLog: true}, {Name: "client", Group: 2, Snapshots: 3}}
	tick := uint64(77)
	r.FirstDivergence = &document.FirstDivergence{Tick: &tick, Exact: true, System: step, Archetypes: []string{"Unit"}}
	r.Fingerprint = strict
	r.Fingerprints = []document.Fingerprint{
		{Level: document.LevelKind, Name: "arena state", Digest: digest("arena")},
		{Level: document.LevelStep, Name: step, Digest: digest(step)},
		{Level: document.LevelField, Name: field, Digest: digest(field)},
	}
	r.Stated = []document.Fact{
		{Name: "os", Values: map[string]string{"host": "linux", "client": os}},
		{Name: "cpu", Same: os == "linux", Values: map[string]string{"host": "x86_64", "client": map[bool]string{true: "x86_64", false: "arm64"}[os == "linux"]}},
	}
	r.Causes = []document.Cause{{Class: "unordered-iteration", Title: "Iteration over an unordered container", Standing: "looks-like", Score: .8, Right: 8, Of: 10, Group: 1, Evidence: []string{"entities differ in order"}}}
	r.Send = []document.Request{{What: "a snapshot of tick 76", From: []string{"client"}, For: []string{"field"}}}
	return r
}

// digest is 16 hex digits of a text.
func digest(text string) string {
	h := uint64(14695981039346656037)
	for _, b := range []byte(text) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return fmt.Sprintf("%016x", h)
}

// filled serves a store with a few groups: a large one with variants, a small one, one that is closed,
// one of claims only.
func filled(t *testing.T) *site {
	t.Helper()
	s := serve(t)
	for i := range 17 {
		os := "windows"
		if i%5 == 4 {
			os = "linux"
		}
		s.add(fmt.Sprintf("crash-%02d.zip", i), diverged("Combat", "Health.hp", fmt.Sprintf("%016x", 1+i%3), fmt.Sprintf("1.4.%d", i/4), fmt.Sprintf("2026-02-%02d", 1+i), os), 40+i*3)
	}
	for i := range 5 {
		s.add(fmt.Sprintf("nightly-%02d.zip", i), diverged("Movement", "Position.x", "", "1.4.2", fmt.Sprintf("2026-02-%02d", 10+i), "linux"), 60)
	}
	_, closed := s.add("old.zip", diverged("Economy", "Purse.gold", "e", "1.3.0", "2026-01-05", "linux"), 90)
	e := &desk.Editor{Store: s.Store, Who: "ada"}
	if _, err := e.CloseGroup(context.Background(), closed, "1.4.0"); err != nil {
		t.Fatal(err)
	}
	s.add("claims.zip", claimed("out of sync at frame 1200"), 10)
	return s
}

// claimed is a report with nothing but the game's claim.
func claimed(text string) *document.Report {
	r := diverged("", "", "", "1.4.2", "2026-02-20", "linux")
	r.Verdict = []string{"The game says that it is out of sync."}
	r.FirstDivergence = nil
	r.Fingerprints = []document.Fingerprint{{Level: document.LevelKind, Name: "arena unknown", Digest: digest("unknown")}, {Level: document.LevelMessage, Name: text, Digest: digest(text)}}
	return r
}
