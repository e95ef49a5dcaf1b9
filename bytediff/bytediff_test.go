package bytediff_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bytediff"
)

func file(content []byte) bytediff.File {
	return bytediff.File{Name: "file", ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
}

func compare(t *testing.T, a, b []byte) *bytediff.Result {
	t.Helper()
	r, err := bytediff.Compare(file(a), file(b))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// check compares a result with its definition.
func check(t *testing.T, a, b []byte) {
	t.Helper()
	r := compare(t, a, b)
	cut := len(a) != len(b) && (bytes.HasPrefix(a, b) || bytes.HasPrefix(b, a))
	if r.Diverged() == (cut || bytes.Equal(a, b)) || r.Incomplete() != cut {
		t.Fatalf("diverged is %v, incomplete %v", r.Diverged(), r.Incomplete())
	}
	end := min(len(a), len(b))
	var differ []int64
	for i := range end {
		if a[i] != b[i] {
			differ = append(differ, int64(i))
		}
	}
	type span struct{ from, to int64 }
	var spans []span
	for _, at := range differ {
		if n := len(spans); n > 0 && at-spans[n-1].to < 8 {
			spans[n-1].to = at + 1
		} else {
			spans = append(spans, span{at, at + 1})
		}
	}
	prefix, suffix := 0, 0
	for prefix < end && a[prefix] == b[prefix] {
		prefix++
	}
	for suffix < end-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	if r.Prefix != int64(prefix) || r.Suffix != int64(suffix) || r.Bytes != int64(len(differ)) || r.Count != int64(len(spans)) ||
		len(r.Ranges) != min(len(spans), bytediff.MaxRanges) {
		t.Fatalf("prefix %d suffix %d bytes %d ranges %d, kept %d; expected %d %d %d %d", r.Prefix, r.Suffix, r.Bytes, r.Count, len(r.Ranges),
			prefix, suffix, len(differ), len(spans))
	}
	for i, g := range r.Ranges {
		if g.Offset != spans[i].from || g.Offset+g.Length != spans[i].to {
			t.Fatalf("range %d is %d+%d, expected %v", i, g.Offset, g.Length, spans[i])
		}
		to := min(spans[i].to, spans[i].from+bytediff.MaxBytes)
		if !bytes.Equal(g.Raw[0], a[spans[i].from:to]) || !bytes.Equal(g.Raw[1], b[spans[i].from:to]) {
			t.Fatalf("range %d has %x and %x", i, g.Raw[0], g.Raw[1])
		}
		for _, n := range g.Numbers {
			order := binary.ByteOrder(binary.LittleEndian)
			if n.Big {
				order = binary.BigEndian
			}
			wide := make([]byte, 8)
			if n.Big {
				copy(wide[8-n.Width:], a[n.Offset:n.Offset+int64(n.Width)])
			} else {
				copy(wide, a[n.Offset:n.Offset+int64(n.Width)])
			}
			if order.Uint64(wide) != n.Unsigned[0] {
				t.Fatalf("%+v of %x", n, wide)
			}
		}
	}
}

// TestCompare compares files around the sizes of blocks and chunks.
func TestCompare(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 7, 9, 4095, 4096, 4097, 1 << 20, 1<<20 + 77} {
		a := make([]byte, size)
		for i := range a {
			a[i] = byte(r.Uint32() >> 8)
		}
		for _, changes := range []int{0, 1, 3, 40, 3000} {
			b := bytes.Clone(a)
			for range min(changes, size) {
				at := r.IntN(size)
				if changes == 1 {
					at = size - 1
				}
				b[at] ^= 1 << r.IntN(8)
			}
			check(t, a, b)
			check(t, a, b[:size/2])
			check(t, b[size/3:], a)
			check(t, a, append(b, 1, 2, 3))
		}
	}
}

func FuzzCompare(f *testing.F) {
	f.Add([]byte("abc"), []byte("abd"))
	f.Add([]byte("line\nline\n"), []byte("line\nlime\nmore\n"))
	f.Add([]byte("\x7fELF\x02\x01\x01"), []byte("MZ\x90\x00"))
	f.Fuzz(func(t *testing.T, a, b []byte) { check(t, a, b) })
}

// units is an array of structs of 48 bytes behind a header of 12: {u32 id; f32 x; … bool alive at 44; padding}.
func units(n int) []byte {
	out := []byte("HEADHEADHEAD")
	for i := range n {
		out = binary.LittleEndian.AppendUint32(out, uint32(i+1))
		out = binary.LittleEndian.AppendUint32(out, 0x40400000) // 3
		out = append(out, make([]byte, 36)...)
		out = append(out, 1, 0, 0, 0)
	}
	return out
}

func TestStride(t *testing.T) {
	a := units(64)
	for _, c := range []struct {
		name     string
		units    []int
		others   []int
		distance int64
	}{
		{"all", []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, nil, 48},
		{"some", []int{3, 5, 6, 11, 12, 40}, []int{700, 1801}, 48},
		{"every second", []int{0, 2, 4, 6, 8, 10}, nil, 96},
		{"two", []int{3, 5}, nil, 0},
		{"none", nil, []int{20, 333, 1801, 2500, 2901}, 0},
	} {
		b := bytes.Clone(a)
		for _, u := range c.units {
			copy(b[12+48*u+45:], "\xcd\xcd\xcd")
		}
		for _, at := range c.others {
			b[at] ^= 1
		}
		r := compare(t, a, b)
		if c.distance == 0 {
			if r.Stride != nil {
				t.Errorf("%s: %+v", c.name, r.Stride)
			}
			continue
		}
		if want := (bytediff.Stride{Distance: c.distance, Offset: (12 + 45 + 48*int64(c.units[0])) % c.distance, Ranges: len(c.units)}); r.Stride == nil || *r.Stride != want {
			t.Errorf("%s: %+v, expected %+v", c.name, r.Stride, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	a := units(4)
	b := bytes.Clone(a)
	binary.LittleEndian.PutUint32(b[12+48+4:], 0x40500000) // 3.25
	r := compare(t, a, b)
	var texts []string
	for _, n := range r.Ranges[0].Numbers {
		text := fmt.Sprintf("%d@%d %v", n.Width, n.Offset, n.Unsigned)
		if n.Float != nil {
			text += fmt.Sprint(" ", *n.Float)
		}
		if n.Covers(&r.Ranges[0]) {
			text += " all"
		}
		texts = append(texts, text)
	}
	want := []string{"1@66 [64 80] all", "2@66 [16448 16464] all", "2@66 [16448 20544] all", "4@64 [1077936128 1078984704] [3 3.25] all",
		"4@64 [16448 20544] all", "8@64 [1077936128 1078984704] all", "8@64 [70643622084608 88235808129024] all"}
	if strings.Join(texts, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nexpected\n%s", strings.Join(texts, "\n"), strings.Join(want, "\n"))
	}
	for _, bits := range []uint32{0x7f800000, 0x7fc00000, 0xcdcdcdcd + 0x20000000, 1} { // infinite, NaN, -1e18, denormal
		binary.LittleEndian.PutUint32(b[64:], bits)
		if n := compare(t, a, b).Ranges[0].Numbers; n[3].Width != 4 || n[3].Float != nil {
			t.Errorf("%#x is a float: %v", bits, n[3].Float)
		}
	}
}

func TestInserted(t *testing.T) {
	a := []byte("0123456789")
	for _, c := range []struct {
		b    string
		file int
		ok   bool
	}{{"01234xy56789", 1, true}, {"01289", 0, true}, {"0123456789!", 1, true}, {"01234x6789", 0, false}, {"01234x6789yy", 1, false}} {
		if file, ok := compare(t, a, []byte(c.b)).Inserted(); ok != c.ok || ok && file != c.file {
			t.Errorf("%s: %d %v", c.b, file, ok)
		}
	}
}

func TestText(t *testing.T) {
	long := strings.Repeat("ä", 3<<19) // 3 MiB in one line
	for _, c := range []struct {
		a, b           string
		line           int64
		firstA, firstB string
		removed, added int // -1 where lines are not counted
	}{
		{"hello\nworld\nfoo\n", "hello\nwörld\nfoo\nbar\n", 2, "world", "wörld", 1, 2},
		{"a\nb\nc\n", "a\nc\n", 2, "b", "c", 1, 0},
		{"a\n", "a\nnew\n", 2, "", "new", 0, 1},
		{"hp 10\n", "hp 11\n", 1, "hp 10", "hp 11", 1, 1},
		{"\u00e4", "\u00e5", 1, "ä", "å", 1, 1},
		{long + "x\n", long + "y\n", 1, "", "", -1, -1},
		{"x" + long, "y" + long, 1, "", "", -1, -1},
	} {
		r := compare(t, []byte(c.a), []byte(c.b))
		if r.Text == nil || r.Text.Line != c.line || r.Text.Counted != (c.removed >= 0) {
			t.Fatalf("%.20q: %+v", c.a, r.Text)
		}
		if c.removed >= 0 && (r.Text.Removed != c.removed || r.Text.Added != c.added || r.Text.First != [2]string{c.firstA, c.firstB}) {
			t.Errorf("%.20q: %+v", c.a, r.Text)
		}
		if n := len(r.Text.First[0]); n > 200 {
			t.Errorf("%d bytes of a line", n)
		}
	}
	for _, binary := range []string{"a\x00", "\xff\xfe", "\xc3"} {
		if r := compare(t, []byte("text"), []byte(binary)); r.Text != nil {
			t.Errorf("%q is text", binary)
		}
	}
}

func TestShorter(t *testing.T) {
	a := file([]byte("0123456789"))
	a.Size = 12
	if _, err := bytediff.Compare(a, a); err == nil || !strings.Contains(err.Error(), "file: became shorter while it was read: at offset 10") {
		t.Error(err)
	}
}

// TestELF compares build ids with the ids that the linker was given.
func TestELF(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "a.c")
	if err := os.WriteFile(source, []byte("int main(void) { return 0; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var programs [2][]byte
	ids := [2]string{"0123456789abcdef0123456789abcdef01234567", "1111111111111111"}
	for i, id := range ids {
		out := filepath.Join(dir, id)
		if text, err := exec.Command(gcc, "-o", out, "-Wl,--build-id=0x"+id, source).CombinedOutput(); err != nil {
			t.Skipf("%s", text)
		}
		if programs[i], err = os.ReadFile(out); err != nil {
			t.Fatal(err)
		}
	}
	r := compare(t, programs[0], programs[1])
	if r.Programs == nil {
		t.Fatal("no programs")
	}
	for i, p := range r.Programs {
		if p.Format != "ELF" || p.Build != ids[i] {
			t.Errorf("%+v, expected build id %s", p, ids[i])
		}
	}
	for cut := range 40 { // a damaged program is none, or has no build id
		compare(t, programs[0][:len(programs[0])*cut/40], programs[1])
	}
}

// peFile is the least that a PE file with a debug directory has, by the specification of Microsoft.
func peFile(age uint32) []byte {
	order := binary.LittleEndian
	b := make([]byte, 0x400)
	copy(b, "MZ")
	order.PutUint32(b[0x3c:], 0x40)
	copy(b[0x40:], "PE\x00\x00")
	header := b[0x44:]
	order.PutUint16(header, 0x8664)
	order.PutUint16(header[2:], 1)    // sections
	order.PutUint16(header[16:], 240) // size of the optional header
	optional := header[20:]
	order.PutUint16(optional, 0x20b)
	order.PutUint32(optional[108:], 16) // data directories
	order.PutUint32(optional[112+8*6:], 0x1000)
	order.PutUint32(optional[112+8*6+4:], 28)
	section := optional[240:]
	copy(section, ".rdata")
	order.PutUint32(section[8:], 0x100)
	order.PutUint32(section[12:], 0x1000)
	order.PutUint32(section[16:], 0x200)
	order.PutUint32(section[20:], 0x200)
	entry := b[0x200:]
	order.PutUint32(entry[12:], 2)
	order.PutUint32(entry[24:], 0x300)
	copy(b[0x300:], "RSDS\x33\x22\x11\x00\x55\x44\x77\x66\x88\x99\xaa\xbb\xcc\xdd\xee\xff")
	order.PutUint32(b[0x314:], age)
	return b
}

// machoFile is the least that a Mach-O file with a UUID has.
func machoFile(last byte) []byte {
	order := binary.LittleEndian
	var b []byte
	for _, word := range []uint32{0xfeedfacf, 0x0100000c, 0, 2, 1, 24, 0, 0, 0x1b, 24} {
		b = order.AppendUint32(b, word)
	}
	return append(b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, last)
}

func TestPrograms(t *testing.T) {
	r := compare(t, peFile(1), peFile(2))
	if r.Programs == nil || *r.Programs != [2]bytediff.Program{{Format: "PE", Machine: "X86_64", Build: "00112233-4455-6677-8899-aabbccddeeff-1"},
		{Format: "PE", Machine: "X86_64", Build: "00112233-4455-6677-8899-aabbccddeeff-2"}} {
		t.Errorf("%+v", r.Programs)
	}
	r = compare(t, machoFile(15), machoFile(16))
	if r.Programs == nil || r.Programs[0] != (bytediff.Program{Format: "Mach-O", Machine: "Arm64", Build: "00010203-0405-0607-0809-0a0b0c0d0e0f"}) {
		t.Errorf("%+v", r.Programs)
	}
	if r = compare(t, peFile(1), []byte("PE")); r.Programs != nil {
		t.Errorf("%+v", r.Programs)
	}
}
