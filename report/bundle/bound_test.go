package bundle_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
)

// TestManyPeers: if there are more folders of peers than any game has, the first are compared, and the session reports
// how many were not. Files that are no evidence do not count.
func TestManyPeers(t *testing.T) {
	for _, c := range []struct {
		folders int
		lost    string
	}{{256, ""}, {259, ": 3 more folders and files that hold evidence were not compared, from "}} {
		dir := t.TempDir()
		for i := range c.folders {
			var out bytes.Buffer
			if err := orderlog.WriteLog(&out, &orderlog.Log{Header: orderlog.Header{Seed: 7, Peer: fmt.Sprint("p", i)}}); err != nil {
				t.Fatal(err)
			}
			at := filepath.Join(dir, fmt.Sprintf("p%03d", i))
			if err := os.Mkdir(at, 0o755); err != nil {
				t.Fatal(err)
			}
			for name, content := range map[string][]byte{filepath.Join(at, "order-log.bin"): out.Bytes(), filepath.Join(dir, fmt.Sprintf("note%d.md", i)): []byte("a note")} {
				if err := os.WriteFile(name, content, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		s, err := bundle.OpenPaths(dir)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(s.Peers()); n != 256 {
			t.Errorf("%d folders: %d peers", c.folders, n)
		}
		lost := strings.Join(s.Lost(), "\n")
		if (lost == "") != (c.lost == "") || !strings.Contains(lost, c.lost) || c.lost != "" && !strings.Contains(lost, "p256 on") {
			t.Errorf("%d folders: lost %q", c.folders, lost)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
