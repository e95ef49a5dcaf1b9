package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
)

// sessionCookie contains a secret of the browser. Forms contain a token that is derived from the secret and the
// visitor. A page of another site knows neither, and the browser does not send the cookie with POST requests from other
// sites.
const sessionCookie = "desk-form"

// maxForm is the maximum size of a form.
const maxForm = 64 << 10

// token returns the token for forms. If the browser has no secret yet, it sets one.
func (v *visit) token() string {
	if v.who.CSRF != "" {
		return v.who.CSRF
	}
	c, err := v.r.Cookie(sessionCookie)
	if err != nil || len(c.Value) < 20 {
		c = &http.Cookie{Name: sessionCookie, Value: rand.Text(), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: v.r.TLS != nil}
		v.r.AddCookie(c)
		http.SetCookie(v.w, c)
	}
	return formToken(c.Value, v.who.Name)
}

func formToken(secret, who string) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(who))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

var (
	crossOrigin = http.NewCrossOriginProtection()
	errForm     = &failure{http.StatusForbidden, "This form is not from this page, or the page is too old. Nothing was changed. Open the page again."}
)

// checkToken refuses a form that does not come from a page of this desk.
func (v *visit) checkToken() error {
	if err := crossOrigin.Check(v.r); err != nil && !v.who.Program {
		return errForm
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	if err := v.r.ParseForm(); err != nil {
		return badRequest("The form could not be read. It may have 64 KiB.")
	}
	if v.who.Program {
		return nil
	}
	want := v.who.CSRF
	if c, err := v.r.Cookie(sessionCookie); want == "" && err == nil && len(c.Value) >= 20 {
		want = formToken(c.Value, v.who.Name)
	}
	if want == "" || !hmac.Equal([]byte(v.r.PostForm.Get("csrf")), []byte(want)) {
		return errForm
	}
	return nil
}

// local returns an address if it belongs to this desk, and "/" for any other.
func local(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.Contains(to, `\`) {
		return "/"
	}
	return to
}
