package bundle_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/snapshot"
)

// lay writes files of a tree: PATH=snap:PEER@TICK, PATH=log:PEER, PATH=link:TARGET or
// PATH=text.
func lay(t *testing.T, dir string, files []string) {
	t.Helper()
	for _, f := range files {
		path, what, _ := strings.Cut(f, "=")
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		kind, rest, _ := strings.Cut(what, ":")
		peer, at, _ := strings.Cut(rest, "@")
		var err error
		switch kind {
		case "snap":
			w := &snapshot.World{Head: snapshot.Head{Seed: 7, Peer: peer, RNG: []byte{1}}}
			if _, err = fmt.Sscan(at, &w.Point.Tick); err == nil {
				err = snapshot.WriteFile(filepath.Join(filepath.Dir(path), snapshot.Name(7, w.Point.Tick)), w, snapshot.WriteOptions{})
			}
		case "log":
			var out strings.Builder
			var w *orderlog.Writer
			if w, err = orderlog.NewWriter(&out, orderlog.Header{Seed: 7, Peer: peer}, orderlog.WriterOptions{}); err == nil {
				if err = w.Close(); err == nil {
					err = os.WriteFile(path, []byte(out.String()), 0o666)
				}
			}
		case "link":
			err = os.Symlink(rest, path)
		default:
			err = os.WriteFile(path, []byte("hello\n"), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestFolders checks what a folder means.
func TestFolders(t *testing.T) {
	for name, test := range map[string]struct {
		files []string
		given []string // the tree itself if empty
		peers []string // name, folder, states and log
		lost  string
		err   string
	}{
		"a folder for each": {
			files: []string{"host/x=snap:host@0", "host/order-log.bin=log:host", "client/x=snap:client@0", "readme=text"},
			peers: []string{"client client 1 false", "host host 1 true"},
		},
		"deeper": {
			files: []string{"up/load/host/x=snap:host@0", "up/load/client/x=snap:client@0", "up/note=text"},
			peers: []string{"client up/load/client 1 false", "host up/load/host 1 false"},
		},
		"older states below a peer's": {
			files: []string{"host/x=snap:host@30", "host/old/x=snap:host@0", "client/x=snap:client@30"},
			peers: []string{"client client 1 false", "host host 1 false"},
			lost:  "host/old: holds evidence too, and was not looked into; name it",
		},
		"one peer's folder": {
			files: []string{"x=snap:host@0", "order-log.bin=log:host", "notes/readme=text"},
			peers: []string{"host . 1 true"},
		},
		"of several peers beside each other": {
			files: []string{"a.bin=log:host", "b.bin=log:client"},
			peers: []string{"client b.bin 0 true", "host a.bin 0 true"},
		},
		"a relay's log beside the peers' folders": {
			files: []string{"relay.bin=log:relay", "host/x=snap:host@0", "client/x=snap:client@0"},
			peers: []string{"client client 1 false", "host host 1 false", "relay relay.bin 0 true"},
		},
		"a stray state beside the peers' folders": {
			files: []string{"x=snap:host@60", "host/x=snap:host@0", "client/x=snap:client@0"},
			peers: []string{"client client 1 false", "host host 2 false"},
		},
		"one by one": {
			files: []string{"x/1=snap:host@0", "y/1=snap:client@0", "h=log:host"},
			given: []string{"x/" + snapshot.Name(7, 0), "y/" + snapshot.Name(7, 0), "h"},
			peers: []string{"client y/" + snapshot.Name(7, 0) + " 1 false", "host x/" + snapshot.Name(7, 0) + " 1 true"},
		},
		"several sessions": {
			files: []string{"one/host/x=snap:host@0", "one/client/x=snap:client@0", "two/host/x=snap:host@0", "two/client/x=snap:client@0"},
			err:   "the folders of several sessions: ",
		},
		"states and logs in folders of their own": {
			files: []string{"host/saves/x=snap:host@0", "host/logs/order-log.bin=log:host", "client/saves/x=snap:client@0", "client/logs/order-log.bin=log:client"},
			peers: []string{"client client 1 true", "host host 1 true"},
		},
		"states below a peer's log": {
			files: []string{"host/order-log.bin=log:host", "host/saves/x=snap:host@0", "client/x=snap:client@0"},
			peers: []string{"client client 1 false", "host host 1 true"},
		},
		"a backup beside the peers": {
			files: []string{"host/x=snap:host@0", "client/x=snap:client@0", "backup/host/x=snap:host@0", "backup/client/x=snap:client@0"},
			peers: []string{"client client 1 false", "host host 1 false"},
			lost:  "backup: holds evidence too, and was not looked into; name it",
		},
		"the states of all peers beside their logs": {
			files: []string{"host/order-log.bin=log:host", "client/order-log.bin=log:client", "dumps/host/x=snap:host@0", "dumps/client/x=snap:client@0"},
			peers: []string{"client client 1 true", "host host 1 true"},
		},
		"the states of all peers deeper below": {
			files: []string{"host/order-log.bin=log:host", "client/order-log.bin=log:client", "report-7/host/states/x=snap:host@0", "report-7/client/states/x=snap:client@0"},
			peers: []string{"client client 1 true", "host host 1 true"},
		},
		"a backup with states beside logs": {
			files: []string{"host/order-log.bin=log:host", "client/order-log.bin=log:client", "backup/host/x=snap:host@0", "backup/client/x=snap:client@0"},
			peers: []string{"client client 0 true", "host host 0 true"},
			lost:  "backup: holds evidence too, and was not looked into; name it",
		},
		"a link to itself": {
			files: []string{"host/x=snap:host@0", "client/x=snap:client@0", "again=link:."},
			peers: []string{"client client 1 false", "host host 1 false"},
		},
		"twice": {files: []string{"x=text"}, given: []string{"x", "x"}, err: "given twice"},
		"too deep": {
			files: []string{"1/2/3/4/5/6/x=snap:host@0", "host/x=snap:host@0", "client/x=snap:client@0"},
			peers: []string{"client client 1 false", "host host 1 false"},
			lost:  "lies too deep, and was not looked into; name it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			lay(t, dir, test.files)
			given := []string{dir}
			if len(test.given) > 0 {
				given = given[:0]
				for _, g := range test.given {
					given = append(given, filepath.Join(dir, filepath.FromSlash(g)))
				}
			}
			tree, err := archive.Open(given, archive.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer tree.Close()
			s, err := bundle.Open(tree, given)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%v, expected %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range s.Peers() {
				rel, err := filepath.Rel(dir, p.Path)
				if err != nil {
					t.Fatal(err)
				}
				name := p.Name
				if name == "" { // a state's header has it, which is read when it is opened
					name = filepath.Base(rel)
					if rel == "." {
						name = "host"
					}
				}
				got = append(got, fmt.Sprintf("%s %s %d %v", name, filepath.ToSlash(rel), len(p.States.Entries), p.Log != nil))
			}
			slices.Sort(got)
			if !slices.Equal(got, test.peers) {
				t.Errorf("the peers are\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(test.peers, "\n"))
			}
			if lost := strings.Join(s.Lost(), "; "); !strings.Contains(lost, test.lost) || test.lost == "" && lost != "" {
				t.Errorf("lost is %q, expected %q", lost, test.lost)
			}
		})
	}
}
