package warzone

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/internal/file/partial"

	"github.com/desynctool/desynctool/snapshot"
)

func shown(t testing.TB, text []byte) *snapshot.World {
	t.Helper()
	w, err := Read(bytes.NewReader(text), int64(len(text)), "desync25702_p0.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestExcerpt reads a real dump as an excerpt without gaps, which has the tables of the whole one, and without each of
// its lines, which changes no value of the rows that stay.
func TestExcerpt(t *testing.T) {
	text, err := os.ReadFile("../../testdata/warzone2100/player_power_3peer/host_p0/desync25702_p0.txt")
	if err != nil {
		t.Fatal(err)
	}
	whole := shown(t, text)
	head := partial.Head{Format: DumpFormat, Paste: "p"}.Line()
	all := shown(t, slices.Concat(head, text))
	if diff := cmp.Diff(whole.Tables, all.Tables); diff != "" {
		t.Errorf("without a gap: %s", diff)
	}
	if all.Incomplete() == "" || all.Point != whole.Point {
		t.Errorf("%q, %v", all.Incomplete(), all.Point)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for i := 1; i+2 < len(lines); i += 3 {
		gap := partial.Gap{First: int64(i + 1), Last: int64(i + 1), Next: int64(i + 2)}
		w := shown(t, slices.Concat(head, bytes.Join(lines[:i], nil), gap.Line(), bytes.Join(lines[i+1:], nil)))
		players := w.Table(snapshot.Archetype, "Player")
		of := whole.Table(snapshot.Archetype, "Player")
		for row := range players.Rows() {
			at := slices.Index(of.Keys.A, players.Keys.A[row])
			if at < 0 || players.Column("player", "name").At(row).String() != of.Column("player", "name").At(at).String() {
				t.Fatalf("without line %d: player %d", i+1, players.Keys.A[row])
			}
		}
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add([]byte("[gameStateUpdate] Player 2 = \"x\"\n\x1dgap 2 3 4\n[droidUpdate] > droid289 = p7\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		text = append(partial.Head{Format: DumpFormat}.Line(), text...)
		w, err := Read(bytes.NewReader(text), int64(len(text)), "x.txt")
		if err != nil {
			return
		}
		if err := w.Validate(); err != nil {
			t.Fatal(err)
		}
		if w.Incomplete() == "" {
			t.Fatal("taken for whole")
		}
	})
}
