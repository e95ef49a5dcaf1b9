package bundle

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// TestVerifyFolder: a log contains a load, and its history begins again with the history that the marker adopts.
// Everything holds; each hash that is changed is reported separately.
func TestVerifyFolder(t *testing.T) {
	full := func(i byte) merkle.Hash { return sha256.Sum256([]byte{i}) }
	next := func(h merkle.Hash, s merkle.Hash) merkle.Hash {
		return sha256.Sum256(append(h[:len(h):len(h)], s[:8]...))
	}
	start := full(0)
	adopted := full(99)
	for _, test := range []struct {
		name string
		edit func(ticks []orderlog.Tick)
		want string
	}{
		{"whole", func([]orderlog.Tick) {}, ""},
		{"sync", func(l []orderlog.Tick) { l[1].Hashes[0].Bytes[0] ^= 1 }, "state point 2: the history hash is"},
		{"history", func(l []orderlog.Tick) { l[2].Hashes[1].Bytes[0] ^= 1 }, "state point 2: the history hash is"},
		{"state", func(l []orderlog.Tick) { l[2].Hashes[2].Bytes[0] ^= 1 }, "state point 2: the state hash is"},
		{"after the load", func(l []orderlog.Tick) { l[4].Hashes[1].Bytes[0] ^= 1 }, "state point 4: the history hash is"},
		{"at the load", func(l []orderlog.Tick) { l[3].Hashes[1].Bytes[0] ^= 1 }, "state point 3: the history hash is"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var ticks []orderlog.Tick
			h := merkle.Hash(sha256.Sum256(start[:]))
			for i := range byte(5) {
				state := full(i)
				switch {
				case i == 3:
					h = adopted
				case i > 0:
					h = next(h, state)
				}
				own := h
				tick := orderlog.Tick{Number: uint64(i), Hashes: []orderlog.Observed{
					{Point: uint64(i), Kind: orderlog.SyncHash, Bytes: bytes.Clone(state[:8])}, {Point: uint64(i), Kind: orderlog.HistoryHash, Bytes: own[:]},
					{Point: uint64(i), Kind: orderlog.StateHash, Bytes: bytes.Clone(state[:])},
				}}
				if i == 1 {
					tick.Hashes = tick.Hashes[:1]
				}
				if i == 3 {
					tick.Markers = []orderlog.Marker{{Kind: orderlog.Load, Point: 3, NewEpoch: true, History: adopted}}
				}
				ticks = append(ticks, tick)
			}
			test.edit(ticks)
			dir := t.TempDir()
			var out bytes.Buffer
			w, err := orderlog.NewWriter(&out, orderlog.Header{Seed: 5, Peer: "host", Start: start}, orderlog.WriterOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for i := range ticks {
				if err := w.WriteTick(&ticks[i]); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, LogName), out.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			tree, err := archive.Open([]string{dir}, archive.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer tree.Close()
			list, err := Verify(tree, []string{dir}, snapshot.Expected{})
			if err != nil || len(list) != 2 || list[1].What != "session" {
				t.Fatalf("%+v, %v", list, err)
			}
			if got := list[1].Err; (got == nil) != (test.want == "") || got != nil && !strings.Contains(got.Error(), test.want) {
				t.Errorf("%v, expected %q", got, test.want)
			}
		})
	}
}

// TestVerifyFolderOfEngine: a folder with nothing but engines' files has nothing to check, whichever peer left them.
func TestVerifyFolderOfEngine(t *testing.T) {
	dir := []string{"../../testdata/openttd/money_poke"}
	tree, err := archive.Open(dir, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	_, err = Verify(tree, dir, snapshot.Expected{})
	if !errors.Is(err, frame.ErrLacking) || !strings.Contains(err.Error(), "nothing in the folder") || strings.Contains(err.Error(), "are needed") {
		t.Errorf("got %v, want an error for lack of what can be checked", err)
	}
}
