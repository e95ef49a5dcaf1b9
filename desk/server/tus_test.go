//go:build unix

package server_test

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/desk/server"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

const tusType = "application/offset+octet-stream"

// begin begins an upload of so many bytes and returns its path.
func (g *rig) begin(length int, metadata string) string {
	g.Helper()
	a := g.send("POST", "/reports/uploads", nil, "Tus-Resumable", "1.0.0", "Upload-Length", strconv.Itoa(length), "Upload-Metadata", metadata)
	if a.status != 201 || a.header.Get("Upload-Expires") == "" {
		g.Fatalf("%+v", a)
	}
	return a.header.Get("Location")
}

func (g *rig) patch(path string, offset int, piece []byte, headers ...string) answer {
	g.Helper()
	return g.send("PATCH", path, bytes.NewReader(piece), append([]string{"Tus-Resumable", "1.0.0", "Content-Type", tusType, "Upload-Offset", strconv.Itoa(offset)}, headers...)...)
}

func (g *rig) offset(path string) int {
	g.Helper()
	a := g.send("HEAD", path, nil, "Tus-Resumable", "1.0.0")
	n, err := strconv.Atoi(a.header.Get("Upload-Offset"))
	if a.status != 200 || err != nil || a.header.Get("Cache-Control") != "no-store" {
		g.Fatalf("%+v", a)
	}
	return n
}

// TestUpload is an upload in pieces, as the protocol has it.
func TestUpload(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		g := newRig(t, where, nil)
		options := g.send("OPTIONS", "/reports/uploads", nil)
		if options.status != 204 || options.header.Get("Tus-Version") != "1.0.0" || !strings.Contains(options.header.Get("Tus-Extension"), "creation") || options.header.Get("Tus-Max-Size") != "268435456" {
			t.Errorf("%+v", options)
		}
		content := []byte("0123456789")
		// "../a.zip" and "1.4.2" in base64.
		path := g.begin(10, "filename Li4vYS56aXA=,build MS40LjI=,empty")
		if n := g.offset(path); n != 0 {
			t.Errorf("offset %d", n)
		}
		if a := g.patch(path, 0, content[:4]); a.status != 204 || a.header.Get("Upload-Offset") != "4" || a.header.Get("Upload-Expires") == "" {
			t.Errorf("%+v", a)
		}
		wrong := sha1.Sum([]byte("x"))
		right := sha256.Sum256(content[4:6])
		for _, c := range []struct {
			status  int
			offset  int
			piece   []byte
			headers []string
		}{
			{409, 0, content[:4], nil},
			{409, 5, content[5:], nil},
			{413, 4, append(content[4:], 'x'), nil},
			{415, 4, content[4:], []string{"Content-Type", "text/plain"}},
			{412, 4, content[4:], []string{"Tus-Resumable", "0.2.2"}},
			{400, 4, content[4:], []string{"Upload-Offset", "-1"}},
			{400, 4, content[4:], []string{"Upload-Checksum", "md5 AAAA"}},
			{400, 4, content[4:], []string{"Upload-Checksum", "sha1 AAAA"}},
			{460, 4, content[4:], []string{"Upload-Checksum", "sha1 " + base64.StdEncoding.EncodeToString(wrong[:])}},
			{204, 4, content[4:6], []string{"Upload-Checksum", "sha256 " + base64.StdEncoding.EncodeToString(right[:])}},
		} {
			if a := g.patch(path, c.offset, c.piece, c.headers...); a.status != c.status {
				t.Errorf("%+v: %+v", c, a)
			}
		}
		if g.rows("bundles") != 0 {
			t.Error("half an upload is a bundle")
		}
		g.want(g.send("GET", path, nil), 200, `{"offset":6,"length":10}`)
		last := g.send("POST", path, bytes.NewReader(content[6:]), "Tus-Resumable", "1.0.0", "Content-Type", tusType, "Upload-Offset", "6", "X-HTTP-Method-Override", "PATCH")
		if last.status != 204 || last.header.Get("Upload-Offset") != "10" || last.header.Get("Content-Location") != "/bundles/"+hashOf(content) {
			t.Errorf("%+v", last)
		}
		if b := g.holds(content); b.Name != "a.zip" {
			t.Errorf("%+v", b)
		}
		if n := g.offset(path); n != 10 {
			t.Errorf("offset %d", n)
		}
		if a := g.patch(path, 10, nil); a.status != 204 || g.rows("receipts") != 1 {
			t.Errorf("%+v, %d receipts", a, g.rows("receipts"))
		}
		if a := g.send("GET", path, nil); a.status != 303 || a.header.Get("Location") != "/bundles/"+hashOf(content) {
			t.Errorf("%+v", a)
		}
		path = g.begin(10, "")
		if a := g.send("DELETE", path, nil, "Tus-Resumable", "1.0.0"); a.status != 204 {
			t.Errorf("%+v", a)
		}
		if a := g.send("HEAD", path, nil, "Tus-Resumable", "1.0.0"); a.status != 404 {
			t.Errorf("%+v", a)
		}
		for length, status := range map[string]int{"0": 400, "": 400, "-1": 400, "x": 400, "99999999999999999999": 400, "268435457": 413} {
			if a := g.send("POST", "/reports/uploads", nil, "Tus-Resumable", "1.0.0", "Upload-Length", length); a.status != status {
				t.Errorf("%q: %+v", length, a)
			}
		}
	})
}

// TestUploadOwner: nobody goes on with the upload of another token.
func TestUploadOwner(t *testing.T) {
	g := newRig(t, filepath.Join(t.TempDir(), "desk"), nil)
	var tokens []string
	for _, name := range []string{"a", "b"} {
		secret, err := g.store.AddToken(context.Background(), "test", name, desk.ScopeUpload)
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, secret)
	}
	g.auth = tokens[0]
	path := g.begin(4, "")
	g.auth = tokens[1]
	if a := g.patch(path, 0, []byte("abcd")); a.status != 404 {
		t.Errorf("%+v", a)
	}
	g.auth = tokens[0]
	if a := g.patch(path, 0, []byte("abcd")); a.status != 204 {
		t.Errorf("%+v", a)
	}
	if strings.Contains(g.log.String(), strings.TrimPrefix(path, "/reports/uploads/")) {
		t.Error("the log has the address of an upload")
	}
}

// TestClientGone: what arrived of a piece before its client was gone counts, and a new request ends one
// that still waits.
func TestClientGone(t *testing.T) {
	g := newRig(t, filepath.Join(t.TempDir(), "desk"), nil)
	content := bytes.Repeat([]byte("0123456789"), 1000)
	path := g.begin(len(content), "")
	for _, at := range []int{0, 5000} {
		c, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "PATCH %s HTTP/1.1\r\nHost: localhost\r\nTus-Resumable: 1.0.0\r\nContent-Type: %s\r\nUpload-Offset: %d\r\nContent-Length: %d\r\n\r\n%s", path, tusType, at, len(content)-at, content[at:at+5000-at/5])
		if at == 0 {
			c.(*net.TCPConn).CloseWrite() // gone
		} else {
			defer c.Close() // silent
			for !fileHas(t, g, 9000) {
				time.Sleep(time.Millisecond)
			}
		}
		if at == 0 {
			io.ReadAll(c)
			c.Close()
			if n := g.offset(path); n != 5000 {
				t.Fatalf("offset %d", n)
			}
		}
	}
	if n := g.offset(path); n != 9000 {
		t.Fatalf("offset %d", n)
	}
	if a := g.patch(path, 9000, content[9000:]); a.status != 204 {
		t.Fatalf("%+v", a)
	}
	g.holds(content)
	// One that is not in pieces is not seen at all.
	c, err := net.Dial("tcp", strings.TrimPrefix(g.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "POST /reports HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf")
	c.(*net.TCPConn).CloseWrite()
	text, _ := io.ReadAll(c)
	if !strings.Contains(string(text), " 400 ") || g.rows("bundles") != 1 {
		t.Errorf("%s, %d bundles", text, g.rows("bundles"))
	}
}

// fileHas reports whether the only file of an upload has so many bytes.
func fileHas(t *testing.T, g *rig, bytes int64) bool {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(g.door.Uploads, "*"))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	info, err := os.Stat(list[0])
	return err == nil && info.Size() >= bytes
}

// TestExpired: an upload that is given up is removed after a day, its file as well.
func TestExpired(t *testing.T) {
	g := newRig(t, filepath.Join(t.TempDir(), "desk"), func(o *server.Options) { o.Limits.Keep = time.Nanosecond })
	path := g.begin(10, "")
	if a := g.send("HEAD", path, nil, "Tus-Resumable", "1.0.0"); a.status != 410 {
		t.Errorf("%+v", a)
	}
	if err := g.door.Sweep(context.Background()); err != nil {
		t.Fatal(err)
	}
	if a := g.send("HEAD", path, nil, "Tus-Resumable", "1.0.0"); a.status != 404 || g.rows("uploads") != 0 {
		t.Errorf("%+v", a)
	}
	if left, _ := os.ReadDir(g.door.Uploads); len(left) != 0 {
		t.Error(left)
	}
}

// TestAnyPieces: whatever pieces a file comes in, with whatever is wrong with some of them, the kept content is the
// file, and the offset never falls.
func TestAnyPieces(t *testing.T) {
	effort.Checks(t, 15)
	g := newRig(t, filepath.Join(t.TempDir(), "desk"), nil)
	rapid.Check(t, func(rt *rapid.T) {
		content := rapid.SliceOfN(rapid.Byte(), 1, 400).Draw(rt, "content")
		path, at := g.begin(len(content), ""), 0
		for at < len(content) {
			n := rapid.IntRange(0, len(content)-at).Draw(rt, "piece")
			piece := content[at : at+n]
			switch rapid.SampledFrom([]string{"good", "good", "sum", "wrong sum", "offset", "long"}).Draw(rt, "how") {
			case "good":
				g.patch(path, at, piece)
				at += n
			case "sum":
				sum := sha1.Sum(piece)
				g.patch(path, at, piece, "Upload-Checksum", "sha1 "+base64.StdEncoding.EncodeToString(sum[:]))
				at += n
			case "wrong sum":
				sum := sha1.Sum(append([]byte("x"), piece...))
				g.patch(path, at, piece, "Upload-Checksum", "sha1 "+base64.StdEncoding.EncodeToString(sum[:]))
			case "offset":
				g.patch(path, at+1, piece)
			case "long":
				g.patch(path, at, make([]byte, len(content)-at+1))
			}
			if got := g.offset(path); got != at {
				rt.Fatalf("offset %d, expected %d", got, at)
			}
		}
		g.holds(content)
	})
}
