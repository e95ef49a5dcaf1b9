package bisect

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// TestManyPeers: every two peers are compared, so that their number is bounded.
func TestManyPeers(t *testing.T) {
	list := make([]*Peer, 1000)
	for i := range list {
		list[i] = &Peer{}
	}
	if _, err := Run(list, Options{}); err == nil || !strings.Contains(err.Error(), "1000 peers, at most 256") {
		t.Error(err)
	}
}

// TestNearestPair: the peers of one side are equal where they differ from the other side, so the two
// that left more hashes show when. Which side a peer without hashes is on, a state shows.
func TestNearestPair(t *testing.T) {
	dir := t.TempDir()
	good, bad := state{value: 2}, state{value: 3}
	dirs := peersOf(t, dir, list(good, good), list(good, bad))
	third := filepath.Join(dir, "second")
	if err := os.MkdirAll(third, 0o777); err != nil {
		t.Fatal(err)
	}
	for i, s := range list(good, good) {
		write(t, third, uint64(i*100), *s, "")
	}
	for number, dir := range []string{dirs[1], third} {
		f, err := os.Create(filepath.Join(dir, LogName))
		if err != nil {
			t.Fatal(err)
		}
		w, err := orderlog.NewWriter(f, orderlog.Header{Seed: testSeed, Peer: filepath.Base(dir), Peers: []string{"client", "second"}}, orderlog.WriterOptions{})
		for point := uint64(0); point <= 100 && err == nil; point++ {
			sum := merkle.Short{byte(point)}
			if path := filepath.Join(dir, snapshot.Name(testSeed, point)); point%100 == 0 {
				s, err := snapshot.OpenFile(path)
				if err != nil {
					t.Fatal(err)
				}
				sum = s.Info().Root.Short()
				s.Close()
			}
			hash := orderlog.Observed{Point: point, Peer: uint32(number), Kind: orderlog.SyncHash, Bytes: sum[:]}
			err = w.WriteTick(&orderlog.Tick{Number: point, Hashes: []orderlog.Observed{hash}})
		}
		if err := errors.Join(err, w.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	peers := gather(t, append(dirs, third))
	r, err := Run(peers, Options{})
	if err != nil || span(r) != "(99,100]" || !r.Exact || r.Tick != 99 {
		t.Errorf("%s, tick %d, %v", span(r), r.Tick, err)
	}
}

// TestNearestStart: a pair that is equal at the start is nearer than one of which nothing is known there.
func TestNearestStart(t *testing.T) {
	dir := t.TempDir()
	good, bad := state{value: 2}, state{value: 3}
	dirs := peersOf(t, dir, list(good, good), list(good, bad))
	late := filepath.Join(dir, "late")
	if err := os.MkdirAll(late, 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, late, 100, good, "")
	r, err := Run(gather(t, []string{dirs[1], late, dirs[0]}), Options{})
	if err != nil || span(r) != "(0,100]" {
		t.Errorf("%s, %v", span(r), err)
	}
}
