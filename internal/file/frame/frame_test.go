package frame

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

var testFormat = Format{Name: "test file", Magic: "\x89TESTME\n", Version: 2}

type testFrame struct {
	kind    uint32
	payload string
}

func build(t testing.TB, frames ...testFrame) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, testFormat, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		if err := w.WriteFrame(f.kind, []byte(f.payload)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// readFrames returns the frames before the error.
func readFrames(b []byte, f Format) ([]testFrame, error) {
	r, err := NewReader(bytes.NewReader(b), "f.bin", f)
	if err != nil {
		return nil, err
	}
	var frames []testFrame
	for {
		kind, payload, err := r.Next()
		if err != nil {
			if _, _, again := r.Next(); again != err {
				return nil, fmt.Errorf("error changed from %v to %v", err, again)
			}
			return frames, err
		}
		frames = append(frames, testFrame{kind, string(payload)})
	}
}

func TestBytes(t *testing.T) {
	got := hex.EncodeToString(build(t, testFrame{7, "abc"}))
	want := "89544553544d450a" + "0200" + "0000" + "83c4bf52" +
		"03000000" + "07000000" + "b73f4b36" + "04c7ab6a" + "616263" +
		"08000000" + "ffffffff" + "adcf14c5" + "f305a384" + "0100000000000000"
	if got != want {
		t.Errorf("file is\n%s, expected\n%s", got, want)
	}
}

// The checksums above, from a bitwise CRC-32C that shares nothing with
// hash/crc32.
func TestChecksum(t *testing.T) {
	bitwise := func(b []byte) uint32 {
		crc := ^uint32(0)
		for _, c := range b {
			crc ^= uint32(c)
			for range 8 {
				if crc&1 != 0 {
					crc = crc>>1 ^ 0x82f63b78
				} else {
					crc >>= 1
				}
			}
		}
		return ^crc
	}
	for _, s := range []string{"", "abc", "123456789", "\x00\x00\x00\x00"} {
		if got, want := checksum([]byte(s)), bitwise([]byte(s)); got != want {
			t.Errorf("checksum of %q is 0x%08x, expected 0x%08x", s, got, want)
		}
	}
}

func TestMalformed(t *testing.T) {
	good := build(t, testFrame{7, "abc"}, testFrame{8, strings.Repeat("x", 40)})
	const first, second, end = 16, 35, 91 // offsets of the frames
	edit := func(f func(b []byte) []byte) []byte { return f(bytes.Clone(good)) }
	set := func(at int, c byte) []byte {
		return edit(func(b []byte) []byte { b[at] = c; return b })
	}
	header := func(length, kind, payloadSum uint32) []byte {
		h := binary.LittleEndian.AppendUint32(nil, length)
		h = binary.LittleEndian.AppendUint32(h, kind)
		h = binary.LittleEndian.AppendUint32(h, payloadSum)
		return binary.LittleEndian.AppendUint32(h, checksum(h))
	}
	preamble := func(version, flags uint16) []byte {
		p := binary.LittleEndian.AppendUint16([]byte(testFormat.Magic), version)
		p = binary.LittleEndian.AppendUint16(p, flags)
		return binary.LittleEndian.AppendUint32(p, checksum(p))
	}
	cat := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	zeros := func(n int) []byte { return make([]byte, n) }
	count := []byte{1, 0, 0, 0, 0, 0, 0, 0}

	for _, test := range []struct {
		name   string
		file   []byte
		frames int
		kind   error
		want   string
	}{
		{"empty", nil, 0, ErrUnrecognized, `f.bin: empty file, expected magic "\x89TESTME\n" (test file)`},
		{"one byte", good[:1], 0, ErrUnrecognized, `f.bin: file of 1 bytes, expected magic "\x89TESTME\n" (test file)`},
		{"zeros", zeros(64), 0, ErrUnrecognized, `f.bin: file begins with "\x00\x00\x00\x00\x00\x00\x00\x00", expected magic "\x89TESTME\n" (test file)`},
		{"text", []byte("%desynctool"), 0, ErrUnrecognized, `f.bin: file begins with "%desynct", expected magic "\x89TESTME\n" (test file)`},
		{"future", preamble(3, 0), 0, ErrVersion, `f.bin: at offset 8: test file of version 3, expected 1 to 2`},
		{"version 0", preamble(0, 0), 0, ErrVersion, `f.bin: at offset 8: test file of version 0, expected 1 to 2`},
		{"flags", preamble(2, 1), 0, ErrCorrupt, `f.bin: corrupt at offset 0: preamble has flags 0x0001, expected none`},
		{"preamble sum", set(8, 1), 0, ErrCorrupt, `f.bin: corrupt at offset 0: preamble checksum is 0x52bfc483, expected 0x309d4dba`},
		{"half a preamble", good[:12], 0, ErrTorn, `f.bin: torn at offset 0, bytes lost: 12: file ends inside the preamble`},
		{"no frames", good[:first], 0, ErrTorn, `f.bin: torn at offset 16: no end marker`},
		{"half a header", good[:second+9], 1, ErrTorn, `f.bin: torn at offset 35, bytes lost: 9: file ends inside a frame header`},
		{"half a payload", good[:second+20], 1, ErrTorn, `f.bin: torn at offset 35, bytes lost: 20: file ends inside a frame of 40 bytes`},
		{"header and no payload", good[:second+16], 1, ErrTorn, `f.bin: torn at offset 35, bytes lost: 16: file ends inside a frame of 40 bytes`},
		{"no end marker", good[:end], 2, ErrTorn, `f.bin: torn at offset 91: no end marker`},
		{"zero tail", cat(good[:end], zeros(5000)), 2, ErrTorn, `f.bin: torn at offset 91, bytes lost: 5000: 5000 zero bytes at the end of the file`},
		{"zero tail in a header", cat(good[:second+5], zeros(100)), 1, ErrTorn, `f.bin: torn at offset 35, bytes lost: 105: 100 zero bytes at the end of the file`},
		{"zero tail in a payload", cat(good[:second+18], zeros(38)), 1, ErrTorn, `f.bin: torn at offset 35, bytes lost: 56: 38 zero bytes at the end of the file`},
		{"zeros in the middle", cat(good[:second], zeros(56), good[end:]), 1, ErrCorrupt, `f.bin: corrupt at offset 35: frame header checksum is 0x00000000, expected 0x2b60b55d`},
		{"header sum", set(second+4, 9), 1, ErrCorrupt, `f.bin: corrupt at offset 35: frame header checksum is`},
		{"payload sum", set(second+20, 'y'), 1, ErrCorrupt, `f.bin: corrupt at offset 35: payload checksum is`},
		{"last byte", set(len(good)-1, 1), 2, ErrCorrupt, `f.bin: corrupt at offset 91: payload checksum is`},
		{"long", cat(good[:second], header(1<<32-1, 3, 0)), 1, ErrCorrupt, `f.bin: corrupt at offset 35: frame of 4294967295 bytes, limit is 67108864`},
		{"end count", cat(good[:end], header(8, EndKind, checksum(count)), count), 2, ErrCorrupt, `f.bin: corrupt at offset 91: end marker counts 1 frames, the file has 2`},
		{"end length", cat(good[:end], header(1, EndKind, checksum([]byte{2})), []byte{2}), 2, ErrCorrupt, `f.bin: corrupt at offset 91: end marker of 1 bytes, expected 8`},
		{"bytes after", append(bytes.Clone(good), 0), 2, ErrCorrupt, `f.bin: corrupt at offset 115: bytes after the end marker`},
		{"two files", cat(good, good), 2, ErrCorrupt, `f.bin: corrupt at offset 115: bytes after the end marker`},
	} {
		t.Run(test.name, func(t *testing.T) {
			frames, err := readFrames(test.file, testFormat)
			if !errors.Is(err, test.kind) || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error is\n%v, expected\n%s", err, test.want)
			}
			if len(frames) != test.frames {
				t.Errorf("%d frames delivered, expected %d", len(frames), test.frames)
			}
		})
	}
}

func TestOnlyVersion(t *testing.T) {
	only := testFormat
	only.Version = 1
	_, err := readFrames(build(t), only)
	if want := "f.bin: at offset 8: test file of version 2, expected 1"; !errors.Is(err, ErrVersion) || err.Error() != want {
		t.Errorf("error is\n%v, expected\n%s", err, want)
	}
}

func TestUnderlyingErrors(t *testing.T) {
	good := build(t, testFrame{7, "abc"})
	broken := errors.New("cable cut")
	for n := range good {
		r, err := NewReader(io.MultiReader(bytes.NewReader(good[:n]), iotest.ErrReader(broken)), "f.bin", testFormat)
		for err == nil {
			_, _, err = r.Next()
		}
		if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "f.bin: reading at offset ") {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
	r, err := NewReader(iotest.OneByteReader(bytes.NewReader(good)), "f.bin", testFormat)
	for err == nil {
		_, _, err = r.Next()
	}
	if err != io.EOF {
		t.Errorf("one byte a read: %v", err)
	}
}

// A length that the format allows and the file does not hold must not be
// allocated.
func TestLengthClaimsNoMemory(t *testing.T) {
	file := build(t)[:16]
	h := binary.LittleEndian.AppendUint32(nil, 1<<26)
	h = append(h, 1, 0, 0, 0, 0, 0, 0, 0)
	file = append(binary.LittleEndian.AppendUint32(append(file, h...), checksum(h)), "some"...)
	f := testFormat
	f.MaxPayload = 1 << 26

	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readFrames(file, f)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, ErrTorn) {
		t.Error(err)
	}
	if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
		t.Errorf("%d bytes allocated", got)
	}
}

type recorder struct {
	writes, syncs int
	fail          error
}

func (r *recorder) Write(b []byte) (int, error) { r.writes++; return len(b), r.fail }
func (r *recorder) Sync() error                 { r.syncs++; return nil }

// Sync reports it where nothing can be synced, and has nothing against a file that is closed.
func TestWriterSync(t *testing.T) {
	var b bytes.Buffer
	w, err := NewWriter(&b, testFormat, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Sync(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v, but a buffer has no disk", err)
	}
	var out recorder
	if w, err = NewWriter(&out, testFormat, WriterOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), w.Sync()); err != nil || out.syncs != 1 {
		t.Errorf("%v, %d syncs after the end marker, expected 1", err, out.syncs)
	}
	if w, err = NewWriter(&out, testFormat, WriterOptions{}); err != nil {
		t.Fatal(err)
	}
	out.fail = io.ErrShortWrite
	_ = w.WriteFrame(1, nil)
	if err := w.Sync(); err != out.fail {
		t.Errorf("%v, but a frame was not written", err)
	}
}

func TestWriter(t *testing.T) {
	var out recorder
	w, err := NewWriter(&out, testFormat, WriterOptions{Sync: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteFrame(1, []byte("abc")); err != nil {
		t.Fatal(err)
	}
	if out.writes != 2 || out.syncs != 2 {
		t.Errorf("preamble and a frame took %d writes and %d syncs, expected 2 and 2", out.writes, out.syncs)
	}
	if err := w.Sync(); err != nil || out.syncs != 3 {
		t.Errorf("%v, %d syncs, expected one more", err, out.syncs)
	}
	if err := w.WriteFrame(EndKind, nil); err == nil {
		t.Error("a frame of the end marker's kind was accepted")
	}
	if err := w.WriteFrame(1, make([]byte, DefaultMaxPayload+1)); err == nil {
		t.Error("a payload over the limit was accepted")
	}
	out.fail = io.ErrShortWrite
	if err := w.WriteFrame(1, nil); err != out.fail {
		t.Errorf("failing write: %v", err)
	}
	writes := out.writes
	out.fail = nil
	if err := w.Close(); err != io.ErrShortWrite || out.writes != writes {
		t.Errorf("after a failed write, Close wrote %d times and returned %v", out.writes-writes, err)
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frames := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) testFrame {
			return testFrame{
				kind:    rapid.Uint32Range(0, EndKind-1).Draw(t, "kind"),
				payload: string(rapid.SliceOf(rapid.Byte()).Draw(t, "payload")),
			}
		}), 0, 6).Draw(t, "frames")
		var out bytes.Buffer
		w, _ := NewWriter(&out, testFormat, WriterOptions{})
		for _, f := range frames {
			if err := w.WriteFrame(f.kind, []byte(f.payload)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		check := func(name string, file []byte, clean bool) {
			got, err := readFrames(file, testFormat)
			if clean != (err == io.EOF) {
				t.Fatalf("%s: %v", name, err)
			}
			if clean && len(got) != len(frames) || len(got) > len(frames) {
				t.Fatalf("%s: %d frames, expected %d", name, len(got), len(frames))
			}
			for i := range got {
				if got[i] != frames[i] {
					t.Fatalf("%s: frame %d is %v, expected %v", name, i, got[i], frames[i])
				}
			}
		}
		file := out.Bytes()
		check("whole", file, true)
		for n := range file {
			check(fmt.Sprintf("first %d bytes", n), file[:n], false)
		}
		for bit := range 8 * len(file) {
			file[bit/8] ^= 1 << (bit % 8)
			check(fmt.Sprintf("bit %d flipped", bit), file, false)
			file[bit/8] ^= 1 << (bit % 8)
		}
	})
}

func FuzzReader(f *testing.F) {
	good := build(f, testFrame{7, "abc"}, testFrame{8, strings.Repeat("x", 40)})
	f.Add(good)
	f.Add(good[:len(good)-24])
	f.Add(append(bytes.Clone(good[:40]), make([]byte, 100)...))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, file []byte) {
		frames, err := readFrames(file, testFormat)
		var malformed *Error
		if err != io.EOF && !errors.As(err, &malformed) {
			t.Fatalf("neither end nor malformed: %v", err)
		}
		if malformed != nil && errors.Is(err, ErrTorn) && malformed.Offset+malformed.Lost != int64(len(file)) {
			t.Fatalf("%v, in a file of %d bytes", err, len(file))
		}
		if err == io.EOF && binary.LittleEndian.Uint16(file[8:]) == testFormat.Version {
			if again := build(t, frames...); !bytes.Equal(again, file) {
				t.Fatalf("accepted % x, which is written as % x", file, again)
			}
		}
	})
}

func BenchmarkReader(b *testing.B) {
	frames := make([]testFrame, 10000)
	for i := range frames {
		frames[i] = testFrame{2, strings.Repeat("order", 40)}
	}
	file := build(b, frames...)
	b.SetBytes(int64(len(file)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := NewReader(bytes.NewReader(file), "f.bin", testFormat)
		for err == nil {
			_, _, err = r.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}
