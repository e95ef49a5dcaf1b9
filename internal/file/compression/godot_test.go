package compression

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// sentence is what the FastLZ library itself packed into the blocks below.
var sentence = strings.Repeat("tick=1 system=Movement sum=0a\n", 6) + "the quick brown fox jumps over the lazy dog 0123456789 " + strings.Repeat("\x00", 300) + "end"

const (
	levelOne = "1d7469636b3d312073797374656d3d4d6f76656d656e742073756d3d30610ae08e1d18686520717569636b2062726f776e20666f78206a756d70732020be017220401e146c617a7920646f6720303132333435363738392000e0fd00e01a00040000656e64"
	levelTwo = "3d7469636b3d312073797374656d3d4d6f76656d656e742073756d3d30610ae08e1d18686520717569636b2062726f776e20666f78206a756d70732020be017220401e146c617a7920646f6720303132333435363738392000e0ff2100040000656e64"
)

func unhex(t testing.TB, digits string) []byte {
	t.Helper()
	b, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFastLZ(t *testing.T) {
	for _, block := range []string{levelOne, levelTwo} {
		got, err := fastLZ(nil, unhex(t, block), len(sentence))
		if err != nil || string(got) != sentence {
			t.Errorf("%q, %v", got, err)
		}
		for n := range len(block) / 2 { // cut anywhere
			if got, err := fastLZ(nil, unhex(t, block)[:n], len(sentence)); err == nil || !strings.HasPrefix(sentence, string(got)) {
				t.Errorf("cut at %d: %q, %v", n, got, err)
			}
		}
	}
	// What lies further back than 8191 bytes. The library ended 9000 random bytes, and the
	// first 592 of them again, with these.
	var random []byte
	r := rand.New(rand.NewPCG(1, 2))
	for range 9000 {
		random = append(random, byte(r.Uint32()))
	}
	var block []byte
	for n := 0; n < len(random); n += 32 {
		run := random[n:min(n+32, len(random))]
		block = append(append(block, byte(len(run)-1)), run...)
	}
	block[0] |= 1 << 5
	block = append(block, unhex(t, "ffffff49ff0328")...)
	got, err := fastLZ(nil, block, 9592)
	if err != nil || !bytes.Equal(got, append(random, random[:592]...)) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for digits, want := range map[string]string{
		"":                              "ends inside",
		"60":                            "level 4",
		"0061e000":                      "ends inside",
		"00612001":                      "before its content",
		"0061e0ffff":                    "before its content",
		"0061e0ff00":                    "more than 20 bytes",
		"1f" + strings.Repeat("61", 32): "more than 20 bytes",
		"0061":                          "1 bytes, expected 20",
	} {
		if _, err := fastLZ(nil, unhex(t, digits), 20); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", digits, err, want)
		}
	}
}

// godotFile is a file of blocks. Each has content of blockSize bytes except the last.
func godotFile(mode, blockSize, size uint32, blocks ...[]byte) []byte {
	out := []byte(godotMagic)
	for _, n := range []uint32{mode, blockSize, size} {
		out = binary.LittleEndian.AppendUint32(out, n)
	}
	for _, b := range blocks {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(b)))
	}
	return append(append(out, bytes.Join(blocks, nil)...), godotMagic...)
}

func TestGodot(t *testing.T) {
	whole := unhex(t, levelOne)
	sixteen := append([]byte{15}, "ends.\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"...)
	size := uint32(len(sentence))
	for name, test := range map[string]struct {
		file []byte
		want string
	}{
		"one block":    {godotFile(0, 4096, size, whole), sentence},
		"a short end":  {godotFile(0, size, size+5, whole, sixteen), sentence + "ends."},
		"an empty end": {godotFile(0, size, size, whole, sixteen), sentence},
		"nothing":      {godotFile(0, 4096, 0, sixteen), ""},
	} {
		content, packing, err := Unpack(bytes.NewReader(test.file), 0)
		if err != nil || packing != "Godot" || Packing(test.file) != "Godot" {
			t.Fatalf("%s: %q, %v", name, packing, err)
		}
		if got, err := io.ReadAll(content); err != nil || string(got) != test.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		for n := len(godotMagic); n < len(test.file); n++ { // cut anywhere
			content, _, err := Unpack(bytes.NewReader(test.file[:n]), 0)
			if err == nil {
				_, err = io.ReadAll(content)
			}
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%s cut at %d: %v", name, n, err)
			}
		}
	}
	closed := godotFile(0, 4096, size, nil)
	wrong := godotFile(0, 4096, size, whole)
	wrong[len(wrong)-1]++
	for want, file := range map[string][]byte{
		"blocks of zstd, expected FastLZ":  godotFile(2, 4096, size, whole),
		"mode 9, expected 0":               godotFile(9, 4096, size, whole),
		"blocks of 0 bytes":                godotFile(0, 0, size, whole),
		"blocks of 16777216 bytes":         godotFile(0, 16<<20, size, whole),
		"4294967296 blocks":                godotFile(0, 1, 1<<32-1, whole),
		"was not closed":                   closed,
		"more than its content may need":   godotFile(0, 16, 8, make([]byte, 200)),
		"after the last block":             wrong,
		"block 0: 538 bytes, expected 539": godotFile(0, 4096, size+1, whole),
		"block 0: more than 537 bytes":     godotFile(0, 4096, size-1, whole),
	} {
		content, _, err := Unpack(bytes.NewReader(file), 0)
		if err == nil {
			_, err = io.ReadAll(content)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func FuzzFastLZ(f *testing.F) {
	f.Add(unhex(f, levelOne), 538)
	f.Add(unhex(f, levelTwo), 538)
	f.Fuzz(func(t *testing.T, block []byte, size int) {
		size &= 0xffff
		if got, err := fastLZ(nil, block, size); len(got) > size || err == nil && len(got) != size {
			t.Errorf("%d bytes of %d, %v", len(got), size, err)
		}
		file := godotFile(0, 4096, uint32(size)&4095, block)
		content, _, err := Unpack(bytes.NewReader(file), 0)
		if err != nil {
			t.Fatal(fmt.Errorf("the head: %w", err))
		}
		io.Copy(io.Discard, content)
	})
}
