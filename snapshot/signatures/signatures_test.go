package signatures_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/snapshot/signatures"
)

func secret(n byte) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{n}, ed25519.SeedSize))
}

func state(n uint64) merkle.Hash {
	return sha256.Sum256(binary.LittleEndian.AppendUint64(nil, n))
}

// written returns a chain over some ticks.
func written(t testing.TB, h signatures.Header, key ed25519.PrivateKey, ticks []uint64, end bool) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := signatures.NewWriter(&out, h, key, signatures.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tick := range ticks {
		if err := w.Sign(tick, state(tick)); err != nil {
			t.Fatal(err)
		}
	}
	if end {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func verify(file []byte, o signatures.Options) (*signatures.Chain, error) {
	r, err := signatures.NewReader(bytes.NewReader(file), "f.bin")
	if err != nil {
		return nil, err
	}
	return signatures.Verify(r, o)
}

func count(n int) (ticks []uint64) {
	for i := range n {
		ticks = append(ticks, uint64(i))
	}
	return ticks
}

var host = signatures.Header{Seed: 7, Peer: "host", Start: state(0)}

// drawTicks draws ascending ticks, some of them skipped.
func drawTicks(t *rapid.T, least int) []uint64 {
	n := rapid.IntRange(least, 150).Draw(t, "entries")
	tick := rapid.Uint64Range(0, 1<<40).Draw(t, "first")
	var ticks []uint64
	for range n {
		ticks = append(ticks, tick)
		tick += rapid.SampledFrom([]uint64{1, 1, 1, 2, 30}).Draw(t, "step")
	}
	return ticks
}

// broken has a chain verified. The first break must be of a kind, and at an entry.
func broken(t *rapid.T, what string, file []byte, kind signatures.BreakKind, entry int) *signatures.Chain {
	bound := 0
	chain, err := verify(file, signatures.Options{Workers: rapid.IntRange(1, 3).Draw(t, "workers"), Each: func(e *signatures.Entry, ok bool) {
		if ok {
			bound++
		}
	}})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if len(chain.Breaks) == 0 || chain.Breaks[0].Kind != kind || chain.Breaks[0].Entry != uint64(entry) {
		t.Fatalf("%s: expected %s at entry %d, found %v", what, kind, entry, chain.Breaks)
	}
	if bound != entry {
		t.Fatalf("%s: %d entries are bound, expected %d", what, bound, entry)
	}
	return chain
}

func TestHolds(t *testing.T) {
	effort.Checks(t, 30)
	rapid.Check(t, func(t *rapid.T) {
		ticks := drawTicks(t, 0)
		end := rapid.Bool().Draw(t, "end")
		var out bytes.Buffer
		w, err := signatures.NewWriter(&out, host, secret(1), signatures.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		gaps, skipped := uint64(0), uint64(0)
		for i, tick := range ticks {
			if err := w.Sign(tick, state(tick)); err != nil {
				t.Fatal(err)
			}
			if i > 0 && tick > ticks[i-1]+1 {
				gaps++
				skipped += tick - ticks[i-1] - 1
			}
		}
		if end {
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
		var got []uint64
		chain, err := verify(out.Bytes(), signatures.Options{Each: func(e *signatures.Entry, bound bool) {
			if !bound || e.State != state(e.Tick) {
				t.Fatalf("entry %+v, bound %v", e, bound)
			}
			got = append(got, e.Tick)
		}})
		if err != nil || !chain.Holds() || chain.Closed != end || (chain.Torn == nil) != end || !slices.Equal(got, ticks) {
			t.Fatalf("%+v, %v", chain, err)
		}
		if chain.Gaps != gaps || chain.Skipped != skipped || chain.Count != uint64(len(ticks)) {
			t.Fatalf("%+v, expected %d gaps of %d ticks", chain, gaps, skipped)
		}
	})
}

// TestTampering: a change to any byte of an entry, with all checksums made right, is
// tampering at that entry, and nothing else is said.
func TestTampering(t *testing.T) {
	effort.Checks(t, 30)
	rapid.Check(t, func(t *rapid.T) {
		ticks := drawTicks(t, 1)
		key := secret(1)
		var out bytes.Buffer
		w, _ := signatures.NewWriter(&out, host, key, signatures.WriterOptions{})
		for _, tick := range ticks {
			_ = w.Sign(tick, state(tick))
		}
		_ = w.Close()
		preamble, list := pieces(out.Bytes())
		entry := rapid.IntRange(0, len(ticks)-1).Draw(t, "entry")
		at := rapid.IntRange(0, 143).Draw(t, "byte")
		list[1+entry].payload[at] ^= byte(rapid.IntRange(1, 255).Draw(t, "change"))
		chain := broken(t, fmt.Sprintf("byte %d", at), join(preamble, list), signatures.Tampered, entry)
		if chain.Broken != 1 {
			t.Fatalf("%d breaks: %v", chain.Broken, chain.Breaks)
		}
	})
}

// TestTamperedHeader: a change to the header is found at the first entry, whichever key it has.
func TestTamperedHeader(t *testing.T) {
	effort.Checks(t, 30)
	rapid.Check(t, func(t *rapid.T) {
		ticks := drawTicks(t, 1)
		var theirs bytes.Buffer
		other := host
		key, kind := secret(1), signatures.Missing
		switch rapid.IntRange(0, 3).Draw(t, "what") {
		case 0:
			other.Seed++
		case 1:
			other.Peer += "2"
		case 2:
			other.Start = state(99)
		case 3:
			key, kind = secret(2), signatures.Tampered
		}
		w, _ := signatures.NewWriter(&theirs, other, key, signatures.WriterOptions{})
		_ = w.Close()
		var ours bytes.Buffer
		w, _ = signatures.NewWriter(&ours, host, secret(1), signatures.WriterOptions{})
		for _, tick := range ticks {
			_ = w.Sign(tick, state(tick))
		}
		_ = w.Close()
		preamble, list := pieces(ours.Bytes())
		_, header := pieces(theirs.Bytes())
		list[0] = header[0]
		broken(t, "header", join(preamble, list), kind, 0)
	})
}

// TestRemoval: a run of entries that is gone is entries missing there, never tampering.
func TestRemoval(t *testing.T) {
	effort.Checks(t, 30)
	rapid.Check(t, func(t *rapid.T) {
		ticks := drawTicks(t, 1)
		var out bytes.Buffer
		w, _ := signatures.NewWriter(&out, host, secret(1), signatures.WriterOptions{})
		for _, tick := range ticks {
			_ = w.Sign(tick, state(tick))
		}
		_ = w.Close()
		preamble, list := pieces(out.Bytes())
		from := rapid.IntRange(0, len(ticks)-1).Draw(t, "from")
		n := rapid.IntRange(1, len(ticks)-from).Draw(t, "removed")
		rest := slices.Delete(slices.Clone(list), 1+from, 1+from+n)
		kind := signatures.Missing
		if from+n == len(ticks) {
			kind = signatures.MissingAtEnd
		}
		chain := broken(t, "removal", join(preamble, rest), kind, from)
		if chain.Broken != 1 || chain.Count != chain.Entries+uint64(n) {
			t.Fatalf("%+v", chain)
		}
		if kind == signatures.Missing && from > 0 && (*chain.Breaks[0].Before != ticks[from-1] || chain.Breaks[0].Tick != ticks[from+n]) {
			t.Fatalf("between %d and %d, expected %d and %d", *chain.Breaks[0].Before, chain.Breaks[0].Tick, ticks[from-1], ticks[from+n])
		}
		// With the end gone as well, a tail that is cut off leaves nothing to see.
		if kind == signatures.MissingAtEnd {
			cut, err := verify(join(preamble, rest[:len(rest)-1]), signatures.Options{})
			if err != nil || !cut.Holds() || cut.Closed {
				t.Fatalf("%+v, %v", cut, err)
			}
		}
	})
}

// TestMoved: two entries that changed places.
func TestMoved(t *testing.T) {
	effort.Checks(t, 30)
	rapid.Check(t, func(t *rapid.T) {
		ticks := drawTicks(t, 2)
		var out bytes.Buffer
		w, _ := signatures.NewWriter(&out, host, secret(1), signatures.WriterOptions{})
		for _, tick := range ticks {
			_ = w.Sign(tick, state(tick))
		}
		_ = w.Close()
		preamble, list := pieces(out.Bytes())
		i := rapid.IntRange(0, len(ticks)-2).Draw(t, "one")
		j := rapid.IntRange(i+1, len(ticks)-1).Draw(t, "other")
		list[1+i], list[1+j] = list[1+j], list[1+i]
		broken(t, "moved", join(preamble, list), signatures.Missing, i)
	})
}

// TestOfAnotherChain: an entry, or all of them, that a key signed in another chain. By the same
// key they do not follow; by another they are not by the header's key.
func TestOfAnotherChain(t *testing.T) {
	effort.Checks(t, 30)
	rapid.Check(t, func(t *rapid.T) {
		ticks := drawTicks(t, 1)
		chain := func(h signatures.Header, key ed25519.PrivateKey) ([]byte, []piece) {
			var out bytes.Buffer
			w, _ := signatures.NewWriter(&out, h, key, signatures.WriterOptions{})
			for _, tick := range ticks {
				_ = w.Sign(tick, state(tick))
			}
			_ = w.Close()
			return pieces(out.Bytes())
		}
		preamble, ours := chain(host, secret(1))
		key, kind := secret(1), signatures.Missing
		if rapid.Bool().Draw(t, "another key") {
			key, kind = secret(2), signatures.Tampered
		}
		other := host
		if rapid.Bool().Draw(t, "another session") {
			other.Seed = 8
		} else {
			other.Peer = "client"
		}
		_, theirs := chain(other, key)
		entry := rapid.IntRange(0, len(ticks)-1).Draw(t, "entry")
		one := slices.Clone(ours)
		one[1+entry] = theirs[1+entry]
		broken(t, "one entry", join(preamble, one), kind, entry)
		broken(t, "all entries", join(preamble, append(ours[:1:1], theirs[1:]...)), kind, 0)
	})
}

// TestSigner: what only the owner of the key can do.
func TestSigner(t *testing.T) {
	key := secret(1)
	sign := func(previous merkle.Hash, skipped, tick uint64) signatures.Entry {
		e := signatures.Entry{Previous: previous, Skipped: skipped, Tick: tick, State: state(tick)}
		e.Signature = signatures.Signature(ed25519.Sign(key, e.AppendMessage(nil)))
		return e
	}
	h := host
	h.Key = signatures.Public(key)
	for _, test := range []struct {
		name    string
		entries [][2]uint64 // skipped, tick
		first   int
		want    string
	}{
		{"skipped before the first", [][2]uint64{{5, 5}}, 0, "entry 0, tick 5, at offset 127: the signer contradicts itself: 5 ticks skipped before the first entry, expected 0"},
		{"a tick twice", [][2]uint64{{0, 5}, {0, 6}, {0, 6}}, 2, "entry 2, tick 6, at offset 447: the signer contradicts itself: it signed tick 6 before"},
		{"back", [][2]uint64{{0, 5}, {0, 4}}, 1, "entry 1, tick 4, at offset 287: the signer contradicts itself: it signed tick 5 before"},
		{"too few skipped", [][2]uint64{{0, 5}, {3, 10}}, 1, "entry 1, tick 10, at offset 287: the signer contradicts itself: 3 ticks skipped since tick 5, expected 4"},
		{"skipped that wraps", [][2]uint64{{0, 5}, {1<<64 - 2, 4}}, 1, "entry 1, tick 4, at offset 287: the signer contradicts itself: it signed tick 5 before"},
	} {
		preamble, list := pieces(written(t, host, key, nil, false))
		last := h.Genesis()
		for _, e := range test.entries {
			entry := sign(last, e[0], e[1])
			list = append(list, piece{2, entry.Append(nil)})
			last = entry.Link()
		}
		chain, err := verify(join(preamble, list), signatures.Options{})
		if err != nil || chain.Broken != 1 || chain.Breaks[0].Kind != signatures.Contradiction || chain.Breaks[0].Error() != test.want {
			t.Errorf("%s: %v, %v", test.name, err, chain.Breaks)
		}
	}
	preamble, list := pieces(written(t, host, key, count(3), true))
	e := signatures.End{Last: merkle.Hash(list[4].payload[:32]), Count: 4}
	list[4].payload = e.Append(nil)[:40]
	list[4].payload = append(list[4].payload, ed25519.Sign(key, e.AppendMessage(nil))...)
	chain, err := verify(join(preamble, list), signatures.Options{})
	if err != nil || chain.Broken != 1 || chain.Breaks[0].Kind != signatures.Contradiction || !chain.Breaks[0].End {
		t.Errorf("end of 4 of 3: %v, %v", err, chain.Breaks)
	}
}

func TestBounded(t *testing.T) {
	preamble, list := pieces(written(t, host, secret(1), count(500), true))
	for i := 1; i <= 500; i += 2 {
		list[i].payload[143] ^= 1
	}
	chain, err := verify(join(preamble, list), signatures.Options{MaxBreaks: 7})
	if err != nil || chain.Broken != 250 || len(chain.Breaks) != 7 || chain.Breaks[6].Entry != 12 {
		t.Errorf("%d breaks, %d kept: %v, %v", chain.Broken, len(chain.Breaks), chain.Breaks, err)
	}
}

func TestMalformed(t *testing.T) {
	good := written(t, host, secret(1), count(3), true)
	preamble, list := pieces(good)
	with := func(edit func([]piece) []piece) []byte { return join(preamble, edit(slices.Clone(list))) }
	header := func(hex string) []byte {
		return with(func(l []piece) []piece { l[0].payload = []byte(hex); return l })
	}
	key32 := strings.Repeat("k", 32)
	full := "\xa4seed\x07\xa4peer\xa1h\xa3key\xc4\x20" + key32 + "\xa5start\xc4\x20" + key32
	for _, test := range []struct {
		name string
		file []byte
		kind error
		want string
	}{
		{"empty", nil, frame.ErrUnrecognized, "f.bin: empty file"},
		{"an order log", []byte("\x89DOL\r\n\x1a\n0000000000"), frame.ErrUnrecognized, "f.bin: file begins with"},
		{"preamble alone", good[:16], frame.ErrTorn, "f.bin: torn at offset 16: no end marker"},
		{"no header", join(preamble, nil), frame.ErrCorrupt, "no header"},
		{"entry first", with(func(l []piece) []piece { return l[1:] }), frame.ErrCorrupt, "f.bin: corrupt at offset 16: first frame has kind 2, expected the header, 1"},
		{"second header", with(func(l []piece) []piece { return append(l, l[0]) }), frame.ErrCorrupt, "frame of kind 1 after the end"},
		{"header in the middle", with(func(l []piece) []piece { return slices.Insert(l, 2, l[0]) }), frame.ErrCorrupt, "f.bin: corrupt at offset 287: second header"},
		{"entry after the end", with(func(l []piece) []piece { return append(l, l[3]) }), frame.ErrCorrupt, "frame of kind 2 after the end"},
		{"two ends", with(func(l []piece) []piece { return append(l, l[4]) }), frame.ErrCorrupt, "frame of kind 3 after the end"},
		{"short entry", with(func(l []piece) []piece { l[2].payload = l[2].payload[:143]; return l }), frame.ErrCorrupt, "f.bin: corrupt at offset 287: entry of 143 bytes, expected 144"},
		{"long end", with(func(l []piece) []piece { l[4].payload = append(slices.Clone(l[4].payload), 0); return l }), frame.ErrCorrupt, "end of 105 bytes, expected 104"},
		{"kind 4", with(func(l []piece) []piece { return append(l, piece{4, nil}) }), frame.ErrCorrupt, "frame of kind 4 after the end"},
		{"kind 5", with(func(l []piece) []piece { return slices.Insert(l, 1, piece{5, nil}) }), frame.ErrCorrupt, "frame of unknown kind 5"},
		{"header of nothing", header(""), frame.ErrCorrupt, "header: msgpack at byte 0"},
		{"header is an array", header("\x90"), frame.ErrCorrupt, "header: header is not a map"},
		{"empty map", header("\x80"), frame.ErrCorrupt, `header has no "seed"`},
		{"a key twice", header("\x85" + full + "\xa4seed\x07"), frame.ErrCorrupt, `header has "seed" twice`},
		{"negative seed", header("\x84" + strings.Replace(full, "\x07", "\xd0\xff", 1)), frame.ErrCorrupt, "seed is -1, expected 0 at least"},
		{"seed is a str", header("\x84" + strings.Replace(full, "\x07", "\xa17", 1)), frame.ErrCorrupt, "seed is not an unsigned integer"},
		{"peer is a bin", header("\x84" + strings.Replace(full, "\xa1h", "\xc4\x01h", 1)), frame.ErrCorrupt, "peer is not a str"},
		{"key of 31 bytes", header("\x84" + strings.Replace(full, "\x20"+key32, "\x1f"+key32[1:], 1)), frame.ErrCorrupt, "key has 31 bytes, expected 32"},
		{"key is a str", header("\x84" + strings.Replace(full, "\xc4\x20", "\xd9\x20", 1)), frame.ErrCorrupt, "key is not a bin"},
		{"a key that is a number", header("\x85" + full + "\x01\x01"), frame.ErrCorrupt, "a key of the header is not a str"},
		{"after the map", header("\x84" + full + "\x01"), frame.ErrCorrupt, "1 bytes after the value"},
	} {
		chain, err := verify(test.file, signatures.Options{})
		if !errors.Is(err, test.kind) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, %v, expected %s", test.name, chain, err, test.want)
		}
	}
	for name, file := range map[string][]byte{
		"unknown keys":          header("\x86" + full + "\xa3new\x92\x01\xc0\xa1n\xc3"),
		"integers not shortest": header("\x84" + strings.Replace(full, "\x07", "\xd3\x00\x00\x00\x00\x00\x00\x00\x07", 1)),
	} {
		r, err := signatures.NewReader(bytes.NewReader(file), "f.bin")
		if err != nil || r.Header().Seed != 7 || r.Header().Peer != "h" || string(r.Header().Key[:]) != key32 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for n := range good { // no prefix panics, or is taken for whole
		chain, err := verify(good[:n], signatures.Options{Workers: 1})
		if err == nil && chain.Torn == nil {
			t.Fatalf("%d bytes: %+v", n, chain)
		}
		if err == nil && (!chain.Holds() || chain.Entries > 3) {
			t.Fatalf("%d bytes: %+v", n, chain)
		}
	}
}

func TestWriter(t *testing.T) {
	var out bytes.Buffer
	w, err := signatures.NewWriter(&out, host, secret(1), signatures.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Sign(5, state(5)); err != nil {
		t.Fatal(err)
	}
	for _, tick := range []uint64{5, 4} {
		if err := w.Sign(tick, state(tick)); err == nil {
			t.Errorf("tick %d after 5 was signed", tick)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Sign(6, state(6)) == nil {
		t.Error("signed after the end")
	}
	h := host
	h.Peer = strings.Repeat("p", 65537)
	if _, err := signatures.NewWriter(&out, h, secret(1), signatures.WriterOptions{}); err == nil {
		t.Error("a name of 65537 bytes was written")
	}
}

// TestContinue: whatever a crash left of the file, the chain goes on as if nothing had been, from the
// last whole entry.
func TestContinue(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, signatures.Name)
	open := func(content []byte) *os.File {
		t.Helper()
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	whole := written(t, host, secret(1), count(6), true)
	open4 := written(t, host, secret(1), count(4), false)
	first := len(written(t, host, secret(1), nil, false))
	for n := first; n <= len(open4); n += effort.Of(7, 1) {
		for _, tail := range []int{0, 40} { // as a crashed file system leaves them
			if rest := open4[n:min(len(open4), n+160-(n-first)%160)]; tail > 0 && len(bytes.Trim(rest, "\x00")) == 0 {
				continue // the zeros are those that were to be written
			}
			f := open(append(bytes.Clone(open4[:n]), make([]byte, tail)...))
			w, err := signatures.Continue(f, "f", secret(1), signatures.WriterOptions{Sync: n%40 == 0})
			if err != nil {
				t.Fatalf("%d bytes and %d: %v", n, tail, err)
			}
			for tick := uint64((n - first) / 160); tick < 6; tick++ {
				if err := w.Sign(tick, state(tick)); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(w.Close(), f.Close()); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(got, whole) {
				t.Fatalf("%d bytes and %d: continued, the file has %d bytes that are not those of a chain written at once, %v", n, tail, len(got), err)
			}
		}
	}
	preamble, list := pieces(written(t, host, secret(1), count(4), false))
	frames := func(list []piece) []byte { b := join(preamble, list); return b[:len(b)-24] }
	edited := slices.Clone(list)
	edited[4].payload = append(slices.Clone(list[4].payload[:143]), list[4].payload[143]^1)
	removed := slices.Delete(slices.Clone(list), 2, 3)
	flipped := bytes.Clone(open4)
	flipped[first+30] ^= 1
	for _, test := range []struct {
		name string
		file []byte
		key  byte
		want string
	}{
		{"closed", whole, 1, "was closed after 6 entries"},
		{"closed, the end marker torn", whole[:len(whole)-10], 1, "was closed after 6 entries"},
		{"another key", open4, 2, "the chain is by key"},
		{"entry removed", frames(removed), 1, "entry 1, tick 2, does not follow"},
		{"last signature", frames(edited), 1, "entry 3, tick 3, has a signature that is not valid"},
		{"corrupt", flipped, 1, "corrupt at offset"},
		{"no header", open4[:20], 1, "torn at offset 16"},
	} {
		f := open(test.file)
		_, err := signatures.Continue(f, "f", secret(test.key), signatures.WriterOptions{})
		f.Close()
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, expected %s", test.name, err, test.want)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, test.file) {
			t.Errorf("%s: the file was changed", test.name)
		}
	}
}

// TestMemory: it does not grow with the chain.
func TestMemory(t *testing.T) {
	allocated := func(n int) uint64 {
		file := written(t, host, secret(1), count(n), true)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if chain, err := verify(file, signatures.Options{Workers: 1}); err != nil || !chain.Holds() {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if a, b := allocated(1000), allocated(5000); b > a+a/2+1<<16 {
		t.Errorf("1000 entries take %d bytes, 5000 take %d", a, b)
	}
}

// TestText: a chain comes back from its text as the same bytes, whatever its entries contain.
func TestText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := signatures.Header{Seed: rapid.Uint64().Draw(t, "seed"), Peer: rapid.String().Draw(t, "peer"), Start: state(1)}
		var out bytes.Buffer
		w, _ := signatures.NewWriter(&out, h, secret(1), signatures.WriterOptions{})
		for _, tick := range drawTicks(t, 0) {
			_ = w.Sign(tick, state(tick))
		}
		closed := rapid.Bool().Draw(t, "closed")
		if closed {
			_ = w.Close()
		}
		file := out.Bytes()
		if rapid.Bool().Draw(t, "forged") && closed {
			preamble, list := pieces(file)
			p := list[len(list)-1].payload
			p[rapid.IntRange(0, len(p)-1).Draw(t, "byte")] ^= 1
			file = join(preamble, list)
		}
		r, err := signatures.NewReader(bytes.NewReader(file), "f")
		if err != nil {
			t.Fatal(err)
		}
		var text, back bytes.Buffer
		if err := signatures.WriteText(&text, r); closed != (err == nil) || err != nil && !errors.Is(err, frame.ErrTorn) {
			t.Fatal(err)
		}
		if err := signatures.ParseText(&back, bytes.NewReader(text.Bytes()), "f"); err != nil || !bytes.Equal(back.Bytes(), file) {
			t.Fatalf("%v\n%s", err, &text)
		}
	})
}

func TestMalformedText(t *testing.T) {
	r, err := signatures.NewReader(bytes.NewReader(written(t, host, secret(1), count(2), true)), "f")
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := signatures.WriteText(&text, r); err != nil {
		t.Fatal(err)
	}
	good := text.String()
	edit := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("no %q in\n%s", old, good)
		}
		return strings.Replace(good, old, new, 1)
	}
	for text, want := range map[string]string{
		"":                                 "f: empty text",
		"x":                                "f:1: \"x\", expected",
		edit("header.peer", "header.name"): "f:3: \"header.name",
		edit("= \"host\"", "= host"):       "f:3: invalid syntax",
		edit("header.seed = 7", "header.seed = -7"): "f:2: strconv.ParseUint",
		edit("tick[1]", "tick[-1]"):                 "f:7: \"-1\" is not a number",
		edit("skipped 0", "skipped"):                "f:6: \"state\" is not a number",
		edit("%end", ""):                            "text ends without %end",
		edit("%end", "%fin"):                        "f:9: \"%fin\" after the end of the chain",
		edit("end = count 2", "tick[0] = count 2"):  "f:8: expected skipped",
		good + "tick[0] = 1":                        "f:10: line after the end",
		edit("tick[0] =", "tock[0] ="):              "f:6: \"tock[0]",
		edit("previous 2", "previous "):             "previous has",
		edit("\n%end", " more\n%end"):               "f:8: \"more\" after the last value",
		strings.Repeat("x", 300000):                 "f:1: line is longer than",
	} {
		err := signatures.ParseText(new(bytes.Buffer), strings.NewReader(text), "f")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, expected %s", text, err, want)
		}
	}
}

// FuzzParseText: the chain written from an arbitrary text is read, and gives a text from which the same comes.
func FuzzParseText(f *testing.F) {
	r, err := signatures.NewReader(bytes.NewReader(written(f, host, secret(1), count(2), true)), "f")
	if err != nil {
		f.Fatal(err)
	}
	var text bytes.Buffer
	if err := signatures.WriteText(&text, r); err != nil {
		f.Fatal(err)
	}
	f.Add(text.String())
	f.Add(strings.Replace(text.String(), "%end", "%torn", 1))
	f.Fuzz(func(t *testing.T, text string) {
		var file bytes.Buffer
		if signatures.ParseText(&file, strings.NewReader(text), "f") != nil {
			return
		}
		r, err := signatures.NewReader(bytes.NewReader(file.Bytes()), "f")
		if err != nil {
			t.Fatal(err)
		}
		var twin, again bytes.Buffer
		if err := signatures.WriteText(&twin, r); err != nil && !errors.Is(err, frame.ErrTorn) {
			t.Fatal(err)
		}
		if err := signatures.ParseText(&again, &twin, "f"); err != nil || !bytes.Equal(again.Bytes(), file.Bytes()) {
			t.Fatalf("%v", err)
		}
	})
}

func FuzzVerify(f *testing.F) {
	good := written(f, host, secret(1), count(3), true)
	f.Add(good, 0, byte(0))
	f.Add(good, 200, byte(1))
	f.Add(good[:len(good)-30], 300, byte(255))
	preamble, list := pieces(good)
	f.Add(join(preamble, append(list[:2:2], list[3:]...)), 60, byte(4))
	f.Fuzz(func(t *testing.T, file []byte, at int, change byte) {
		// As it is, then with one byte of a payload changed and the checksums made right again.
		if _, err := verify(file, signatures.Options{}); err != nil {
			return
		}
		preamble, list := pieces(bytes.Clone(file[:whole(file)]))
		if at < 0 || len(list) == 0 || change == 0 {
			return
		}
		p := list[at%len(list)]
		if len(p.payload) == 0 {
			return
		}
		p.payload[at/len(list)%len(p.payload)] ^= change
		changed, err := verify(join(preamble, list), signatures.Options{})
		if err == nil && p.kind != 1 && changed.Holds() {
			t.Fatalf("frame %d of kind %d was changed, and the chain holds", at%len(list), p.kind)
		}
	})
}

// whole is how many bytes of a file are whole frames.
func whole(file []byte) int {
	n := 16
	for len(file)-n >= 16 {
		length := int(binary.LittleEndian.Uint32(file[n:]))
		if length > len(file)-n-16 {
			break
		}
		n += 16 + length
	}
	return n
}

func BenchmarkVerify(b *testing.B) {
	const n = 54000
	file := written(b, host, secret(1), count(n), true)
	b.SetBytes(int64(len(file)))
	for b.Loop() {
		if chain, err := verify(file, signatures.Options{}); err != nil || !chain.Holds() {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "signatures/s")
}

func BenchmarkSign(b *testing.B) {
	var out bytes.Buffer
	w, err := signatures.NewWriter(&out, host, secret(1), signatures.WriterOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for tick := uint64(0); b.Loop(); tick++ {
		out.Reset()
		if err := w.Sign(tick, state(tick)); err != nil {
			b.Fatal(err)
		}
	}
}
