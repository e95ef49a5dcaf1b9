//go:build unix

package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/desk/server"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/internal/testkit/kill"
)

// childVariable has the test binary serve a desk instead: the store, and a folder for the rest. It listens
// on what is open as file 3, which outlives it.
const childVariable = "DESYNCTOOL_DOOR_TEST"

const childFolder = childVariable + "_FOLDER"

func child() {
	err := func() error {
		l, err := net.FileListener(os.NewFile(3, "listener"))
		if err != nil {
			return err
		}
		s, err := desk.Open(context.Background(), os.Getenv(childVariable), desk.Options{Create: true})
		if err != nil {
			return err
		}
		dir := os.Getenv(childFolder)
		b, err := blobs.Open(filepath.Join(dir, "blobs"))
		if err != nil {
			return err
		}
		d := server.New(server.Options{Store: s, Blobs: b, Uploads: filepath.Join(dir, "uploads"), Loopback: true})
		return d.Serve(context.Background(), l, nil)
	}()
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// TestKilled: a server that is killed again and again, at any moment, loses nothing that it acknowledged, shows
// nothing half, and an upload in pieces goes on from what was acknowledged.
func TestKilled(t *testing.T) {
	effort.Whole(t)
	desktest.Each(t, func(t *testing.T, where string) {
		dir := t.TempDir()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		file, err := l.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		run := &killed{T: t, url: "http://" + l.Addr().String(), end: make(chan struct{})}
		var clients sync.WaitGroup
		for i := range 3 {
			clients.Go(func() { run.whole(i) })
		}
		clients.Go(run.pieces)
		longer := time.Duration(0) // on a machine that is so busy that nothing came of a life
		for i, before := 0, 0; i < kill.Times() || run.count() == 0 && i < kill.Times()+6; i++ {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), childVariable+"="+where, childFolder+"="+dir)
			cmd.ExtraFiles = []*os.File{file}
			d := longer + time.Duration(50+rand.IntN(400))*time.Millisecond
			if _, ended, err := kill.After(cmd, d); ended || err != nil {
				t.Errorf("%d: ended %v, %v", i, ended, err)
			}
			if n := run.count(); n > before {
				before, longer = n, longer/2
			} else {
				longer = min(2*longer+200*time.Millisecond, 10*time.Second)
			}
		}
		close(run.end)
		clients.Wait()
		t.Logf("%d acknowledged, %d of them in pieces", len(run.acknowledged), run.inPieces)
		s, err := desk.Open(context.Background(), where, desk.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		b, err := blobs.Open(filepath.Join(dir, "blobs"))
		if err != nil {
			t.Fatal(err)
		}
		g := &rig{T: t, store: s, blobs: b}
		for _, content := range run.acknowledged {
			g.holds(content)
		}
		if len(run.acknowledged) == 0 {
			t.Error("nothing was acknowledged")
		}
		rows, err := s.DB().Query("SELECT CASE WHEN kept = '=' THEN hash ELSE kept END FROM bundles")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var kept string
			if err := rows.Scan(&kept); err != nil {
				t.Fatal(err)
			}
			r, err := b.Open(context.Background(), kept)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, r); err != nil { // it is compared with its name
				t.Error(err)
			}
			r.Close()
		}
	})
}

// killed are the clients of a server that is killed.
type killed struct {
	*testing.T
	url          string
	end          chan struct{}
	mu           sync.Mutex
	acknowledged [][]byte
	inPieces     int
}

func (k *killed) over() bool {
	select {
	case <-k.end:
		return true
	default:
		return false
	}
}

func (k *killed) note(content []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.acknowledged = append(k.acknowledged, content)
}

func (k *killed) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.acknowledged)
}

var impatient = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// whole sends one bundle after the other.
func (k *killed) whole(seed int) {
	for i := 0; !k.over(); i++ {
		content := fmt.Appendf(noise(byte(seed), 20_000), "%d %d", seed, i)
		a, err := impatient.Post(k.url+"/reports", "application/zip", bytes.NewReader(content))
		if err != nil {
			continue
		}
		a.Body.Close()
		if a.StatusCode == 202 {
			k.note(content)
		}
	}
}

// pieces sends one bundle after the other in pieces.
func (k *killed) pieces() {
	for i := 0; !k.over(); i++ {
		content := fmt.Appendf(noise(99, 200_000), "%d", i)
		path, acknowledged := "", 0
		for !k.over() {
			if path == "" {
				r := k.request("POST", "/reports/uploads", nil, "Upload-Length", strconv.Itoa(len(content)))
				if r != nil && r.StatusCode == 201 {
					path = r.Header.Get("Location")
				}
				continue
			}
			r := k.request("HEAD", path, nil)
			if r == nil {
				continue
			}
			n, err := strconv.Atoi(r.Header.Get("Upload-Offset"))
			if r.StatusCode == 404 && acknowledged == 0 {
				path = "" // it was killed before the file was there
				continue
			}
			if r.StatusCode != 200 || err != nil || n < acknowledged {
				k.Errorf("%s: %d, offset %d after %d", path, r.StatusCode, n, acknowledged)
				return
			}
			if n == len(content) {
				k.note(content)
				k.mu.Lock()
				k.inPieces++
				k.mu.Unlock()
				break
			}
			r = k.request("PATCH", path, content[n:min(n+70_000, len(content))], "Upload-Offset", strconv.Itoa(n), "Content-Type", tusType)
			if r != nil && r.StatusCode == 204 {
				acknowledged, _ = strconv.Atoi(r.Header.Get("Upload-Offset"))
			}
		}
	}
}

// request returns the answer, nil if there was none.
func (k *killed) request(method, path string, body []byte, headers ...string) *http.Response {
	r, err := http.NewRequest(method, k.url+path, bytes.NewReader(body))
	if err != nil {
		k.Error(err)
		return nil
	}
	r.Header.Set("Tus-Resumable", "1.0.0")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	a, err := impatient.Do(r)
	if err != nil {
		return nil
	}
	defer a.Body.Close()
	_, _ = io.Copy(io.Discard, a.Body)
	return a
}
