package check

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/snapshot/signatures"
)

var chainKey = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

// goodChain is a chain by the reference writer, with a tick left out.
func goodChain(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := signatures.NewWriter(&out, signatures.Header{Seed: 300, Peer: "host", Start: merkle.Hash{1}}, chainKey, signatures.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tick := range []uint64{5, 6, 8, 9} {
		if err := w.Sign(tick, sha256.Sum256([]byte{byte(tick)})); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// takeChain takes a chain apart into its frames.
func takeChain(b []byte) *framed {
	f := &framed{magic: string(b[:8]), version: 1}
	for b = b[16:]; ; {
		n, kind := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
		if kind == 0xffffffff {
			return f
		}
		f.frames = append(f.frames, testFrame{kind: kind, value: raw(slices.Clone(b[16 : 16+n]))})
		b = b[16+n:]
	}
}

// resign makes the signatures and links of a chain right again, from an entry on.
func resign(f *framed, from int) {
	sign := func(text string, b []byte, n int) {
		copy(b[n:], ed25519.Sign(chainKey, append([]byte(text), b[:n]...)))
	}
	for i := from; i < len(f.frames); i++ {
		b := []byte(f.frames[i].value.(raw))
		if i > from {
			copy(b, linkOfTest(f.frames[i-1].value.(raw)))
		}
		if len(b) == 144 {
			sign("desynctool tick-signatures 1 entry\n", b, 80)
		} else {
			sign("desynctool tick-signatures 1 end\n", b, 40)
		}
	}
}

func testChain(t *testing.T) {
	b := goodChain(t)
	good(t, "tick-signatures.bin", b)
	if again := takeChain(b).bytes(); !bytes.Equal(again, b) {
		t.Fatal("the file that was put together again is another one")
	}
	const head, first, second, third, fourth, end = 0, 1, 2, 3, 4, 5
	header := func(f *framed) []byte { return f.frames[head].value.(raw) }
	replace := func(f *framed, old, new string) {
		f.frames[head].value = raw(bytes.Replace(header(f), []byte(old), []byte(new), 1))
	}
	entry := func(f *framed, i int) []byte { return f.frames[i].value.(raw) }
	for _, m := range []struct {
		rule   string
		change func(f *framed)
	}{
		{"sign-header-first", func(f *framed) { f.frames = slices.Insert(f.frames, 2, f.frames[head]) }},
		{"sign-kind", func(f *framed) { f.frames = slices.Insert(f.frames, 2, testFrame{kind: 4, value: raw("x")}) }},
		{"sign-kind", func(f *framed) { f.frames = slices.Insert(f.frames, 2, testFrame{kind: 2, value: raw("x")}) }},
		{"sign-kind", func(f *framed) { f.frames = append(f.frames, f.frames[end]) }},
		{"sign-limit", func(f *framed) {
			f.frames = slices.Insert(f.frames, 2, testFrame{kind: 2, value: raw(make([]byte, 1<<20+1))})
		}},
		{"sign-limit", func(f *framed) { replace(f, "\xa4host", "\xdb\x00\x01\x00\x01"+strings.Repeat("x", 65537)) }},
		{"sign-header", func(f *framed) { replace(f, "\xa4peer", "\xa4seed") }},
		{"sign-header", func(f *framed) { replace(f, "\x84", "\x85") }},
		{"sign-header", func(f *framed) { replace(f, "\xc4\x20", "\xc4\x1f") }},
		{"sign-header", func(f *framed) {
			f.frames[head].value = raw(append([]byte{0x83}, header(f)[1:len(header(f))-40]...))
		}},
		{"sign-shortest", func(f *framed) { replace(f, "\xcd\x01\x2c", "\xce\x00\x00\x01\x2c") }},
		{"sign-shortest", func(f *framed) {
			seed := string(header(f)[1:9]) // goes to the end
			replace(f, seed, "")
			f.frames[head].value = raw(append(header(f), seed...))
		}},
		{"sign-unknown", func(f *framed) {
			replace(f, "\x84", "\x85")
			f.frames[head].value = raw(append(header(f), "\xa3new\x93\x01\x82\xa1k\xc4\x01\x00\x02\xcb12345678\xdc\x00\x01\xd2abcd"...))
		}},
		{"sign-signature", func(f *framed) {
			entry(f, fourth)[143] ^= 1
			copy(entry(f, end), linkOfTest(entry(f, fourth)))
			resign(f, end)
		}},
		{"sign-signature", func(f *framed) { entry(f, end)[103] ^= 1 }},
		{"sign-previous", func(f *framed) { entry(f, first)[0] ^= 1; resign(f, first) }},
		{"sign-skipped", func(f *framed) { entry(f, third)[32] = 0; resign(f, third) }},
		{"sign-skipped", func(f *framed) { entry(f, first)[32] = 5; resign(f, first) }},
		{"sign-ascending", func(f *framed) {
			entry(f, fourth)[40] = 8
			entry(f, fourth)[32] = 0
			resign(f, fourth)
		}},
		{"sign-last", func(f *framed) { entry(f, end)[0] ^= 1; resign(f, end) }},
		{"sign-count", func(f *framed) { entry(f, end)[32] = 5; resign(f, end) }},
		{"sign-no-end", func(f *framed) { f.frames = f.frames[:end] }},
	} {
		f := takeChain(b)
		m.change(f)
		breaks(t, m.rule, "tick-signatures.bin", f.bytes())
	}
	var named bytes.Buffer
	w, err := signatures.NewWriter(&named, signatures.Header{Peer: "\xff"}, chainKey, signatures.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	breaks(t, "sign-utf8", "tick-signatures.bin", named.Bytes())
}

func linkOfTest(b []byte) []byte {
	h := sha256.Sum256(append([]byte("desynctool tick-signatures 1 link\n"), b...))
	return h[:]
}
