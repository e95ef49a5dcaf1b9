package warzone

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/partial"
	"github.com/desynctool/desynctool/orderlog"
)

// DumpHead is the content of the first and the last line of a dump.
type DumpHead struct {
	Time    uint32 // game time, the label of the dump
	Entries uint64
	CRC     uint32
}

// Limits of a dump.
const (
	maxText        = 511      // bytes of a text, at which the game cuts it
	maxLine        = 16 << 10 // bytes
	maxFunction    = 200      // bytes of a function's name
	ordersMaxNames = 1 << 16  // names that are kept
)

// printable reports whether a name is of printable ASCII characters.
func printable(name []byte) bool {
	return !slices.ContainsFunc(name, func(c byte) bool { return c < ' ' || c > '~' })
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
	blind   bool  // the CRC covers some lines in a way that is not known
	odd     error // the first line about an object in a form that 4.3 does not write
	err     error

	part    *Part // of an excerpt, else nil
	gap     partial.Gap
	gapped  bool
	missing partial.Missing
	line    int64 // of the file that the excerpt comes from, as far as it is known
}

// Part describes which lines an excerpt of a dump has.
type Part struct {
	Head    partial.Head
	Timed   bool // the head of the dump is there
	Wrong   int  // lines that make no sense
	missing *partial.Missing
}

// Missing describes which lines are missing, once the dump was read to its end.
func (p *Part) Missing() string {
	text := p.missing.String()
	if p.Wrong > 0 {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("lines that make no sense: %d", p.Wrong)
	}
	return text
}

// DumpFormat is the name of the format in excerpts of dumps.
const DumpFormat = "warzone-dump"

// Part describes which lines an excerpt of a dump has, nil for a whole dump.
func (d *Dump) Part() *Part { return d.part }

// IsPart reports whether some lines come from the middle of a dump: the first one is an entry, and one of them has a
// known form.
func IsPart(lines []byte) bool {
	d := &Dump{names: map[string]string{}, crc: syncCRC{tables: crcTables()}}
	for n := 0; n < 8 && len(lines) > 0; n++ {
		line, rest, _ := bytes.Cut(lines, []byte("\n"))
		lines = rest
		line = bytes.TrimSuffix(line, []byte("\r"))
		end := bytes.Index(line, []byte("] "))
		if len(line) == 0 || line[0] != '[' || end < 2 || !word(line[1:end]) || line[1] < 'A' {
			return false
		}
		d.entry = Entry{Function: string(line[1:end]), Text: line[end+2:]}
		d.entry.parse(d)
		if d.entry.Kind != "" {
			return true
		}
	}
	return false
}

// IsDump reports whether head, the leading bytes of a file, belong to a dump.
func IsDump(head []byte) bool {
	if partial.Of(head, DumpFormat) {
		return true
	}
	line, _, whole := bytes.Cut(head, []byte("\n"))
	_, ok := parseEdge(bytes.TrimSuffix(line, []byte("\r")), "BEGIN")
	return whole && ok
}

// NewDump reads the first line. Errors have the name for the file.
func NewDump(r io.Reader, name string) (*Dump, error) {
	d := &Dump{lines: orderlog.NewLines(r, name), names: map[string]string{}, crc: syncCRC{tables: crcTables()}}
	line, err := d.lines.Next()
	if err == nil && partial.Of(line, DumpFormat) {
		return d.excerpt(line), nil
	}
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

// Head returns the content of the first line.
func (d *Dump) Head() DumpHead { return d.head }

// Version returns the version of the game that wrote the dump, "4.3.3". It is
// known once its line has been read, which is one of the last.
func (d *Dump) Version() string { return d.version }

// Verified reports whether the lines give the CRC in the head. It is known once Next has returned io.EOF. False means
// that this is not known: the dump has lines with an unknown part in the CRC. In a dump of version 4.3 lines about objects
// have known forms: another form is an error, and so is another CRC.
func (d *Dump) Verified() bool {
	return d.part == nil && d.err == io.EOF && !d.blind && d.crc.value() == d.head.CRC
}

// Sum returns the CRC of the entries so far, as the game computes it. Once all were read it equals the head's, unless
// the dump is damaged, or has lines with an unknown part in the CRC: see Verified.
func (d *Dump) Sum() uint32 { return d.crc.value() }

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

// excerpt begins to read an excerpt after its first line.
func (d *Dump) excerpt(line []byte) *Dump {
	head, _ := partial.ParseHead(line)
	d.part = &Part{Head: head, missing: &d.missing}
	next, _, whole := bytes.Cut(d.lines.Peek(200), []byte("\n"))
	if h, ok := parseEdge(bytes.TrimSuffix(next, []byte("\r")), "BEGIN"); ok && whole {
		d.head, d.part.Timed = h, true
	}
	return d
}

// piece returns the next line of an excerpt that is an entry.
func (d *Dump) piece() ([]byte, error) {
	d.gapped = false
	for {
		line, err := d.lines.Next()
		if frame := (*frame.Error)(nil); errors.As(err, &frame) {
			d.missing.Cut(d.line)
			return nil, io.EOF
		}
		if err != nil {
			return nil, err
		}
		if g, ok := partial.ParseGap(line); ok {
			d.missing.Add(g)
			d.gap, d.gapped = g, true
			if d.line = g.Last; g.Last == 0 {
				d.line = max(0, g.Next-1)
			}
			continue
		}
		d.line++
		n := bytes.Index(line, []byte("] "))
		switch {
		case len(line) > 0 && line[0] == '[' && len(line) <= maxLine && n >= 2 && n <= maxFunction && printable(line[1:n]):
			return line, nil
		case !isEdge(line):
			d.part.Wrong++
		}
	}
}

// isEdge reports whether a line is the first or the last one of a dump.
func isEdge(line []byte) bool {
	_, begin := parseEdge(line, "BEGIN")
	_, end := parseEdge(line, "END")
	return begin || end
}

func (d *Dump) next() error {
	if d.part != nil {
		line, err := d.piece()
		if err != nil {
			return err
		}
		d.count++
		d.take(line, bytes.Index(line, []byte("] ")))
		if d.entry.Line = d.line; d.gapped {
			d.entry.Gap = &d.gap
		}
		return nil
	}
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
	d.take(line, n)
	return nil
}

// take makes a line the current entry; n is where its function ends.
func (d *Dump) take(line []byte, n int) {
	values := d.entry.Values[:0]
	d.entry = Entry{Line: d.lines.Number(), Offset: d.lines.Offset(), Function: d.intern(line[1:n]), Text: line[n+2:], Values: values}
	d.entry.parse(d)
	d.cover(&d.entry)
}

// cover adds an entry to the CRC.
func (d *Dump) cover(e *Entry) {
	switch {
	case e.Object != NoObject:
		d.crc.words(d.ints)
	case e.version():
		d.version = string(e.Values[0].Text) // not covered
	case e.Function == Backtrace:
		d.blind = true
	case e.About():
		if d.blind = true; d.odd == nil && len(e.Text) < maxText {
			d.odd = d.lines.Corrupt("%.60q, expected the values of a %s as the game writes them", e.Text, e.Kind)
		}
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
	case !strings.HasPrefix(d.version, "4.3."):
	case d.odd != nil:
		return d.odd
	case !d.blind && d.crc.value() != d.head.CRC:
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
	if len(d.names) < ordersMaxNames {
		d.names[s] = s
	}
	return s
}
