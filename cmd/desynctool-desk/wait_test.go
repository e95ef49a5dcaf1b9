//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/desk/desktest"
)

// TestDeskWorkWaits: work begins while the server of its database is down, and triages when it answers. A wrong database
// is an error at once.
func TestDeskWorkWaits(t *testing.T) {
	server := desktest.Start(t)
	where := server.Database(t)
	args := []string{"--store", where, "--blobs", filepath.Join(t.TempDir(), "blobs"), "--keep-names"}
	runDesk(t, 0, append([]string{"add", "--queue", "../../testdata/openttd/rng_poke"}, args...)...)
	runDesk(t, 2, "work", "--until-empty", "--store", server.URL("nothing"), "--blobs", t.TempDir(), "--keep-names")
	server.Kill()
	started := make(chan error, 1)
	go func() {
		time.Sleep(300 * time.Millisecond)
		started <- server.Run()
	}()
	got := runDesk(t, 0, append([]string{"work", "--until-empty"}, args...)...)
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got, "1 bundle done.\n") || !strings.Contains(got, "the desk cannot be reached, and is tried again: ") {
		t.Error(got)
	}
	// A worker needs two connections.
	if got := runDesk(t, 2, append([]string{"work", "--until-empty"}, "--store", strings.Replace(where, "pool_max_conns=2", "pool_max_conns=1", 1), "--blobs", t.TempDir(), "--keep-names")...); !strings.Contains(got, "pool_max_conns is 1, expected 2 or more") {
		t.Error(got)
	}
}
