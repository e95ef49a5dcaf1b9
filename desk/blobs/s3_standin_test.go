package blobs

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
)

// service is a service like S3, in memory, with one bucket "bundles" and one key. It knows the requests that this
// package makes, and fails as set.
type service struct {
	*httptest.Server

	mu      sync.Mutex
	objects map[string]object
	asked   []string                                                           // methods and keys, in order
	fail    func(n int, w http.ResponseWriter, r *http.Request) (handled bool) // n counts from 0
	cut     func(n int, r *http.Request, content []byte) (part []byte)         // of answers to GET
	page    int                                                                // keys of an answer to a list
	release chan struct{}                                                      // ends requests that are never answered
}

type object struct {
	content []byte
	written time.Time
}

const (
	rightKey    = "DESKKEY"
	otherSecret = "OTHERSECRET" // a key that is known, with another secret
)

func newService(t *testing.T) *service {
	minio.DefaultRetryUnit, minio.DefaultRetryCap = time.Millisecond, 5*time.Millisecond
	s := &service{objects: map[string]object{}, page: 1000, release: make(chan struct{})}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() { close(s.release); s.Server.Close() })
	t.Setenv("AWS_ACCESS_KEY_ID", rightKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_SESSION_TOKEN", "")
	return s
}

// address is the address of the bucket.
func (s *service) address(bucket, prefix string) string {
	return "s3://" + bucket + prefix + "?insecure=1&region=desk-1&endpoint=" + strings.TrimPrefix(s.URL, "http://")
}

func answer(w http.ResponseWriter, r *http.Request, status int, code, message string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, message)
	}
}

func (s *service) serve(w http.ResponseWriter, r *http.Request) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	s.mu.Lock()
	n := len(s.asked)
	s.asked = append(s.asked, r.Method+" "+key)
	s.mu.Unlock()
	if s.fail != nil && s.fail(n, w, r) {
		return
	}
	credential := r.Header.Get("Authorization")
	switch {
	case strings.Contains(credential, "Credential="+otherSecret+"/"):
		answer(w, r, 403, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided.")
		return
	case !strings.Contains(credential, "Credential="+rightKey+"/"):
		answer(w, r, 403, "InvalidAccessKeyId", "The Access Key Id you provided does not exist in our records.")
		return
	case bucket != "bundles":
		answer(w, r, 404, "NoSuchBucket", "The specified bucket does not exist")
		return
	}
	switch r.Method {
	case http.MethodPut:
		content, err := payload(r)
		if err != nil {
			answer(w, r, 400, "IncompleteBody", err.Error())
			return
		}
		s.put(key, content, time.Now())
		w.Header().Set("ETag", etag(content))
	case http.MethodDelete:
		s.mu.Lock()
		delete(s.objects, key)
		s.mu.Unlock()
		w.WriteHeader(204)
	case http.MethodGet, http.MethodHead:
		if key == "" {
			s.list(w, r)
			return
		}
		s.get(n, w, r, key)
	default:
		answer(w, r, 405, "MethodNotAllowed", r.Method)
	}
}

func (s *service) put(key string, content []byte, written time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[key] = object{content, written}
}

func etag(content []byte) string {
	sum := md5.Sum(content)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// payload is the body of a PUT, which over plain http comes in signed pieces.
func payload(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return io.ReadAll(r.Body)
	}
	var out bytes.Buffer
	in := bufio.NewReader(r.Body)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		digits, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		size, err := strconv.ParseInt(digits, 16, 32)
		if err != nil {
			return nil, err
		}
		if size == 0 {
			break
		}
		if _, err := io.CopyN(&out, in, size); err != nil {
			return nil, err
		}
		if _, err := in.Discard(2); err != nil {
			return nil, err
		}
	}
	if want := r.Header.Get("X-Amz-Decoded-Content-Length"); want != strconv.Itoa(out.Len()) {
		return nil, fmt.Errorf("%d bytes, expected %s", out.Len(), want)
	}
	return out.Bytes(), nil
}

func (s *service) get(n int, w http.ResponseWriter, r *http.Request, key string) {
	s.mu.Lock()
	o, ok := s.objects[key]
	s.mu.Unlock()
	if !ok {
		answer(w, r, 404, "NoSuchKey", "The specified key does not exist.")
		return
	}
	if match := r.Header.Get("If-Match"); match != "" && match != etag(o.content) {
		answer(w, r, 412, "PreconditionFailed", "At least one of the preconditions you specified did not hold.")
		return
	}
	h := w.Header()
	h.Set("ETag", etag(o.content))
	h.Set("Last-Modified", o.written.UTC().Format(http.TimeFormat))
	content, status := o.content, 200
	if from, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok {
		at, err := strconv.Atoi(strings.TrimSuffix(from, "-"))
		if err != nil || at >= len(content) {
			answer(w, r, 416, "InvalidRange", from)
			return
		}
		h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", at, len(content)-1, len(content)))
		content, status = content[at:], 206
	}
	h.Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	if s.cut != nil {
		if part := s.cut(n, r, content); len(part) < len(content) {
			w.Write(part)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	}
	w.Write(content)
}

func (s *service) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("list-type") != "2" {
		answer(w, r, 400, "InvalidRequest", "expected a list of type 2")
		return
	}
	type content struct {
		Key          string
		LastModified string
		ETag         string
		Size         int
	}
	var out struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		Name                  string
		IsTruncated           bool
		NextContinuationToken string
		Contents              []content
	}
	out.Name = "bundles"
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []string
	for key := range s.objects {
		if strings.HasPrefix(key, q.Get("prefix")) && key > q.Get("continuation-token") {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	if len(keys) > s.page {
		keys, out.IsTruncated, out.NextContinuationToken = keys[:s.page], true, keys[s.page-1]
	}
	for _, key := range keys {
		o := s.objects[key]
		out.Contents = append(out.Contents, content{key, o.written.UTC().Format("2006-01-02T15:04:05.000Z"), etag(o.content), len(o.content)})
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(out)
}
