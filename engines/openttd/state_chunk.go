package openttd

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/snapshot"
)

// The low four bits of a chunk's type byte.
const (
	chunkRIFF        = 0
	chunkArray       = 1
	chunkSparseArray = 2
	chunkTable       = 3
	chunkSparseTable = 4
)

// mapWidths are the bytes a tile of each map array, since save version 42.
var mapWidths = map[string]int{
	"MAPT": 1, "MAPH": 1, "MAPO": 1, "MAP2": 2, "M3LO": 1, "M3HI": 1, "MAP5": 1, "MAPE": 1, "MAP7": 1, "MAP8": 2,
}

const mapVersion = 42

// decoder reads the chunks of a save.
type decoder struct {
	name    string
	version uint16
	body    []byte
	reused  bool // body, when the save has been read

	pos int // of the next byte
	end int // of the part that is being read: a record, a chunk or the body

	chunk string // being read, "" between chunks
	part  string // of the chunk: "record", "description" or ""
	index uint64 // of the record

	rowsLeft  int
	namesLeft int

	*scratch
	known *chunk   // the known chunk that is being read
	tiles []uint64 // 0, 1, 2, …; shared by the keys of map arrays
	notes []string // on chunks that could have become tables but were kept as bytes
}

// unflattened is why a well-formed chunk cannot become tables.
type unflattened string

func (u unflattened) Error() string { return string(u) }

func (d *decoder) errorf(format string, args ...any) error {
	return d.errorAt(d.pos, format, args...)
}

func (d *decoder) errorAt(pos int, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	switch {
	case d.part == "record":
		err = fmt.Errorf("chunk %s, record %d: %w", d.chunk, d.index, err)
	case d.part != "":
		err = fmt.Errorf("chunk %s, %s: %w", d.chunk, d.part, err)
	case d.chunk != "":
		err = fmt.Errorf("chunk %s: %w", d.chunk, err)
	}
	return &Error{Name: d.name, Offset: int64(pos), Unpacked: true, Err: err}
}

// take returns the next n bytes.
func (d *decoder) take(n uint64, what string) ([]byte, error) {
	if n > uint64(d.end-d.pos) {
		return nil, d.errorf("expected %d bytes of %s, %d are left: %w", n, what, d.end-d.pos, io.ErrUnexpectedEOF)
	}
	p := d.body[d.pos : d.pos+int(n) : d.pos+int(n)]
	d.pos += int(n)
	return p, nil
}

// gamma reads a number of up to 32 bits. The leading ones of its first byte are the number of bytes that follow; the
// first byte's other bits are the number's highest, unless four bytes follow.
func (d *decoder) gamma(what string) (uint64, error) {
	if d.pos == d.end {
		return 0, d.errorf("expected %s: %w", what, io.ErrUnexpectedEOF)
	}
	first := d.body[d.pos]
	if first < 0x80 {
		d.pos++
		return uint64(first), nil
	}
	var follow int
	var v uint64
	switch {
	case first < 0xc0:
		follow, v = 1, uint64(first&0x3f)
	case first < 0xe0:
		follow, v = 2, uint64(first&0x1f)
	case first < 0xf0:
		follow, v = 3, uint64(first&0x0f)
	case first < 0xf8:
		follow = 4
	default:
		return 0, d.errorf("%s begins with %#02x, expected a number of at most 32 bits", what, first)
	}
	if follow >= d.end-d.pos {
		return 0, d.errorf("expected %d bytes of %s, %d are left: %w", 1+follow, what, d.end-d.pos, io.ErrUnexpectedEOF)
	}
	for _, b := range d.body[d.pos+1 : d.pos+1+follow] {
		v = v<<8 | uint64(b)
	}
	d.pos += 1 + follow
	return v, nil
}

// readChunks reads the whole body.
func (d *decoder) readChunks() error {
	for {
		d.chunk, d.part = "", ""
		start := d.pos
		id, err := d.take(4, "a chunk's id")
		if err != nil {
			return err
		}
		if binary.BigEndian.Uint32(id) == 0 {
			if d.pos != d.end {
				return d.errorf("%d bytes after the last chunk", d.end-d.pos)
			}
			return nil
		}
		for _, c := range id {
			if c <= ' ' || c >= 0x7f {
				return d.errorAt(start, "expected a chunk's id of four letters or digits, got %q", id)
			}
		}
		known, again := d.scratch.chunk([4]byte(id))
		if again {
			return d.errorAt(start, "second chunk %s", id)
		}
		if err := d.spendName(); err != nil {
			return err
		}
		d.known, d.chunk = known, known.id
		if err := d.readChunk(); err != nil {
			return err
		}
	}
}

func (d *decoder) readChunk() error {
	p, err := d.take(1, "type")
	if err != nil {
		return err
	}
	typ := p[0] & 0x0f
	switch typ {
	case chunkRIFF:
		low, err := d.take(3, "length")
		if err != nil {
			return err
		}
		size := uint64(p[0]>>4)<<24 | uint64(low[0])<<16 | uint64(low[1])<<8 | uint64(low[2])
		data, err := d.take(size, "data")
		if err != nil {
			return err
		}
		return d.addRIFF(data)
	case chunkArray, chunkSparseArray:
		return d.readBlobs(typ)
	case chunkTable, chunkSparseTable:
		start, rows := d.pos, d.rowsLeft
		err := d.readTables(typ)
		note, ok := err.(unflattened)
		if !ok {
			return err
		}
		d.notes = append(d.notes, fmt.Sprintf("%s: %s", d.chunk, note))
		d.pos, d.end, d.part = start, len(d.body), ""
		d.rowsLeft = rows
		return d.readBlobs(typ)
	}
	return d.errorAt(d.pos-1, "unknown type %d", typ)
}

// addRIFF adds the table of a RIFF chunk.
func (d *decoder) addRIFF(data []byte) error {
	width := mapWidths[d.chunk]
	if width == 0 || d.version < mapVersion || len(data)%width != 0 {
		l := d.newBlobs()
		l.addRow(0, 0)
		l.columns[0].AppendBytes(data)
		d.addTable(l)
		return nil
	}
	tiles := len(data) / width
	if tiles > len(d.tiles) {
		if err := d.spendRows(tiles - len(d.tiles)); err != nil {
			return err
		}
		d.tiles = make([]uint64, tiles)
		for i := range d.tiles {
			d.tiles[i] = uint64(i)
		}
	}
	l := newLayout(d.chunk, 0)
	l.keysA = d.tiles[:tiles:tiles]
	if width == 1 {
		l.columns = []snapshot.Column{snapshot.NewColumn(d.chunk, "u8", snapshot.U8, 0)}
		if d.reused {
			data = slices.Clone(data)
		}
		l.columns[0].Data = data
	} else {
		l.columns = []snapshot.Column{snapshot.NewColumn(d.chunk, "u16", snapshot.U16, 0)}
		swapped := slices.Clone(data)
		for i := 0; i < len(swapped); i += 2 {
			swapped[i], swapped[i+1] = swapped[i+1], swapped[i]
		}
		l.columns[0].Data = swapped
	}
	d.addTable(l)
	return nil
}

// newBlobs returns the layout of a chunk that is kept as bytes.
func (d *decoder) newBlobs() *layout {
	l := newLayout(d.chunk, 0)
	l.columns = []snapshot.Column{snapshot.NewColumn(d.chunk, "data", snapshot.Bytes, 0)}
	return l
}

// readBlobs reads records of any type of chunk as bytes. The description of
// the records of a TABLE is left out.
func (d *decoder) readBlobs(typ byte) error {
	l := d.newBlobs()
	described := typ == chunkTable || typ == chunkSparseTable
	err := d.eachRecord(typ, func(header bool) error {
		if header && described {
			d.pos = d.end
			return nil
		}
		if err := d.spendRows(1); err != nil {
			return err
		}
		l.addRow(d.index, 0)
		l.columns[0].AppendBytes(d.body[d.pos:d.end])
		d.pos = d.end
		return nil
	})
	if err != nil {
		return err
	}
	d.addTable(l)
	return nil
}

// eachRecord calls f for each record of a chunk with d.pos at the record's
// content and d.end at its end, where f has to leave d.pos. Header is true for
// the description that TABLE chunks begin with.
func (d *decoder) eachRecord(typ byte, f func(header bool) error) error {
	header := typ == chunkTable || typ == chunkSparseTable
	sparse := typ == chunkSparseArray || typ == chunkSparseTable
	next := uint64(0) // index of the next record, or the smallest it may have
	for {
		d.part = ""
		size, err := d.gamma("a record's length")
		if err != nil {
			return err
		}
		switch {
		case size == 0 && header:
			return d.errorf("ends without a description")
		case size == 0:
			return nil
		case size == 1 && !header: // a hole
			if !sparse {
				next++
			}
			continue
		}
		if size-1 > uint64(d.end-d.pos) {
			return d.errorf("expected a record of %d bytes, %d are left: %w", size-1, d.end-d.pos, io.ErrUnexpectedEOF)
		}
		outer := d.end
		d.end = d.pos + int(size-1)
		if header {
			d.part = "description"
		} else {
			if d.index = next; sparse {
				start := d.pos
				if d.index, err = d.gamma("a record's index"); err != nil {
					return err
				}
				if d.index < next {
					return d.errorAt(start, "record %d, expected an index of at least %d", d.index, next)
				}
			}
			next = d.index + 1
			d.part = "record"
		}
		if err := f(header); err != nil {
			return err
		}
		header = false
		d.end = outer
	}
}

// spendRows counts n rows against the limit of a save.
func (d *decoder) spendRows(n int) error {
	if n > d.rowsLeft {
		return d.errorf("%w", limits.Rows.Reached("", 0))
	}
	d.rowsLeft -= n
	return nil
}

// spendName counts one chunk or field against the limit of a save.
func (d *decoder) spendName() error {
	if d.namesLeft == 0 {
		return d.errorf("chunks and fields: %w", limits.Columns.Reached("", 0))
	}
	d.namesLeft--
	return nil
}

// addTable adds the table of l, which takes what l collected.
func (d *decoder) addTable(l *layout) {
	d.tables = append(d.tables, snapshot.Table{Label: l.label, Keys: snapshot.Keys{A: l.keysA, B: l.keysB}, Columns: l.columns})
}

// addTables adds the tables of l and of the layouts inside it. Their memory may be used again.
func (d *decoder) addTables(l *layout) {
	var n collected
	n.add(l)
	d.addExact(l, &exact{
		columns: make([]snapshot.Column, n.columns), keys: make([]uint64, n.keys),
		ends: make([]uint32, n.ends), data: make([]byte, n.data),
	})
}

func (d *decoder) addExact(l *layout, from *exact) {
	d.tables = append(d.tables, l.table(from))
	for i := range l.fields {
		if sub := l.fields[i].sub; sub != nil {
			d.addExact(sub, from)
		}
	}
}
