package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"html/template"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/page"
)

//go:embed templates/*.html style/*.css script/*.js
var files embed.FS

// Who is the visitor of a request.
type Who struct {
	// Name is the name of a token, or of the user of this machine. It is recorded with edits.
	Name string
	// Read permits viewing pages, Triage correcting groups, Upload sending bundles.
	Read, Triage, Upload bool
	// CSRF is the value for the hidden field csrf in forms, if the access control has given this browser one. If it is
	// empty, pages create one.
	CSRF string
	// Program means that the visitor's credential is one that no browser sends automatically. Its forms need no field
	// csrf.
	Program bool
	// LoggedIn means that the visitor is a browser with a session, which POST /logout ends.
	LoggedIn bool
}

// Config configures the pages.
type Config struct {
	Store *desk.Store
	// Of returns the visitor of a request.
	Of func(*http.Request) Who
	// Blob opens the stored content of a bundle as a file, and returns the name for the download. If it is nil, pages
	// have no downloads of bundles. The error is fs.ErrNotExist if the content was deleted.
	Blob func(ctx context.Context, b *desk.Bundle) (r io.ReadCloser, name string, err error)
	// Feed is the address of an Atom feed, empty if there is none.
	Feed string
	// Log receives errors of the server; nil means slog.Default.
	Log *slog.Logger
}

// Pages are the pages of a desk, a handler for all paths below "/".
type Pages struct {
	Config
	mux       *http.ServeMux
	templates *template.Template
	style     asset
	script    asset
}

// asset is a file that pages load. Its address changes with its content, so browsers may cache it forever.
type asset struct {
	content []byte
	Path    string
}

func newAsset(name, ext string, content []byte) asset {
	sum := sha256.Sum256(content)
	return asset{content, "/" + name + "-" + hex.EncodeToString(sum[:6]) + ext}
}

// New returns the pages of a store.
func New(c Config) (*Pages, error) {
	if c.Log == nil {
		c.Log = slog.Default()
	}
	p := &Pages{Config: c, mux: http.NewServeMux()}
	style, err := files.ReadFile("style/desk.css")
	if err != nil {
		return nil, err
	}
	script, err := files.ReadFile("script/desk.js")
	if err != nil {
		return nil, err
	}
	p.style = newAsset("style", ".css", append(page.Style(), style...))
	p.script = newAsset("script", ".js", script)
	if p.templates, err = parseTemplates(); err != nil {
		return nil, err
	}
	p.routes()
	return p, nil
}

func (p *Pages) routes() {
	p.asset(p.style, "text/css; charset=utf-8")
	p.asset(p.script, "text/javascript; charset=utf-8")
	p.mux.HandleFunc("POST /theme", setTheme)
	for pattern, f := range map[string]func(*visit) error{
		"GET /{$}":                     (*visit).groups,
		"GET /groups/{code}":           (*visit).group,
		"GET /groups/{code}/reports":   (*visit).reports,
		"GET /reports/{id}":            (*visit).report,
		"GET /compare":                 (*visit).compare,
		"GET /bundles":                 (*visit).bundles,
		"GET /bundles/{hash}":          (*visit).bundle,
		"GET /bundles/{hash}/download": (*visit).download,
		"GET /stats":                   (*visit).stats,
		"GET /top":                     (*visit).top,
		"GET /audit":                   (*visit).audit,
		"GET /upload":                  (*visit).upload,
		"POST /undo":                   (*visit).undo,
		"POST /groups/{code}/{edit}":   (*visit).edit,
	} {
		p.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, f) })
	}
	p.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		p.serve(w, r, func(*visit) error { return notFound("There is no such page.") })
	})
}

func (p *Pages) asset(a asset, kind string) {
	p.mux.HandleFunc("GET "+a.Path, func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Length", strconv.Itoa(len(a.content)))
		w.Write(a.content)
	})
}

// policy lets a page load its own style and script, send its own forms, and nothing else.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// ServeHTTP answers a request.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	p.mux.ServeHTTP(w, r)
}

// visit is one request.
type visit struct {
	*Pages
	w   http.ResponseWriter
	r   *http.Request
	ctx context.Context
	who Who
}

// serve answers a request with f, or with an error page if f returns an error.
func (p *Pages) serve(w http.ResponseWriter, r *http.Request, f func(*visit) error) {
	v := &visit{p, w, r, r.Context(), p.Of(r)}
	w.Header().Set("Cache-Control", "private, no-store")
	err := func() error {
		switch {
		case r.Method != http.MethodPost && r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD, POST")
			return &failure{http.StatusMethodNotAllowed, "Pages are read with GET and changed with POST."}
		case r.Method == http.MethodPost && !v.who.Triage:
			return &failure{http.StatusForbidden, "This needs a token with the scope triage."}
		case r.Method != http.MethodPost && !v.who.Read:
			return errUnread
		case r.Method == http.MethodPost:
			if err := v.checkToken(); err != nil {
				return err
			}
		}
		return f(v)
	}()
	if err != nil {
		v.fail(err)
	}
}

// failure is an error answer, with the reason.
type failure struct {
	code int
	text string
}

func (f *failure) Error() string { return f.text }

func notFound(text string) error   { return &failure{http.StatusNotFound, text} }
func badRequest(text string) error { return &failure{http.StatusBadRequest, text} }

// unknownGroup is the answer for a code that matches no group, or several. more is an additional hint.
func unknownGroup(e *desk.UnknownGroupError, more string) *failure {
	text := "There is no group " + strconv.Quote(e.Code) + "."
	if len(e.Some) > 0 {
		text = "Several groups begin with " + strconv.Quote(e.Code) + ": " + prose.Few(e.Some, 5) + "."
	}
	return &failure{http.StatusNotFound, text + more}
}

var errUnread = &failure{http.StatusUnauthorized, "This needs a token with the scope read or triage."}

// fail answers with an error page.
func (v *visit) fail(err error) {
	var f *failure
	var unknown *desk.UnknownGroupError
	switch {
	case errors.As(err, &f):
	case errors.As(err, &unknown):
		f = unknownGroup(unknown, "")
	case errors.Is(err, fs.ErrNotExist):
		f = &failure{http.StatusNotFound, "There is no such thing on this desk."}
	case v.ctx.Err() != nil:
		return // the client has gone
	default:
		v.Log.Error("a page failed", "method", v.r.Method, "path", v.r.URL.Path, "error", err)
		f = &failure{http.StatusInternalServerError, "The store could not be read or written. The log of desk serve contains the reason."}
	}
	if err := v.show(f.code, "error", http.StatusText(f.code), f); err != nil {
		v.Log.Error("a page failed", "path", v.r.URL.Path, "error", err)
	}
}

// Text is used by the template.
func (f *failure) Text() string { return f.text }

// shell is the frame of every page around its body.
type shell struct {
	*visit
	Title         string
	Theme         string
	Style, Script string
	Token         string // for forms: the value of their hidden field csrf
	Body          any
}

// Back is the address to which a form returns that does not change the page's content.
func (s *shell) Back() string { return s.r.URL.RequestURI() }

// Who returns the visitor.
func (s *shell) Who() Who { return s.who }

// show answers with a page. The page is completed before its first byte is sent.
func (v *visit) show(code int, name, title string, body any) error {
	s := &shell{visit: v, Title: title, Theme: themeOf(v.r), Style: v.style.Path, Script: v.script.Path, Token: v.token(), Body: body}
	var out bytes.Buffer
	if err := v.templates.ExecuteTemplate(&out, name+".html", s); err != nil {
		return err
	}
	h := v.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(out.Len()))
	v.w.WriteHeader(code)
	v.w.Write(out.Bytes())
	return nil
}

// themeCookie contains "dark" or "light".
const themeCookie = "desk-theme"

// themeOf returns the colours that the reader has chosen, empty for the system's colours.
func themeOf(r *http.Request) string {
	c, err := r.Cookie(themeCookie)
	if err != nil || c.Value != "dark" && c.Value != "light" {
		return ""
	}
	return c.Value
}

// setTheme stores the colours that the reader has chosen. It changes only the reader's own cookie, so it needs no
// token.
func setTheme(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	c := &http.Cookie{Name: themeCookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: r.TLS != nil, MaxAge: 365 * 24 * 60 * 60}
	switch theme := r.PostFormValue("theme"); theme {
	case "dark", "light":
		c.Value = theme
	default:
		c.MaxAge = -1
	}
	http.SetCookie(w, c)
	http.Redirect(w, r, local(r.PostFormValue("back")), http.StatusSeeOther)
}
