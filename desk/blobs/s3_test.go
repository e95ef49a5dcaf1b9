package blobs

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func openService(t *testing.T, s *service) Store {
	t.Helper()
	store, err := Open(s.address("bundles", ""))
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// A service that has too much to do, or breaks its connections, is asked again; reading goes on where it ended.
func TestServiceRecovers(t *testing.T) {
	content := noise(9, 400_000)
	drop := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	busy := func(w http.ResponseWriter, r *http.Request) {
		answer(w, r, 503, "SlowDown", "Please reduce your request rate.")
	}
	for name, fail := range map[string]func(http.ResponseWriter, *http.Request){"dropped": drop, "busy": busy} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			failed := map[string]bool{}
			s.fail = func(_ int, w http.ResponseWriter, r *http.Request) bool {
				s.mu.Lock()
				first := !failed[r.Method]
				failed[r.Method] = true
				s.mu.Unlock()
				if first {
					fail(w, r)
				}
				return first
			}
			s.cut = func(n int, r *http.Request, content []byte) []byte { return content[:min(len(content), 150_000)] }
			store := openService(t, s)
			k := put(t, store, content)
			if got, err := get(t, store, k.Hash); err != nil || !bytes.Equal(got, content) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			if got := list(t, store); !slices.Equal(got, []string{k.Hash}) {
				t.Errorf("%q", got)
			}
			if err := store.Delete(t.Context(), k.Hash); err != nil {
				t.Error(err)
			}
			for _, method := range []string{"HEAD", "PUT", "GET", "DELETE"} {
				if !failed[method] {
					t.Errorf("%s was never asked", method)
				}
			}
		})
	}
}

// A blob that was replaced between two connections is never put together from both.
func TestReplacedWhileRead(t *testing.T) {
	s := newService(t)
	store := openService(t, s)
	k := put(t, store, noise(10, 300_000))
	s.cut = func(n int, r *http.Request, content []byte) []byte {
		s.put(key(k.Hash), noise(11, 300_000), time.Now())
		return content[:100_000]
	}
	if _, err := get(t, store, k.Hash); err == nil || !strings.Contains(err.Error(), "PreconditionFailed") {
		t.Error(err)
	}
}

// An impossible request is one line with the reason, and never a secret.
func TestServiceRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(t *testing.T, s *service)
		bucket  string
		want    []string
	}{
		"bucket": {bucket: "bundels", want: []string{"has no bucket bundels"}},
		"key":    {prepare: func(t *testing.T, s *service) { t.Setenv("AWS_ACCESS_KEY_ID", "WRONGKEY") }, want: []string{"refuses these credentials", "InvalidAccessKeyId"}},
		"secret": {prepare: func(t *testing.T, s *service) { t.Setenv("AWS_ACCESS_KEY_ID", otherSecret) }, want: []string{"refuses these credentials", "SignatureDoesNotMatch"}},
		"gone":   {prepare: func(t *testing.T, s *service) { s.Server.Close() }, want: []string{"cannot be reached", "connection refused"}},
		"busy": {prepare: func(t *testing.T, s *service) {
			s.fail = func(_ int, w http.ResponseWriter, r *http.Request) bool {
				answer(w, r, 503, "SlowDown", "Please\nreduce your request rate.")
				return true
			}
		}, want: []string{"answers with status 503", "SlowDown"}},
		"not S3": {prepare: func(t *testing.T, s *service) {
			s.fail = func(_ int, w http.ResponseWriter, r *http.Request) bool {
				http.Error(w, "teapot", http.StatusTeapot)
				return true
			}
		}, want: []string{"answers with status 418"}},
		"no credentials": {prepare: func(t *testing.T, s *service) {
			for _, v := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY", "AWS_SECRET_KEY", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_WEB_IDENTITY_TOKEN_FILE"} {
				t.Setenv(v, "")
			}
			none := filepath.Join(t.TempDir(), "none")
			t.Setenv("AWS_SHARED_CREDENTIALS_FILE", none)
			t.Setenv("AWS_CONFIG_FILE", none)
			t.Setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", none) // the way of roles that asks no network
			t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1/none")
		}, want: []string{"no credentials", "AWS_ACCESS_KEY_ID"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t)
			if c.prepare != nil {
				c.prepare(t, s)
			}
			store, err := Open(s.address(firstNonEmpty(c.bucket, "bundles"), "/p"))
			if err != nil {
				t.Fatal(err)
			}
			_, put := store.Put(t.Context(), strings.NewReader("bundle"), 0)
			_, opened := store.Open(t.Context(), sha([]byte("bundle")))
			var listed error
			for _, err := range store.List(t.Context()) {
				listed = err
			}
			for what, err := range map[string]error{"put": put, "open": opened, "list": listed} {
				if err == nil {
					t.Errorf("%s: no error", what)
					continue
				}
				for _, want := range append(c.want, "s3://") {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%s: %v, expected %q", what, err, want)
					}
				}
				if strings.ContainsAny(err.Error(), "\n\r") || strings.Contains(err.Error(), `"secret"`) {
					t.Errorf("%s: %q", what, err)
				}
			}
		})
	}
}

func firstNonEmpty(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// A service that takes what it is sent, or a question, and never answers is given up.
func TestServiceStalls(t *testing.T) {
	s := newService(t)
	s.fail = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		select {
		case <-s.release:
		case <-r.Context().Done():
		}
		return true
	}
	b, o, err := parseBucket(s.address("bundles", ""))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.connect(o, 20*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Open(t.Context(), sha(nil)); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("ended by hand"))
	if _, err := b.Open(ctx, sha(nil)); err == nil || err.Error() != "ended by hand" {
		t.Error(err)
	}
}

// The credentials of the shared file are used where the environment has none.
func TestSharedCredentials(t *testing.T) {
	s := newService(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	file := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(file, []byte("[default]\naws_access_key_id = "+rightKey+"\naws_secret_access_key = secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	t.Setenv("AWS_CONFIG_FILE", file)
	k := put(t, openService(t, s), []byte("bundle"))
	if !slices.Contains(s.asked, "PUT "+key(k.Hash)) {
		t.Errorf("%q", s.asked)
	}
}
