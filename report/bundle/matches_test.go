package bundle_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/snapshot"
)

// spoken is an order log of a match.
type spoken struct {
	header orderlog.Header
	orders []string // the text in the order of each tick
}

func (l spoken) bytes(t *testing.T) []byte {
	t.Helper()
	l.header.Kinds = []orderlog.OrderKind{{Name: "say"}}
	var out bytes.Buffer
	w, err := orderlog.NewWriter(&out, l.header, orderlog.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range l.orders {
		number := l.header.FirstPoint + uint64(i)
		tick := orderlog.Tick{Number: number, Orders: []orderlog.Order{{Tick: number, Payload: []byte(text)}}}
		if err := w.WriteTick(&tick); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// logOf returns an order log of a peer with orders that begin with a word.
func logOf(seed uint64, peer, word string, change func(h *orderlog.Header)) spoken {
	l := spoken{header: orderlog.Header{Seed: seed, Peer: peer, Peers: []string{"host", "client"}}}
	if change != nil {
		change(&l.header)
	}
	for i := range 20 {
		l.orders = append(l.orders, fmt.Sprint(word, i))
	}
	return l
}

// TestSplit puts logs of ours, messages of engines, tables and other files side by side: the files of each match are
// named, by the letters of their folders and files.
func TestSplit(t *testing.T) {
	build := func(name string) func(h *orderlog.Header) { return func(h *orderlog.Header) { h.Build = name } }
	const faf = "x\nChecksum for beat 1950 mismatched: ab (sim) != cd (someone).\n"
	const ggrs = "x\nDetected checksum mismatch during rollback on frame 308, mismatched frames: [305, 306]\n"
	const table = "tick,host,client\n1,0a,0a\n2,0b,0b\n3,0c,0c\n"
	for name, test := range map[string]struct {
		files  map[string]any // spoken, or text
		want   []string
		doubts string // what the doubts have, empty if there are none
	}{
		"by seed": {
			map[string]any{"a.bin": logOf(1, "host", "x", nil), "b.bin": logOf(1, "client", "x", nil), "c.bin": logOf(2, "host", "x", nil), "d.bin": logOf(2, "client", "x", nil)},
			[]string{"seed 0000000000000001: a.bin b.bin", "seed 0000000000000002: c.bin d.bin"}, "",
		},
		"by seed in the peers' folders": {
			map[string]any{"host/a.bin": logOf(1, "host", "x", nil), "client/a.bin": logOf(1, "client", "x", nil), "host/b.bin": logOf(2, "host", "x", nil), "client/b.bin": logOf(2, "client", "x", nil)},
			[]string{"seed 0000000000000001: client/a.bin host/a.bin", "seed 0000000000000002: client/b.bin host/b.bin"}, "",
		},
		"one seed, two builds": {
			map[string]any{"a.bin": logOf(1, "host", "x", build("1")), "b.bin": logOf(1, "client", "x", build("1")), "c.bin": logOf(1, "host", "x", build("2")), "d.bin": logOf(1, "client", "x", build("2"))},
			[]string{"seed 0000000000000001 in a.bin: a.bin b.bin", "seed 0000000000000001 in c.bin: c.bin d.bin"}, "",
		},
		"one match of two builds": {
			map[string]any{"a.bin": logOf(1, "host", "x", build("1")), "b.bin": logOf(1, "client", "x", build("2"))},
			[]string{"seed 0000000000000001: a.bin b.bin"}, "",
		},
		"one seed, other orders": {
			map[string]any{"a.bin": logOf(1, "host", "x", nil), "b.bin": logOf(1, "client", "x", nil), "c.bin": logOf(1, "host", "y", nil), "d.bin": logOf(1, "client", "y", nil)},
			[]string{"seed 0000000000000001 in a.bin: a.bin b.bin", "seed 0000000000000001 in c.bin: c.bin d.bin"}, "",
		},
		"one seed, nothing shows which": {
			map[string]any{"a.bin": logOf(1, "host", "x", nil), "b.bin": logOf(1, "client", "x", nil), "c.bin": spoken{logOf(1, "host", "", nil).header, []string{"x0", "x1", "other"}}},
			[]string{"seed 0000000000000001: a.bin b.bin c.bin"}, "these may belong to two matches: ",
		},
		"one log twice": {
			map[string]any{"a.bin": logOf(1, "host", "x", nil), "b.bin": logOf(1, "client", "x", nil), "c.bin": logOf(1, "host", "x", nil)},
			[]string{"seed 0000000000000001: a.bin b.bin c.bin"}, "",
		},
		"one who joined again": {
			map[string]any{"a.bin": logOf(1, "host", "x", nil), "b.bin": logOf(1, "client", "x", nil), "c.bin": logOf(1, "client", "y", func(h *orderlog.Header) { h.FirstPoint = 40 })},
			[]string{"seed 0000000000000001: a.bin b.bin c.bin"}, "",
		},
		"folders of sessions": {
			map[string]any{"s/host/a.bin": logOf(1, "host", "x", nil), "s/client/a.bin": logOf(1, "client", "x", nil), "t/host/a.bin": logOf(1, "host", "x", nil), "t/client/a.bin": logOf(1, "client", "x", nil)},
			[]string{"seed 0000000000000001 in s: s/client/a.bin s/host/a.bin", "seed 0000000000000001 in t: t/client/a.bin t/host/a.bin"}, "t may be of the same match as s: all have seed",
		},
		"folders of sessions with other orders": {
			map[string]any{"s/host/a.bin": logOf(1, "host", "x", nil), "s/client/a.bin": logOf(1, "client", "x", nil), "t/host/a.bin": logOf(1, "host", "y", nil), "t/client/a.bin": logOf(1, "client", "y", nil)},
			[]string{"seed 0000000000000001 in s: s/client/a.bin s/host/a.bin", "seed 0000000000000001 in t: t/client/a.bin t/host/a.bin"}, "",
		},
		"folders of peers, two matches of one seed": {
			map[string]any{"client/m/a.bin": logOf(1, "client", "x", nil), "client/n/a.bin": logOf(1, "client", "y", nil), "host/m/a.bin": logOf(1, "host", "x", nil), "host/n/a.bin": logOf(1, "host", "y", nil)},
			[]string{"seed 0000000000000001 in client/m/a.bin: client/m/a.bin host/m/a.bin", "seed 0000000000000001 in client/n/a.bin: client/n/a.bin host/n/a.bin"}, "",
		},
		"folders of sessions, all peers of one name": {
			map[string]any{"s/a/a.bin": logOf(1, "me", "x", nil), "s/b/a.bin": logOf(1, "me", "x", nil), "t/a/a.bin": logOf(1, "me", "y", nil), "t/b/a.bin": logOf(1, "me", "y", nil)},
			[]string{"seed 0000000000000001 in s: s/a/a.bin s/b/a.bin", "seed 0000000000000001 in t: t/a/a.bin t/b/a.bin"}, "",
		},
		"no match is named, in a folder of a session and in one that is none": {
			map[string]any{
				"s/host/a.bin": logOf(1, "host", "x", nil), "s/client/a.bin": logOf(1, "client", "x", nil), "s/client/b.bin": logOf(2, "client", "x", nil), "s/client/game.log": faf,
				"t/host/a.bin": logOf(1, "host", "y", nil), "t/client/a.bin": logOf(1, "client", "y", nil), "t/client/game.log": faf,
				"u/b.bin": logOf(2, "host", "x", nil),
			},
			[]string{"seed 0000000000000001 in s: s/client/a.bin s/host/a.bin", "seed 0000000000000002: s/client/b.bin u/b.bin", "Supreme Commander, s/client/game.log: s/client/game.log", "seed 0000000000000001 in t: t/client/a.bin t/host/a.bin", "Supreme Commander, t: t/client/game.log"},
			"s/client/game.log may be of the same match as t: no file in them shows the match, and nothing but the folders tells them apart; t may be of the same match as s/client/game.log",
		},
		"two games": {
			map[string]any{"a.bin": logOf(1, "host", "x", nil), "b.bin": logOf(1, "client", "x", nil), "game.log": strings.Repeat("far from the start\n", 500) + faf},
			[]string{"seed 0000000000000001: a.bin b.bin", "Supreme Commander, game.log: game.log"}, "",
		},
		"a library's message is of the match beside it": {
			map[string]any{"a.bin": logOf(1, "host", "x", nil), "b.bin": logOf(1, "client", "x", nil), "game.log": ggrs},
			[]string{"GGRS, seed 0000000000000001: a.bin b.bin game.log"}, "",
		},
		"a table is of the match of its folder": {
			map[string]any{"s/a.bin": logOf(1, "host", "x", nil), "s/b.bin": logOf(1, "client", "x", nil), "s/sums.csv": table, "t/a.bin": logOf(2, "host", "x", nil), "t/b.bin": logOf(2, "client", "x", nil)},
			[]string{"seed 0000000000000001: s/a.bin s/b.bin s/sums.csv", "seed 0000000000000002: t/a.bin t/b.bin"}, "",
		},
		"a table beside two matches": {
			map[string]any{"a.bin": logOf(1, "host", "x", nil), "b.bin": logOf(2, "host", "x", nil), "sums.csv": table},
			[]string{"seed 0000000000000001: a.bin", "seed 0000000000000002: b.bin", "sums.csv: sums.csv"}, "sums.csv: no file in it shows its match; it may be one of these: 1: seed 0000000000000001; 2: seed 0000000000000002",
		},
		"messages of two games in one log": {
			map[string]any{"x.log": faf + "Network out of sync seed: 1!=2 , hash: 3!=4 Cycle 145\n" + faf},
			[]string{"Supreme Commander, x.log from line 2 on: x.log", "Stratagus, x.log from line 3 on: x.log"}, "",
		},
		"what is no evidence": {
			map[string]any{"a.bin": logOf(1, "host", "x", nil), "readme": "hello"},
			[]string{"seed 0000000000000001: a.bin"}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for path, what := range test.files {
				content, ok := what.(string)
				if l, is := what.(spoken); is {
					content, ok = string(l.bytes(t)), true
				}
				if !ok {
					t.Fatalf("%T", what)
				}
				path = filepath.Join(dir, filepath.FromSlash(path))
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			m, err := bundle.OpenMatches(archivetest.Open(t, dir), []string{dir})
			if err != nil {
				t.Fatal(err)
			}
			plain := func(text string) string {
				return filepath.ToSlash(strings.ReplaceAll(text, dir+string(filepath.Separator), ""))
			}
			var got, doubts []string
			for _, x := range m.List {
				_, name, _ := strings.Cut(x.String(), ": ")
				got = append(got, plain(name+": "+strings.Join(x.Files, " ")))
				for _, d := range x.Doubts {
					doubts = append(doubts, plain(d))
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if all := strings.Join(doubts, "; "); !strings.Contains(all, test.doubts) || test.doubts == "" && all != "" {
				t.Errorf("doubts %q, expected %q", all, test.doubts)
			}
		})
	}
}

// TestSplitMany bounds the time and the memory of splitting very many files.
func TestSplitMany(t *testing.T) {
	dir := t.TempDir()
	matches, states := effort.Of(12, 300), 16
	files := 0
	for i := range matches {
		for _, peer := range []string{"host", "client"} {
			below := filepath.Join(dir, fmt.Sprint("m", i), peer)
			if err := os.MkdirAll(below, 0o777); err != nil {
				t.Fatal(err)
			}
			seed := uint64(i + 1)
			if err := os.WriteFile(filepath.Join(below, "order-log.bin"), logOf(seed, peer, "x", nil).bytes(t), 0o666); err != nil {
				t.Fatal(err)
			}
			for tick := range states {
				w := &snapshot.World{Head: snapshot.Head{Seed: seed, Peer: peer, Point: snapshot.Point{Tick: uint64(tick)}}}
				if err := snapshot.WriteFile(filepath.Join(below, snapshot.Name(seed, uint64(tick))), w, snapshot.WriteOptions{Plain: true}); err != nil {
					t.Fatal(err)
				}
			}
			files += states + 1
		}
	}
	tree := archivetest.Open(t, dir)
	began := time.Now()
	var m *bundle.Matches
	held := archivetest.Heap(func() {
		var err error
		if m, err = bundle.OpenMatches(tree, []string{dir}); err != nil {
			t.Fatal(err)
		}
	})
	runtime.KeepAlive(m)
	took := time.Since(began)
	if len(m.List) != matches {
		t.Fatalf("%d matches, expected %d", len(m.List), matches)
	}
	for _, x := range m.List {
		if len(x.Files) != 2*(states+1) {
			t.Fatalf("%s has %d files", x, len(x.Files))
		}
	}
	// The bounds are 3 s and 256 MiB for 10,000 files; a busy machine may take longer.
	if took > 30*time.Second || held > 256<<20 {
		t.Errorf("%d files: %v, %d MiB", files, took, held>>20)
	}
	t.Logf("%d files: %v, %d MiB", files, took, held>>20)
}

// Each player's folder has the same folders, of logs and of states, and no file names the player.
func TestSortedFolders(t *testing.T) {
	dir := t.TempDir()
	for _, peer := range []string{"Ann", "Bob"} {
		for path, text := range map[string]string{
			"logs/game.log":  "tick 1 checksum 7\ntick 2 checksum 9\ntick 3 checksum 4\n",
			"state/t3.json":  `{"tick": 3, "units": [{"id": 1, "hp": 5}, {"id": 2, "hp": 6}]}`,
			"state/t9.json":  `{"tick": 9, "units": [{"id": 1, "hp": 4}, {"id": 2, "hp": 6}]}`,
			"state/note.txt": "hello\n",
		} {
			path = filepath.Join(dir, peer, filepath.FromSlash(path))
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	m, err := bundle.OpenMatches(archivetest.Open(t, dir), []string{dir})
	if err != nil || len(m.List) != 1 {
		t.Fatalf("%d matches, %v", len(m.List), err)
	}
	s, err := m.Whole()
	if err != nil {
		t.Fatal(err)
	}
	if got := s.PeerNames(); !slices.Equal(got, []string{"Ann", "Bob"}) {
		t.Errorf("the peers are %q", got)
	}
}
