package pseudonyms_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/desk/pseudonyms"
)

// What a proof covers, and what is damaged, is kept byte for byte, and that is said. The rest of a torn log
// is as it was.
func TestKept(t *testing.T) {
	dir := t.TempDir()
	o := session.Options{Config: refsim.Config{Seed: 7, Entities: 100}, Ticks: 30, SnapshotEvery: 15, Peers: []string{"Wilhelmina", "Ottokar"}, Signatures: true}
	if _, err := session.RecordTo(dir, o, session.TraceSystem); err != nil {
		t.Fatal(err)
	}
	chain := filepath.Join(dir, "Ottokar", "tick-signatures.bin")
	log := filepath.Join(dir, "Ottokar", "order-log.bin")
	state := filepath.Join(dir, "Ottokar", "desync_0000000000000007_0000000015.snap")
	for _, torn := range []string{log, state} {
		b, err := os.ReadFile(torn)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(torn, b[:len(b)-20], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	left, err := pseudonyms.NewScrubber(key(t)).Copy(context.Background(), dir, &out)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]byte{}
	at := key(t).Player("Ottokar") + "/"
	each(t, out.Bytes(), func(name string, content []byte) { found[name] = content })
	for path, why := range map[string]string{chain: "a signature covers the name", state: "it is damaged"} {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := at + filepath.Base(path)
		if !bytes.Equal(found[name], want) {
			t.Errorf("%s has %d bytes, expected the %d of the file", name, len(found[name]), len(want))
		}
		if !slices.ContainsFunc(left, func(l string) bool { return strings.HasPrefix(l, name+": "+why) }) {
			t.Errorf("%s: %q is not said in %q", name, why, left)
		}
	}
	whole, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if got := found[at+"order-log.bin"]; bytes.Contains(got, []byte("Ottokar")) || !bytes.HasSuffix(got, whole[len(whole)-400:]) {
		t.Error("the torn log has the name, or another end")
	}
}
