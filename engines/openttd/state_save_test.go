package openttd

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/ulikunitz/xz"

	"github.com/klauspost/compress/zlib"
)

// save builds the body of a save byte by byte.
type stateSave []byte

func (s *stateSave) u8(v ...byte)    { *s = append(*s, v...) }
func (s *stateSave) u16(v uint16)    { *s = binary.BigEndian.AppendUint16(*s, v) }
func (s *stateSave) u32(v uint32)    { *s = binary.BigEndian.AppendUint32(*s, v) }
func (s *stateSave) u64(v uint64)    { *s = binary.BigEndian.AppendUint64(*s, v) }
func (s *stateSave) text(v string)   { *s = append(*s, v...) }
func (s *stateSave) string(v string) { s.gamma(len(v)); s.text(v) }

func (s *stateSave) gamma(n int) {
	switch {
	case n < 1<<7:
		s.u8(byte(n))
	case n < 1<<14:
		s.u16(0x8000 | uint16(n))
	case n < 1<<21:
		s.u8(0xc0|byte(n>>16), byte(n>>8), byte(n))
	case n < 1<<28:
		s.u32(0xe0000000 | uint32(n))
	default:
		s.u8(0xf0)
		s.u32(uint32(n))
	}
}

// fields adds a description: a type and a name, in turn.
func (s *stateSave) fields(typesAndNames ...any) {
	for pair := range slices.Chunk(typesAndNames, 2) {
		s.u8(byte(pair[0].(int)))
		s.string(pair[1].(string))
	}
	s.u8(0)
}

func (s *stateSave) riff(id string, data ...byte) {
	s.text(id)
	s.u8(byte(len(data)>>24)<<4, byte(len(data)>>16), byte(len(data)>>8), byte(len(data)))
	s.u8(data...)
}

// records adds a chunk of one of the other types. A nil record is a hole.
func (s *stateSave) records(id string, typ byte, records ...[]byte) {
	s.text(id)
	s.u8(typ)
	for _, r := range records {
		s.gamma(1 + len(r))
		s.u8(r...)
	}
	s.u8(0)
}

func record(build func(r *stateSave)) []byte {
	var r stateSave
	build(&r)
	return r
}

func (s *stateSave) finish() []byte {
	s.u32(0)
	return *s
}

// pack puts a body into a container.
func pack(t testing.TB, tag string, version uint16, body []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	out.WriteString(tag)
	out.Write(binary.BigEndian.AppendUint16(nil, version))
	out.Write([]byte{0, 0})
	switch tag {
	case "OTTN":
		out.Write(body)
	case "OTTZ":
		z := zlib.NewWriter(&out)
		z.Write(body)
		z.Close()
	case "OTTX":
		z, err := xz.WriterConfig{CheckSum: xz.CRC32, DictCap: 1 << 16}.NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		z.Write(body)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	case "OTTD":
		for part := range slices.Chunk(body, 200) {
			// One run of literals and the end marker.
			data := append([]byte{byte(len(part)) + 17}, part...)
			data = append(data, 0x11, 0, 0)
			block := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
			block = append(block, data...)
			out.Write(binary.BigEndian.AppendUint32(nil, slowAdler(block)))
			out.Write(block)
		}
	}
	return out.Bytes()
}

// slowAdler is the definition of the checksum of LZO blocks.
func slowAdler(p []byte) uint32 {
	var a, b uint64
	for _, c := range p {
		a = (a + uint64(c)) % 65521
		b = (b + a) % 65521
	}
	return uint32(b<<16 | a)
}

var tags = []string{"OTTN", "OTTZ", "OTTX", "OTTD"}

// everything is a body with every type of chunk and of field, with structs in
// lists in structs, holes, and everything that is noise.
func everything() []byte {
	var s stateSave
	s.riff("MAP5", 4, 0, 255)
	s.riff("MAP2", 0x12, 0x34, 0xff, 0xfe)
	s.riff("MAP8", 1, 2, 3) // not two bytes a tile
	s.riff("RAWB", 'r', 'a', 'w')
	s.records("ARRY", chunkArray, []byte("zero"), nil, []byte("two"))
	s.records("SPAR", chunkSparseArray, []byte("\x05five"), []byte("\x81\x00256"))
	s.records("DATE", chunkTable,
		record(func(r *stateSave) {
			r.fields(5, "date", 4, "date_fract", 8, "tick_counter", 6, "random_state[0]", 6, "random_state[1]", 6, "next_competitor_start")
		}),
		record(func(r *stateSave) {
			r.u32(0xade1f)
			r.u16(0x2a)
			r.u64(1 << 40)
			r.u32(0x1f11c6ea)
			r.u32(0xefd44bfd)
			r.u32(77)
		}))
	s.records("PATS", chunkTable,
		record(func(r *stateSave) { r.fields(6, "game_creation.generation_seed", 2, "locale.currency", 1, "pf.x") }),
		record(func(r *stateSave) { r.u32(0xfeedbeef); r.u8(3, 1) }))
	s.records("NGRF", chunkTable,
		record(func(r *stateSave) { r.fields(0x1a, "filename", 0x12, "ident.md5sum") }),
		record(func(r *stateSave) { r.string("/home/x"); r.gamma(2); r.u8(7, 8) }))
	s.records("VIEW", chunkTable, record(func(r *stateSave) { r.fields(5, "x") }), record(func(r *stateSave) { r.u32(9) }))
	s.records("AIPL", chunkTable,
		record(func(r *stateSave) { r.fields(0x1a, "name", 0x1b, "list"); r.fields(2, "v") }),
		record(func(r *stateSave) { r.string(""); r.gamma(0) }),
		record(func(r *stateSave) { r.string("Tiny"); r.gamma(1); r.u8(5); r.text("script") }),
		record(func(r *stateSave) { r.string(""); r.gamma(0) }))
	s.records("TYPE", chunkTable,
		record(func(r *stateSave) {
			r.fields(1, "i8", 2, "u8", 3, "i16", 4, "u16", 5, "i32", 6, "u32", 7, "i64", 8, "u64", 9, "id", 0x1a, "str", 10, "str.2",
				0x11, "l.i8", 0x12, "l.u8", 0x13, "l.i16", 0x14, "l.u16", 0x15, "l.i32", 0x16, "l.u32", 0x17, "l.i64", 0x18, "l.u64", 0x19, "l.id")
		}),
		nil,
		record(func(r *stateSave) {
			r.u8(0xff, 0xff)
			r.u16(0xfffe)
			r.u16(0xfffe)
			r.u32(0xfffffffd)
			r.u32(0xfffffffd)
			r.u64(1<<64 - 4)
			r.u64(1<<64 - 4)
			r.u16(0x8001)
			r.string("a\x00\xff\n")
			r.string("")
			r.u8(1, 0x80)
			r.u8(2, 1, 2)
			r.u8(1, 0x80, 0)
			r.u8(0)
			r.u8(1, 0, 0, 1, 0)
			r.u8(0)
			r.u8(1)
			r.u64(1 << 63)
			r.u8(0)
			r.u8(2, 0, 1, 0, 2)
		}))
	s.records("NEST", chunkSparseTable,
		record(func(r *stateSave) {
			// Structs are described after all fields, depth first.
			r.fields(0x1b, "one", 2, "id", 0x1b, "many", 0x1b, "empty")
			r.fields(0x1b, "inner", 2, "x")
			r.fields(4, "y", 0x16, "deep.list")
			r.fields(2, "z")
			r.fields()
		}),
		record(func(r *stateSave) {
			r.gamma(3)
			r.gamma(1) // one
			r.gamma(2) // one[0].inner
			r.u16(10)
			r.gamma(2)
			r.u32(100)
			r.u32(101)
			r.u16(11)
			r.gamma(1)
			r.u32(110)
			r.u8(1)          // one[0].x
			r.u8(33)         // id
			r.u8(3, 7, 8, 9) // many
			r.gamma(1)       // empty
		}),
		record(func(r *stateSave) { r.gamma(200); r.gamma(0); r.u8(44, 0); r.gamma(0) }))
	s.records("NONE", chunkTable, record(func(r *stateSave) { r.fields(6, "first", 0x1b, "list"); r.fields(0x12, "l") }))
	return s.finish()
}

// everythingDump is what everything must become.
const everythingDump = `RNG 1f11c6eaefd44bfd
archetype ARRY
  0 ARRY.data bytes 7a65726f
  2 ARRY.data bytes 74776f
archetype DATE
  0 DATE.date i32 712223
  0 DATE.date_fract u16 42
  0 DATE.tick_counter u64 1099511627776
archetype MAP2
  0 MAP2.u16 u16 4660
  1 MAP2.u16 u16 65534
archetype MAP5
  0 MAP5.u8 u8 4
  1 MAP5.u8 u8 0
  2 MAP5.u8 u8 255
archetype MAP8
  0 MAP8.data bytes 010203
archetype NEST
  3 NEST.id u8 33
  200 NEST.id u8 44
archetype NEST.empty
  3:0
archetype NEST.many
  3:0 many.z u8 7
  3:1 many.z u8 8
  3:2 many.z u8 9
archetype NEST.one
  3:0 one.x u8 1
archetype NEST.one.inner
  3:0 inner.y u16 10
  3:1 inner.y u16 11
archetype NEST.one.inner.deep.list
  3:0 deep.list.value u32 100
  3:1 deep.list.value u32 101
  3:1000000 deep.list.value u32 110
archetype NGRF
  0
archetype NGRF.ident.md5sum
  0:0 ident.md5sum.value u8 7
  0:1 ident.md5sum.value u8 8
archetype NONE
archetype NONE.list
archetype NONE.list.l
archetype PATS
  0 PATS.game_creation.generation_seed u32 4276993775
  0 PATS.pf.x i8 1
archetype RAWB
  0 RAWB.data bytes 726177
archetype SPAR
  5 SPAR.data bytes 66697665
  256 SPAR.data bytes 323536
archetype TYPE
  1 TYPE.i16 i16 -2
  1 TYPE.i32 i32 -3
  1 TYPE.i64 i64 -4
  1 TYPE.i8 i8 -1
  1 TYPE.id u16 32769
  1 TYPE.str string "a\x00\xff\n"
  1 TYPE.str.2 string ""
  1 TYPE.u16 u16 65534
  1 TYPE.u32 u32 4294967293
  1 TYPE.u64 u64 18446744073709551612
  1 TYPE.u8 u8 255
archetype TYPE.l.i16
  1:0 l.i16.value i16 -32768
archetype TYPE.l.i32
  1:0 l.i32.value i32 256
archetype TYPE.l.i64
  1:0 l.i64.value i64 -9223372036854775808
archetype TYPE.l.i8
  1:0 l.i8.value i8 -128
archetype TYPE.l.id
  1:0 l.id.value u16 1
  1:1 l.id.value u16 2
archetype TYPE.l.u16
archetype TYPE.l.u32
archetype TYPE.l.u64
archetype TYPE.l.u8
  1:0 l.u8.value u8 1
  1:1 l.u8.value u8 2
noise AIPL
  0 AIPL.name string ""
  1 AIPL.name string "Tiny"
  1 AIPL.rest bytes 736372697074
  2 AIPL.name string ""
noise AIPL.list
  1:0 list.v u8 5
noise DATE
  0 DATE.next_competitor_start u32 77
noise NGRF
  0 NGRF.filename string "/home/x"
noise PATS
  0 PATS.locale.currency u8 3
noise VIEW
  0 VIEW.x i32 9
`
