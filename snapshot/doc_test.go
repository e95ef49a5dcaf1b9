package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/snapshot/merkle"
)

// fenced returns the fenced block after a marker in a page of docs/.
func fenced(t *testing.T, page, marker string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(b), "<!-- "+marker+" -->\n```\n")
	block, _, closed := strings.Cut(rest, "\n```")
	if !ok || !closed {
		t.Fatalf("%s has no block %q", page, marker)
	}
	return block + "\n"
}

// TestDocumentedFile holds the worked example of docs/snapshot.md against the
// code, both ways.
func TestDocumentedFile(t *testing.T) {
	text := fenced(t, "snapshot.md", "example text")
	var want []byte
	for _, line := range strings.Split(strings.TrimSpace(fenced(t, "snapshot.md", "example hex")), "\n") {
		digits := strings.ReplaceAll(line[10:58], " ", "")
		b, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, b...)
	}
	var got memory
	if err := ReadText(&got, strings.NewReader(text), "docs", WriteOptions{Plain: true}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.b, want) {
		t.Errorf("the example's text gives\n%s", hex.Dump(got.b))
	}
	var back bytes.Buffer
	if err := WriteText(&back, open(t, want)); err != nil || back.String() != text {
		t.Errorf("the example's bytes give %v\n%s", err, back.String())
	}
}

// TestDocumentedHashes recomputes the worked example of docs/merkle.md from its
// own hex.
func TestDocumentedHashes(t *testing.T) {
	values := map[string]string{}
	digestOf := regexp.MustCompile(`^(.+?)  +([0-9a-f ]+)`)
	last := ""
	for _, line := range strings.Split(strings.TrimSpace(fenced(t, "merkle.md", "example")), "\n") {
		m := digestOf.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("line %q", line)
		}
		name, value := m[1], strings.ReplaceAll(m[2], " ", "")
		if name == "its digest" {
			b, err := hex.DecodeString(values[last])
			if err != nil {
				t.Fatal(err)
			}
			if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != value {
				t.Errorf("digest of %s is %x", last, sum)
			}
			name = last + " digest"
		}
		values[name], last = value, name
	}
	f := open(t, encode(t, exampleWorld(t), WriteOptions{}))
	ix, err := f.Index(0)
	if err != nil {
		t.Fatal(err)
	}
	leaves := f.Info().Leaves()
	for name, h := range map[string]merkle.Hash{
		"keys block digest": ix.Blocks[0].Keys, "keys digest": ix.KeysDigest, "Health.hp digest": ix.Columns[0].Blocks[0],
		"column digest": ix.Columns[0].Digest, "RNG leaf": leaves[0].Hash, "Infantry leaf": leaves[1].Hash, "root": f.Info().Root,
	} {
		if values[name] != h.String() {
			t.Errorf("%s is %s, the page says %q", name, h, values[name])
		}
	}
	sync := f.Info().Root.Short()
	if !strings.Contains(fenced(t, "merkle.md", "example"), fmt.Sprintf("%s = %d\n", sync, sync.Uint64())) {
		t.Errorf("sync hash is %s = %d", sync, sync.Uint64())
	}
}

func exampleWorld(t *testing.T) *World {
	t.Helper()
	var m memory
	if err := ReadText(&m, strings.NewReader(fenced(t, "snapshot.md", "example text")), "docs", WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	w, err := Load(open(t, m.b))
	if err != nil {
		t.Fatal(err)
	}
	return w
}
