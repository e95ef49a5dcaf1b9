package server

import (
	"bytes"
	"database/sql"
	"errors"
	"io/fs"
	"net/http"
	"strconv"
	"time"

	"github.com/desynctool/desynctool/report/page"
)

// SharePath returns the path of a link to the players' view of a report.
func SharePath(secret string) string { return "/r/" + secret }

// share handles POST /shares with report=ID: it creates a link for players.
func (d *Door) share(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	id, err := strconv.ParseInt(r.FormValue("report"), 10, 64)
	if err != nil {
		d.fail(w, r, http.StatusNotFound, "there is no such report")
		return
	}
	secret, err := d.Store.Share(r.Context(), VisitorOf(r.Context()).Name, id)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.fail(w, r, http.StatusNotFound, "there is no such report")
	case err != nil:
		d.broken(w, r, err)
	default:
		link := d.base(r) + SharePath(secret)
		w.Header().Set("Location", link)
		if wantsPage(r) {
			w.WriteHeader(http.StatusSeeOther) // its address is the link
			return
		}
		reply(w, http.StatusCreated, struct {
			URL string `json:"url"`
		}{link})
	}
}

// unshare handles POST /shares/N/revoke.
func (d *Door) unshare(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("share"), 10, 64)
	if err == nil {
		err = d.Store.Unshare(r.Context(), VisitorOf(r.Context()).Name, id)
	}
	var number *strconv.NumError
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.As(err, &number):
		d.fail(w, r, http.StatusNotFound, "there is no such link")
	case err != nil:
		d.broken(w, r, err)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// shared handles GET /r/SECRET: the players' view of a report.
func (d *Door) shared(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Referrer-Policy", "no-referrer")
	id, err := d.Store.Shared(r.Context(), r.PathValue("secret"))
	if errors.Is(err, fs.ErrNotExist) {
		if wait, ok := d.wrong.take(neighbourhood(d.address(r)), time.Now()); !ok {
			d.later(w, r, http.StatusTooManyRequests, wait, "too many wrong links")
			return
		}
		d.fail(w, r, http.StatusNotFound, "there is no such report, or it is no longer shared")
		return
	}
	if err != nil {
		d.broken(w, r, err)
		return
	}
	doc, err := d.Store.Document(r.Context(), id)
	if errors.Is(err, sql.ErrNoRows) {
		d.fail(w, r, http.StatusNotFound, "there is no such report, or it is no longer shared")
		return
	}
	var text bytes.Buffer
	if err == nil {
		err = page.Write(&text, doc.Redact())
	}
	if err != nil {
		d.broken(w, r, err)
		return
	}
	// The page has its own policy, which allows its script.
	w.Header().Set("Content-Security-Policy", "frame-ancestors 'none'; form-action 'none'; base-uri 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = text.WriteTo(w)
}
