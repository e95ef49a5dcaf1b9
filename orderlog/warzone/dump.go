package warzone

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/orderlog/frame"
)

// DumpHead is what the first and the last line of a dump say.
type DumpHead struct {
	Time    uint32 // game time, the label of the dump
	Entries uint64
	CRC     uint32
}

// Limits of a dump. The engine writes texts of at most 511 bytes.
const (
	maxLine     = 16 << 10 // bytes
	maxFunction = 200      // bytes of a function's name
	maxNames    = 1 << 16  // names that are kept
)

// printable reports whether a name is of printable ASCII characters.
func printable(name []byte) bool {
	for _, c := range name {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// Dump reads a dump line by line.
type Dump struct {
	lines   *orderlog.Lines
	head    DumpHead
	entry   Entry
	count   uint64
	crc     syncCRC
	ints    []uint32
	names   map[string]string
	version string
	blind   bool // the CRC covers some lines in a way that is not known
	err     error
}

// IsDump reports whether head, the leading bytes of a file, are those of a dump.
func IsDump(head []byte) bool {
	line, _, whole := bytes.Cut(head, []byte("\n"))
	_, ok := parseEdge(bytes.TrimSuffix(line, []byte("\r")), "BEGIN")
	return whole && ok
}

// NewDump reads the first line. The name is what errors call the file.
func NewDump(r io.Reader, name string) (*Dump, error) {
	d := &Dump{lines: orderlog.NewLines(r, name), names: map[string]string{}, crc: syncCRC{tables: crcTables()}}
	line, err := d.lines.Next()
	if err != nil {
		if err == io.EOF {
			return nil, d.lines.Unrecognized("empty file, expected a dump of Warzone 2100")
		}
		return nil, err
	}
	var ok bool
	if d.head, ok = parseEdge(line, "BEGIN"); !ok {
		return nil, d.lines.Unrecognized("file begins with %.60q, expected ===== BEGIN gameTime=… of a dump of Warzone 2100", line)
	}
	return d, nil
}

// parseEdge takes "===== BEGIN gameTime=25702, 205 entries, CRC 0xDD89782C =====".
func parseEdge(line []byte, word string) (h DumpHead, ok bool) {
	if len(line) > 100 {
		return h, false
	}
	text, ok := strings.CutPrefix(string(line), "===== "+word+" gameTime=")
	if !ok {
		return h, false
	}
	if text, ok = strings.CutSuffix(text, " ====="); !ok {
		return h, false
	}
	time, text, ok := strings.Cut(text, ", ")
	if !ok {
		return h, false
	}
	entries, crc, ok := strings.Cut(text, " entries, CRC 0x")
	if !ok || len(crc) != 8 || strings.Trim(crc, "0123456789ABCDEF") != "" {
		return h, false
	}
	t, ok1 := plainNumber(time, 32)
	n, ok2 := plainNumber(entries, 63)
	c, err := strconv.ParseUint(crc, 16, 32)
	return DumpHead{uint32(t), n, uint32(c)}, ok1 && ok2 && err == nil
}

// Head returns what the first line says.
func (d *Dump) Head() DumpHead { return d.head }

// Version returns the version of the game that wrote the dump, "4.3.3". It is
// known once its line has been read, which is one of the last.
func (d *Dump) Version() string { return d.version }

// Verified reports whether the lines give the CRC in the head. It is known once
// Next has returned io.EOF. False means that this cannot be said: the dump has
// lines whose part in the CRC is not known. Lines that do not give the CRC though
// all are known are an error if the dump is of version 4.3.
func (d *Dump) Verified() bool { return d.err == io.EOF && !d.blind && d.crc.value() == d.head.CRC }

// Next returns the next entry. It returns io.EOF after the last line, and a
// [*frame.Error] if the dump is torn, or corrupt: a line that is not an entry, or a
// number of entries, a last line or a CRC that does not fit. Once it has returned
// an error it returns the same one again.
func (d *Dump) Next() (*Entry, error) {
	if d.err == nil {
		d.err = d.next()
	}
	if d.err != nil {
		return nil, d.err
	}
	return &d.entry, nil
}

func (d *Dump) next() error {
	line, err := d.lines.Next()
	if err == io.EOF {
		return &frame.Error{
			Name: d.lines.Name(), Offset: d.lines.Offset(), Err: frame.ErrTorn,
			Msg: fmt.Sprintf("line %d: the file ends after %d of %d entries", d.lines.Number(), d.count, d.head.Entries),
		}
	}
	if err != nil {
		return err
	}
	if len(line) == 0 || line[0] != '[' {
		return d.end(line)
	}
	if d.count++; d.count > d.head.Entries {
		return d.lines.Corrupt("more entries than the %d of the first line", d.head.Entries)
	}
	n := bytes.Index(line, []byte("] "))
	switch {
	case len(line) > maxLine:
		return d.lines.Corrupt("line of %d bytes, expected %d at most", len(line), maxLine)
	case n < 2 || n > maxFunction || !printable(line[1:n]):
		return d.lines.Corrupt("%.60q, expected [function] and text", line)
	}
	values := d.entry.Values[:0]
	d.entry = Entry{Line: d.lines.Number(), Offset: d.lines.Offset(), Function: d.intern(line[1:n]), Text: line[n+2:], Values: values}
	d.entry.parse(d)
	d.cover(&d.entry)
	return nil
}

// cover adds an entry to the CRC.
func (d *Dump) cover(e *Entry) {
	switch {
	case e.Object != NoObject:
		d.crc.words(d.ints)
	case e.version():
		d.version = string(e.Values[0].Text) // not covered
	case e.Function == Backtrace, e.About():
		d.blind = true
	default:
		d.crc.text([]byte(e.Function))
		d.crc.text(e.Text)
	}
}

// end takes the last line.
func (d *Dump) end(line []byte) error {
	foot, ok := parseEdge(line, "END")
	switch {
	case !ok:
		return d.lines.Corrupt("%.60q, expected [function] or ===== END gameTime=…", line)
	case foot != d.head:
		return d.lines.Corrupt("last line has time %d, %d entries and CRC 0x%08X, the first one %d, %d and 0x%08X",
			foot.Time, foot.Entries, foot.CRC, d.head.Time, d.head.Entries, d.head.CRC)
	case d.count != d.head.Entries:
		return d.lines.Corrupt("%d entries, expected the %d of the first line", d.count, d.head.Entries)
	case !d.blind && d.crc.value() != d.head.CRC && strings.HasPrefix(d.version, "4.3."):
		return d.lines.Corrupt("CRC of the lines is 0x%08X, expected 0x%08X", d.crc.value(), d.head.CRC)
	}
	switch _, err := d.lines.Next(); {
	case err == nil:
		return d.lines.Corrupt("a line after the last one")
	case err != io.EOF:
		return err
	}
	return io.EOF
}

// intern returns a string for a name. It is made once for each name.
func (d *Dump) intern(name []byte) string {
	if s, ok := d.names[string(name)]; ok {
		return s
	}
	s := string(name)
	if len(d.names) < maxNames {
		d.names[s] = s
	}
	return s
}
