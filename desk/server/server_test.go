//go:build unix

package server_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/desk/server"
	"github.com/desynctool/desynctool/report/document"
)

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		child()
	}
	os.Exit(desktest.Main(m))
}

// rig is a door with a server.
type rig struct {
	*testing.T
	store *desk.Store
	blobs blobs.Store
	door  *server.Door
	url   string
	log   *syncBuffer
	auth  string
}

// newRig opens a desk and its door, changed by set.
func newRig(t *testing.T, where string, set func(*server.Options)) *rig {
	t.Helper()
	dir := t.TempDir()
	s, err := desk.Open(context.Background(), where, desk.Options{Create: true, Unsynced: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	b, err := blobs.Open(filepath.Join(dir, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	g := &rig{T: t, store: s, blobs: b, log: &syncBuffer{}}
	o := server.Options{Store: s, Blobs: b, Uploads: filepath.Join(dir, "uploads"), Loopback: true, Log: g.log}
	if set != nil {
		set(&o)
	}
	g.door = server.New(o)
	server := httptest.NewServer(g.door)
	t.Cleanup(server.Close)
	g.url = server.URL
	return g
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) json(t *testing.T) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return out
}

var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, Timeout: time.Minute}

// send makes a request; headers are pairs.
func (g *rig) send(method, path string, body io.Reader, headers ...string) answer {
	g.Helper()
	r, err := http.NewRequest(method, g.url+path, body)
	if err != nil {
		g.Fatal(err)
	}
	if g.auth != "" {
		r.Header.Set("Authorization", "Bearer "+g.auth)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	a, err := client.Do(r)
	if err != nil {
		g.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		g.Fatal(err)
	}
	return answer{a.StatusCode, a.Header, string(text)}
}

func (g *rig) want(a answer, status int, part string) {
	g.Helper()
	if a.status != status || !strings.Contains(a.body, part) {
		g.Errorf("%d %s: expected %d with %q", a.status, a.body, status, part)
	}
}

func hashOf(b []byte) string { h := sha256.Sum256(b); return hex.EncodeToString(h[:]) }

// holds fails unless a bundle is in the store, and its blob has its bytes.
func (g *rig) holds(content []byte) *desk.Bundle {
	g.Helper()
	b, err := g.store.Bundle(context.Background(), hashOf(content))
	if err != nil {
		g.Fatal(err)
	}
	r, err := g.blobs.Open(context.Background(), b.Kept)
	if err != nil {
		g.Fatal(err)
	}
	defer r.Close()
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, content) {
		g.Fatalf("the blob has %d bytes, %v; expected %d", len(got), err, len(content))
	}
	return b
}

// rows counts the rows of a table.
func (g *rig) rows(table string) (n int) {
	g.Helper()
	if err := g.store.DB().QueryRow("SELECT count(*) FROM " + table).Scan(&n); err != nil {
		g.Fatal(err)
	}
	return n
}

// TestReceive: a bundle is kept once, with a receipt each time, by its body and by a form.
func TestReceive(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		var hints []string
		g := newRig(t, where, func(o *server.Options) {
			o.Accept = func(_ context.Context, h server.Hint) (server.Enqueue, error) {
				return func(_ context.Context, _ *desk.Tx, b *desk.Bundle) error {
					hints = append(hints, b.Hash[:4]+" "+h.Build)
					return nil
				}, nil
			}
		})
		content := []byte("a bundle")
		first := g.send("POST", "/reports?name=../../etc/a%20b.zip&build=1.4.2", bytes.NewReader(content))
		g.want(first, 202, `"seen":false`)
		if x := first.json(t); x["bundle"] != hashOf(content) || x["name"] != "a b.zip" || x["state"] != "waiting" || x["url"] != "/bundles/"+hashOf(content) || first.header.Get("Location") != x["url"] {
			t.Errorf("%v %v", x, first.header)
		}
		if b := g.holds(content); b.Name != "a b.zip" || b.Bytes != int64(len(content)) {
			t.Errorf("%+v", b)
		}
		g.want(g.send("POST", "/reports", bytes.NewReader(content), "Content-Disposition", `attachment; filename="C:\\x\\y.zip"`), 202, `"seen":true`)
		if g.rows("bundles") != 1 || g.rows("receipts") != 2 || len(hints) != 2 || hints[0] != hashOf(content)[:4]+" 1.4.2" {
			t.Errorf("%d bundles, %d receipts, %q", g.rows("bundles"), g.rows("receipts"), hints)
		}
		form, kind := formOf(t, map[string]string{}, "one", "two")
		a := g.send("POST", "/reports", form, "Content-Type", kind)
		g.want(a, 202, `"bundles":[`)
		g.holds([]byte("one"))
		g.holds([]byte("two"))
		g.want(g.send("GET", "/bundles/"+hashOf([]byte("one")), nil), 200, `"state":"waiting"`)
		g.want(g.send("GET", "/bundles/"+hashOf([]byte("three")), nil), 404, "no bundle")
		g.want(g.send("POST", "/reports", nil), 400, "empty")
		b := g.holds(content)
		var changes []desk.Change
		err := g.store.Write(context.Background(), func(tx *desk.Tx) (err error) {
			changes, err = tx.Put(context.Background(), b.ID, "test", []desk.Reading{{Report: diverged()}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		g.want(g.send("GET", "/bundles/"+b.Hash, nil), 200, fmt.Sprintf(`"reports":[{"match":1,"status":"diverged","group":"%s","url":"/reports/%d"}]`, changes[0].Group, changes[0].Report))
		g.want(g.send("POST", "/reports", bytes.NewReader(content)), 200, `"state":"read"`)
	})
}

// formOf is an upload of files by a page.
func formOf(t *testing.T, fields map[string]string, files ...string) (io.Reader, string) {
	t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for name, value := range fields {
		w.WriteField(name, value)
	}
	for i, content := range files {
		f, err := w.CreateFormFile("file", fmt.Sprintf("%d.zip", i))
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, content)
	}
	w.Close()
	return &body, w.FormDataContentType()
}

// diverged is a report of a match.
func diverged() *document.Report {
	r := document.NoReport(document.Diverged, "host and Xqzvk diverged")
	r.Error = ""
	r.Session = document.Session{Game: "arena", Build: "1.4.2"}
	r.Peers = []document.TriagedPeer{{Name: "host", Group: 1}, {Name: "Xqzvk", Group: 2}}
	r.Fingerprint = "00000000000000bb"
	r.Fingerprints = []document.Fingerprint{{Level: document.LevelKind, Name: "arena <state>", Digest: "00000000000000aa"}, {Level: document.LevelStep, Name: "Move", Digest: "00000000000000ab"}}
	return r
}

// TestScopes tries every route with every scope: a route outside the scope answers 401 without a token and 403 with
// another token.
func TestScopes(t *testing.T) {
	g := newRig(t, filepath.Join(t.TempDir(), "desk"), func(o *server.Options) {
		o.Pages = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			v := server.VisitorOf(r.Context())
			fmt.Fprintf(w, "page for %s", v.Name)
		})
		o.Limits.Wrong = server.Rate{Often: 1, Burst: 1000}
	})
	tokens := map[string]string{"wrong": "desk_0000000000000000_" + strings.Repeat("A", 43)}
	for _, scope := range desk.Scopes {
		secret, err := g.store.AddToken(context.Background(), "test", string(scope), scope)
		if err != nil {
			t.Fatal(err)
		}
		tokens[string(scope)] = secret
	}
	all := []string{"upload", "read", "triage"}
	for _, route := range []struct {
		method, path string
		may          []string
		headers      []string
	}{
		{"POST", "/reports", []string{"upload", "triage"}, nil},
		{"POST", "/reports/uploads", []string{"upload", "triage"}, nil},
		{"HEAD", "/reports/uploads/x", []string{"upload", "triage"}, nil},
		{"GET", "/reports/uploads/x", []string{"upload", "triage"}, nil},
		{"PATCH", "/reports/uploads/x", []string{"upload", "triage"}, nil},
		{"DELETE", "/reports/uploads/x", []string{"upload", "triage"}, nil},
		{"POST", "/reports/uploads/x", []string{"upload", "triage"}, []string{"X-HTTP-Method-Override", "PATCH"}},
		{"GET", "/bundles/" + hashOf(nil), all, nil},
		{"GET", "/groups.atom", []string{"read", "triage"}, nil},
		{"POST", "/shares?report=1", []string{"triage"}, nil},
		{"POST", "/shares/1/revoke", []string{"triage"}, nil},
		{"GET", "/", []string{"read", "triage"}, nil},
		{"GET", "/groups/00000000", []string{"read", "triage"}, nil},
		{"POST", "/theme", []string{"read", "triage"}, nil},
		{"POST", "/groups/00000000/close", []string{"triage"}, nil},
		{"GET", "/no/such/page", []string{"read", "triage"}, nil},
	} {
		for who, token := range tokens {
			may := false
			for _, m := range route.may {
				may = may || m == who
			}
			g.auth = token
			a := g.send(route.method, route.path, nil, route.headers...)
			switch want := map[bool]int{true: 401, false: 403}[who == "wrong"]; {
			case may && (a.status == 401 || a.status == 403):
				t.Errorf("%s %s: %s gets %d", route.method, route.path, who, a.status)
			case !may && a.status != want:
				t.Errorf("%s %s: %s gets %d, expected %d", route.method, route.path, who, a.status, want)
			}
		}
		g.auth = ""
		if a := g.send(route.method, route.path, nil, route.headers...); a.status != 401 || a.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s %s: nobody gets %d", route.method, route.path, a.status)
		}
	}
	g.auth = ""
	for path, status := range map[string]int{"/health": 200, "/robots.txt": 200, "/login": 200, "/r/x": 404} {
		if a := g.send("GET", path, nil); a.status != status {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	for _, secret := range tokens {
		if strings.Contains(g.log.String(), secret) {
			t.Error("the log has a token")
		}
	}
	g.auth = tokens["read"]
	if err := g.store.RevokeToken(context.Background(), "test", "read"); err != nil {
		t.Fatal(err)
	}
	g.want(g.send("GET", "/", nil), 401, "revoked")
}

// TestOtherSites: a desk without tokens serves only who names this machine, and no page of another site
// changes anything.
func TestOtherSites(t *testing.T) {
	g := newRig(t, filepath.Join(t.TempDir(), "desk"), func(o *server.Options) {
		o.Pages = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, server.VisitorOf(r.Context()).CSRF())
		})
	})
	for host, status := range map[string]int{"evil.example": 403, "evil.example:8080": 403, "127.0.0.1.evil.example": 403, "": 200, "localhost:1": 200, "[::1]:1": 200, "127.0.0.1": 200, "192.0.2.1": 403} {
		var headers []string
		if host != "" {
			headers = []string{"Host", host}
		}
		if a := g.send("GET", "/", nil, headers...); a.status != status {
			t.Errorf("%q: %d, expected %d", host, a.status, status)
		}
	}
	token := g.send("GET", "/", nil).body
	if len(token) < 20 {
		t.Fatalf("%q", token)
	}
	form := func() io.Reader { return strings.NewReader("x=1") }
	const kind = "application/x-www-form-urlencoded"
	g.want(g.send("POST", "/groups/x/close", form(), "Content-Type", kind), 200, "") // curl
	g.want(g.send("POST", "/groups/x/close", form(), "Content-Type", kind, "Origin", "https://evil.example"), 403, "another site")
	g.want(g.send("POST", "/groups/x/close", form(), "Content-Type", kind, "Sec-Fetch-Site", "cross-site"), 403, "another site")
	g.want(g.send("POST", "/reports", form(), "Content-Type", "text/plain", "Sec-Fetch-Site", "same-site"), 403, "another site")
	g.want(g.send("POST", "/groups/x/close", form(), "Content-Type", kind, "Sec-Fetch-Site", "same-origin"), 403, "another session")
	g.want(g.send("POST", "/groups/x/close", strings.NewReader("csrf="+token), "Content-Type", kind, "Sec-Fetch-Site", "same-origin"), 200, "")
	g.want(g.send("POST", "/theme", form(), "Content-Type", kind, "Sec-Fetch-Site", "same-origin"), 200, "")
	g.want(g.send("POST", "/reports", form(), "Sec-Fetch-Site", "same-origin", "X-CSRF-Token", token), 202, "")
	for field, status := range map[string]int{token: 202, "wrong": 403} {
		body, kind := formOf(t, map[string]string{"csrf": field}, "file")
		if a := g.send("POST", "/reports", body, "Content-Type", kind, "Sec-Fetch-Site", "same-origin"); a.status != status {
			t.Errorf("%q: %d", field, a.status)
		}
	}
	body, multi := formOf(t, nil, "file without a token")
	g.want(g.send("POST", "/reports", body, "Content-Type", multi, "Sec-Fetch-Site", "same-origin"), 403, "csrf")
	if _, err := g.store.Bundle(context.Background(), hashOf([]byte("file without a token"))); err == nil {
		t.Error("it was kept")
	}
}

// TestLogin: a browser that logged in reads with its cookie, needs the token of forms, and is out when the
// token is revoked or it logs out.
func TestLogin(t *testing.T) {
	g := newRig(t, filepath.Join(t.TempDir(), "desk"), func(o *server.Options) {
		o.Pages = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, server.VisitorOf(r.Context()).CSRF())
		})
		o.Limits.Wrong = server.Rate{Often: 0.001, Burst: 3}
	})
	ctx := context.Background()
	secret, err := g.store.AddToken(ctx, "test", "ann", desk.ScopeTriage)
	if err != nil {
		t.Fatal(err)
	}
	const kind = "application/x-www-form-urlencoded"
	if a := g.send("GET", "/", nil, "Accept", "text/html"); a.status != 303 || a.header.Get("Location") != "/login" {
		t.Errorf("%+v", a)
	}
	g.want(g.send("POST", "/login", strings.NewReader("token=x"), "Content-Type", kind), 401, "not known")
	login := func() string {
		t.Helper()
		a := g.send("POST", "/login", strings.NewReader("token="+secret), "Content-Type", kind)
		cookie := a.header.Get("Set-Cookie")
		if a.status != 303 || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=") || strings.Contains(cookie, secret) {
			t.Fatalf("%+v", a)
		}
		pair, _, _ := strings.Cut(cookie, ";")
		return pair
	}
	cookie := login()
	csrf := g.send("GET", "/", nil, "Cookie", cookie)
	if csrf.status != 200 || len(csrf.body) < 20 {
		t.Fatalf("%+v", csrf)
	}
	g.want(g.send("POST", "/groups/x/close", nil, "Cookie", cookie), 403, "another session")
	g.want(g.send("POST", "/groups/x/close", strings.NewReader("csrf="+csrf.body), "Cookie", cookie, "Content-Type", kind), 200, "")
	if other := g.send("GET", "/", nil, "Cookie", login()); other.body == csrf.body {
		t.Error("two sessions have one token of forms")
	}
	if a := g.send("POST", "/logout", strings.NewReader("csrf="+csrf.body), "Cookie", cookie, "Content-Type", kind); a.status != 303 {
		t.Errorf("%+v", a)
	}
	g.want(g.send("GET", "/", nil, "Cookie", cookie), 401, "")
	again := login()
	if err := g.store.RevokeToken(ctx, "test", "ann"); err != nil {
		t.Fatal(err)
	}
	g.want(g.send("GET", "/", nil, "Cookie", again), 401, "")
	g.want(g.send("POST", "/login", strings.NewReader("token=x"), "Content-Type", kind), 401, "not known")
	g.auth = "desk_x"
	g.want(g.send("GET", "/", nil), 401, "not known")
	guess := g.send("GET", "/", nil)
	g.want(guess, 429, "too many wrong tokens")
	if guess.header.Get("Retry-After") == "" {
		t.Error("429 does not say when")
	}
	// Name and password, as readers of feeds have them, are for reading alone.
	g2 := newRig(t, filepath.Join(t.TempDir(), "desk"), nil)
	if secret, err = g2.store.AddToken(ctx, "test", "ann", desk.ScopeTriage); err != nil {
		t.Fatal(err)
	}
	r, _ := http.NewRequest("GET", g2.url+"/groups.atom", nil)
	r.SetBasicAuth("feed", secret)
	basic := r.Header.Get("Authorization")
	g2.want(g2.send("GET", "/groups.atom", nil, "Authorization", basic), 200, "<feed")
	g2.want(g2.send("POST", "/reports", strings.NewReader("x"), "Authorization", basic), 403, "Bearer")
	if a := g2.send("GET", "/groups.atom", nil); a.status != 401 || !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Basic") {
		t.Errorf("%+v", a)
	}
}

// TestListen: beyond this machine a token is needed to listen.
func TestListen(t *testing.T) {
	for _, c := range []struct {
		address  string
		token    bool
		loopback bool
		refused  bool
		proxied  bool
	}{
		{"127.0.0.1:8080", false, true, false, false},
		{"127.9.9.9:8080", false, true, false, false},
		{"[::1]:8080", true, true, false, false},
		{"0.0.0.0:8080", false, false, true, false},
		{"[::]:8080", false, false, true, false},
		{"192.168.1.2:8080", false, false, true, false},
		{"192.168.1.2:8080", true, false, false, false},
		{"127.0.0.1:8080", false, true, true, true},
		{"127.0.0.1:8080", true, true, false, true},
	} {
		loopback, err := server.CheckListen(tcp(t, c.address), c.token, c.proxied)
		if loopback != c.loopback || (err != nil) != c.refused {
			t.Errorf("%+v: %v %v", c, loopback, err)
		}
	}
}
