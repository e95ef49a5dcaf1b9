//go:build unix

package server_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/server"
)

// served has a door serve on an address of loopback as the command does, and returns where.
func served(t *testing.T, set func(*server.Options)) (g *rig, address string) {
	t.Helper()
	g = newRig(t, filepath.Join(t.TempDir(), "desk"), set)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.door.Serve(ctx, l, nil) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return g, l.Addr().String()
}

// TestIdleConnections: connections without a token that send nothing, or a body that does not end, keep nobody out,
// whether they are many of one address or as many as there may be.
func TestIdleConnections(t *testing.T) {
	for name, c := range map[string]struct {
		proxied, busy bool
		most          int
	}{"of one address": {false, false, 1000}, "of a proxy": {true, false, 40}, "busy": {false, true, 1000}, "busy, of a proxy": {true, true, 40}} {
		t.Run(name, func(t *testing.T) {
			g, address := served(t, func(o *server.Options) { o.Proxied, o.Limits.Connections = c.proxied, c.most })
			secret, err := g.store.AddToken(t.Context(), "test", "ann", desk.ScopeRead)
			if err != nil {
				t.Fatal(err)
			}
			var strangers []net.Conn
			for range 100 {
				conn, err := net.Dial("tcp", address)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				strangers = append(strangers, conn)
				if !c.busy {
					continue
				}
				_, _ = io.WriteString(conn, "POST /login HTTP/1.1\r\nHost: desk\r\nContent-Type: application/x-www-form-urlencoded\r\n"+
					"Content-Length: 200000\r\nExpect: 100-continue\r\n\r\n")
				_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
				if _, err := io.ReadFull(conn, make([]byte, len("HTTP/1.1 100 Continue\r\n\r\n"))); err != nil {
					t.Fatal(err)
				}
			}
			fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
			r, _ := http.NewRequest("GET", "http://"+address+"/groups.atom", nil)
			r.Header.Set("Authorization", "Bearer "+secret)
			a, err := fresh.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			a.Body.Close()
			if a.StatusCode != 200 {
				t.Errorf("status %d", a.StatusCode)
			}
			// The first ones were closed, not the last.
			_ = strangers[0].SetReadDeadline(time.Now().Add(20 * time.Second))
			if _, err := strangers[0].Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("the oldest connection: %v, expected that it is closed", err)
			}
		})
	}
}

// TestForwarded: without a token a desk is open to this machine, and to no request that a proxy brought.
func TestForwarded(t *testing.T) {
	g := newRig(t, filepath.Join(t.TempDir(), "desk"), nil)
	g.want(g.send("GET", "/groups.atom", nil), 200, "")
	for _, header := range []string{"X-Forwarded-For", "Forwarded", "X-Real-IP", "Via", "X-Forwarded-Proto", "X-Forwarded-Host", "CF-Connecting-IP",
		"True-Client-IP", "Client-IP", "X-Forwarded", "Forwarded-For", "X-Originating-IP"} {
		for _, value := range []string{"203.0.113.9", "127.0.0.1"} {
			g.want(g.send("GET", "/groups.atom", nil, header, value), 401, "")
			g.want(g.send("POST", "/reports", nil, header, value), 401, "")
		}
	}
	old := httptest.NewRequest("GET", "/groups.atom", nil)
	old.RemoteAddr, old.Host, old.ProtoMinor = "127.0.0.1:9", "127.0.0.1", 0
	w := httptest.NewRecorder()
	g.door.ServeHTTP(w, old)
	if w.Code != 401 {
		t.Errorf("HTTP/1.0: %d, expected 401", w.Code)
	}
	behind := newRig(t, filepath.Join(t.TempDir(), "desk"), func(o *server.Options) { o.Proxied = true })
	behind.want(behind.send("GET", "/groups.atom", nil), 401, "")
	behind.want(behind.send("GET", "/groups.atom", nil, "X-Forwarded-For", "127.0.0.1"), 401, "")
}

// TestRightTokenAfterWrongOnes: a guesser does not keep out others at the same address.
func TestRightTokenAfterWrongOnes(t *testing.T) {
	g := newRig(t, filepath.Join(t.TempDir(), "desk"), nil)
	secret, err := g.store.AddToken(t.Context(), "test", "ann", desk.ScopeRead)
	if err != nil {
		t.Fatal(err)
	}
	g.auth = "desk_x"
	refused := false
	for range 200 {
		refused = g.send("GET", "/groups.atom", nil).status == 429 || refused
	}
	if !refused {
		t.Error("200 wrong tokens were not slowed")
	}
	g.auth = secret
	g.want(g.send("GET", "/groups.atom", nil), 200, "")
}
