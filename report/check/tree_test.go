package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"testing"
)

// A MessagePack value in a test is a num, str, bin, arr, dict, bool, nil or raw. Numbers and
// strings keep the form in which they were written.
type (
	num struct {
		n    uint64
		code byte // 0 is the shortest form
	}
	str  string
	bin  []byte
	arr  []any
	dict []any // keys and values in turn
	raw  []byte
)

// decode reads the value at the start of b and returns what follows it.
func decode(t testing.TB, b []byte) (any, []byte) {
	t.Helper()
	big := func(width int) uint64 {
		n := uint64(0)
		for _, c := range b[1 : 1+width] {
			n = n<<8 | uint64(c)
		}
		b = b[1+width:]
		return n
	}
	take := func(n uint64) []byte { s := b[:n]; b = b[n:]; return s }
	list := func(n uint64) []any {
		out := make([]any, n)
		for i := range out {
			out[i], b = decode(t, b)
		}
		return out
	}
	c := b[0]
	switch {
	case c < 0x80:
		return num{uint64(c), 0}, b[1:]
	case c <= 0x8f:
		b = b[1:]
		return dict(list(2 * uint64(c&0x0f))), b
	case c <= 0x9f:
		b = b[1:]
		return arr(list(uint64(c & 0x0f))), b
	case c <= 0xbf:
		b = b[1:]
		return str(take(uint64(c & 0x1f))), b
	case c == 0xc0:
		return nil, b[1:]
	case c == 0xc2 || c == 0xc3:
		return c == 0xc3, b[1:]
	case c >= 0xc4 && c <= 0xc6:
		return bin(take(big(1 << (c - 0xc4)))), b
	case c >= 0xcc && c <= 0xcf:
		n := big(1 << (c - 0xcc))
		return num{n, c}, b
	case c >= 0xd9 && c <= 0xdb:
		return str(take(big(1 << (c - 0xd9)))), b
	case c == 0xdc || c == 0xdd:
		n := big(2 << (c - 0xdc))
		return arr(list(n)), b
	}
	t.Fatalf("code 0x%02x", c)
	return nil, nil
}

func encode(v any) []byte {
	be := binary.BigEndian
	head := func(n int, fix byte, fixMost int, codes ...byte) []byte {
		switch {
		case n <= fixMost:
			return []byte{fix | byte(n)}
		case n <= math.MaxUint8 && len(codes) == 3:
			return []byte{codes[0], byte(n)}
		case n <= math.MaxUint16:
			return be.AppendUint16([]byte{codes[len(codes)-2]}, uint16(n))
		}
		return be.AppendUint32([]byte{codes[len(codes)-1]}, uint32(n))
	}
	join := func(b []byte, list []any) []byte {
		for _, x := range list {
			b = append(b, encode(x)...)
		}
		return b
	}
	switch v := v.(type) {
	case raw:
		return v
	case nil:
		return []byte{0xc0}
	case bool:
		if v {
			return []byte{0xc3}
		}
		return []byte{0xc2}
	case int:
		return encode(num{uint64(v), 0})
	case num:
		code := v.code
		if code == 0 {
			switch {
			case v.n < 0x80:
				return []byte{byte(v.n)}
			case v.n <= math.MaxUint8:
				code = 0xcc
			case v.n <= math.MaxUint16:
				code = 0xcd
			case v.n <= math.MaxUint32:
				code = 0xce
			default:
				code = 0xcf
			}
		}
		width := 1 << (code - 0xcc)
		return append([]byte{code}, be.AppendUint64(nil, v.n)[8-width:]...)
	case str:
		return append(head(len(v), 0xa0, 31, 0xd9, 0xda, 0xdb), v...)
	case bin:
		return append(head(len(v), 0, -1, 0xc4, 0xc5, 0xc6), v...)
	case arr:
		return join(head(len(v), 0x90, 15, 0xdc, 0xdd), v)
	case dict:
		return join(head(len(v)/2, 0x80, 15, 0xde, 0xdf), v)
	}
	panic("no such value")
}

// at returns the list that a path leads to.
func at(v any, path ...int) arr {
	for _, i := range path {
		v = v.(arr)[i]
	}
	return v.(arr)
}

// put puts a value where a path leads to.
func put(v any, value any, path ...int) {
	if n, ok := value.(int); ok {
		value = num{uint64(n), 0}
	}
	last := len(path) - 1
	at(v, path[:last]...)[path[last]] = value
}

// framed is a file of frames, taken apart.
type framed struct {
	magic          string
	version, flags uint16
	frames         []testFrame
	end            []byte // the payload of the end marker; nil is the right one
	noEnd          bool
	after          []byte
}

type testFrame struct {
	kind  uint32
	value any // or raw
	long  uint32
}

func takeFramed(t testing.TB, b []byte) *framed {
	t.Helper()
	le := binary.LittleEndian
	b = slices.Clone(b) // what is taken apart is changed
	f := &framed{magic: string(b[:8]), version: 1}
	for b = b[16:]; ; {
		n, kind := le.Uint32(b), le.Uint32(b[4:])
		payload := b[16 : 16+n]
		b = b[16+n:]
		if kind == 0xffffffff {
			return f
		}
		v, rest := decode(t, payload)
		if len(rest) > 0 {
			t.Fatal("bytes after a payload")
		}
		f.frames = append(f.frames, testFrame{kind: kind, value: v})
	}
}

// bytes puts the file together, with all checksums right.
func (f *framed) bytes() []byte {
	le := binary.LittleEndian
	out := le.AppendUint16(le.AppendUint16([]byte(f.magic), f.version), f.flags)
	out = le.AppendUint32(out, crc(out))
	frame := func(kind uint32, payload []byte, long uint32) {
		h := le.AppendUint32(nil, uint32(len(payload))+long)
		h = le.AppendUint32(le.AppendUint32(h, kind), crc(payload))
		out = append(append(out, le.AppendUint32(h, crc(h))...), payload...)
	}
	for _, x := range f.frames {
		frame(x.kind, encode(x.value), x.long)
	}
	if f.noEnd {
		return out
	}
	end := f.end
	if end == nil {
		end = le.AppendUint64(nil, uint64(len(f.frames)))
	}
	frame(0xffffffff, end, 0)
	return append(out, f.after...)
}

// fixInput computes the input hash of a tick again.
func fixInput(kinds, tick arr) {
	le := binary.LittleEndian
	var b []byte
	n := uint32(0)
	for _, o := range tick[2].(arr) {
		o := o.(arr)
		kind := kinds[o[3].(num).n].(arr)
		if kind[1].(bool) {
			continue
		}
		n++
		b = le.AppendUint64(b, tick[0].(num).n)
		for _, x := range o[:3] {
			b = le.AppendUint32(b, uint32(x.(num).n))
		}
		name, payload := kind[0].(str), o[4].(bin)
		b = append(le.AppendUint32(b, uint32(len(name))), name...)
		b = append(le.AppendUint32(b, uint32(len(payload))), payload...)
	}
	sum := sha256.Sum256(append(le.AppendUint32(nil, n), b...))
	tick[1] = bin(sum[:8])
}

// snapFile is a .snap, taken apart.
type snapFile struct {
	version, flags uint16
	header         arr
	tables         []*snapTableFile
	end            string
	length         int64 // added to the length of the file
	gap            []byte
}

type snapTableFile struct {
	index  arr
	cells  [][]byte // canonical
	stored [][]byte // as stored, nil for plain
	codec  []byte
	shift  int // of the offset of the first cell

	// The values that are kept instead of being computed again.
	keepDigests, keepKeys, keepColumns, keepLeaf, keepSizes bool
}

func takeSnap(t testing.TB, b []byte) *snapFile {
	t.Helper()
	le := binary.LittleEndian
	b = slices.Clone(b) // what is taken apart is changed
	s := &snapFile{version: 1, end: snapEnd}
	n := le.Uint32(b[12:])
	v, _ := decode(t, b[32:32+n])
	s.header = v.(arr)
	for _, x := range s.header[10].(arr) {
		place, length := x.(arr)[5].(num).n, x.(arr)[6].(num).n
		v, _ := decode(t, b[place:place+length-4])
		f := &snapTableFile{index: v.(arr)}
		at := f.index[0].(num).n
		bins := f.index[3].(arr)
		f.codec = slices.Clone(bins[6].(bin))
		for i := range f.codec {
			size := uint64(le.Uint32(bins[5].(bin)[4*i:]))
			if f.codec[i] != 0 {
				t.Fatal("a cell that is compressed")
			}
			f.cells = append(f.cells, slices.Clone(b[at:at+size]))
			f.stored = append(f.stored, nil)
			at += size
		}
		s.tables = append(s.tables, f)
	}
	return s
}

func sha(parts ...[]byte) bin {
	sum := sha256.Sum256(bytes.Join(parts, nil))
	return sum[:]
}

// fix computes what follows from the cells of a table: its bins, digests and leaf.
func (f *snapTableFile) fix(entry arr) {
	le := binary.LittleEndian
	bins, columns := f.index[3].(arr), f.index[2].(arr)
	var digests, sizes, stored, crcs []byte
	for i, cell := range f.cells {
		b := cell
		if f.stored[i] != nil {
			b = f.stored[i]
		}
		digests = append(digests, sha(cell)...)
		sizes = le.AppendUint32(sizes, uint32(len(cell)))
		stored = le.AppendUint32(stored, uint32(len(b)))
		crcs = le.AppendUint32(crcs, crc(b))
	}
	if !f.keepDigests {
		bins[3] = bin(digests)
	}
	if !f.keepSizes {
		bins[4] = bin(sizes)
	}
	bins[5], bins[6], bins[7] = bin(stored), bin(f.codec), bin(crcs)
	all := bins[3].(bin)
	cells := 1 + len(columns)
	blocks := len(f.cells) / cells
	of := func(k int) (out []byte) {
		for b := range blocks {
			out = append(out, all[32*(b*cells+k):][:32]...)
		}
		return out
	}
	count := le.AppendUint32(nil, uint32(blocks))
	if !f.keepKeys {
		f.index[1] = sha([]byte{5, byte(entry[3].(num).n), 0, 0}, count, of(0))
	}
	leaf := slices.Clone([]byte(f.index[1].(bin)))
	for k, x := range columns {
		c := x.(arr)
		if !f.keepColumns {
			component, field := []byte(c[0].(str)), []byte(c[1].(str))
			c[4] = sha([]byte{6, byte(c[2].(num).n), 0, 0}, le.AppendUint32(nil, uint32(c[3].(num).n)), le.AppendUint32(nil, uint32(len(component))),
				le.AppendUint32(nil, uint32(len(field))), count, component, field, of(1+k))
		}
		leaf = append(leaf, c[4].(bin)...)
	}
	if !f.keepLeaf {
		label := []byte(entry[1].(str))
		head := le.AppendUint32([]byte{2}, uint32(len(label)))
		head = le.AppendUint64(le.AppendUint32(head, uint32(1+len(columns))), entry[2].(num).n)
		for len(label)%8 != 0 {
			label = append(label, 0)
		}
		entry[4] = sha(head, label, leaf)
	}
}

// bytes puts the file together. Values that follow from the content are computed again, up to the root if fixRoot is
// set.
func (s *snapFile) bytes(fixRoot bool) []byte {
	le := binary.LittleEndian
	entries := s.header[10].(arr)
	var leaves [][]byte
	if rng, ok := s.header[6].(bin); ok {
		head := le.AppendUint32([]byte{1}, uint32(len(rng)))
		state := slices.Clone(rng)
		for len(state)%8 != 0 {
			state = append(state, 0)
		}
		leaves = append(leaves, sha(head, []byte{0, 0, 0, 0}, state))
	}
	for i, f := range s.tables {
		entry := entries[i].(arr)
		f.fix(entry)
		if entry[0].(num).n == 0 {
			leaves = append(leaves, entry[4].(bin))
		}
	}
	if fixRoot {
		level := leaves
		for len(level) > 1 {
			var above [][]byte
			for i := 0; i+1 < len(level); i += 2 {
				above = append(above, sha(level[i], level[i+1]))
			}
			if len(level)%2 == 1 {
				above = append(above, level[len(level)-1])
			}
			level = above
		}
		s.header[8] = bin(level[0])
	}
	header := len(encode(s.header)) // its numbers have the form of their type
	body := slices.Clone(s.gap)
	for i, f := range s.tables {
		at := uint64(32 + header + len(body))
		for k, cell := range f.cells {
			if f.stored[k] != nil {
				cell = f.stored[k]
			}
			body = append(body, cell...)
		}
		f.index[0] = num{at + uint64(f.shift), 0xcf}
		index := encode(f.index)
		index = le.AppendUint32(index, crc(index))
		entries[i].(arr)[5] = num{uint64(32 + header + len(body)), 0xcf}
		entries[i].(arr)[6] = num{uint64(len(index)), 0xce}
		body = append(body, index...)
	}
	h := encode(s.header)
	out := le.AppendUint16(le.AppendUint16([]byte(snapMagic), s.version), s.flags)
	out = le.AppendUint32(out, uint32(len(h)))
	out = le.AppendUint32(out, crc(h))
	out = le.AppendUint64(out, uint64(int64(32+len(h)+len(body)+len(s.end))+s.length))
	out = le.AppendUint32(out, crc(out))
	return append(append(append(out, h...), body...), s.end...)
}
