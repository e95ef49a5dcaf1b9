package warzone

import (
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/snapshot"
)

// TestNaming names what a real dump holds: droid 180 is at 2933, 2807.
func TestNaming(t *testing.T) {
	f := Format()
	s, err := snapshot.OpenPath(files.Disk, filepath.Join("..", "..", "testdata", "warzone2100", "insync_3peer", "desync25702_p0.txt"), &f)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := newNaming(s)
	droid := n.Entity("Droid", snapshot.Key{A: 180})
	if name, place := n.Describe(droid); droid.Kind != "droid" || name != "" || place != "tile x 22, y 21" || !n.Has(droid) {
		t.Errorf("%+v: %q, %q", droid, name, place)
	}
	if n.Has(snapshot.Entity{Kind: "droid", Key: snapshot.Key{A: 1 << 40}}) {
		t.Error("a droid is there that is not")
	}
	economy, count := n.Entity("Economy", snapshot.Key{A: 1}), n.Entity("Count", snapshot.Key{A: 1})
	if economy != count || economy.Kind != "player" || !n.Has(economy) {
		t.Errorf("%+v and %+v", economy, count)
	}
}
