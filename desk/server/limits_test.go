//go:build unix

package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/server"
)

// TestSlow: an upload that brings a byte now and then ends, and gives its place back.
func TestSlow(t *testing.T) {
	g := newRig(t, filepath.Join(t.TempDir(), "desk"), func(o *server.Options) {
		o.Limits.Pace = server.Pace{Grace: time.Second, Bytes: 1000} // in which another sender is refused
		o.Limits.AtOnce = 1
	})
	c, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "POST /reports HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\nExpect: 100-continue\r\n\r\n")
	begun := make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))
	if _, err := io.ReadFull(c, begun); err != nil || !strings.HasPrefix(string(begun), "HTTP/1.1 100 ") { // it has its place
		t.Fatalf("%q %v", begun, err)
	}
	stop := make(chan struct{})
	var drip sync.WaitGroup
	drip.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond): // 50 bytes a second
				c.Write([]byte("x"))
			}
		}
	})
	busy := false
	for range 100 { // while it holds its place there is no other
		if a := g.send("POST", "/reports", strings.NewReader("x")); a.status == 503 && strings.Contains(a.body, "at once") && a.header.Get("Retry-After") != "" {
			busy = true
			break
		}
	}
	if !busy {
		t.Error("there are two places")
	}
	c.SetReadDeadline(time.Now().Add(30 * time.Second))
	text, _ := io.ReadAll(c)
	close(stop)
	drip.Wait()
	if !strings.HasPrefix(string(text), "HTTP/1.1 408 ") {
		t.Errorf("%s", text)
	}
	a := g.send("POST", "/reports", strings.NewReader("y"))
	for range 100 { // the place is given back after the answer
		if a.status != 503 {
			break
		}
		time.Sleep(50 * time.Millisecond)
		a = g.send("POST", "/reports", strings.NewReader("y"))
	}
	g.want(a, 202, "")
	if _, err := g.store.Bundle(context.Background(), hashOf(bytes.Repeat([]byte("x"), 10))); err == nil {
		t.Error("half a bundle is kept")
	}
	// An upload is kept if the client itself ends its body, or if it is slow but not too slow.
	r, w := io.Pipe()
	go func() {
		for range 10 {
			time.Sleep(50 * time.Millisecond)
			w.Write(make([]byte, 100))
		}
		w.Close()
	}()
	g.want(g.send("POST", "/reports", r), 202, `"bytes":1000`)
}

// TestSlowRefused: who is refused and goes on sending is left as well.
func TestSlowRefused(t *testing.T) {
	g := newRig(t, filepath.Join(t.TempDir(), "desk"), func(o *server.Options) {
		o.Limits.Pace = server.Pace{Grace: time.Second, Bytes: 1 << 20}
		o.Loopback = false
	})
	c, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "POST /reports HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
	c.SetReadDeadline(time.Now().Add(30 * time.Second))
	if text, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 401 ") {
		t.Errorf("%s %v", text, err)
	}
}

// TestSlowReader: who does not read what was asked for is left.
func TestSlowReader(t *testing.T) {
	ended := make(chan error, 1)
	g := newRig(t, filepath.Join(t.TempDir(), "desk"), func(o *server.Options) {
		o.Limits.Pace = server.Pace{Grace: 200 * time.Millisecond, Bytes: 1 << 20}
		o.Pages = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var err error
			for range 10_000 {
				if _, err = w.Write(make([]byte, 64<<10)); err != nil {
					break
				}
			}
			ended <- err
		})
	})
	c, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
	select {
	case err := <-ended:
		if err == nil {
			t.Error("640 MB were written to nobody")
		}
	case <-time.After(30 * time.Second):
		t.Error("the server waits")
	}
}

// TestTooMuch: a request beyond a limit is refused before it is read, by that limit.
func TestTooMuch(t *testing.T) {
	ctx := context.Background()
	where := func() string { return filepath.Join(t.TempDir(), "desk") }
	long := strings.Repeat("x", 101)
	g := newRig(t, where(), func(o *server.Options) { o.Limits.Bundle = 100 })
	g.want(g.send("POST", "/reports", strings.NewReader(long)), 413, "100 bytes")
	g.want(g.send("POST", "/reports", io.MultiReader(strings.NewReader(long))), 413, "100 bytes") // without a length
	g.want(g.send("POST", "/reports", strings.NewReader(long[1:])), 202, "")
	body, kind := formOf(t, nil, "good", long, "never read")
	g.want(g.send("POST", "/reports", body, "Content-Type", kind), 413, `"bundles":[{"bundle":"`+hashOf([]byte("good")))
	if g.rows("bundles") != 2 {
		t.Errorf("%d bundles", g.rows("bundles"))
	}

	g = newRig(t, where(), func(o *server.Options) { o.Limits.Waiting = 10 })
	g.want(g.send("POST", "/reports", strings.NewReader("0123456789")), 202, "")
	g.want(g.send("POST", "/reports", strings.NewReader("x")), 503, "waits to be triaged")

	g = newRig(t, where(), func(o *server.Options) { o.Limits.Unfinished = 10 })
	first, second := g.begin(100, ""), g.begin(100, "") // what is declared does not count
	g.want(g.patch(first, 0, []byte("012345")), 204, "")
	g.want(g.patch(second, 0, []byte("01234")), 503, "not finished")
	g.want(g.patch(second, 0, []byte("0123")), 204, "")

	// One token takes nothing from another, and has room for one bundle.
	g = newRig(t, where(), func(o *server.Options) { o.Limits.Unfinished, o.Limits.Bundle = 400, 30 })
	for _, name := range []string{"a", "b"} {
		secret, err := g.store.AddToken(ctx, "test", name, desk.ScopeUpload)
		if err != nil {
			t.Fatal(err)
		}
		g.auth = secret
		for range 100 {
			g.begin(30, "")
		}
		g.want(g.patch(g.begin(30, ""), 0, make([]byte, 20)), 204, "")
		g.want(g.patch(g.begin(30, ""), 0, make([]byte, 20)), 503, "of this token")
	}

	g = newRig(t, where(), func(o *server.Options) { o.Limits.Token = server.Rate{Often: 0.001, Burst: 2} })
	for _, name := range []string{"a", "b"} {
		secret, err := g.store.AddToken(ctx, "test", name, desk.ScopeUpload)
		if err != nil {
			t.Fatal(err)
		}
		g.auth = secret
		for _, status := range []int{202, 202, 429} {
			if a := g.send("POST", "/reports", strings.NewReader(name)); a.status != status || (status == 429) != (a.header.Get("Retry-After") != "") {
				t.Errorf("%+v, expected %d", a, status)
			}
		}
	}

	g = newRig(t, where(), func(o *server.Options) {
		o.Limits.Address = server.Rate{Often: 0.001, Burst: 1}
		o.Proxied = true
	})
	var err error
	if g.auth, err = g.store.AddToken(ctx, "test", "a", desk.ScopeUpload); err != nil {
		t.Fatal(err)
	}
	for address, statuses := range map[string][]int{"198.51.100.1": {202, 429}, "10.0.0.9, 198.51.100.2": {202, 429}, "2001:db8::1": {202}, "2001:db8:0:1::1": {202, 429}} {
		for _, status := range statuses {
			if a := g.send("POST", "/reports", strings.NewReader("x"), "X-Forwarded-For", address); a.status != status {
				t.Errorf("%s: %+v, expected %d", address, a, status)
			}
		}
	}
	if a := g.send("POST", "/reports", strings.NewReader("x"), "X-Forwarded-For", "2001:db8::ffff"); a.status != 429 {
		t.Errorf("another address of the same network: %+v", a)
	}
}

// TestShares: neither a token nor an address takes more than a twentieth of what all share.
func TestShares(t *testing.T) {
	rigOf := func(set func(*server.Limits)) (g *rig, as func(token, address string) []string) {
		g = newRig(t, filepath.Join(t.TempDir(), "desk"), func(o *server.Options) { o.Proxied = true; set(&o.Limits) })
		secrets := map[string]string{}
		for _, name := range []string{"a", "b", "c"} {
			secret, err := g.store.AddToken(t.Context(), "test", name, desk.ScopeUpload)
			if err != nil {
				t.Fatal(err)
			}
			secrets[name] = secret
		}
		return g, func(token, address string) []string {
			return []string{"Authorization", "Bearer " + secrets[token], "X-Forwarded-For", address}
		}
	}
	const one, two, three = "198.51.100.1", "2001:db8::1", "198.51.100.3"

	g, as := rigOf(func(l *server.Limits) { l.Unfinished, l.Bundle = 400, 20 })
	begin := func(from []string) string {
		a := g.send("POST", "/reports/uploads", nil, append(from, "Tus-Resumable", "1.0.0", "Upload-Length", "20")...)
		g.want(a, 201, "")
		return a.header.Get("Location")
	}
	piece := func(from []string) answer { return g.patch(begin(from), 0, make([]byte, 15), from...) }
	g.want(piece(as("a", one)), 204, "")
	g.want(piece(as("a", two)), 503, "of this token")
	g.want(piece(as("b", one)), 503, "from this address")
	g.want(piece(as("b", two)), 204, "")
	g.want(piece(as("c", "2001:db8::2")), 503, "from this address")
	g.want(piece(as("c", three)), 204, "")
	if err := g.store.RevokeToken(t.Context(), "test", "a"); err != nil { // it frees its room
		t.Fatal(err)
	}
	g.want(piece(as("c", one)), 503, "of this token")
	if list, err := g.store.Unfinished(t.Context(), one); err != nil || len(list) != 2 || list[0].Who != "b" && list[0].Who != "c" {
		t.Errorf("%+v %v", list, err)
	}
	open := begin(as("c", three))
	if list, err := g.store.DropUnfinished(t.Context(), "test", "c"); err != nil || len(list) != 4 {
		t.Errorf("%+v %v", list, err)
	}
	g.want(g.patch(open, 0, make([]byte, 15), as("c", three)...), 404, "")
	g.want(piece(as("c", one)), 204, "")
	if err := g.door.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(g.door.Uploads)
	if err != nil || len(files) != g.rows("uploads") {
		t.Errorf("%d files of %d uploads, %v", len(files), g.rows("uploads"), err)
	}

	g, as = rigOf(func(l *server.Limits) { l.Waiting = 400 })
	g.want(g.send("POST", "/reports", strings.NewReader("twenty bytes of one!"), as("a", one)...), 202, "")
	g.want(g.send("POST", "/reports", strings.NewReader("x"), as("a", two)...), 503, "this sender")
	g.want(g.send("POST", "/reports", strings.NewReader("x"), as("b", one)...), 503, "this sender")
	g.want(g.send("POST", "/reports", strings.NewReader("x"), as("b", two)...), 202, "")

	g, as = rigOf(func(l *server.Limits) { l.AtOnce = 40 })
	for range 2 {
		c, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		from := as("a", one)
		fmt.Fprintf(c, "POST /reports HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nExpect: 100-continue\r\n%s: %s\r\n%s: %s\r\n\r\n", from[0], from[1], from[2], from[3])
		begun := make([]byte, len("HTTP/1.1 100 "))
		if _, err := io.ReadFull(c, begun); err != nil || string(begun) != "HTTP/1.1 100 " { // it has its place
			t.Fatalf("%q %v", begun, err)
		}
	}
	tries := func(token, address string) answer {
		return g.send("POST", "/reports", strings.NewReader("y"), as(token, address)...)
	}
	g.want(tries("a", three), 503, "at once")
	g.want(tries("b", one), 503, "at once")
	g.want(tries("b", two), 202, "")
}

// TestBroken: what goes wrong inside is 503, is not acknowledged, and is in the log alone.
func TestBroken(t *testing.T) {
	g := newRig(t, filepath.Join(t.TempDir(), "desk"), func(o *server.Options) {
		o.Accept = func(context.Context, server.Hint) (server.Enqueue, error) {
			return func(context.Context, *desk.Tx, *desk.Bundle) error { return errors.New("secret cause") }, nil
		}
	})
	a := g.send("POST", "/reports", strings.NewReader("x"))
	g.want(a, 503, "cannot do this now")
	if strings.Contains(a.body, "secret") || !strings.Contains(g.log.String(), "secret cause") || g.rows("bundles") != 0 {
		t.Errorf("%s, %s, %d bundles", a.body, g.log, g.rows("bundles"))
	}
}

// beginning says when the first bundle begins to be kept.
type beginning struct {
	blobs.Store
	began chan struct{}
}

func (b beginning) Put(ctx context.Context, r io.Reader, limit int64) (blobs.Kept, error) {
	close(b.began)
	return b.Store.Put(ctx, r, limit)
}

// TestShutdown: an upload that is under way when the server is told to end is finished.
func TestShutdown(t *testing.T) {
	began := make(chan struct{})
	g := newRig(t, filepath.Join(t.TempDir(), "desk"), func(o *server.Options) { o.Blobs = beginning{o.Blobs, began} })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.door.Serve(ctx, l, nil) }()
	g.url = "http://" + l.Addr().String()
	r, w := io.Pipe()
	result := make(chan answer, 1)
	go func() { result <- g.send("POST", "/reports", r) }()
	w.Write([]byte("first half, "))
	<-began
	cancel()
	time.Sleep(50 * time.Millisecond)
	w.Write([]byte("second half"))
	w.Close()
	g.want(<-result, 202, "")
	if err := <-ended; err != nil {
		t.Error(err)
	}
	g.holds([]byte("first half, second half"))
}

// BenchmarkUploads sends bundles of a megabyte, a hundred at a time. It reports MB/s and the memory that
// the process holds most, client and server together.
func BenchmarkUploads(b *testing.B) {
	s, err := desk.Open(context.Background(), filepath.Join(b.TempDir(), "desk"), desk.Options{Create: true})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	kept, err := blobs.Open(filepath.Join(b.TempDir(), "blobs"))
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(server.New(server.Options{Store: s, Blobs: kept, Loopback: true}))
	defer server.Close()
	some := noise(1, 1<<20)
	b.SetBytes(100 << 20)
	var peak uint64
	n := 0
	for b.Loop() {
		var all sync.WaitGroup
		for i := range 100 {
			n++
			content := fmt.Appendf(some[:1<<20:1<<20], "%d %d", n, i)
			all.Go(func() {
				a, err := client.Post(server.URL+"/reports", "application/zip", bytes.NewReader(content))
				if err != nil {
					b.Error(err)
					return
				}
				io.Copy(io.Discard, a.Body)
				a.Body.Close()
				if a.StatusCode != 202 {
					b.Error(a.Status)
				}
			})
		}
		all.Wait()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.Sys)
	}
	b.ReportMetric(float64(peak)/(1<<20), "MiB")
}
