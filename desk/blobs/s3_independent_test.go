package blobs

import (
	"bytes"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// independent starts gofakes3, a service like S3 that other people have written, and returns its address. tools/s3.mod has
// its version.
func independent(t *testing.T) *url.URL {
	t.Helper()
	const modules = "-modfile=../../tools/s3.mod"
	if out, err := exec.Command("go", "list", modules, "-deps", "github.com/johannesboyne/gofakes3/cmd/gofakes3").CombinedOutput(); err != nil {
		t.Skipf("gofakes3 cannot be fetched: %v: %.500s", err, out)
	}
	program := filepath.Join(t.TempDir(), "gofakes3")
	if out, err := exec.Command("go", "build", modules, "-o", program, "github.com/johannesboyne/gofakes3/cmd/gofakes3").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	host := l.Addr().String()
	l.Close()
	cmd := exec.Command(program, "-backend", "memory", "-initialbucket", "bundles", "-host", host, "-quiet")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", host)
		if err == nil {
			c.Close()
			return &url.URL{Scheme: "http", Host: host}
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// TestIndependentService: blobs are kept in a service that others have written, also if it refuses two of three requests
// because there are too many.
func TestIndependentService(t *testing.T) {
	effort.Whole(t)
	minio.DefaultRetryUnit, minio.DefaultRetryCap = time.Millisecond, 5*time.Millisecond
	behind := httputil.NewSingleHostReverseProxy(independent(t))
	t.Setenv("AWS_ACCESS_KEY_ID", rightKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_SESSION_TOKEN", "")
	for name, throttled := range map[string]bool{"plain": false, "throttled": true} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if throttled && asked.Add(1)%3 != 0 {
					answer(w, r, http.StatusServiceUnavailable, "SlowDown", "Please reduce your request rate.")
					return
				}
				behind.ServeHTTP(w, r)
			}))
			defer front.Close()
			s, err := Open("s3://bundles/" + name + "?insecure=1&region=us-east-1&endpoint=" + front.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			var want []string
			for n := range 12 {
				content := noise(uint64(n), 1+n*n*30_000) // up to 3.6 MB
				want = append(want, sha(content))
				write := func() {
					if k, err := s.Put(t.Context(), bytes.NewReader(content), 0); err != nil || k.Hash != sha(content) {
						t.Errorf("%+v %v", k, err)
					}
				}
				if throttled { // in turn, so that the number of refusals is known
					write()
				} else {
					all.Go(write)
				}
			}
			all.Wait()
			slices.Sort(want)
			if got := list(t, s); !slices.Equal(got, want) {
				t.Errorf("%q, expected %q", got, want)
			}
			for n := range 12 {
				content := noise(uint64(n), 1+n*n*30_000)
				if got, err := get(t, s, sha(content)); err != nil || !bytes.Equal(got, content) {
					t.Errorf("%d bytes, %v", len(got), err)
				}
			}
			if k := put(t, s, noise(3, 1+9*30_000)); k.New {
				t.Error("it was there")
			}
			if gone, err := s.DeleteBefore(t.Context(), want[0], time.Now().Add(-time.Hour)); gone || err != nil {
				t.Errorf("%v %v: it is newer", gone, err)
			}
			for _, hash := range want {
				if err := s.Delete(t.Context(), hash); err != nil {
					t.Error(err)
				}
			}
			if _, err := get(t, s, want[0]); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%v, expected that it is not there", err)
			}
			if got := list(t, s); len(got) > 0 {
				t.Errorf("%q are left", got)
			}
		})
	}
}

// TestServiceLies: what a service gives for another blob, or only in part, is damage and never the content, and what it
// confirmed and did not keep is missing.
func TestServiceLies(t *testing.T) {
	s := newService(t)
	store := openService(t, s)
	first, second := put(t, store, noise(20, 50_000)), put(t, store, noise(21, 50_000))
	s.mu.Lock()
	whole := s.objects[key(second.Hash)].content
	s.mu.Unlock()
	for name, content := range map[string][]byte{"another blob": whole, "half": whole[:len(whole)/2], "nothing": {}, "twice": append(bytes.Clone(whole), whole...)} {
		s.put(key(first.Hash), content, time.Now())
		if _, err := get(t, store, first.Hash); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v, expected damage", name, err)
		}
	}
	s.fail = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut {
			w.Header().Set("ETag", etag(nil))
		}
		return r.Method == http.MethodPut
	}
	lost := put(t, store, noise(22, 50_000))
	if _, err := get(t, store, lost.Hash); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, expected that it is missing", err)
	}
}
