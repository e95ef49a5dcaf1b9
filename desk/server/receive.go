package server

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"mime/multipart"
	"net/http"
	"sync"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// received is the answer to an upload.
type received struct {
	Bundle string     `json:"bundle"` // SHA-256 of the received content
	URL    string     `json:"url"`    // address of its state
	Name   string     `json:"name"`
	Bytes  int64      `json:"bytes"`
	State  desk.State `json:"state"`
	Seen   bool       `json:"seen"` // its content already existed
	Why    string     `json:"why,omitempty"`
	Report []reportOf `json:"reports,omitempty"`
}

// reportOf is a report of a bundle.
type reportOf struct {
	Match  int    `json:"match"`
	Status string `json:"status"`
	Group  string `json:"group,omitempty"`
	URL    string `json:"url"`
}

// several is the answer to an upload of several files, and to one that ended after some of them.
type several struct {
	Error   string     `json:"error,omitempty"`
	Bundles []received `json:"bundles"`
}

// receive handles POST /reports, with the bundle as the body, or as a file in a form. In a form with several files,
// each file is a bundle.
func (d *Door) receive(w http.ResponseWriter, r *http.Request) {
	leave, ok := d.enter(w, r)
	if !ok {
		return
	}
	defer leave()
	hint := Hint{cleanBuild(r.URL.Query().Get("build"))}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "multipart/form-data" {
		d.receiveForm(w, r, hint)
		return
	}
	if r.ContentLength > d.limits.Bundle {
		w.Header().Set("Connection", "close")
		d.refused(w, r, blobs.ErrTooLarge)
		return
	}
	x, err := d.keep(r, r.Body, CleanName(nameIn(r)), hint)
	if err != nil {
		d.refused(w, r, err)
		return
	}
	w.Header().Set("Location", x.URL)
	acknowledge(w, r, []received{x}, x)
}

// acknowledge answers an upload that is on stable storage.
func acknowledge(w http.ResponseWriter, r *http.Request, list []received, body any) {
	status := http.StatusOK
	for _, x := range list {
		if x.State == desk.Waiting {
			status = http.StatusAccepted
		}
	}
	if wantsPage(r) {
		w.Header().Set("Location", "/bundles")
		w.WriteHeader(http.StatusSeeOther)
		return
	}
	reply(w, status, body)
}

// errEmpty reports that a bundle has no content.
var errEmpty = errors.New("the upload is empty")

// keep writes a bundle to stable storage and records it.
func (d *Door) keep(r *http.Request, body io.Reader, name string, h Hint) (x received, err error) {
	kept, err := d.Blobs.Put(r.Context(), body, d.limits.Bundle)
	switch {
	case err != nil:
		return x, err
	case kept.Bytes == 0:
		return x, errEmpty
	}
	b, isNew, err := d.note(r.Context(), kept, d.receipt(r, name), h, d.sender(r), nil)
	if err != nil {
		return x, err
	}
	x = stateOf(b)
	x.Seen = !isNew
	return x, nil
}

// receipt is the arrival of a bundle by a request.
func (d *Door) receipt(r *http.Request, name string) desk.Receipt {
	return desk.Receipt{Name: name, Source: VisitorOf(r.Context()).Name, Place: d.sender(r).place}
}

func stateOf(b *desk.Bundle) received {
	return received{Bundle: b.Hash, URL: "/bundles/" + b.Hash, Name: b.Name, Bytes: b.Bytes, State: b.State, Seen: true, Why: b.Why}
}

// note records the arrival of a bundle with a blob on stable storage, and queues it if it waits. more is part of the
// transaction. It finishes even if the client does not wait.
func (d *Door) note(ctx context.Context, kept blobs.Kept, arrival desk.Receipt, h Hint, from sender, more func(*desk.Tx) (goOn bool, err error)) (b *desk.Bundle, isNew bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	var enqueue Enqueue
	if d.Accept != nil {
		if enqueue, err = d.Accept(ctx, h); err != nil {
			return nil, false, err
		}
	}
	err = d.Store.Write(ctx, func(tx *desk.Tx) error {
		if more != nil {
			if goOn, err := more(tx); err != nil || !goOn {
				return err
			}
		}
		b, isNew, err = tx.Receive(ctx, desk.Bundle{Hash: kept.Hash, Name: arrival.Name, Bytes: kept.Bytes, Kept: kept.Hash, KeptBytes: kept.Stored}, arrival)
		if err == nil && b.State == desk.Waiting && enqueue != nil {
			err = enqueue(ctx, tx, b)
		}
		return err
	})
	if err == nil && isNew {
		d.waiting.add(kept.Bytes, from)
	}
	return b, isNew, err
}

// enter admits an upload, or answers why not.
func (d *Door) enter(w http.ResponseWriter, r *http.Request) (leave func(), ok bool) {
	if err := d.mayBegin(r); err != nil {
		d.refused(w, r, err)
		return nil, false
	}
	return d.place(w, r)
}

// busy reports that the client may retry after some time.
type busy struct {
	status int
	wait   time.Duration
	text   string
}

func (b *busy) Error() string { return b.text }

// mayBegin returns the reason why an upload may not start: its token or its address has sent too many, or too much
// waits.
func (d *Door) mayBegin(r *http.Request) error {
	now, place, v := time.Now(), d.address(r), VisitorOf(r.Context())
	if v.how != asLocal {
		if wait, ok := d.byToken.take(v.Name, now); !ok {
			return &busy{http.StatusTooManyRequests, wait, "too many uploads with this token"}
		}
	}
	if !place.IsLoopback() {
		if wait, ok := d.byPlace.take(neighbourhood(place), now); !ok {
			return &busy{http.StatusTooManyRequests, wait, "too many uploads from this address"}
		}
	}
	n, own, err := d.waiting.bytes(r.Context(), now, d.Store, d.sender(r), share(d.limits.Waiting))
	switch {
	case err == nil && n >= d.limits.Waiting:
		err = &busy{http.StatusServiceUnavailable, 10 * time.Minute, "too much waits to be triaged"}
	case err == nil && own >= share(d.limits.Waiting):
		err = &busy{http.StatusServiceUnavailable, 10 * time.Minute, "too much from this sender waits to be triaged"}
	}
	return err
}

// place takes one of the places for uploads, and leave releases it. If there is none, place answers.
func (d *Door) place(w http.ResponseWriter, r *http.Request) (leave func(), ok bool) {
	leave, ok = d.places.enter(d.sender(r))
	if !ok {
		d.later(w, r, http.StatusServiceUnavailable, 5*time.Second, "too many uploads at once")
	}
	return leave, ok
}

// Limits of a form.
const (
	maxFields = 20
	maxFiles  = 1000
	maxValue  = 1024 // bytes of a field
)

// receiveForm receives the files of a form, one by one as they arrive. The field csrf must come first.
func (d *Door) receiveForm(w http.ResponseWriter, r *http.Request, h Hint) {
	parts, err := r.MultipartReader()
	if err != nil {
		d.fail(w, r, http.StatusBadRequest, "the form cannot be read: %s", err)
		return
	}
	checked := !NeedsForm(r) || r.Header.Get("X-CSRF-Token") != ""
	var list []received
	for fields := 0; ; {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF) && len(list) == 0:
			d.fail(w, r, http.StatusBadRequest, "the form has no file")
			return
		case errors.Is(err, io.EOF) && len(list) == 1:
			w.Header().Set("Location", list[0].URL)
			acknowledge(w, r, list, list[0])
			return
		case errors.Is(err, io.EOF):
			acknowledge(w, r, list, several{Bundles: list})
			return
		case err != nil:
			d.refused(w, r, &blobs.ReadError{Err: err}, list...)
			return
		}
		if part.FileName() != "" {
			if !checked {
				d.fail(w, r, http.StatusForbidden, "the form has no field csrf before its file; load the page again")
				return
			}
			x, err := d.keepPart(r, part, h, len(list))
			if err != nil {
				d.refused(w, r, err, list...)
				return
			}
			list = append(list, x)
			continue
		}
		if fields++; fields > maxFields {
			d.fail(w, r, http.StatusBadRequest, "the form has more than %d fields", maxFields)
			return
		}
		value, err := io.ReadAll(io.LimitReader(part, maxValue))
		if err != nil {
			d.refused(w, r, &blobs.ReadError{Err: err}, list...)
			return
		}
		if part.FormName() == "csrf" && !checked {
			if !d.checkCSRF(w, r, VisitorOf(r.Context()), string(value)) {
				return
			}
			checked = true
		}
	}
}

// keepPart stores a file of a form; before is the number of files before it.
func (d *Door) keepPart(r *http.Request, part *multipart.Part, h Hint, before int) (x received, err error) {
	if before > 0 {
		if err := d.mayBegin(r); err != nil {
			return x, err
		}
	}
	name := part.FileName()
	if given := r.URL.Query().Get("name"); given != "" {
		name = given
	}
	return d.keep(r, part, CleanName(name), h)
}

// nameIn returns the name of a bundle: ?name=, else the filename in Content-Disposition.
func nameIn(r *http.Request) string {
	if name := r.URL.Query().Get("name"); name != "" {
		return name
	}
	_, params, err := mime.ParseMediaType(r.Header.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	return params["filename"]
}

var hashForm = lazyregexp.New(`^[0-9a-f]{64}$`)

// maxReports is how many reports of a bundle the answer lists.
const maxReports = 100

// bundle handles GET /bundles/HASH: the state of a bundle. Its groups are only for visitors with scope read.
func (d *Door) bundle(w http.ResponseWriter, r *http.Request) {
	v := VisitorOf(r.Context())
	if wantsPage(r) && d.Pages != nil && v.Read {
		d.Pages.ServeHTTP(w, r)
		return
	}
	d.need(either(v), func(w http.ResponseWriter, r *http.Request) {
		hash := r.PathValue("hash")
		b, err := d.Store.Bundle(r.Context(), hash)
		if !hashForm.MatchString(hash) || errors.Is(err, fs.ErrNotExist) {
			d.fail(w, r, http.StatusNotFound, "there is no bundle of this hash")
			return
		}
		if err != nil {
			d.broken(w, r, err)
			return
		}
		x := stateOf(b)
		if b.State == desk.Read {
			list, err := d.Store.BundleReports(r.Context(), b.ID, maxReports)
			if err != nil {
				d.broken(w, r, err)
				return
			}
			for _, one := range list {
				y := reportOf{Match: one.Match, Status: one.Status, URL: fmt.Sprintf("/reports/%d", one.ID)}
				if v.Read {
					y.Group = one.Group
				}
				x.Report = append(x.Report, y)
			}
		}
		reply(w, http.StatusOK, x)
	}).ServeHTTP(w, r)
}

// either returns the scope to require where upload or read is enough.
func either(v *Visitor) desk.Scope {
	if v.Read {
		return desk.ScopeRead
	}
	return desk.ScopeUpload
}

// waiting is how many bytes wait for triage, in total and by the keys of senders. The store is queried at most once a
// second, for senders only if they can have reached their share.
type waiting struct {
	mu sync.Mutex
	n  int64
	by map[string]int64
	at time.Time
}

func (x *waiting) add(n int64, from sender) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.n += n
	for _, key := range from.keys() {
		if x.by != nil {
			x.by[key] += n
		}
	}
}

// bytes returns the bytes that wait, and the most that one key of the sender has if all together exceed its share.
func (x *waiting) bytes(ctx context.Context, now time.Time, s *desk.Store, from sender, share int64) (all, own int64, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if now.Sub(x.at) >= time.Second {
		if x.n, err = s.WaitingBytes(ctx); err != nil {
			return 0, 0, err
		}
		x.by, x.at = nil, now
	}
	if x.n >= share && x.by == nil {
		list, err := s.WaitingOf(ctx)
		if err != nil {
			return 0, 0, err
		}
		x.by = map[string]int64{}
		for _, w := range list {
			for _, key := range (sender{w.Source, w.Place}).keys() {
				x.by[key] += w.Bytes
			}
		}
	}
	for _, key := range from.keys() {
		own = max(own, x.by[key])
	}
	return x.n, own, nil
}

// sameText compares texts in constant time. Empty texts are never equal.
func sameText(a, b string) bool {
	return a != "" && subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1
}
