//go:build unix

package server_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/desk/server"
)

// read has a bundle read as a report of a game, "arena" if none is given, and returns what changed.
func (g *rig) read(content string, game ...string) desk.Change {
	g.Helper()
	report := diverged()
	report.Session.Game = append(game, report.Session.Game)[0]
	g.want(g.send("POST", "/reports", strings.NewReader(content)), 202, "")
	b := g.holds([]byte(content))
	var changes []desk.Change
	err := g.store.Write(context.Background(), func(tx *desk.Tx) (err error) {
		changes, err = tx.Put(context.Background(), b.ID, "test", []desk.Reading{{Report: report}})
		return err
	})
	if err != nil {
		g.Fatal(err)
	}
	return changes[0]
}

// TestFeed: the feed has the groups with ids that stay, and the same bytes each time.
func TestFeed(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		g := newRig(t, where, func(o *server.Options) { o.URL = "https://desk.example.org/" })
		if a := g.send("GET", "/groups.atom", nil); a.status != 200 || strings.Contains(a.body, "<entry>") || a.header.Get("Content-Type") != "application/atom+xml; charset=utf-8" {
			t.Errorf("%+v", a)
		}
		c := g.read("a")
		a := g.send("GET", "/groups.atom", nil)
		var feed struct {
			XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
			ID      string   `xml:"id"`
			Title   string   `xml:"title"`
			Updated string   `xml:"updated"`
			Author  string   `xml:"author>name"`
			Entries []struct {
				ID      string `xml:"id"`
				Title   string `xml:"title"`
				Updated string `xml:"updated"`
				Link    struct {
					Href string `xml:"href,attr"`
				} `xml:"link"`
			} `xml:"entry"`
		}
		if err := xml.Unmarshal([]byte(a.body), &feed); err != nil {
			t.Fatal(err)
		}
		if feed.Author == "" || feed.Title == "" || len(feed.Entries) != 1 || feed.Updated != feed.Entries[0].Updated || !strings.HasPrefix(feed.ID, "urn:uuid:") {
			t.Fatalf("%+v", feed)
		}
		if e := feed.Entries[0]; e.Title != "New: arena: first differs after Move, <state>" || e.Link.Href != "https://desk.example.org/groups/"+c.Group || e.ID == feed.ID {
			t.Errorf("%+v", e)
		}
		if at, err := time.Parse(time.RFC3339, feed.Updated); err != nil || time.Since(at) > time.Hour {
			t.Error(at, err)
		}
		other := server.New(g.door.Options)
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "http://localhost/groups.atom", nil)
		r.RemoteAddr = "127.0.0.1:50000"
		other.ServeHTTP(w, r)
		if w.Body.String() != a.body {
			t.Errorf("%s\n%s", w.Body, a.body)
		}
	})
}

// TestWebhook: a webhook gets news, signed, again until it answers 2xx; never at a private address unless that is
// allowed.
func TestWebhook(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		ctx := context.Background()
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		statuses := []int{500, 302, 200}
		var bodies, signatures []string
		hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			bodies, signatures = append(bodies, string(body)), append(signatures, r.Header.Get("Desk-Signature"))
			w.Header().Set("Location", "/other")
			w.WriteHeader(statuses[(len(bodies)-1)%len(statuses)])
		}))
		defer hook.Close()
		g := newRig(t, where, nil)
		s, err := desk.Open(ctx, where, desk.Options{Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		d := server.New(server.Options{Store: s, Blobs: g.blobs, URL: "https://desk.example.org", Log: g.log})
		for _, private := range []bool{true, false} {
			if _, err := s.AddWebhook(ctx, "test", desk.Webhook{Address: hook.URL + "/path-secret", Private: private}, "key"); err != nil {
				t.Fatal(err)
			}
		}
		g.store = s
		c := g.read("a")
		for range 3 {
			if err := d.Deliver(ctx); err != nil {
				t.Fatal(err)
			}
			if err := d.Deliver(ctx); err != nil { // nothing is due
				t.Fatal(err)
			}
			now = now.Add(time.Minute)
		}
		if len(bodies) != 3 || bodies[0] != bodies[2] {
			t.Fatalf("%q", bodies)
		}
		m := hmac.New(sha256.New, []byte("key"))
		m.Write([]byte(bodies[0]))
		if want := "sha256=" + hex.EncodeToString(m.Sum(nil)); signatures[0] != want || signatures[2] != want {
			t.Errorf("%q, expected %s", signatures, want)
		}
		var message map[string]any
		if err := json.Unmarshal([]byte(bodies[0]), &message); err != nil {
			t.Fatal(err)
		}
		if message["schema"] != "desynctool.desk.webhook/1" || message["group"] != c.Group || message["what"] != "new" || message["url"] != "https://desk.example.org/groups/"+c.Group || message["at"] != "2026-03-01T12:00:00Z" {
			t.Errorf("%v", message)
		}
		list, err := s.Webhooks(ctx)
		if err != nil || len(list) != 2 || list[0].Done != 1 || list[1].Due != 1 || !strings.Contains(list[1].Last, "not an address of the Internet") {
			t.Errorf("%+v %v", list, err)
		}
		if strings.Contains(g.log.String(), "path-secret") {
			t.Error("the log has the address of a webhook")
		}
		for range 20 {
			now = now.Add(7 * time.Hour)
			if err := d.Deliver(ctx); err != nil {
				t.Fatal(err)
			}
		}
		if list, err = s.Webhooks(ctx); err != nil || list[1].Failed != 1 || list[1].Due != 0 {
			t.Errorf("%+v %v", list, err)
		}
	})
}

// TestWebhookBeside: webhooks that never answer, never end their answer, or redirect into the network do not delay
// another one.
func TestWebhookBeside(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		ctx, end := context.WithCancel(context.Background())
		defer end()
		g := newRig(t, where, nil)
		var wrote, followed atomic.Int64
		inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
		defer inside.Close()
		good := make(chan string, 10)
		for _, answer := range []http.HandlerFunc{
			func(_ http.ResponseWriter, r *http.Request) { <-ctx.Done() },
			func(w http.ResponseWriter, r *http.Request) {
				for n, b := 1, make([]byte, 1<<20); n > 0 && wrote.Load() < 1<<30; wrote.Add(int64(n)) {
					n, _ = w.Write(b)
				}
			},
			func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, inside.URL, http.StatusTemporaryRedirect)
			},
			func(_ http.ResponseWriter, r *http.Request) { good <- r.Header.Get("Desk-Delivery") },
		} {
			hook := httptest.NewServer(answer)
			defer hook.Close()
			defer end() // before the servers wait for their answers
			if _, err := g.store.AddWebhook(ctx, "test", desk.Webhook{Address: hook.URL, Private: true}, "key"); err != nil {
				t.Fatal(err)
			}
		}
		delivered := make(chan error, 2)
		for i, content := range []string{"a", "b"} { // the second news arrives while the first is still sent
			g.read(content, content)
			go func() { delivered <- g.door.Deliver(ctx) }()
			select {
			case <-good:
			case <-time.After(10 * time.Second): // less than a try takes
				t.Fatalf("news %d of the good webhook waits", i)
			}
		}
		end()
		for range 2 {
			if err := <-delivered; err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		if wrote.Load() > 64<<20 || followed.Load() > 0 {
			t.Errorf("%d bytes of an answer were read, %d redirects followed", wrote.Load(), followed.Load())
		}
	})
}

// TestShare: a link shows the redacted report to anyone who has it, until it is revoked.
func TestShare(t *testing.T) {
	g := newRig(t, filepath.Join(t.TempDir(), "desk"), func(o *server.Options) { o.Limits.Wrong = server.Rate{Often: 0.001, Burst: 2} })
	ctx := context.Background()
	g.read("a")
	secret, err := g.store.AddToken(ctx, "test", "ann", desk.ScopeTriage)
	if err != nil {
		t.Fatal(err)
	}
	g.auth = secret
	a := g.send("POST", "/shares?report=1", nil)
	g.want(a, 201, `"url":"`)
	path := strings.TrimPrefix(a.json(t)["url"].(string), g.url)
	if !strings.HasPrefix(path, "/r/") || len(path) != len("/r/")+22 {
		t.Fatal(path)
	}
	g.want(g.send("POST", "/shares?report=2", nil), 404, "no such report")
	g.want(g.send("POST", "/shares?report=x", nil), 404, "no such report")
	g.auth = ""
	page := g.send("GET", path, nil, "Accept", "text/html")
	if page.status != 200 || strings.Contains(page.body, "Xqzvk") || !strings.Contains(page.body, "player 1") || !strings.Contains(page.body, "Content-Security-Policy") {
		t.Errorf("%d %s", page.status, page.body)
	}
	if h := page.header; h.Get("Referrer-Policy") != "no-referrer" || !strings.Contains(h.Get("X-Robots-Tag"), "noindex") || h.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", h)
	}
	if strings.Contains(g.log.String(), path) {
		t.Error("the log has a link")
	}
	g.auth = secret
	if a := g.send("POST", "/shares/1/revoke", nil); a.status != 204 {
		t.Errorf("%+v", a)
	}
	g.want(g.send("POST", "/shares/1/revoke", nil), 404, "no such link")
	g.auth = ""
	g.want(g.send("GET", path, nil), 404, "no longer shared")
	g.want(g.send("GET", "/r/AAAAAAAAAAAAAAAAAAAAAA", nil), 404, "")
	g.want(g.send("GET", "/r/BAAAAAAAAAAAAAAAAAAAAA", nil), 429, "")
}
