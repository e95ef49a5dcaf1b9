package server

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
)

// Uploads in pieces use tus 1.0.0 with its extensions creation, checksum, expiration and termination
// (tus/tus-resumable-upload-protocol, protocol.md at 30698e1). An acknowledged offset is on stable storage: the file is
// synced before the row records its length, and any bytes in the file beyond that are cut off.

// uploadsPath is the path of uploads in pieces.
const uploadsPath = "/reports/uploads"

const (
	tusVersion    = "1.0.0"
	tusExtensions = "creation,checksum,expiration,termination"
	tusAlgorithms = "sha1,sha256"
	tusType       = "application/offset+octet-stream"
)

// statusChecksum is the tus status for bytes that do not match their checksum.
const statusChecksum = 460

// syncEvery is after how many bytes a piece is synced, so that an interruption does not lose all of it.
const syncEvery = 8 << 20

const (
	maxUnfinished = 100_000   // unfinished uploads in pieces
	emptyTime     = time.Hour // how long an upload without bytes is kept
)

func (d *Door) tusOptions(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Tus-Resumable", tusVersion)
	h.Set("Tus-Version", tusVersion)
	h.Set("Tus-Extension", tusExtensions)
	h.Set("Tus-Checksum-Algorithm", tusAlgorithms)
	h.Set("Tus-Max-Size", strconv.FormatInt(d.limits.Bundle, 10))
	w.WriteHeader(http.StatusNoContent)
}

// tus checks the version of the protocol.
func (d *Door) tus(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Set("Tus-Resumable", tusVersion)
	if v := r.Header.Get("Tus-Resumable"); v != tusVersion {
		w.Header().Set("Tus-Version", tusVersion)
		d.fail(w, r, http.StatusPreconditionFailed, "Tus-Resumable is %.20q, expected %s", v, tusVersion)
		return false
	}
	return true
}

// headerNumber parses a header that contains a number of bytes.
func headerNumber(h http.Header, name string) (int64, error) {
	text := h.Get(name)
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, fmt.Errorf("%s is %.40q, expected a number of bytes", name, text)
	}
	return int64(n), nil
}

// parseMetadata parses the header Upload-Metadata: pairs separated by commas, each a key, a space and base64. A key may
// have no value. Only the keys in want are kept.
func parseMetadata(text string, want ...string) (map[string]string, error) {
	out := map[string]string{}
	if text == "" {
		return out, nil
	}
	for pair := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(pair), " ")
		plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(value))
		if err != nil || key == "" {
			return nil, fmt.Errorf("Upload-Metadata has %.60q, expected a key, a space and base64", pair)
		}
		for _, w := range want {
			if key == w {
				out[key] = string(plain)
			}
		}
	}
	return out, nil
}

// checksum is the value of the header Upload-Checksum.
type checksum struct {
	hash.Hash
	want string
}

// parseChecksum parses the header Upload-Checksum, nil if there is none.
func parseChecksum(text string) (*checksum, error) {
	if text == "" {
		return nil, nil
	}
	name, value, _ := strings.Cut(strings.TrimSpace(text), " ")
	want, err := base64.StdEncoding.DecodeString(strings.TrimSpace(value))
	c := &checksum{want: string(want)}
	switch name {
	case "sha1":
		c.Hash = sha1.New()
	case "sha256":
		c.Hash = sha256.New()
	default:
		return nil, fmt.Errorf("Upload-Checksum is by %.20q, expected one of %s", name, tusAlgorithms)
	}
	if err != nil || len(want) != c.Size() {
		return nil, fmt.Errorf("Upload-Checksum is %.80q, expected %d bytes in base64 after the name", text, c.Size())
	}
	return c, nil
}

// tusCreate handles POST: it starts an upload.
func (d *Door) tusCreate(w http.ResponseWriter, r *http.Request) {
	if !d.tus(w, r) {
		return
	}
	if err := d.mayBegin(r); err != nil {
		d.refused(w, r, err)
		return
	}
	length, err := headerNumber(r.Header, "Upload-Length")
	if err != nil {
		d.fail(w, r, http.StatusBadRequest, "%s", err)
		return
	}
	about, err := parseMetadata(r.Header.Get("Upload-Metadata"), "filename", "name", "build")
	switch {
	case err != nil:
		d.fail(w, r, http.StatusBadRequest, "%s", err)
		return
	case length == 0:
		d.fail(w, r, http.StatusBadRequest, "the upload is empty")
		return
	case length > d.limits.Bundle:
		d.refused(w, r, blobs.ErrTooLarge)
		return
	}
	if !d.room(w, r, 1, 0) {
		return
	}
	name := about["filename"]
	if name == "" {
		name = about["name"]
	}
	until := d.Store.Now().Add(min(d.limits.Keep, emptyTime))
	secret, err := d.Store.NewUpload(r.Context(), desk.Upload{
		Who: VisitorOf(r.Context()).Name, Place: d.sender(r).place, Name: CleanName(name), Build: cleanBuild(about["build"]), Length: length, Until: until,
	})
	if err == nil {
		err = d.newFile(secret)
	}
	if err != nil {
		d.broken(w, r, err)
		return
	}
	w.Header().Set("Location", uploadsPath+"/"+secret)
	expires(w, until)
	w.WriteHeader(http.StatusCreated)
}

// room reports whether so many more uploads, and bytes of uploads, may be unfinished; else it answers. Bytes count when
// they arrive, not when they are declared. A sender has a share of what all have, but room for one bundle.
func (d *Door) room(w http.ResponseWriter, r *http.Request, uploads, bytes int64) bool {
	from := d.sender(r)
	for _, x := range []struct {
		token, place, of string
		count, bytes     int64
		skip             bool
	}{
		{count: maxUnfinished, bytes: d.limits.Unfinished},
		{from.token, "", " of this token", share(int64(maxUnfinished)), max(share(d.limits.Unfinished), d.limits.Bundle), from.token == ""},
		{"", from.place, " from this address", share(int64(maxUnfinished)), max(share(d.limits.Unfinished), d.limits.Bundle), from.place == ""},
	} {
		if x.skip {
			continue
		}
		n, has, err := d.Store.OpenUploads(r.Context(), x.token, x.place)
		switch {
		case err != nil:
			d.broken(w, r, err)
			return false
		case n+uploads > x.count || has+bytes > x.bytes:
			d.later(w, r, http.StatusServiceUnavailable, 10*time.Minute, "too many uploads"+x.of+" are not finished")
			return false
		}
	}
	return true
}

func expires(w http.ResponseWriter, until time.Time) {
	w.Header().Set("Upload-Expires", until.UTC().Format(http.TimeFormat))
}

// file returns the path of the file with an upload's bytes.
func (d *Door) file(secret string) string {
	return filepath.Join(d.Uploads, desk.StoredUpload(secret))
}

// newFile creates the file of an upload.
func (d *Door) newFile(secret string) error {
	if err := os.MkdirAll(d.Uploads, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(d.file(secret), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// hold finds the upload of a request and locks it. If another request still works on it, that request is ended first,
// because its client has started again. If there is no such upload, hold answers.
func (d *Door) hold(w http.ResponseWriter, r *http.Request) (u *desk.Upload, secret string, leave func(), ok bool) {
	secret = r.PathValue("upload")
	stop := func() {}
	if b, is := r.Body.(*pacedBody); is {
		stop = b.stop
	}
	leave, ok = d.pieces.take(r.Context(), secret, stop)
	if !ok {
		d.later(w, r, http.StatusLocked, 5*time.Second, "another request works on this upload")
		return nil, "", nil, false
	}
	u, err := d.Store.UploadOf(r.Context(), secret)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && u.Who != VisitorOf(r.Context()).Name:
		d.fail(w, r, http.StatusNotFound, "there is no such upload")
	case err != nil:
		d.broken(w, r, err)
	case u.Bundle == "" && !d.Store.Now().Before(u.Until):
		d.fail(w, r, http.StatusGone, "the time of this upload is over; begin a new one")
	default:
		if u.Bundle == "" {
			if info, err := os.Stat(d.file(secret)); err != nil || info.Size() < u.Synced {
				d.fail(w, r, http.StatusNotFound, "the bytes of this upload are not on this machine; begin a new one")
				break
			}
		}
		return u, secret, leave, true
	}
	leave()
	return nil, "", nil, false
}

// tusHead handles HEAD: the number of bytes received. An upload with all of its bytes that could not be finished with
// the last ones is finished now, because a client that sees the full offset does not come again.
func (d *Door) tusHead(w http.ResponseWriter, r *http.Request) {
	if !d.tus(w, r) {
		return
	}
	u, secret, leave, ok := d.hold(w, r)
	if !ok {
		return
	}
	defer leave()
	if u.Synced == u.Length && !d.finish(w, r, u, secret) {
		return
	}
	w.Header().Set("Upload-Offset", strconv.FormatInt(u.Synced, 10))
	w.Header().Set("Upload-Length", strconv.FormatInt(u.Length, 10))
	expires(w, u.Until)
	w.WriteHeader(http.StatusOK)
}

// progress is the answer to GET for an unfinished upload.
type progress struct {
	Offset int64 `json:"offset"`
	Length int64 `json:"length"`
}

// tusState handles GET, which tus does not have: the state of the upload, as in the answer to POST /reports.
func (d *Door) tusState(w http.ResponseWriter, r *http.Request) {
	u, err := d.Store.UploadOf(r.Context(), r.PathValue("upload"))
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && u.Who != VisitorOf(r.Context()).Name:
		d.fail(w, r, http.StatusNotFound, "there is no such upload")
	case err != nil:
		d.broken(w, r, err)
	case u.Bundle == "":
		reply(w, http.StatusOK, progress{u.Synced, u.Length})
	default:
		http.Redirect(w, r, "/bundles/"+u.Bundle, http.StatusSeeOther)
	}
}

// tusPatch handles PATCH: it adds the next bytes.
func (d *Door) tusPatch(w http.ResponseWriter, r *http.Request) {
	if !d.tus(w, r) {
		return
	}
	if kind := r.Header.Get("Content-Type"); kind != tusType {
		d.fail(w, r, http.StatusUnsupportedMediaType, "Content-Type is %.60q, expected %s", kind, tusType)
		return
	}
	offset, err := headerNumber(r.Header, "Upload-Offset")
	var sum *checksum
	if err == nil {
		sum, err = parseChecksum(r.Header.Get("Upload-Checksum"))
	}
	if err != nil {
		d.fail(w, r, http.StatusBadRequest, "%s", err)
		return
	}
	back, ok := d.place(w, r)
	if !ok {
		return
	}
	defer back()
	u, secret, leave, ok := d.hold(w, r)
	if !ok {
		return
	}
	defer leave()
	if offset != u.Synced {
		w.Header().Set("Upload-Offset", strconv.FormatInt(u.Synced, 10))
		d.fail(w, r, http.StatusConflict, "Upload-Offset is %d, and %d bytes are there", offset, u.Synced)
		return
	}
	if r.ContentLength > u.Length-offset {
		w.Header().Set("Connection", "close")
		d.fail(w, r, http.StatusRequestEntityTooLarge, "the upload has %d bytes left", u.Length-offset)
		return
	}
	more := u.Length - offset
	if r.ContentLength >= 0 {
		more = r.ContentLength
	}
	if u.Bundle == "" && u.Synced < u.Length && !(d.room(w, r, 0, more) && d.take(w, r, u, secret, sum)) {
		return
	}
	if u.Synced == u.Length && !d.finish(w, r, u, secret) {
		return
	}
	w.Header().Set("Upload-Offset", strconv.FormatInt(u.Synced, 10))
	expires(w, u.Until)
	w.WriteHeader(http.StatusNoContent)
}

// errLong reports that a piece continues after the end of its upload.
var errLong = errors.New("the piece is longer than what is left of the upload")

// errDropped reports that an upload was dropped while it arrived.
var errDropped = errors.New("the upload was dropped; begin a new one")

// take appends the body of a request to the file of an upload, and updates u. It answers errors. The bytes before an
// error are kept, unless they have a checksum.
func (d *Door) take(w http.ResponseWriter, r *http.Request, u *desk.Upload, secret string, sum *checksum) bool {
	f, err := os.OpenFile(d.file(secret), os.O_RDWR, 0)
	if err != nil {
		d.broken(w, r, err)
		return false
	}
	defer f.Close()
	p := &piece{door: d, ctx: context.WithoutCancel(r.Context()), f: f, u: u, secret: secret, at: u.Synced}
	if err := f.Truncate(u.Synced); err != nil {
		d.broken(w, r, err)
		return false
	}
	var into io.Writer = p
	if sum != nil {
		p.whole = true
		into = io.MultiWriter(p, sum)
	}
	// One more byte shows that there is too much.
	_, err = io.CopyBuffer(struct{ io.Writer }{into}, struct{ io.Reader }{&source{r: io.LimitReader(r.Body, u.Length-u.Synced+1)}}, make([]byte, 64<<10))
	var read *blobs.ReadError
	switch {
	case err == nil && sum != nil && string(sum.Sum(nil)) != sum.want:
		d.fail(w, r, statusChecksum, "the bytes do not have their checksum; none of them was kept")
		return false
	case errors.As(err, &read) && sum == nil:
		if synced := p.sync(); synced != nil {
			err = synced
		}
	case err == nil:
		err = p.sync()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.Header().Set("Connection", "close")
		d.fail(w, r, http.StatusNotFound, "%s", errDropped)
		return false
	case errors.Is(err, errLong):
		w.Header().Set("Connection", "close")
		d.fail(w, r, http.StatusRequestEntityTooLarge, "%s", errLong)
		return false
	case err != nil:
		d.refused(w, r, err)
		return false
	}
	return true
}

// source distinguishes errors of the client from errors of the disk.
type source struct{ r io.Reader }

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && err != io.EOF {
		err = &blobs.ReadError{Err: err}
	}
	return n, err
}

// piece writes bytes to the file of an upload, and syncs it regularly.
type piece struct {
	door   *Door
	ctx    context.Context
	f      *os.File
	u      *desk.Upload
	secret string
	at     int64 // bytes in the file
	whole  bool  // it counts as a whole or not at all
}

func (p *piece) Write(b []byte) (int, error) {
	if p.at+int64(len(b)) > p.u.Length {
		return 0, errLong
	}
	n, err := p.f.WriteAt(b, p.at)
	p.at += int64(n)
	if err == nil && !p.whole && p.at-p.u.Synced >= syncEvery {
		err = p.sync()
	}
	return n, err
}

// sync writes the bytes to stable storage, and then records their number.
func (p *piece) sync() error {
	if p.at == p.u.Synced {
		return nil
	}
	if err := p.f.Sync(); err != nil {
		return err
	}
	until := p.door.Store.Now().Add(p.door.limits.Keep)
	if err := p.door.Store.UploadSynced(p.ctx, p.secret, p.at, until); err != nil {
		return err
	}
	p.u.Synced, p.u.Until = p.at, until
	return nil
}

// finish creates the bundle of an upload that has all of its bytes, once. It answers errors; the bytes then stay, and
// the next request tries again.
func (d *Door) finish(w http.ResponseWriter, r *http.Request, u *desk.Upload, secret string) bool {
	if u.Bundle == "" {
		ctx := context.WithoutCancel(r.Context())
		f, err := os.Open(d.file(secret))
		if err != nil {
			d.broken(w, r, err)
			return false
		}
		kept, err := d.Blobs.Put(ctx, io.LimitReader(f, u.Length), d.limits.Bundle)
		f.Close()
		if err == nil && kept.Bytes != u.Length {
			err = fmt.Errorf("an upload of %d bytes has %d", u.Length, kept.Bytes)
		}
		if err == nil {
			var b *desk.Bundle
			b, _, err = d.note(ctx, kept, d.receipt(r, u.Name), Hint{u.Build}, d.sender(r), func(tx *desk.Tx) (bool, error) { return tx.UploadDone(ctx, secret, kept.Hash) })
			if err == nil && b == nil { // recorded before, or dropped
				_, err = d.Store.UploadOf(ctx, secret)
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			d.fail(w, r, http.StatusNotFound, "%s", errDropped)
			return false
		}
		if err != nil {
			d.broken(w, r, err)
			return false
		}
		u.Bundle = kept.Hash
		_ = os.Remove(d.file(secret)) // Sweep removes the rest
	}
	w.Header().Set("Content-Location", "/bundles/"+u.Bundle)
	return true
}

// tusDelete handles DELETE: it removes the upload.
func (d *Door) tusDelete(w http.ResponseWriter, r *http.Request) {
	if !d.tus(w, r) {
		return
	}
	_, secret, leave, ok := d.hold(w, r)
	if !ok {
		return
	}
	defer leave()
	if err := d.Store.DropUpload(r.Context(), secret); err != nil {
		d.broken(w, r, err)
		return
	}
	_ = os.Remove(d.file(secret))
	w.WriteHeader(http.StatusNoContent)
}

// tusOverride handles POST with X-HTTP-Method-Override, for clients without other methods.
func (d *Door) tusOverride(w http.ResponseWriter, r *http.Request) {
	switch method := r.Header.Get("X-HTTP-Method-Override"); method {
	case http.MethodHead:
		d.tusHead(w, r)
	case http.MethodPatch:
		d.tusPatch(w, r)
	case http.MethodDelete:
		d.tusDelete(w, r)
	default:
		w.Header().Set("Allow", "HEAD, GET, PATCH, DELETE")
		d.fail(w, r, http.StatusMethodNotAllowed, "X-HTTP-Method-Override is %.20q, expected HEAD, PATCH or DELETE", method)
	}
}

// Sweep removes expired uploads in pieces, and files that belong to no upload.
func (d *Door) Sweep(ctx context.Context) error {
	for {
		names, err := d.Store.DropOldUploads(ctx)
		if err != nil {
			return err
		}
		for _, name := range names {
			_ = os.Remove(filepath.Join(d.Uploads, name))
		}
		if len(names) == 0 {
			break
		}
	}
	entries, err := os.ReadDir(d.Uploads) // before the names: each upload had its name before its file
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	names, err := d.Store.UploadNames(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	for _, e := range entries {
		if hashForm.MatchString(e.Name()) && !known[e.Name()] {
			_ = os.Remove(filepath.Join(d.Uploads, e.Name()))
		}
	}
	return nil
}

// locks locks uploads while a request works on them.
type locks struct {
	mu   sync.Mutex
	held map[string]*holder
}

type holder struct {
	stop func()
	over chan struct{}
}

// take locks a key. take asks the current holder to stop, and waits for a while.
func (l *locks) take(ctx context.Context, key string, stop func()) (leave func(), ok bool) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	mine := &holder{stop, make(chan struct{})}
	for {
		l.mu.Lock()
		has := l.held[key]
		if has == nil {
			l.held[key] = mine
			l.mu.Unlock()
			return sync.OnceFunc(func() {
				l.mu.Lock()
				delete(l.held, key)
				l.mu.Unlock()
				close(mine.over)
			}), true
		}
		l.mu.Unlock()
		has.stop()
		select {
		case <-has.over:
		case <-ctx.Done():
			return nil, false
		}
	}
}
