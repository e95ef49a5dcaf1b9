package survey

import (
	"bytes"
	"testing"
)

// TestHexDump: the same 40 bytes as xxd, hexdump and od write them.
func TestHexDump(t *testing.T) {
	want := append(bytes.Repeat([]byte{0x42, 0x4e, 0, 7}, 8), "efabcdef"...)
	for name, text := range map[string]string{
		"xxd":         "00000000: 424e 0007 424e 0007 424e 0007 424e 0007  BN..BN..BN..BN..\n00000010: 424e 0007 424e 0007 424e 0007 424e 0007  BN..BN..BN..BN..\n00000020: 6566 6162 6364 6566                      efabcdef\n",
		"xxd -g1 -u":  "00000000: 42 4E 00 07 42 4E 00 07 42 4E 00 07 42 4E 00 07  BN..BN..BN..BN..\n00000010: 42 4E 00 07 42 4E 00 07 42 4E 00 07 42 4E 00 07  BN..BN..BN..BN..\n00000020: 65 66 61 62 63 64 65 66                          efabcdef\n",
		"hexdump -C":  "00000000  42 4e 00 07 42 4e 00 07  42 4e 00 07 42 4e 00 07  |BN..BN..BN..BN..|\n*\n00000020  65 66 61 62 63 64 65 66                           |efabcdef|\n00000028\n",
		"hexdump":     "0000000 4e42 0700 4e42 0700 4e42 0700 4e42 0700\n*\n0000020 6665 6261 6463 6665\n0000028\n",
		"od -t x1":    "0000000 42 4e 00 07 42 4e 00 07 42 4e 00 07 42 4e 00 07\n*\n0000040 65 66 61 62 63 64 65 66\n0000050\n",
		"od -A x -tx": "000000 07004e42 07004e42 07004e42 07004e42\n000010 07004e42 07004e42 07004e42 07004e42\n000020 62616665 66656463\n000028\n",
	} {
		if got := hexDump([]byte(text)); !bytes.Equal(got, want) {
			t.Errorf("%s: %x, want %x", name, got, want)
		}
	}
	for _, text := range []string{"", "00000000: 424e\n", "100 5f3a\n110 6f3a\n", "0000 aaaa bbbb\n0001 cccc dddd\n", "00000000: 424e 0007 424e 0007 424e 0007 424e 0007  BN\n00000040: 00\n"} {
		if got := hexDump([]byte(text)); got != nil {
			t.Errorf("%q: %x", text, got)
		}
	}
	bomb := "00000000: 424e 0007 424e 0007 424e 0007 424e 0007\n*\n"
	if got := hexDump([]byte(bomb + "00100000: 00\n")); len(got) != 1<<20+1 {
		t.Errorf("%d bytes", len(got))
	}
	if got := hexDump([]byte(bomb + "00100010: 00\n")); got != nil {
		t.Errorf("%d bytes of %d", len(got), len(bomb))
	}
}

// FuzzHexDump: a dump has no more bytes than its text allows.
func FuzzHexDump(f *testing.F) {
	f.Add([]byte("00000000: 424e 0007 424e 0007 424e 0007 424e 0007  BN..\n*\n00000020: 6566\n"))
	f.Add([]byte("0000000 42 4e 00 07 42 4e 00 07 42 4e 00 07 42 4e 00 07\n*\n0000040 65 66\n0000042\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if n := len(hexDump(text)); n > max(leastRepeated, repeatedRatio*len(text))+len(text) {
			t.Errorf("%d bytes of %d", n, len(text))
		}
	})
}
