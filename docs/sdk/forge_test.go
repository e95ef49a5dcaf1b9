package sdk_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/snapshot/merkle"
)

// A forged snapshot is a .snap with checksums and hashes that are right whatever its content: only its form is wrong.
type forged struct {
	version  uint32
	head     []any // what the header has before the root
	root     []byte
	meta     []string // names and values
	tables   []forgedTable
	more     []any  // after the tables in the header
	behind   []byte // the tables
	end      string
	longer   int // by how much its stated length exceeds its length
	rootSize int
	tail     []byte // after the header's value
}

type forgedTable struct {
	class, parts     int
	label            string
	rows             uint64
	columns          []forgedColumn
	blocks           [][]forgedCell // the keys first
	first, second    []uint64
	counts           []uint32 // rows of the blocks
	gap              []byte   // between cells and index
	cells, at, size  int64    // added to what is right
	cut              [8]int   // bytes cut off the bins
	more             []any    // after the bins in the index
	leaf             int      // bytes of the leaf hash, added to 32
	digest, stored   int      // added to a digest's first byte; to the stored lengths
	codec            byte
	columnDigest     int    // bytes of the digests of columns, added to 32
	tail             []byte // after the value of the index
	keysWrong, flips bool
}

type forgedColumn struct {
	component, field string
	kind, scale      uint64
	wrong            bool // its digest
}

type forgedCell []byte

func packed(list ...any) []byte {
	var b []byte
	for _, v := range list {
		switch v := v.(type) {
		case nil:
			b = append(b, 0xc0)
		case int:
			b = binary.BigEndian.AppendUint64(append(b, 0xcf), uint64(v))
		case uint64:
			b = binary.BigEndian.AppendUint64(append(b, 0xcf), v)
		case string:
			b = append(binary.BigEndian.AppendUint32(append(b, 0xdb), uint32(len(v))), v...)
		case []byte:
			b = append(binary.BigEndian.AppendUint32(append(b, 0xc6), uint32(len(v))), v...)
		case []any:
			b = append(binary.BigEndian.AppendUint32(append(b, 0xdd), uint32(len(v))), packed(v...)...)
		case []string:
			b = binary.BigEndian.AppendUint32(append(b, 0xdf), uint32(len(v)/2))
			for _, s := range v {
				b = append(b, packed(s)...)
			}
		default:
			panic(v)
		}
	}
	return b
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

func le32(list ...uint32) (b []byte) {
	for _, v := range list {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func le64(list ...uint64) (b []byte) {
	for _, v := range list {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

func resized(b []byte, by int) []byte { return append(bytes.Clone(b), make([]byte, 8)...)[:len(b)+by] }

// write appends a table to a file that has its cells at an offset.
func (t *forgedTable) write(file []byte) (out, leaf, index []byte, at int) {
	start := len(file)
	var digests, lengths, stored, codecs, crcs []byte
	wholes := make([][]byte, 1+len(t.columns))
	wholes[0] = append([]byte{5, byte(t.parts), 0, 0}, le32(uint32(len(t.blocks)))...)
	for k, c := range t.columns {
		wholes[1+k] = append([]byte{6, byte(c.kind), 0, 0}, le32(uint32(c.scale), uint32(len(c.component)), uint32(len(c.field)), uint32(len(t.blocks)))...)
		wholes[1+k] = append(wholes[1+k], c.component+c.field...)
	}
	for _, block := range t.blocks {
		for k, cell := range block {
			file = append(file, cell...)
			digest := sha256.Sum256(cell)
			wholes[k] = append(wholes[k], digest[:]...)
			digest[0] += byte(t.digest)
			digests = append(digests, digest[:]...)
			lengths = append(lengths, le32(uint32(len(cell)))...)
			stored = append(stored, le32(uint32(len(cell)+t.stored))...)
			codecs = append(codecs, t.codec)
			crcs = append(crcs, le32(checksum(cell))...)
		}
	}
	keys := sha256.Sum256(wholes[0])
	whole := append([]byte{2}, le32(uint32(len(t.label)), uint32(len(wholes)))...)
	whole = append(append(whole, le64(t.rows)...), t.label...)
	whole = append(append(whole, make([]byte, -len(t.label)&7)...), keys[:]...)
	if t.keysWrong {
		keys[0]++
	}
	columns := []any{}
	for k, c := range t.columns {
		digest := sha256.Sum256(wholes[1+k])
		whole = append(whole, digest[:]...)
		if c.wrong {
			digest[0]++
		}
		columns = append(columns, []any{c.component, c.field, c.kind, c.scale, resized(digest[:], t.columnDigest)})
	}
	file = append(file, t.gap...)
	at = len(file)
	bins := []any{}
	for i, b := range [][]byte{le64(t.first...), le64(t.second...), le32(t.counts...), digests, lengths, stored, codecs, crcs} {
		bins = append(bins, b[:len(b)-t.cut[i]])
	}
	index = packed(append([]any{start + int(t.cells), keys[:], columns, bins}, t.more...))
	index = append(index, t.tail...)
	index = append(index, le32(checksum(index))...)
	hash := sha256.Sum256(whole)
	return append(file, index...), hash[:], index, at
}

func (f *forged) bytes() []byte {
	var head []byte
	for range 2 { // the first time to know its length
		file := make([]byte, 32+len(head))
		var leaves []merkle.Hash
		if rng, ok := f.head[6].([]byte); ok {
			leaf := append([]byte{1}, le32(uint32(len(rng)), 0)...)
			leaves = append(leaves, sha256.Sum256(append(append(leaf, rng...), make([]byte, -len(rng)&7)...)))
		}
		list := []any{}
		for i := range f.tables {
			t := &f.tables[i]
			out, leaf, index, at := t.write(file)
			file = out
			if t.class == 0 {
				leaves = append(leaves, merkle.Hash(leaf))
			}
			if t.flips {
				leaf[0]++
			}
			list = append(list, []any{t.class, t.label, t.rows, t.parts, resized(leaf, t.leaf), at + int(t.at), len(index) + int(t.size)})
		}
		root := rootOf(leaves)
		head = packed(append(append(append([]any{}, f.head...), resized(root[:], f.rootSize), f.meta, list), f.more...))
		head = append(head, f.tail...)
		file = append(append(file, f.behind...), f.end...)
		if copy(file[32:], head); len(file) < 32+len(head) {
			continue
		}
		copy(file, "\x89SNAP\r\n\x1a")
		copy(file[8:], le32(f.version, uint32(len(head)), checksum(head)))
		copy(file[20:], le64(uint64(len(file)+f.longer)))
		copy(file[28:], le32(checksum(file[:28])))
		f.root = file
	}
	return f.root
}

func cell(kind, flag byte, rows uint32, content ...[]byte) forgedCell {
	return append(append([]byte{kind, flag, 0, 0}, le32(rows)...), bytes.Join(content, nil)...)
}

// forge returns a good snapshot: a table of two rows with three columns, one of keys of
// two parts, and a cache.
func forge() *forged {
	return &forged{
		version: 1,
		head:    []any{uint64(7), uint64(200), "", "", "host", 0, []byte("rng state"), nil},
		meta:    []string{"build", "1.0", "map", "plain"},
		end:     "SNAP.END",
		tables: []forgedTable{{
			label: "A", parts: 1, rows: 2, first: []uint64{3}, counts: []uint32{2},
			columns: []forgedColumn{{"C", "bool", 1, 0, false}, {"C", "fixed", 12, 10, false}, {"D", "text", 13, 0, false}},
			blocks: [][]forgedCell{{
				cell(3, 1, 2, le64(3, 8)), cell(4, 0, 2, []byte{0, 1}), cell(4, 1, 2, []byte{2}, le64(0, 15)), cell(4, 1, 2, []byte{1}, le32(3, 0), []byte("abc"))}},
		}, {
			label: "B", parts: 2, rows: 2, first: []uint64{1}, second: []uint64{9}, counts: []uint32{2},
			columns: []forgedColumn{},
			blocks:  [][]forgedCell{{cell(3, 2, 2, le64(1, 2), le64(9, 4))}},
		}, {
			class: 1, label: "A", parts: 1, rows: 1, first: []uint64{0}, counts: []uint32{1},
			columns: []forgedColumn{{"C", "u8", 6, 0, false}},
			blocks:  [][]forgedCell{{cell(3, 1, 1, le64(0)), cell(4, 0, 1, []byte{5})}},
		}},
	}
}

// forgeries are snapshots that have to be refused, each for one reason.
func forgeries(t *testing.T) []mutant {
	t.Helper()
	list := []mutant{{how: "as it is", file: forge().bytes(), judged: true}}
	if !good(list[0].file) {
		t.Fatal("the snapshot that is forged is not good")
	}
	add := func(how string, change func(f *forged, a *forgedTable)) {
		f := forge()
		change(f, &f.tables[0])
		list = append(list, mutant{how: how, file: f.bytes(), refused: true})
	}
	// Cells.
	for i, cells := range map[string][2]any{
		"keys of another kind":                    {0, cell(4, 1, 2, le64(3, 8))},
		"keys of two parts":                       {0, cell(3, 2, 2, le64(3, 8))},
		"keys of more rows":                       {0, cell(3, 1, 3, le64(3, 8))},
		"keys without room":                       {0, cell(3, 1, 2, le64(3))},
		"keys cut in the head":                    {0, forgedCell{3, 1, 0}},
		"no bytes of keys":                        {0, forgedCell{}},
		"keys and more":                           {0, cell(3, 1, 2, le64(3, 8, 9))},
		"equal keys":                              {0, cell(3, 1, 2, le64(3, 3))},
		"descending keys":                         {0, cell(3, 1, 2, le64(3, 2))},
		"another first key":                       {0, cell(3, 1, 2, le64(4, 8))},
		"values of another kind":                  {1, cell(3, 0, 2, []byte{0, 1})},
		"a bitmap that is 2":                      {1, cell(4, 2, 2, []byte{3}, []byte{0, 1})},
		"values of more rows":                     {1, cell(4, 0, 3, []byte{0, 1})},
		"values of four billion rows":             {1, cell(4, 0, 0xffffffff, []byte{0, 1})},
		"values without room":                     {1, cell(4, 0, 2, []byte{0})},
		"values without room beside their bitmap": {1, cell(4, 1, 2, []byte{1, 0})},
		"no bytes of values":                      {1, forgedCell{}},
		"values and more":                         {1, cell(4, 0, 2, []byte{0, 1, 0})},
		"a bool that is 2":                        {1, cell(4, 0, 2, []byte{0, 2})},
		"a bitmap that is full":                   {1, cell(4, 1, 2, []byte{3}, []byte{0, 1})},
		"a bitmap with spare bits":                {1, cell(4, 1, 2, []byte{0xfe}, []byte{0, 1})},
		"an absent value":                         {2, cell(4, 1, 2, []byte{2}, le64(1, 15))},
		"a long string":                           {3, cell(4, 1, 2, []byte{1}, le32(4, 0), []byte("abc"))},
		"a string of 4 GiB":                       {3, cell(4, 1, 2, []byte{1}, le32(0xffffffff, 0), []byte("abc"))},
		"strings that wrap around":                {3, cell(4, 0, 2, le32(0xffffffff, 4), []byte("abc"))},
		"a short string":                          {3, cell(4, 1, 2, []byte{1}, le32(2, 0), []byte("abc"))},
		"an absent string":                        {3, cell(4, 1, 2, []byte{1}, le32(2, 1), []byte("abc"))},
		"strings without room":                    {3, cell(4, 0, 2, le32(0))},
	} {
		add(i, func(f *forged, a *forgedTable) { a.blocks[0][cells[0].(int)] = cells[1].(forgedCell) })
	}
	add("keys of two parts that descend", func(f *forged, a *forgedTable) { f.tables[1].blocks[0][0] = cell(3, 2, 2, le64(1, 1), le64(9, 4)) })
	add("another second part", func(f *forged, a *forgedTable) { f.tables[1].second[0] = 8 })
	add("reserved bytes", func(f *forged, a *forgedTable) { a.blocks[0][1][2] = 1 })
	// Indices.
	for i, by := range map[string]int{"first keys": 0, "row counts": 2, "digests": 3, "lengths": 4, "stored lengths": 5, "codecs": 6, "CRCs": 7} {
		add("fewer "+i, func(f *forged, a *forgedTable) { a.cut[by] = 1 })
		add("no "+i, func(f *forged, a *forgedTable) {
			a.cut[by] = map[int]int{0: 8, 2: 4, 3: 128, 4: 16, 5: 16, 6: 4, 7: 16}[by]
		})
	}
	add("second parts of keys that have none", func(f *forged, a *forgedTable) { a.second = []uint64{1} })
	add("no rows in a block", func(f *forged, a *forgedTable) {
		a.counts = []uint32{2, 0}
		a.first = []uint64{3, 9}
		a.blocks = append(a.blocks, []forgedCell{cell(3, 1, 0), cell(4, 0, 0), cell(4, 0, 0), cell(4, 0, 0)})
	})
	add("two blocks", func(f *forged, a *forgedTable) {
		a.counts = []uint32{1, 1}
		a.first = []uint64{3, 8}
		a.blocks = [][]forgedCell{
			{cell(3, 1, 1, le64(3)), cell(4, 0, 1, []byte{0}), cell(4, 1, 1, []byte{0}, le64(0)), cell(4, 0, 1, le32(3), []byte("abc"))},
			{cell(3, 1, 1, le64(8)), cell(4, 0, 1, []byte{1}), cell(4, 0, 1, le64(15)), cell(4, 1, 1, []byte{0}, le32(0))}}
	})
	const most = 65536
	uncut := func(n int) []uint64 { // keys; only the first begins a block
		keys := make([]uint64, n)
		for i, next := 0, uint64(1); i < len(keys); next++ {
			h := next * 0x9E3779B97F4A7C15
			h ^= h >> 32
			h *= 0xD6E8FEB86659FD93
			if i == 0 || (h^h>>32)%4096 != 0 {
				keys[i] = next
				i++
			}
		}
		return keys
	}
	add("many values without room beside their bitmap, at the end of the file", func(f *forged, a *forgedTable) {
		keys := uncut(most)
		f.tables = []forgedTable{{label: "A", parts: 1, rows: most, first: keys[:1], counts: []uint32{most}, columns: []forgedColumn{{"C", "bool", 1, 0, false}},
			blocks: [][]forgedCell{{cell(3, 1, most, le64(keys...)), cell(4, 1, most, make([]byte, most))}}}}
	})
	add("too many rows in a block", func(f *forged, a *forgedTable) {
		keys := uncut(most + 1)
		*a = forgedTable{label: "A", parts: 1, rows: most + 1, first: keys[:1], counts: []uint32{most + 1}, blocks: [][]forgedCell{{cell(3, 1, most+1, le64(keys...))}}}
	})
	add("more rows than its blocks have", func(f *forged, a *forgedTable) { a.rows = 3 })
	add("fewer rows than its blocks have", func(f *forged, a *forgedTable) { a.rows = 1 })
	add("2^60 rows", func(f *forged, a *forgedTable) { a.rows = 1 << 60 })
	add("2^60 rows in a block", func(f *forged, a *forgedTable) { a.counts[0] = 1 << 31 })
	add("another number of rows in a block", func(f *forged, a *forgedTable) { a.counts[0] = 1 })
	add("another digest of cells", func(f *forged, a *forgedTable) { a.digest = 1 })
	add("another digest of keys", func(f *forged, a *forgedTable) { a.keysWrong = true })
	add("another digest of a column", func(f *forged, a *forgedTable) { a.columns[1].wrong = true })
	add("another leaf of a cache", func(f *forged, a *forgedTable) { f.tables[2].flips = true })
	add("another leaf", func(f *forged, a *forgedTable) { a.flips = true })
	add("a short digest", func(f *forged, a *forgedTable) { a.columnDigest = -1 })
	add("a long digest", func(f *forged, a *forgedTable) { a.columnDigest = 1 })
	add("another stored length", func(f *forged, a *forgedTable) { a.stored = 1 })
	add("a codec that is none", func(f *forged, a *forgedTable) { a.codec = 2 })
	add("compression", func(f *forged, a *forgedTable) { a.codec = 1 })
	add("more in the index", func(f *forged, a *forgedTable) { a.more = []any{1} })
	add("columns in another order", func(f *forged, a *forgedTable) {
		a.columns[0], a.columns[1] = a.columns[1], a.columns[0]
		a.blocks[0][1], a.blocks[0][2] = a.blocks[0][2], a.blocks[0][1]
	})
	add("a column twice", func(f *forged, a *forgedTable) { a.columns[0].field = "fixed" })
	add("a column without component", func(f *forged, a *forgedTable) { a.columns[0].component = "" })
	add("a column without field", func(f *forged, a *forgedTable) { a.columns[0].field = "" })
	add("a column with a long name", func(f *forged, a *forgedTable) { a.columns[0].component = "B" + strings.Repeat("x", 1024) })
	for _, kind := range []uint64{0, 16, 255, 256 + 1, 1<<32 + 1} {
		add("a type that is none", func(f *forged, a *forgedTable) { a.columns[0].kind = kind })
	}
	add("a scale of what has none", func(f *forged, a *forgedTable) { a.columns[0].scale = 1 })
	add("fixed without scale", func(f *forged, a *forgedTable) { a.columns[1].scale = 0 })
	add("a scale of 2^32", func(f *forged, a *forgedTable) { a.columns[1].scale = 1<<32 + 10 })
	// Places.
	for _, by := range []int64{-1, 1, 8, -100, 1 << 40, -1 << 62} {
		add("cells elsewhere", func(f *forged, a *forgedTable) { a.cells = by })
		add("an index elsewhere", func(f *forged, a *forgedTable) { a.at = by })
		add("the last index elsewhere", func(f *forged, a *forgedTable) { f.tables[2].at = by })
	}
	for _, by := range []int64{-1, 1, -100, 1 << 31, 1<<32 - 200, 1 << 40} {
		add("another length of an index", func(f *forged, a *forgedTable) { a.size = by })
		add("another length of the last index", func(f *forged, a *forgedTable) { f.tables[2].size = by })
	}
	add("a gap before an index", func(f *forged, a *forgedTable) { a.gap = []byte{0} })
	add("a gap behind the tables", func(f *forged, a *forgedTable) { f.behind = []byte{0} })
	add("no end", func(f *forged, a *forgedTable) { f.end = "SNAP.BAD" })
	add("nothing behind the tables", func(f *forged, a *forgedTable) { f.end = "" })
	add("a longer file, it says", func(f *forged, a *forgedTable) { f.longer = 1 })
	add("a shorter file, it says", func(f *forged, a *forgedTable) { f.longer = -1 })
	add("another version", func(f *forged, a *forgedTable) { f.version = 2 })
	add("flags", func(f *forged, a *forgedTable) { f.version = 1<<16 + 1 })
	// The header.
	add("tables in another order", func(f *forged, a *forgedTable) { f.tables[0], f.tables[1] = f.tables[1], f.tables[0] })
	add("a table twice", func(f *forged, a *forgedTable) { f.tables[1] = f.tables[0] })
	add("a cache before archetypes", func(f *forged, a *forgedTable) { a.class = 1 })
	add("a class that is none", func(f *forged, a *forgedTable) { f.tables[2].class = 3 })
	add("a class that is none in a byte", func(f *forged, a *forgedTable) { f.tables[2].class = 256 + 1 })
	add("keys of three parts", func(f *forged, a *forgedTable) { f.tables[1].parts = 3 })
	add("keys of no parts", func(f *forged, a *forgedTable) { a.parts = 0 })
	add("a label that is empty", func(f *forged, a *forgedTable) { a.label = "" })
	add("a label of 1025 bytes", func(f *forged, a *forgedTable) { a.label = strings.Repeat("A", 1025) })
	add("a short leaf", func(f *forged, a *forgedTable) { a.leaf = -1 })
	add("a short root", func(f *forged, a *forgedTable) { f.rootSize = -1 })
	add("a long root", func(f *forged, a *forgedTable) { f.rootSize = 1 })
	add("a phase that is none", func(f *forged, a *forgedTable) { f.head[2] = "before" })
	add("a name of 1025 bytes", func(f *forged, a *forgedTable) { f.head[4] = strings.Repeat("x", 1025) })
	add("an epoch over 2^32", func(f *forged, a *forgedTable) { f.head[5] = 1 << 32 })
	add("an RNG of 65537 bytes", func(f *forged, a *forgedTable) { f.head[6] = make([]byte, 65537) })
	add("an RNG that is text", func(f *forged, a *forgedTable) { f.head[6] = "rng" })
	add("a history of 31 bytes", func(f *forged, a *forgedTable) { f.head[7] = make([]byte, 31) })
	add("properties in another order", func(f *forged, a *forgedTable) { f.meta = []string{"map", "plain", "build", "1.0"} })
	add("a property twice", func(f *forged, a *forgedTable) { f.meta = []string{"map", "plain", "map", "plain"} })
	add("a property with a name of 1025 bytes", func(f *forged, a *forgedTable) { f.meta = []string{strings.Repeat("x", 1025), ""} })
	add("4097 properties", func(f *forged, a *forgedTable) {
		f.meta = nil
		for i := range 4097 {
			f.meta = append(f.meta, string([]byte{byte('0' + i>>8), 'a' + byte(i>>4&15), 'a' + byte(i&15)}), "")
		}
	})
	add("something behind the value of the header", func(f *forged, a *forgedTable) { f.tail = []byte{0xc0} })
	add("something behind the value of an index", func(f *forged, a *forgedTable) { a.tail = []byte{0xc0} })
	add("more in the header", func(f *forged, a *forgedTable) { f.more = []any{nil} })
	for _, m := range list[1:] {
		if good(m.file) {
			t.Errorf("%s: the reader in Go takes it", m.how)
		}
	}
	return list
}
