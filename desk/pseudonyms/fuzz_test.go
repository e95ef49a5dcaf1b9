package pseudonyms

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/report/peers"
	"github.com/desynctool/desynctool/snapshot"
)

// FuzzRewrite rewrites files of any content: the output is in the same format, and a second rewriting changes nothing.
func FuzzRewrite(f *testing.F) {
	dir := f.TempDir()
	o := session.Options{Config: refsim.Config{Seed: 7, Entities: 100}, Ticks: 12, SnapshotEvery: 6, Peers: []string{"Wilhelmina", "Ottokar"}, Signatures: true, Reports: peers.WriteAll}
	if _, err := session.RecordTo(dir, o, session.TraceSystem); err != nil {
		f.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "Ottokar", "*"))
	if err != nil || len(paths) < 4 {
		f.Fatalf("%q, %v", paths, err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(filepath.Base(path), b)
		f.Add(filepath.Base(path), b[:len(b)*2/3])
	}
	f.Add("a.trace", []byte("\ufeff%desynctool trace 1\r\n%peer \"Ottokar\"\n%meta \"user\" \"x\"\n%peer broken\ntick=1 sum=0x01020304\n%end"))
	f.Add("a.trace.gz", []byte("\x1f\x8b\x08\x00"))
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		s := testScrubber(t)
		once, done := rewritten(t, s, name, b)
		if !done {
			return
		}
		if snapshot.IsSnap(b) {
			state, err := snapshot.Open(bytes.NewReader(once), int64(len(once)), name)
			if err != nil {
				t.Fatalf("the copy cannot be opened: %v", err)
			}
			if peer := state.Info().Peer; s.key.Player(peer) != peer {
				t.Errorf("the copy is of %q", peer)
			}
			state.Close()
		}
		if again, done := rewritten(t, s, name, once); !done || !bytes.Equal(again, once) {
			t.Errorf("rewritten again it has %d bytes, expected %d", len(again), len(once))
		}
	})
}

func rewritten(t *testing.T, s *Scrubber, name string, b []byte) ([]byte, bool) {
	in, out := new(files.Memory), new(files.Memory)
	if _, err := in.Write(b); err != nil {
		t.Fatal(err)
	}
	done, why, err := s.rewrite(in, int64(len(b)), name, out)
	if err != nil {
		t.Fatal(err)
	}
	if !done {
		if why == "" && len(b) > 0 {
			t.Error("a file was kept and nobody said why")
		}
		return nil, false
	}
	stat, err := out.Stat()
	if err != nil {
		t.Fatal(err)
	}
	content := make([]byte, stat.Size())
	if _, err := out.ReadAt(content, 0); err != nil && len(content) > 0 {
		t.Logf("%v", err)
	}
	return content, true
}
