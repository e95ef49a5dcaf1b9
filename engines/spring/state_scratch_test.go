package spring

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/snapshot"
)

func (s *scratch) readText(text string) (*snapshot.World, string) {
	w, err := s.read(strings.NewReader(text), int64(len(text)), "x")
	if err != nil {
		return nil, err.Error()
	}
	return w, ""
}

// TestReadAgain: a state is read the same whatever was read before it, and what was read stays as it is.
func TestReadAgain(t *testing.T) {
	file, err := os.Open(filepath.Join("..", "..", "testdata", "spring", "pos_1ulp", "Alice", "GameState.txt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(unzipped)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := Parts(strings.NewReader(string(b)), int64(len(b)), "x")
	if err != nil {
		t.Fatal(err)
	}
	const frame = "frame: 1, seed: 0\n"
	texts := []string{
		// The same names of columns by way of other keys.
		frame + "\tteams: 1\n\t\tteamID: 0\n\t\t\tpos: 5\n\t\t\tfoo.hash: 1\n",
		frame + "\tteams: 1\n\t\tteamID: 0\n\t\t\tpos.hash: 5\n\t\t\tfoo: <7\n",
		frame + "\tteams: 1\n\t\tteamID: 0\n\t\t\tpos: 5\n\t\t\tpos.hash: 1\n",
		frame + "\tteams: 2\n\t\tteamID: 7\n\t\t\ta: 1\n\t\t\ta: 2\n\t\tteamID: 3\n\t\t\ta: x\n\t\t\tpos: <1, 2>\n",
		frame + "\tteams: 2\n\t\tteamID: 7\n\t\tteamID: 7\n",
		frame,
	}
	for _, p := range slices.Backward(parts[:8]) {
		texts = append(texts, string(b[p.Offset:p.Offset+p.Size]))
	}
	texts = append(texts, strings.Replace(texts[len(texts)-1], "health: ", "health: <9, ", 3))
	used := new(scratch)
	var worlds []*snapshot.World
	for range 2 {
		for i, text := range texts {
			want, failed := new(scratch).readText(text)
			got, err := used.readText(text)
			if err != failed || !reflect.DeepEqual(got, want) {
				t.Fatalf("state %d is read otherwise: error %q, want %q", i, err, failed)
			}
			worlds = append(worlds, got)
			used.clean()
		}
	}
	for i, w := range worlds {
		if want, _ := new(scratch).readText(texts[i%len(texts)]); !reflect.DeepEqual(w, want) {
			t.Errorf("state %d has changed", i)
		}
	}
}

// TestScratchIsBounded: the memory of a large state is not kept.
func TestScratchIsBounded(t *testing.T) {
	var text strings.Builder
	text.WriteString("frame: 1, seed: 0\n\tteams: 1\n\t\tteamID: 0\n")
	for i := range 3000 {
		fmt.Fprintf(&text, "\t\t\tname%d%s: 1\n", i, strings.Repeat("x", 900))
	}
	fmt.Fprintf(&text, "\t\t\tname: %s\n", strings.Repeat("x", maxScratch))
	used := new(scratch)
	if _, err := used.readText(text.String()); err != "" {
		t.Fatal(err)
	}
	if used.clean(); cap(used.content) > maxScratch || used.known != nil {
		t.Errorf("%d bytes of a file and %d tables are kept", cap(used.content), len(used.known))
	}
}
