package server

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
)

// cookieName is the cookie of a session.
const cookieName = "desk_session"

// maxForm is the maximum size of a form that is not an upload.
const maxForm = 256 << 10

// policy is the default Content-Security-Policy of answers: no external content, no frames.
const policy = "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// outer applies to every request. It sets headers, limits the pace, identifies the visitor, and checks whether a page
// of another site caused the request.
func (d *Door) outer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		a := &answer{ResponseWriter: w, pace: d.limits.Pace, c: http.NewResponseController(w)}
		body := &pacedBody{ReadCloser: r.Body, pace: d.limits.Pace, c: a.c}
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = body
			body.rest()
			defer body.unread()
		}
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("X-Robots-Tag", "noindex, nofollow")
		h.Set("Cache-Control", "no-store")
		v, ok := d.admit(a, r)
		r = r.WithContext(withVisitor(r.Context(), v))
		if ok && d.fromHere(a, r, v) {
			next.ServeHTTP(a, r)
		}
		d.access(r, v, a, body.n, time.Since(begin))
	})
}

// access writes the log line of a request: address, visitor, action, status, bytes in and out, and time. It omits
// queries and secret parts of paths.
func (d *Door) access(r *http.Request, v *Visitor, a *answer, in int64, took time.Duration) {
	path := r.URL.EscapedPath()
	for _, secret := range []string{"/r/", uploadsPath + "/"} {
		if strings.HasPrefix(path, secret) {
			path = secret + "…"
		}
	}
	who := cmp.Or(v.Name, "-")
	status := cmp.Or(a.status, http.StatusOK)
	d.log.Printf("%s %s %q %s %.200s %d %d %d %.3fs", d.Store.Now().Format(time.RFC3339), d.address(r), who, r.Method, path, status, in, a.bytes, took.Seconds())
}

// admit identifies the visitor of a request. If the request is not allowed, it answers and returns false.
func (d *Door) admit(w http.ResponseWriter, r *http.Request) (*Visitor, bool) {
	nobody := &Visitor{}
	if secret, by := credential(r); by != asNobody {
		v, ok := d.known(w, r, secret, by)
		if !ok {
			return nobody, false
		}
		return v, true
	}
	if c, err := r.Cookie(cookieName); err == nil && len(c.Value) < 100 {
		t, err := d.Store.SessionOf(r.Context(), c.Value)
		switch {
		case err == nil:
			introduce(r.Context())
			v := visitorOf(t, byCookie)
			v.secret, v.csrf = c.Value, csrfOf(nil, c.Value)
			return v, true
		case !errors.Is(err, fs.ErrNotExist):
			d.broken(w, r, err)
			return nobody, false
		}
	}
	open, err := d.open(r)
	if err != nil {
		d.broken(w, r, err)
		return nobody, false
	}
	if !open {
		return nobody, true
	}
	if !localHost(r.Host) {
		// The name of another site may point to this machine.
		d.fail(w, r, http.StatusForbidden, "%.80q is not a name of this machine; a desk without tokens is open to http://localhost and http://127.0.0.1 only", r.Host)
		return nobody, false
	}
	introduce(r.Context())
	return &Visitor{Name: Local, Upload: true, Read: true, Triage: true, how: asLocal, csrf: csrfOf(d.key, Local)}, true
}

// open reports whether the desk is open to all of this machine, which is so until there is a token. A request that came
// through a proxy comes from elsewhere, whether or not Proxied is set.
func (d *Door) open(r *http.Request) (bool, error) {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !d.Loopback || d.Proxied || !from.Addr().Unmap().IsLoopback() || forwarded(r) {
		return false, nil
	}
	closed, err := d.closed.check(func() (bool, error) {
		ever, _, err := d.Store.HasTokens(r.Context())
		return ever, err
	})
	return !closed && err == nil, err
}

// forwarded reports whether a request came through a proxy, according to its headers and to its version, 1.0, which
// browsers and other programs of this machine do not send.
func forwarded(r *http.Request) bool {
	for name := range r.Header {
		if name == "Via" || strings.Contains(name, "Forwarded") || strings.HasSuffix(name, "-Ip") {
			return true
		}
	}
	return !r.ProtoAtLeast(1, 1)
}

// credential returns the token in the header of a request.
func credential(r *http.Request) (secret string, by how) {
	h := r.Header.Get("Authorization")
	if h == "" {
		return "", asNobody
	}
	if kind, rest, ok := strings.Cut(h, " "); ok && strings.EqualFold(kind, "Bearer") {
		return strings.TrimSpace(rest), byBearer
	}
	if _, password, ok := r.BasicAuth(); ok {
		return password, byBasic
	}
	return "", byBearer // not a token
}

// known returns the visitor of a token. A valid token is always accepted. An invalid one gets 401, or 429 if many came
// from its address.
func (d *Door) known(w http.ResponseWriter, r *http.Request, secret string, by how) (*Visitor, bool) {
	t, err := d.Store.TokenOf(r.Context(), secret)
	switch {
	case err == nil:
		introduce(r.Context())
		return visitorOf(t, by), true
	case !errors.Is(err, fs.ErrNotExist):
		d.broken(w, r, err)
		return nil, false
	}
	if wait, ok := d.wrong.take(neighbourhood(d.address(r)), time.Now()); !ok {
		d.later(w, r, http.StatusTooManyRequests, wait, "too many wrong tokens")
		return nil, false
	}
	d.unknown(w, r, "the token is not known, or was revoked")
	return nil, false
}

// unknown answers 401.
func (d *Door) unknown(w http.ResponseWriter, r *http.Request, text string) {
	challenge := `Bearer realm="desk"`
	if r.URL.Path == feedPath { // feed readers support only names and passwords
		challenge = `Basic realm="desk", charset="UTF-8"`
	}
	w.Header().Set("WWW-Authenticate", challenge)
	d.fail(w, r, http.StatusUnauthorized, "%s", text)
}

// need serves h to visitors with a scope, and answers all others with 401 or 403.
func (d *Door) need(scope desk.Scope, h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v := VisitorOf(r.Context())
		switch {
		case v.may(scope):
			h(w, r)
		case v.Name != "":
			d.fail(w, r, http.StatusForbidden, "the token %s may not do this; it takes one of the scope %s", v.Name, scope)
		case r.Method == http.MethodGet && wantsPage(r):
			http.Redirect(w, r, "/login", http.StatusSeeOther)
		default:
			d.unknown(w, r, "this takes a token")
		}
	})
}

// wantsPage reports whether a browser requests a page.
func wantsPage(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// fromHere checks requests that change something. If a page of another site may have made the browser send the request,
// it answers and returns false.
func (d *Door) fromHere(w http.ResponseWriter, r *http.Request, v *Visitor) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return true
	}
	if v.how == byBearer {
		return true
	}
	if err := d.cross.Check(r); err != nil {
		d.fail(w, r, http.StatusForbidden, "the request comes from a page of another site")
		return false
	}
	switch v.how {
	case asNobody:
		return true // visitors may log in, and nothing else
	case byBasic:
		d.fail(w, r, http.StatusForbidden, "a name and a password are for reading; send the token as Authorization: Bearer")
		return false
	}
	return !NeedsForm(r) || r.URL.Path == themePath || d.checkForm(w, r, v)
}

// themePath is where a visitor chooses the colours, which are stored in a cookie. It needs no CSRF token.
const themePath = "/theme"

// NeedsForm reports whether a request that changes something needs the CSRF token of its visitor. It does if the
// browser sends the visitor's credentials automatically. Programs on this machine that are not browsers need none.
func NeedsForm(r *http.Request) bool {
	switch VisitorOf(r.Context()).how {
	case byCookie:
		return true
	case asLocal:
		return r.Header.Get("Origin") != "" || r.Header.Get("Sec-Fetch-Site") != ""
	}
	return false
}

// checkForm compares the CSRF token of a request with the visitor's token. For an upload form, whose fields arrive one
// after another, receive does this.
func (d *Door) checkForm(w http.ResponseWriter, r *http.Request, v *Visitor) bool {
	given := r.Header.Get("X-CSRF-Token")
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); given == "" {
		switch {
		case kind == "multipart/form-data" && r.URL.Path == "/reports":
			return true
		case kind == "application/x-www-form-urlencoded":
			r.Body = http.MaxBytesReader(w, r.Body, maxForm)
			if err := r.ParseForm(); err != nil {
				d.fail(w, r, http.StatusBadRequest, "the form cannot be read: %s", err)
				return false
			}
			given = r.PostForm.Get("csrf")
		}
	}
	return d.checkCSRF(w, r, v, given)
}

func (d *Door) checkCSRF(w http.ResponseWriter, r *http.Request, v *Visitor, given string) bool {
	if !sameText(given, v.csrf) {
		d.fail(w, r, http.StatusForbidden, "the form belongs to another session; load the page again")
		return false
	}
	return true
}

// localHost reports whether a Host header names this machine.
func localHost(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsLoopback()
}

// fail answers with an error: one line of text for browsers that want a page, else JSON.
func (d *Door) fail(w http.ResponseWriter, r *http.Request, status int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if wantsPage(r) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text+"\n")
		return
	}
	reply(w, status, problem{text})
}

// problem is the body of an error answer.
type problem struct {
	Error string `json:"error"`
}

// later answers that the client may retry after some time.
func (d *Door) later(w http.ResponseWriter, r *http.Request, status int, wait time.Duration, text string) {
	retryAfter(w, wait)
	d.fail(w, r, status, "%s", text)
}

// retryAfter sets after how many seconds the client may retry.
func retryAfter(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(wait.Seconds())))))
}

// broken answers with an internal error.
func (d *Door) broken(w http.ResponseWriter, r *http.Request, err error) {
	status, text := d.inside(w, r, err)
	d.fail(w, r, status, "%s", text)
}

// inside returns the answer for an internal error. Only the log contains the error itself, for the operator.
func (d *Door) inside(w http.ResponseWriter, r *http.Request, err error) (status int, text string) {
	switch {
	case r.Context().Err() != nil:
		return http.StatusServiceUnavailable, "the request was given up"
	case full(err):
		d.log.Printf("no room left: %s", label(err.Error()))
		retryAfter(w, 10*time.Minute)
		return http.StatusInsufficientStorage, "there is no room left"
	}
	d.log.Printf("error: %s", label(err.Error()))
	retryAfter(w, 30*time.Second)
	return http.StatusServiceUnavailable, "the desk cannot do this now"
}

// refused answers why a bundle is not stored, because of the client or because of an internal error. kept are bundles
// that the same request brought before.
func (d *Door) refused(w http.ResponseWriter, r *http.Request, err error, kept ...received) {
	var read *blobs.ReadError
	var long *http.MaxBytesError
	var wait *busy
	status, text := 0, ""
	switch {
	case errors.As(err, &wait):
		status, text = wait.status, wait.text
		retryAfter(w, wait.wait)
	case errors.Is(err, errEmpty):
		status, text = http.StatusBadRequest, err.Error()
	case errors.Is(err, blobs.ErrTooLarge) || errors.As(err, &long):
		status, text = http.StatusRequestEntityTooLarge, fmt.Sprintf("a bundle has at most %d bytes", d.limits.Bundle)
		w.Header().Set("Connection", "close")
	case errors.Is(err, os.ErrDeadlineExceeded):
		status, text = http.StatusRequestTimeout, fmt.Sprintf("the upload was too slow: expected %d bytes a second", d.limits.Pace.Bytes)
		w.Header().Set("Connection", "close")
	case errors.As(err, &read):
		status, text = http.StatusBadRequest, "the upload broke off, or is not a form"
		w.Header().Set("Connection", "close")
	default:
		status, text = d.inside(w, r, err)
	}
	if len(kept) == 0 || wantsPage(r) {
		d.fail(w, r, status, "%s", text)
		return
	}
	reply(w, status, several{text, kept})
}

// full reports whether an error means that a disk, a quota or a database is full.
func full(err error) bool {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number == syscall.ENOSPC || number == syscall.EDQUOT || runtime.GOOS == "windows" && (number == 112 || number == 39)
	}
	var state interface{ SQLState() string } // PostgreSQL
	if errors.As(err, &state) {
		return state.SQLState() == "53100"
	}
	var lite interface{ Code() int } // SQLite
	return errors.As(err, &lite) && lite.Code()&0xff == 13
}
