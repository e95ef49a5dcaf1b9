package server

import (
	"errors"
	"html/template"
	"io/fs"
	"net/http"
	"time"
)

// sessionTime is how long a browser stays logged in.
const sessionTime = 7 * 24 * time.Hour

var loginPage = template.Must(template.New("login").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Desk: log in</title>
<style>:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:3rem auto;padding:0 1rem}input,button{font:inherit;padding:.5rem;width:100%;box-sizing:border-box;margin:.25rem 0 1rem}</style></head>
<body><main><h1>Log in</h1>{{with .Wrong}}<p role="alert"><strong>{{.}}</strong></p>{{end}}
<form method="post" action="/login"><label for="token">Token</label><input id="token" name="token" type="password" autocomplete="current-password" required autofocus><button>Log in</button></form>
<p>The operator of this desk makes tokens: <code>desynctool desk token add NAME --scope read</code>.</p></main></body></html>
`))

func (d *Door) loginForm(w http.ResponseWriter, r *http.Request) { d.showLogin(w, http.StatusOK, "") }

func (d *Door) showLogin(w http.ResponseWriter, status int, wrong string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = loginPage.Execute(w, struct{ Wrong string }{wrong}) // the client may have gone
}

// login handles the form that exchanges a token for a cookie.
func (d *Door) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		d.fail(w, r, http.StatusBadRequest, "the form cannot be read")
		return
	}
	t, err := d.Store.TokenOf(r.Context(), r.PostForm.Get("token"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if wait, ok := d.wrong.take(neighbourhood(d.address(r)), time.Now()); !ok {
			d.later(w, r, http.StatusTooManyRequests, wait, "too many wrong tokens")
			return
		}
		d.showLogin(w, http.StatusUnauthorized, "This token is not known, or was revoked.")
		return
	case err != nil:
		d.broken(w, r, err)
		return
	}
	until := d.Store.Now().Add(sessionTime)
	cookie, err := d.Store.Login(r.Context(), t, until)
	if err != nil {
		d.broken(w, r, err)
		return
	}
	http.SetCookie(w, d.cookie(r, cookie, int(sessionTime.Seconds())))
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (d *Door) cookie(r *http.Request, value string, age int) *http.Cookie {
	return &http.Cookie{Name: cookieName, Value: value, Path: "/", MaxAge: age, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: d.secure(r)}
}

// logout ends the session of a browser.
func (d *Door) logout(w http.ResponseWriter, r *http.Request) {
	if v := VisitorOf(r.Context()); v.how == byCookie {
		if err := d.Store.Logout(r.Context(), v.secret); err != nil {
			d.broken(w, r, err)
			return
		}
	}
	http.SetCookie(w, d.cookie(r, "", -1))
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}
