package notation

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// npyOf returns an array as numpy.lib.format describes it.
func npyOf(descr, shape string, values ...any) []byte {
	return npyOrdered(descr, "False", shape, values...)
}

func npyOrdered(descr, fortran, shape string, values ...any) []byte {
	header := fmt.Sprintf("{'descr': %s, 'fortran_order': %s, 'shape': %s, }", descr, fortran, shape)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	out := bytes.NewBufferString("\x93NUMPY\x01\x00")
	binary.Write(out, binary.LittleEndian, uint16(len(header)))
	out.WriteString(header)
	order := binary.ByteOrder(binary.LittleEndian)
	if strings.HasPrefix(descr, "'>") {
		order = binary.BigEndian
	}
	for _, v := range values {
		if text, ok := v.(string); ok {
			out.WriteString(text)
		} else {
			binary.Write(out, order, v)
		}
	}
	return out.Bytes()
}

// npzOf returns an archive of arrays, which are names and contents in turn.
func npzOf(method uint16, arrays ...any) string {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(arrays); i += 2 {
		w, _ := z.CreateHeader(&zip.FileHeader{Name: arrays[i].(string) + ".npy", Method: method})
		w.Write(arrays[i+1].([]byte))
	}
	z.Close()
	return out.String()
}

func TestNumpy(t *testing.T) {
	n := numpyNotation()
	for _, c := range []struct {
		array []byte
		want  string
	}{
		{npyOf("'<i8'", "()", int64(-5)), "number(-5)"},
		{npyOf("'|u1'", "(3,)", []uint8{0, 7, 255}), "[ number(0) number(7) number(255) end"},
		{npyOf("'>i2'", "(2, 2)", []int16{1, -2, 3, 4}), "[ [ number(1) number(-2) end [ number(3) number(4) end end"},
		{npyOrdered("'<u4'", "True", "(2, 3)", []uint32{1, 4, 2, 5, 3, 6}), "[ [ number(1) number(2) number(3) end [ number(4) number(5) number(6) end end"},
		{npyOf("'<f4'", "(2,)", []float32{0.1, -2.5}), "[ number(0.1) number(-2.5) end"},
		{npyOf("'>f8'", "(1,)", []float64{0.1}), "[ number(0.1) end"},
		{npyOf("'<f2'", "(2,)", []uint16{0x3800, 0x7e00}), "[ number(0.5) number(nan) end"},
		{npyOf("'<c8'", "(1,)", []float32{1, -2}), "[ [ number(1) number(-2) end end"},
		{npyOf("'|b1'", "(2,)", "\x00\x01"), "[ bool(false) bool(true) end"},
		{npyOf("'|S4'", "(2,)", "abcda\x00\x00\x00"), "[ text(abcd) text(a) end"},
		{npyOf("'<U2'", "(2,)", []int32{'a', 'ö', 'b', 0}), "[ text(aö) text(b) end"},
		{npyOf("'<M8[ns]'", "(1,)", int64(7)), "[ number(7) end"},
		{npyOf("'|O'", "(2,)", "pickled"), "bytes(pickled)"},
		{npyOf("'<f8'", "(0, 3)"), "[ end"},
		{npyOf("[('id', '<u2'), ('at', '<f4', (2,)), ('tag', '|S2')]", "(2,)", uint16(7), []float32{1, 2.5}, "ab", uint16(9), []float32{3, 4}, "c\x00"),
			`[ { "id": number(7) "at": [ number(1) number(2.5) end "tag": text(ab) end { "id": number(9) "at": [ number(3) number(4) end "tag": text(c) end end`},
	} {
		parses(t, n, string(c.array), c.want)
		if c.want == "bytes(pickled)" {
			continue
		}
		begin := 10 + int(binary.LittleEndian.Uint16(c.array[8:]))
		fails(t, n, string(c.array)+"x", fmt.Sprintf("at offset %d: %d bytes, expected %d", begin, 1+len(c.array)-begin, len(c.array)-begin))
	}
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		parses(t, n, npzOf(method, "tick", npyOf("'<i8'", "()", int64(5)), "unit_x", npyOf("'<f4'", "(2,)", []float32{1, 2}), "unit_id", npyOf("'<i4'", "(2,)", []int32{7, 9}),
			"grid", npyOf("'|u1'", "(2,)", "\x01\x02"), "unit_at", npyOf("'<i2'", "(2, 1)", []int16{3, 4}), "world/seed", npyOf("'<u8'", "()", uint64(1<<63))),
			`{ "tick": number(5) "unit": [ { "x": number(1) "id": number(7) "at": [ number(3) end end { "x": number(2) "id": number(9) "at": [ number(4) end end end `+
				`"grid": [ number(1) number(2) end "world": { "seed": number(9223372036854775808) end end`)
	}
	parses(t, n, npzOf(zip.Store, "id", npyOf("'<i4'", "(2,)", []int32{7, 9}), "hp", npyOf("'<i4'", "(2,)", []int32{3, 4}), "seed", npyOf("'<i4'", "(1,)", []int32{3})),
		`{ "rows": [ { "id": number(7) "hp": number(3) end { "id": number(9) "hp": number(4) end end "seed": [ number(3) end end`)

	one := string(npyOf("'<i8'", "(2,)", int64(5), int64(6)))
	fails(t, n, one[:len(one)-1], fmt.Sprintf("at offset %d: the file ends inside an array: 15 bytes, expected 16", len(one)-1))
	fails(t, n, one[:40], "at offset 0: the file ends inside the header of an array")
	fails(t, n, string(npyOf("'<i8'", "(70000, 70000)")), "at offset 10: a shape (70000, 70000), expected fewer elements")
	fails(t, n, npzOf(zip.Deflate, "a", npyOf("'|u1'", "(20000000,)", make([]byte, 20000000))), "at offset 35: the array a: damaged, or too large (<nil>)")
	archive := npzOf(zip.Store, "a", []byte(one))
	fails(t, n, archive[:len(archive)-20], fmt.Sprintf("at offset %d: the file ends inside the list of arrays (zip: not a valid zip file)", len(archive)-20))
	fails(t, n, strings.Replace(archive, "\x05\x00\x00\x00", "\x07\x00\x00\x00", 1), "at offset 37: the array a: damaged, or too large (zip: checksum error)")
	sniffs(t, n, true, one, archive, archive[:60])
	var other bytes.Buffer
	z := zip.NewWriter(&other)
	z.Create("a.json")
	z.Close()
	sniffs(t, n, false, "", "PK\x03\x04", "{}", other.String())
}

func FuzzNumpy(f *testing.F) {
	one := npyOf("'<i4'", "(2,)", []int32{7, 9})
	f.Add(string(one))
	f.Add(string(npyOf("[('id', '<u2'), ('s', '>U1')]", "(1,)", "abcdef")))
	f.Add(npzOf(zip.Store, "id", one, "b.x", one))
	f.Fuzz(func(t *testing.T, text string) { robust(t, numpyNotation(), []byte(text)) })
}
