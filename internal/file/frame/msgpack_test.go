package frame

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestScanMsgpack(t *testing.T) {
	for _, test := range []struct {
		hex  string
		want string // empty if accepted
	}{
		{"00", ""}, {"7f", ""}, {"ff", ""}, {"c0", ""}, {"c2", ""}, {"c3", ""},
		{"a3 616263", ""}, {"c4 02 0102", ""}, {"d9 01 61", ""}, {"db 00000001 61", ""},
		{"ca 00000000", ""}, {"cb 0000000000000000", ""}, {"cf ffffffffffffffff", ""}, {"d3 8000000000000000", ""},
		{"90", ""}, {"92 01 a1 61", ""}, {"92 91 91 90 80", ""}, {"82 01 02 03 90", ""},
		{"dc 0000", ""}, {"dd 00000001 c0", ""}, {"de 0001 c0 c0", ""}, {"df 00000000", ""},

		{"", "msgpack at byte 0: buffer ends, 1 more values expected"},
		{"93 01", "msgpack at byte 0: container of 3 values, 1 bytes left"},
		{"92 91 01", "msgpack at byte 3: buffer ends, 1 more values expected"},
		{"00 00", "msgpack at byte 1: 1 bytes after the value"},
		{"90 c0", "msgpack at byte 1: 1 bytes after the value"},
		{"92 00 c1", "msgpack at byte 2: reserved code 0xc1"},
		{"a3 6162", "msgpack at byte 0: value of 4 bytes, 3 left"},
		{"91 c6 ffffffff", "msgpack at byte 1: value of 4294967300 bytes, 5 left"},
		{"c5 00", "msgpack at byte 0: buffer ends inside a length"},
		{"cd 00", "msgpack at byte 0: value of 3 bytes, 2 left"},
		{"dd ffffffff", "msgpack at byte 0: container of 4294967295 values, 0 bytes left"},
		{"df ffffffff c0", "msgpack at byte 0: container of 8589934590 values, 1 bytes left"},
		{"91 d4 00 00", "msgpack at byte 1: extension type, code 0xd4"},
		{"c7 00 00", "msgpack at byte 0: extension type, code 0xc7"},
	} {
		err := ScanMsgpack(unhex(t, test.hex), Limits{})
		if got := fmt.Sprint(err); got != test.want && !(err == nil && test.want == "") {
			t.Errorf("%s: %v, expected %q", test.hex, err, test.want)
		}
		var scan *ScanError
		if err != nil && !errors.As(err, &scan) {
			t.Errorf("%s: error is a %T", test.hex, err)
		}
	}
	for _, s := range []string{"d4 01 00", "d5 01 0000", "d6 ff 00000000", "d7 01 0000000000000000", "d8 01" + strings.Repeat("00", 16), "c7 00 01", "c8 0001 01 00", "c9 00000002 01 0000"} {
		if err := ScanMsgpack(unhex(t, s), Limits{Ext: true}); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}

func TestScanMsgpackLimits(t *testing.T) {
	nest := func(n int) []byte { return append(bytes.Repeat([]byte{0x91}, n), 0xc0) }
	if err := ScanMsgpack(nest(MaxDepth), Limits{}); err != nil {
		t.Error(err)
	}
	if err := ScanMsgpack(nest(MaxDepth+1), Limits{}); err == nil {
		t.Error("nesting beyond the limit was accepted")
	}
	if err := ScanMsgpack(nest(5_000_000), Limits{}); err == nil {
		t.Error("nesting beyond the limit was accepted")
	}
	five := unhex(t, "92 01 92 02 03") // a container counts as a value
	if err := ScanMsgpack(five, Limits{Elements: 5}); err != nil {
		t.Error(err)
	}
	if err := ScanMsgpack(five, Limits{Elements: 4}); err == nil {
		t.Error("five values were accepted where four are the limit")
	}
	huge := append(binary.BigEndian.AppendUint32([]byte{0xdd}, DefaultMaxElements), bytes.Repeat([]byte{0xc0}, DefaultMaxElements)...)
	if err := ScanMsgpack(huge, Limits{}); err == nil {
		t.Error("more values than the default limit were accepted")
	}
}

func TestScanMsgpackAllocates(t *testing.T) {
	b := unhex(t, "92 92 91 91 90 80 82 a1 61 cf ffffffffffffffff a1 62 c4 01 00")
	if n := testing.AllocsPerRun(100, func() {
		if err := ScanMsgpack(b, Limits{}); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations, expected none", n)
	}
}

// scanRecursively is the definition: the length of the value at the start of
// b, or -1.
func scanRecursively(b []byte, depth int) int {
	if len(b) == 0 {
		return -1
	}
	number := func(at, width int) (int, bool) {
		if len(b) < at+width {
			return 0, false
		}
		n := 0
		for _, c := range b[at : at+width] {
			n = n<<8 | int(c)
		}
		return n, true
	}
	data := func(size int) int {
		if size > len(b) {
			return -1
		}
		return size
	}
	container := func(size, n int) int {
		if n > 0 && depth == MaxDepth {
			return -1
		}
		for ; n > 0; n-- {
			child := scanRecursively(b[size:], depth+1)
			if child < 0 {
				return -1
			}
			size += child
		}
		return size
	}
	c := b[0]
	switch {
	case c < 0x80 || c >= 0xe0 || c == 0xc0 || c == 0xc2 || c == 0xc3:
		return 1
	case c < 0x90:
		return container(1, 2*int(c&15))
	case c < 0xa0:
		return container(1, int(c&15))
	case c < 0xc0:
		return data(1 + int(c&31))
	}
	switch c {
	case 0xcc, 0xd0:
		return data(2)
	case 0xcd, 0xd1:
		return data(3)
	case 0xca, 0xce, 0xd2:
		return data(5)
	case 0xcb, 0xcf, 0xd3:
		return data(9)
	}
	width, ok := map[byte]int{0xc4: 1, 0xc5: 2, 0xc6: 4, 0xd9: 1, 0xda: 2, 0xdb: 4, 0xdc: 2, 0xdd: 4, 0xde: 2, 0xdf: 4}[c]
	if !ok {
		return -1
	}
	n, ok := number(1, width)
	switch {
	case !ok:
		return -1
	case c == 0xdc || c == 0xdd:
		return container(1+width, n)
	case c >= 0xde:
		return container(1+width, 2*n)
	}
	return data(1 + width + n)
}

func FuzzScanMsgpack(f *testing.F) {
	for _, s := range []string{"", "93 01 a1 61 c4 01 00", "82 01 02 03 90", "dd ffffffff", "c1", "d4 01 00"} {
		f.Add(unhex(f, s))
	}
	f.Add(bytes.Repeat([]byte{0x91}, 70))
	f.Fuzz(func(t *testing.T, b []byte) {
		err := ScanMsgpack(b, Limits{})
		want := scanRecursively(b, 0) == len(b) && len(b) > 0
		if (err == nil) != want {
			t.Fatalf("% x: %v, expected accepted: %v", b, err, want)
		}
	})
}

func BenchmarkScanMsgpack(b *testing.B) {
	one := unhex(b, "95 cd1234 02 cd0101 00 c4 0c 000102030405060708090a0b")
	buf := binary.BigEndian.AppendUint16([]byte{0xdc}, 10000)
	buf = append(buf, bytes.Repeat(one, 10000)...)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		if err := ScanMsgpack(buf, Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
