package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
)

// Limits limits incoming data. A zero field means the value of DefaultLimits. One token, and one address
// of another machine, have a twentieth of Waiting, Unfinished and AtOnce, and always enough for one upload.
type Limits struct {
	Bundle      int64 // bytes of a bundle
	Waiting     int64 // bytes of all bundles that wait for triage; above this, uploads are refused
	Unfinished  int64 // total bytes of all unfinished uploads in pieces
	AtOnce      int   // uploads at once
	Connections int   // at once

	Token   Rate // uploads of one token
	Address Rate // uploads of one address of another machine
	Wrong   Rate // unknown tokens and links from one address

	Pace Pace          // of uploads and of readers
	Keep time.Duration // how long an upload in pieces is kept after its last piece
}

// DefaultLimits are the default limits.
var DefaultLimits = Limits{
	Bundle: 256 << 20, Waiting: 64 << 30, Unfinished: 16 << 30, AtOnce: 512, Connections: 1024,
	Token: Rate{6000, 1000}, Address: Rate{120, 120}, Wrong: Rate{10, 10},
	Pace: Pace{20 * time.Second, 4 << 10}, Keep: 24 * time.Hour,
}

func (l Limits) orDefault() Limits {
	d := DefaultLimits
	return Limits{
		cmp.Or(l.Bundle, d.Bundle), cmp.Or(l.Waiting, d.Waiting), cmp.Or(l.Unfinished, d.Unfinished), cmp.Or(l.AtOnce, d.AtOnce),
		cmp.Or(l.Connections, d.Connections),
		cmp.Or(l.Token, d.Token), cmp.Or(l.Address, d.Address), cmp.Or(l.Wrong, d.Wrong),
		cmp.Or(l.Pace, d.Pace), cmp.Or(l.Keep, d.Keep),
	}
}

// Hint is what an upload states about its bundle.
type Hint struct {
	Build string // empty if unknown
}

// Enqueue creates the job that triages a bundle.
type Enqueue func(ctx context.Context, tx *desk.Tx, b *desk.Bundle) error

// Options configures a Door.
type Options struct {
	Store *desk.Store
	Blobs blobs.Store
	// Uploads is the folder of uploads in pieces. It is created when the first one starts.
	Uploads string
	// Accept decides how the bundle of an upload is queued. The returned function is called in the transaction that
	// records a waiting bundle, on each arrival. It creates the job, unless there is one, and uses no other connection
	// to the store. If Accept is nil, bundles stay waiting.
	Accept func(ctx context.Context, h Hint) (Enqueue, error)
	// Pages serves all other requests: GET and HEAD for visitors with scope read, everything else for visitors with
	// scope triage. It may be nil.
	Pages http.Handler
	// Loopback means that only this machine can reach the Door. Otherwise, or if there is a token, every visitor needs
	// a token.
	Loopback bool
	// Proxied means that there is a trusted proxy before the Door. Its X-Forwarded-For and X-Forwarded-Proto are used.
	Proxied bool
	// URL is the public address of the desk, for links in the feed, in webhooks and for players:
	// https://desk.example.org. If it is empty, links use the address of the request, and webhooks contain only paths.
	URL    string
	Limits Limits
	// Log receives a line for each request. It may be nil.
	Log io.Writer
}

// Door serves a desk. It is safe for concurrent use.
type Door struct {
	Options
	limits   Limits
	log      *log.Logger
	key      []byte // for the CSRF tokens of visitors without a session
	cross    *http.CrossOriginProtection
	byToken  *buckets
	byPlace  *buckets
	wrong    *buckets
	places   places
	pieces   locks
	waiting  waiting
	sending  sync.Map // webhooks, by number, that are sent to
	closed   once     // there is a token
	identity func() (string, error)
	handler  http.Handler
}

// New returns a Door.
func New(o Options) *Door {
	d := &Door{Options: o, limits: o.Limits.orDefault(), key: make([]byte, 32), cross: http.NewCrossOriginProtection()}
	rand.Read(d.key)
	if o.Log == nil {
		d.Log = io.Discard
	}
	d.log = log.New(d.Log, "", 0)
	d.URL = strings.TrimRight(d.URL, "/")
	d.byToken, d.byPlace, d.wrong = newBuckets(d.limits.Token), newBuckets(d.limits.Address), newBuckets(d.limits.Wrong)
	d.places = places{all: d.limits.AtOnce, by: map[string]int{}}
	d.pieces.held = map[string]*holder{}
	d.identity = sync.OnceValues(func() (string, error) { return d.Store.Identity(context.Background()) })
	d.handler = d.outer(d.routes())
	return d
}

// ServeHTTP serves a request.
func (d *Door) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.handler.ServeHTTP(w, r) }

// routes are the requests that the Door serves, each with the required scope.
func (d *Door) routes() *http.ServeMux {
	mux := http.NewServeMux()
	upload := func(h http.HandlerFunc) http.Handler { return d.need(desk.ScopeUpload, h) }
	read := func(h http.HandlerFunc) http.Handler { return d.need(desk.ScopeRead, h) }
	triage := func(h http.HandlerFunc) http.Handler { return d.need(desk.ScopeTriage, h) }

	mux.Handle("POST /reports", upload(d.receive))
	mux.HandleFunc("OPTIONS "+uploadsPath, d.tusOptions)
	mux.Handle("POST "+uploadsPath, upload(d.tusCreate))
	mux.Handle("HEAD "+uploadsPath+"/{upload}", upload(d.tusHead))
	mux.Handle("GET "+uploadsPath+"/{upload}", upload(d.tusState))
	mux.Handle("PATCH "+uploadsPath+"/{upload}", upload(d.tusPatch))
	mux.Handle("DELETE "+uploadsPath+"/{upload}", upload(d.tusDelete))
	mux.Handle("POST "+uploadsPath+"/{upload}", upload(d.tusOverride))
	mux.HandleFunc("GET /bundles/{hash}", d.bundle)
	mux.Handle("GET /groups.atom", read(d.feed))
	mux.Handle("POST /shares", triage(d.share))
	mux.Handle("POST /shares/{share}/revoke", triage(d.unshare))
	mux.HandleFunc("GET /r/{secret}", d.shared)
	mux.HandleFunc("GET /login", d.loginForm)
	mux.HandleFunc("POST /login", d.login)
	mux.HandleFunc("POST /logout", d.logout)
	mux.HandleFunc("GET /health", d.health)
	mux.HandleFunc("GET /robots.txt", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "User-agent: *\nDisallow: /\n")
	})
	if d.Pages != nil {
		mux.Handle("POST "+themePath, read(d.Pages.ServeHTTP))
	}
	mux.HandleFunc("/", d.pages)
	return mux
}

// pages passes a request to the pages.
func (d *Door) pages(w http.ResponseWriter, r *http.Request) {
	scope := desk.ScopeTriage
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		scope = desk.ScopeRead
	case http.MethodPost:
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		d.fail(w, r, http.StatusMethodNotAllowed, "%s is not a method of %s", r.Method, r.URL.Path)
		return
	}
	d.need(scope, func(w http.ResponseWriter, r *http.Request) {
		if d.Pages == nil {
			d.fail(w, r, http.StatusNotFound, "there is nothing here")
			return
		}
		d.Pages.ServeHTTP(w, r)
	}).ServeHTTP(w, r)
}

// health reports whether the store answers.
func (d *Door) health(w http.ResponseWriter, r *http.Request) {
	if _, _, err := d.Store.HasTokens(r.Context()); err != nil {
		d.broken(w, r, err)
		return
	}
	io.WriteString(w, "ok\n")
}

// base returns the address under which the visitor reaches the desk, without a slash at the end.
func (d *Door) base(r *http.Request) string {
	if d.URL != "" {
		return d.URL
	}
	u := url.URL{Scheme: "http", Host: r.Host}
	if d.secure(r) {
		u.Scheme = "https"
	}
	return u.String()
}

// secure reports whether a request came by TLS, to this program or to the proxy.
func (d *Door) secure(r *http.Request) bool {
	return r.TLS != nil || d.Proxied && r.Header.Get("X-Forwarded-Proto") == "https"
}

// address returns the address of the client.
func (d *Door) address(r *http.Request) netip.Addr {
	if d.Proxied {
		list := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		if a, err := netip.ParseAddr(strings.TrimSpace(list[len(list)-1])); err == nil {
			return a.Unmap()
		}
	}
	a, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.IPv4Unspecified()
	}
	return a.Addr().Unmap()
}

// reply writes an answer as JSON.
func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // the client may have gone
}

// once is a condition that never becomes false again.
type once struct {
	mu  sync.Mutex
	yes bool
}

// check calls ask until the answer is yes.
func (o *once) check(ask func() (bool, error)) (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.yes {
		return true, nil
	}
	yes, err := ask()
	o.yes = yes && err == nil
	return yes, err
}
