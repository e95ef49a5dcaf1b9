package bundle

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/snapshot/signatures"
)

// TestChains: the chains of a session are all of them, wherever they are, and no state is opened to find them.
func TestChains(t *testing.T) {
	var chain bytes.Buffer
	w, err := signatures.NewWriter(&chain, signatures.Header{Peer: "host"}, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), signatures.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for tick := range uint64(3) {
		if err := w.Sign(tick, merkle.Hash{byte(tick)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for tick := range 40 {
		for _, peer := range []string{"guest", "host"} {
			write(t, filepath.Join(dir, peer, fmt.Sprintf("desync_7_%d.snap", tick)), "a state")
		}
	}
	for _, name := range []string{"beside.bin", "guest/of-host.bin", "host/" + signatures.Name, "host/more/other.bin", "host/.hidden.bin"} {
		write(t, filepath.Join(dir, name), chain.String())
	}
	for _, c := range []struct {
		paths []string
		want  int
	}{
		{[]string{""}, 4}, {[]string{"guest", "host"}, 3}, {[]string{"guest", "host", "beside.bin"}, 4}, {[]string{"host/.hidden.bin", "guest"}, 2},
	} {
		var paths []string
		for _, p := range c.paths {
			paths = append(paths, filepath.Join(dir, p))
		}
		tree, err := archive.Open(paths, archive.Options{Count: true})
		if err != nil {
			t.Fatal(err)
		}
		defer tree.Close()
		s, err := Open(tree, paths)
		if err != nil {
			t.Fatal(err)
		}
		before := tree.Usage(paths).Opened
		got := s.Chains()
		if u := tree.Usage(paths); u.Opened != before || u.Opened > 20 {
			t.Errorf("%v: %s, %d files before the search", c.paths, u, before)
		}
		var want []*File
		for _, f := range s.everything() {
			if f.isChain() {
				want = append(want, f)
			}
		}
		less := func(a, b *File) int { return bytes.Compare([]byte(a.Path), []byte(b.Path)) }
		slices.SortFunc(got, less)
		slices.SortFunc(want, less)
		if !slices.Equal(got, want) || len(got) != c.want {
			t.Errorf("%v: %d chains, %d by looking at each file, want %d", c.paths, len(got), len(want), c.want)
		}
	}
}
