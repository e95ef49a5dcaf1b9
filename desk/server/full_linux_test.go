package server_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/server"
)

// TestDiskFull: on a disk that is full in the middle of an upload the answer is 507, nothing half is seen, and what
// was acknowledged stays. The disk is one of 2 MB in memory, which only root can make.
func TestDiskFull(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can mount a disk")
	}
	disk := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(disk, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=2m"); err != nil {
		t.Skip(err) // in a container without the right to
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	g := newRig(t, filepath.Join(t.TempDir(), "desk"), func(o *server.Options) {
		var err error
		if o.Blobs, err = blobs.Open(filepath.Join(disk, "blobs")); err != nil {
			t.Fatal(err)
		}
		o.Uploads = filepath.Join(disk, "uploads")
	})
	g.blobs = g.door.Blobs
	small, large := noise(1, 1<<20), noise(2, 3<<20)
	g.want(g.send("POST", "/reports", bytes.NewReader(small)), 202, "waiting")
	g.want(g.send("POST", "/reports", bytes.NewReader(large)), 507, "no room")
	g.holds(small)
	if _, err := g.store.Bundle(context.Background(), hashOf(large)); err == nil || g.rows("receipts") != 1 {
		t.Error("half a bundle is seen")
	}
	path := g.begin(len(large), "")
	if a := g.patch(path, 0, large[:300_000]); a.status != 204 {
		t.Fatalf("%+v", a)
	}
	g.want(g.patch(path, 300_000, large[300_000:]), 507, "no room")
	if n := g.offset(path); n != 300_000 {
		t.Errorf("offset %d", n)
	}
	// With all bytes there, but no room for the bundle, the full offset is not acknowledged either.
	if err := g.blobs.Delete(context.Background(), hashOf(small)); err != nil {
		t.Fatal(err)
	}
	if a := g.send("DELETE", path, nil, "Tus-Resumable", "1.0.0"); a.status != 204 {
		t.Fatalf("%+v", a)
	}
	most := noise(3, 3<<19)
	path = g.begin(len(most), "")
	g.want(g.patch(path, 0, most), 507, "no room")
	g.want(g.send("HEAD", path, nil, "Tus-Resumable", "1.0.0"), 507, "")
	if _, err := g.store.Bundle(context.Background(), hashOf(most)); err == nil {
		t.Error("a bundle that is not kept is seen")
	}
	if err := unix.Mount("tmpfs", disk, "tmpfs", unix.MS_REMOUNT, "size=16m"); err != nil {
		t.Fatal(err)
	}
	if n := g.offset(path); n != len(most) {
		t.Errorf("offset %d", n)
	}
	g.holds(most)
	if err := os.RemoveAll(filepath.Join(disk, "blobs")); err != nil {
		t.Fatal(err)
	}
}
