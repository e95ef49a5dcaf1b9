package formats

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestNearest damages our files and asks what they were.
func TestNearest(t *testing.T) {
	data := filepath.Join("..", "..", "testdata")
	for _, c := range []struct{ file, was, is, name, want string }{
		{"ggpo/hidden/synclogs/state-0021-replay.log", "GameState", "GameStote", "x.txt", `nearest is ggpo-state: line 1: "GameStote object.", expected it to begin with "GameState object."`},
		{"orderlog/rejoin.bin", "DOL", "DOM", "x", `nearest is order-log: byte 3: the file begins with "\x89DOM\r\n\x1a\n", expected "\x89DOL\r\n\x1a\n"`},
		{"orderlog/rejoin.bin", "\x89DOL\r\n\x1a\n", "?", "order-log.bin", `by its name it would be order-log: byte 0: the file begins with `},
		{"cuts/right.snap", "SNAP", "SNIP", "x", `nearest is snap: byte 3: `},
		{"0ad/mp_orders_walkspeed/host/commands.txt", "start {", "{", "x.txt", `nearest is 0ad-log (with 5 kinds of its lines): line 1: "{\"settings`},
		{"openra/syncreport-2022-06-26T120000Z.log", "Player: ", "Spieler: ", "x.log", `nearest is openra (with 6 kinds of its lines): line 1: "Spieler: `},
		{"openrct2/desync_1749630100_17779980.txt", "tick left", "tock left", "x.txt", `nearest is openrct2: line 1: "tock left = 010F4D0C, `},
		{"openrct2/desync_1749630100_17779980.txt", "tick left", "Notes:", "desync_1749630100_17779980.txt", `by its name it would be openrct2: line 1: "Notes:`},
		{"warzone2100/insync_3peer/desync25702_p0.txt", "gameTime=25702", "gameTime=x", "x.txt", `nearest is warzone-dump: file begins with `},
	} {
		text, err := os.ReadFile(filepath.Join(data, c.file))
		if err != nil {
			t.Fatal(err)
		}
		bad := bytes.Replace(text, []byte(c.was), []byte(c.is), 1)
		if bytes.Equal(bad, text) {
			t.Fatalf("%s has no %q", c.file, c.was)
		}
		if got := Nearest(c.name, bad); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.file, got, c.want)
		}
	}
}

// TestNearNothing asks about texts that have no format, our sources among them.
func TestNearNothing(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := Nearest(file, text); got != "" {
			t.Errorf("%s: %s", file, got)
		}
	}
	for _, text := range []string{"", "\n", "Players: 4\n", "it happened again\n", "tick\n", "turn left\nend\n"} {
		if got := Nearest("note.txt", []byte(text)); got != "" {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// TestPrefixEdits compares it with the definition: the least distance to any prefix.
func TestPrefixEdits(t *testing.T) {
	var distance func(a, b string) int
	distance = func(a, b string) int {
		switch {
		case a == "":
			return len(b)
		case b == "":
			return len(a)
		case a[0] == b[0]:
			return distance(a[1:], b[1:])
		}
		return 1 + min(distance(a[1:], b), distance(a, b[1:]), distance(a[1:], b[1:]))
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching("[ab]{1,5}")
		begin, text := word.Draw(t, "begin"), word.Draw(t, "text")
		want := len(begin)
		for n := range len(text) + 1 {
			want = min(want, distance(begin, text[:n]))
		}
		if got := prefixEdits(begin, []byte(text)); got != want {
			t.Fatalf("%d edits, want %d", got, want)
		}
	})
}

func FuzzNearest(f *testing.F) {
	f.Add("order-log.bin", []byte("\x89DOM\r\n\x1a\n"))
	f.Add("x.log", []byte("Plaier: A\nSynced Traits:\n"))
	f.Add("x.log", []byte("Player: A (Linux x)\nSynced Traits:\n"))
	f.Fuzz(func(_ *testing.T, name string, head []byte) { Unrecognized(name, head) })
}
