package bundle_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/snapshot/signatures"
)

// writeState writes a state of one archetype, and so of one leaf, which is its root.
func writeState(t *testing.T, path string, seed, tick uint64, value int) merkle.Hash {
	t.Helper()
	text := fmt.Sprintf("%%desynctool snapshot 1\n%%seed %d\n%%tick %d\n%%peer \"client\"\n%%table archetype \"A\" 1\n%%column \"T\" \"x\" i32\nA[1].T.x = %d\n", seed, tick, value)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := snapshot.ReadText(f, strings.NewReader(text), "text", snapshot.WriteOptions{Plain: true}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := snapshot.Open(bytes.NewReader(b), int64(len(b)), path)
	if err != nil {
		t.Fatal(err)
	}
	return s.Info().Root
}

// forgeRoot writes another root into a state's header, with all checksums right.
func forgeRoot(t *testing.T, path string, root, other merkle.Hash) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := int(binary.LittleEndian.Uint32(b[12:]))
	header := bytes.ReplaceAll(b[32:32+n], root[:], other[:])
	if bytes.Equal(header, b[32:32+n]) {
		t.Fatal("the header does not have the root")
	}
	copy(b[32:], header)
	sum := func(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
	binary.LittleEndian.PutUint32(b[16:], sum(header))
	binary.LittleEndian.PutUint32(b[28:], sum(b[:28]))
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDonors: only a state with content that gives the full signed hash is accepted; each other is refused with its
// reason, and the next one is tried.
func TestDonors(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	right := writeState(t, at("right.snap"), 7, 100, 1)
	alike := right // the first 8 bytes are the same: a forger who knows only the sync hash can do that
	alike[31] ^= 1
	write := func(name string, root merkle.Hash) string {
		f, err := os.Create(at(name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		w, err := signatures.NewWriter(f, signatures.Header{Seed: 7, Peer: "host"}, ed25519.NewKeyFromSeed(make([]byte, 32)), signatures.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for tick := uint64(90); tick < 110; tick++ {
			hash := merkle.Hash{byte(tick)}
			if tick == 100 {
				hash = root
			}
			if tick == 105 {
				continue
			}
			if err := w.Sign(tick, hash); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return at(name)
	}
	chain, chainAlike := write("chain.bin", right), write("alike.bin", alike)

	wrong := writeState(t, at("wrong.snap"), 7, 100, 2)
	forged := writeState(t, at("forged.snap"), 7, 100, 3)
	forgeRoot(t, at("forged.snap"), forged, right)
	cut := right // the sync hash, and nothing after it
	copy(cut[8:], make([]byte, 24))
	short := writeState(t, at("short.snap"), 7, 100, 4)
	forgeRoot(t, at("short.snap"), short, cut)
	writeState(t, at("seed.snap"), 8, 100, 1)
	writeState(t, at("skipped.snap"), 7, 105, 1)
	writeState(t, at("late.snap"), 7, 500, 1)
	writeState(t, at("moved.snap"), 7, 101, 1)
	b, err := os.ReadFile(at("right.snap"))
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-20] ^= 1
	if err := os.WriteFile(at("corrupt.snap"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("empty.snap"), nil, 0o644); err != nil {
		t.Fatal(err)
	}

	refused := []struct{ file, why string }{
		{"missing.snap", "no such file"},
		{"empty.snap", "empty file"},
		{"corrupt.snap", "not usable: "},
		{"forged.snap", "leaf hash in the header does not follow from the digests"},
		{"short.snap", "leaf hash in the header does not follow from the digests"},
		{"wrong.snap", fmt.Sprintf("the root is %s, signed for tick 100 is %s", wrong, right)},
		{"seed.snap", "it has seed 0000000000000008, the chain has seed 0000000000000007"},
		{"skipped.snap", "the signer left out tick 105: it signed tick 104, and then tick 106"},
		{"late.snap", "the chain ends with tick 109, before tick 500"},
		{"moved.snap", "it is the state signed for tick 100"},
	}
	var donors []string
	for _, r := range refused {
		donors = append(donors, at(r.file))
	}
	donors = append(donors, at("right.snap"), at("wrong.snap"))
	tree, err := archive.Open(nil, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	try := func(donors []string, want snapshot.Expected) (snapshot.Verification, bool) {
		t.Helper()
		return bundle.Donate(tree, donors, want)
	}
	signers := func(path string) snapshot.Expected {
		t.Helper()
		s, err := bundle.OpenSigners(tree, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		return snapshot.Expected{Signed: s}
	}
	list, ok := try(donors, signers(chain))
	if !ok || len(list) != len(refused)+1 || list[len(refused)].Path != at("right.snap") || list[len(refused)].Err != nil {
		t.Fatalf("accepted: %v, after %d of %d", ok, len(list), len(refused))
	}
	for i, r := range refused {
		if list[i].Err == nil || !strings.Contains(list[i].Err.Error(), r.why) {
			t.Errorf("%s: %v, expected %s", r.file, list[i].Err, r.why)
		}
	}
	if _, ok := try(donors[:len(refused)], signers(chain)); ok {
		t.Error("one of those that must be refused was accepted")
	}

	// The chain signs another state with the same first 8 bytes.
	list, ok = try([]string{at("right.snap")}, signers(chainAlike))
	if ok || !strings.Contains(list[0].Err.Error(), "only the first 8 bytes agree") {
		t.Errorf("8 bytes: accepted %v, %v", ok, list[0].Err)
	}
	list, ok = try([]string{at("right.snap")}, snapshot.Expected{Root: &alike})
	if ok || !strings.Contains(list[0].Err.Error(), "only the first 8 bytes agree") {
		t.Errorf("8 bytes of --root: accepted %v, %v", ok, list[0].Err)
	}
	if list, ok = try([]string{at("forged.snap"), at("right.snap")}, snapshot.Expected{Root: &right}); !ok || list[0].Err == nil {
		t.Errorf("by the root: accepted %v, %v", ok, list)
	}

	// By another key than the trusted one nothing is accepted.
	key := signatures.Key{1}
	s, err := bundle.OpenSigners(tree, chain, &key)
	if err != nil {
		t.Fatal(err)
	}
	if list, ok = try([]string{at("right.snap")}, snapshot.Expected{Signed: s}); ok || !strings.Contains(list[0].Err.Error(), "the chain is by key") {
		t.Errorf("another key: accepted %v, %v", ok, list)
	}
}
