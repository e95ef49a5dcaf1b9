package notation

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// numpyNotation is arrays of NumPy: one (.npy), which is a list, or several with names (.npz), which are a map. An array without
// dimensions is a scalar, and an array of records a list of maps. Arrays with the length of one that is called like ids are the columns of
// rows: unit_id, unit_x and unit_hp are a list unit. A name with dots or slashes is a path.
func numpyNotation() Notation {
	return Notation{Name: "numpy", Title: "NumPy arrays", Extensions: []string{".npz", ".npy"},
		Sniff: func(head []byte, _ bool) bool {
			if bytes.HasPrefix(head, []byte(npyMagic)) {
				return true
			}
			if len(head) < zipHead || !bytes.HasPrefix(head, []byte("PK\x03\x04")) {
				return false
			}
			name := head[zipHead:]
			return bytes.HasSuffix(name[:min(len(name), int(binary.LittleEndian.Uint16(head[zipHead-4:])))], []byte(".npy"))
		},
		Parse: parseNumpy}
}

const (
	npyMagic   = "\x93NUMPY"
	zipHead    = 30       // bytes before the name of an entry
	maxArrays  = 1 << 10  // arrays of a file
	maxUnzip   = 16       // bytes of arrays for each byte of a file, which may be packed, or
	leastUnzip = 16 << 20 // bytes of any file
	maxShape   = 32       // dimensions, as many as NumPy has
)

// array is one array.
type array struct {
	name   string
	at     int // its offset in the file
	data   []byte
	shape  []int
	fields []arrayField // one without a name, unless it is an array of records
	size   int          // of an element
	column bool         // the order of Fortran
	ids    bool         // it is called like ids, after a prefix
	prefix string
}

// arrayField is a scalar or a small array in each element.
type arrayField struct {
	name  string
	kind  byte // the letter of the type
	big   bool
	size  int
	from  int
	count int // of values, 0 for one that is no array
}

var (
	npyDescr  = lazyregexp.New(`'descr': *(?:'([^']*)'|\[(.*?)\] *, *'fortran)`)
	npyType   = lazyregexp.New(`^([<>|=]?)([?a-zA-Z])(\d{0,9})(?:\[\w+\])?$`)
	npyField  = lazyregexp.New(`^\( *'([^']*)' *, *'([^']*)' *(?:, *\( *(\d{1,9}) *,? *\) *)?\) *,? *`)
	npyOrder  = lazyregexp.New(`'fortran_order': *True`)
	npyShape  = lazyregexp.New(`'shape': *\(([\d, L]*)\)`)
	npyLength = map[byte]int{'b': 1, 'B': 1, '?': 1, 'h': 2, 'H': 2, 'i': 4, 'I': 4, 'l': 8, 'L': 8, 'q': 8, 'Q': 8, 'e': 2, 'f': 4, 'd': 8}
	npyLetter = map[byte]byte{'b': 'i', 'B': 'u', '?': 'b', 'h': 'i', 'H': 'u', 'i': 'i', 'I': 'u', 'l': 'i', 'L': 'u', 'q': 'i', 'Q': 'u', 'e': 'f', 'f': 'f', 'd': 'f'}
	npyIDs    = lazyregexp.New(`^(|.*[_./])(?i:ids?|uids?|guids?|handles?|keys?)$|^(.*[a-z])(?:Ids?|IDs?|UIDs?)$`)
)

// parseNumpy reads a file.
func parseNumpy(text []byte, to Sink) error {
	if !bytes.HasPrefix(text, []byte("PK")) {
		a, err := npy(text, 0)
		if err != nil {
			return err
		}
		a.give(to)
		return nil
	}
	z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return cut(len(text), "the list of arrays (%v)", err)
	}
	if len(z.File) > maxArrays {
		return fault(0, "%d arrays, expected at most %d", len(z.File), maxArrays)
	}
	var all []*array
	left := max(leastUnzip, maxUnzip*len(text))
	for _, f := range z.File {
		name, is := strings.CutSuffix(f.Name, ".npy")
		offset, err := f.DataOffset()
		if !is || err != nil || name == "" || offset > int64(len(text)) {
			return fault(0, "%.40q in the archive, expected an array", f.Name)
		}
		r, err := f.Open()
		if err != nil {
			return fault(int(offset), "the array %.40s: %v", name, err)
		}
		data, err := io.ReadAll(io.LimitReader(r, int64(left)+1))
		if left -= len(data); err != nil || left < 0 {
			return fault(int(offset), "the array %.40s: damaged, or too large (%v)", name, err)
		}
		a, err := npy(data, int(offset))
		if err != nil {
			e := err.(*Error)
			return fault(int(offset), "the array %.40s: %s", name, e.Msg)
		}
		a.name, a.at = name, int(offset)
		if m := npyIDs.FindStringSubmatch(name); m != nil && len(a.shape) == 1 && a.fields[0].name == "" {
			a.ids, a.prefix = true, m[1]+m[2]
		}
		all = append(all, a)
	}
	to.BeginMap(0)
	for len(all) > 0 {
		all = giveArray(all, to)
	}
	to.End(len(text))
	return nil
}

// giveArray gives the first array, or the rows that it belongs to. It returns the others.
func giveArray(all []*array, to Sink) []*array {
	first := all[0]
	for _, ids := range all {
		if !ids.ids {
			continue
		}
		isColumn := func(a *array) bool {
			return len(a.shape) > 0 && a.shape[0] == ids.shape[0] && strings.HasPrefix(a.name, ids.prefix) && a.fields[0].name == ""
		}
		if !isColumn(first) {
			continue
		}
		var columns, others []*array
		for _, a := range all {
			if isColumn(a) {
				columns = append(columns, a)
			} else {
				others = append(others, a)
			}
		}
		if len(columns) < 2 {
			break
		}
		end := enterPath(to, cmp.Or(strings.TrimRight(ids.prefix, "_./"), "rows"), ids.at)
		to.BeginList(ids.at)
		for row := range ids.shape[0] {
			to.BeginMap(ids.at)
			for _, c := range columns {
				to.Name([]byte(cmp.Or(strings.TrimPrefix(c.name, ids.prefix), c.name)))
				c.from(to, 1, row*c.stride(0))
			}
			to.End(ids.at)
		}
		to.End(ids.at)
		end()
		return others
	}
	end := enterPath(to, first.name, first.at)
	first.give(to)
	end()
	return all[1:]
}

// enterPath begins the maps that a name with dots or slashes is in. End ends them.
func enterPath(to Sink, name string, at int) (end func()) {
	steps := strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '/' })
	if len(steps) == 0 || len(steps) > MaxDepth/4 {
		steps = []string{name}
	}
	for i, s := range steps {
		if i > 0 {
			to.BeginMap(at)
		}
		to.Name([]byte(s))
	}
	return func() {
		for range len(steps) - 1 {
			to.End(at)
		}
	}
}

// npy reads the header of an array, and checks that all its elements follow.
func npy(text []byte, at int) (*array, error) {
	if len(text) < 10 || !bytes.HasPrefix(text, []byte(npyMagic)) {
		return nil, fault(0, "%.8q, expected an array of NumPy", text)
	}
	begin, length := 10, int(binary.LittleEndian.Uint16(text[8:]))
	if text[6] > 1 {
		if len(text) < 12 {
			return nil, cut(0, "the header of an array")
		}
		begin, length = 12, int(binary.LittleEndian.Uint32(text[8:]))
	}
	if length > len(text)-begin {
		return nil, cut(0, "the header of an array")
	}
	header, data := text[begin:begin+length], text[begin+length:]
	descr, shape := npyDescr.FindSubmatch(header), npyShape.FindSubmatch(header)
	a := &array{at: at, data: data, column: npyOrder.Match(header)}
	if descr == nil || shape == nil || !a.types(string(descr[1]), string(descr[2])) {
		return nil, fault(begin, "%.100q, expected the type and shape of an array", header)
	}
	all := 1
	for _, dimension := range bytes.FieldsFunc(shape[1], func(r rune) bool { return r == ',' || r == ' ' || r == 'L' }) {
		n, err := strconv.Atoi(string(dimension))
		if err != nil || len(a.shape) == maxShape || n > 0 && all > math.MaxInt32/n {
			return nil, fault(begin, "a shape (%.40s), expected fewer elements", shape[1])
		}
		a.shape = append(a.shape, n)
		all *= n
	}
	if slices.Contains(a.shape, 0) {
		a.shape = []int{0}
	}
	switch size := all * a.size; {
	case a.fields[0].kind == 'O':
		a.shape, a.size, a.fields[0].size = nil, len(data), len(data)
	case a.size == 0 && len(data) > 0, size < len(data):
		return nil, fault(begin+length, "%d bytes, expected %d", len(data), size)
	case size > len(data):
		return nil, cut(len(text), "an array: %d bytes, expected %d", len(data), size)
	case a.size == 0 && all > len(text):
		return nil, fault(begin, "%d elements without bytes", all)
	}
	return a, nil
}

// types reads the type of the elements: one, or the fields of records. It reports whether it is known.
func (a *array) types(one, fields string) bool {
	if fields == "" {
		return a.field("", one, "")
	}
	for fields != "" {
		m := npyField.FindStringSubmatch(fields)
		if m == nil || len(a.fields) == 1<<12 || m[2] == "|O" || !a.field(cmp.Or(m[1], strconv.Itoa(len(a.fields))), m[2], m[3]) {
			return false
		}
		fields = fields[len(m[0]):]
	}
	return true
}

// field adds a field of a type.
func (a *array) field(name, kind, count string) bool {
	m := npyType.FindStringSubmatch(kind)
	if m == nil {
		return false
	}
	f := arrayField{name: name, kind: m[2][0], big: m[1] == ">", from: a.size}
	f.size, _ = strconv.Atoi(m[3])
	f.count, _ = strconv.Atoi(count)
	if m[3] == "" {
		f.size = npyLength[f.kind]
		if l := npyLetter[f.kind]; l != 0 {
			f.kind = l
		}
	}
	ok := true
	switch f.kind {
	case 'i', 'u', 'm', 'M':
		ok = f.size == 1 || f.size == 2 || f.size == 4 || f.size == 8
	case 'f':
		ok = f.size == 2 || f.size == 4 || f.size == 8
	case 'c':
		ok = f.size == 8 || f.size == 16
	case 'b':
		ok = f.size == 1
	case 'U':
		ok, f.size = f.size < 1<<24, f.size*4
	case 'S', 'a', 'V', 'O':
	default:
		ok = false
	}
	a.size += f.size * max(1, f.count)
	a.fields = append(a.fields, f)
	return ok && a.size < 1<<26
}

// stride returns how many elements are between two that follow each other in a dimension.
func (a *array) stride(dimension int) int {
	n := 1
	for i, size := range a.shape {
		if a.column && i < dimension || !a.column && i > dimension {
			n *= size
		}
	}
	return n
}

// give gives an array.
func (a *array) give(to Sink) { a.from(to, 0, 0) }

// from gives the elements from one of them on, in a dimension and those within.
func (a *array) from(to Sink, dimension, at int) {
	if dimension == len(a.shape) {
		a.element(to, a.data[at*a.size:][:a.size])
		return
	}
	to.BeginList(a.at)
	for i := range a.shape[dimension] {
		a.from(to, dimension+1, at+i*a.stride(dimension))
	}
	to.End(a.at)
}

// element gives an element.
func (a *array) element(to Sink, raw []byte) {
	records := a.fields[0].name != ""
	if records {
		to.BeginMap(a.at)
	}
	for _, f := range a.fields {
		if records {
			to.Name([]byte(f.name))
		}
		if f.count > 0 {
			to.BeginList(a.at)
		}
		for i := range max(1, f.count) {
			f.value(to, raw[f.from+i*f.size:][:f.size], a.at)
		}
		if f.count > 0 {
			to.End(a.at)
		}
	}
	if records {
		to.End(a.at)
	}
}

// value gives a value of a field.
func (f arrayField) value(to Sink, raw []byte, at int) {
	little := raw
	if f.big && f.kind != 'S' && f.kind != 'V' && f.kind != 'U' {
		little = bytes.Clone(raw)
		slices.Reverse(little)
	}
	var n uint64
	for i, b := range little[:min(len(little), 8)] {
		n |= uint64(b) << (8 * i)
	}
	switch f.kind {
	case 'b':
		to.Scalar(Bool, strconv.AppendBool(nil, n != 0))
	case 'u':
		to.Scalar(Number, strconv.AppendUint(nil, n, 10))
	case 'i', 'm', 'M':
		shift := 64 - 8*f.size
		to.Scalar(Number, strconv.AppendInt(nil, int64(n<<shift)>>shift, 10))
	case 'f':
		to.Scalar(Number, floatOf(n, f.size))
	case 'c':
		half := arrayField{kind: 'f', big: f.big, size: f.size / 2}
		to.BeginList(at)
		half.value(to, raw[:half.size], at)
		half.value(to, raw[half.size:], at)
		to.End(at)
	case 'S', 'a':
		if text := bytes.TrimRight(raw, "\x00"); utf8.Valid(text) {
			to.Scalar(Text, text)
		} else {
			to.Scalar(Bytes, text)
		}
	case 'U':
		var text []byte
		order := binary.ByteOrder(binary.LittleEndian)
		if f.big {
			order = binary.BigEndian
		}
		for i := 0; i < len(raw); i += 4 {
			r := rune(order.Uint32(raw[i:]))
			if !utf8.ValidRune(r) {
				to.Scalar(Bytes, raw)
				return
			}
			text = utf8.AppendRune(text, r)
		}
		to.Scalar(Text, bytes.TrimRight(text, "\x00"))
	default:
		to.Scalar(Bytes, raw)
	}
}

// floatOf returns a number of 2, 4 or 8 bytes.
func floatOf(n uint64, size int) []byte {
	switch size {
	case 2:
		return appendFloat(nil, half(uint16(n)), 32)
	case 4:
		return appendFloat(nil, float64(math.Float32frombits(uint32(n))), 32)
	}
	return appendFloat(nil, math.Float64frombits(n), 64)
}
