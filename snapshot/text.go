package snapshot

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/desynctool/desynctool/snapshot/merkle"
)

// textHeader is the first line of the text twin.
const textHeader = "%desynctool snapshot 1"

// IsText reports whether head, the first bytes of a file, begins the text twin of a snapshot.
func IsText(head []byte) bool {
	return strings.HasPrefix(string(head), textHeader+"\n") || strings.HasPrefix(string(head), textHeader+"\r\n")
}

// WriteText writes the text twin of a state: one variable a line. Each line contains the full path of its value, so
// that line tools such as diff and grep are useful. ReadText reverses it. docs/snapshot.md specifies the notation.
func WriteText(w io.Writer, s State) error {
	out := bufio.NewWriterSize(w, 1<<16)
	info := s.Info()
	out.WriteString(textHeader + "\n")
	fmt.Fprintf(out, "# state hash %s\n", info.Root)
	fmt.Fprintf(out, "%%seed %d\n%%tick %d\n", info.Seed, info.Point.Tick)
	for _, v := range []struct{ name, value string }{{"phase", info.Point.Phase}, {"native", info.Point.Words()}, {"peer", info.Peer}} {
		if v.value != "" {
			fmt.Fprintf(out, "%%%s %s\n", v.name, strconv.Quote(v.value))
		}
	}
	if info.Epoch != 0 {
		fmt.Fprintf(out, "%%epoch %d\n", info.Epoch)
	}
	if info.RNG != nil {
		fmt.Fprintf(out, "%%rng 0x%x\n", info.RNG)
	}
	if !info.History.IsZero() {
		fmt.Fprintf(out, "%%history %s\n", info.History)
	}
	for _, k := range slices.Sorted(maps.Keys(info.Meta)) {
		fmt.Fprintf(out, "%%meta %s %s\n", strconv.Quote(k), strconv.Quote(info.Meta[k]))
	}
	for i := range info.Tables {
		t := &info.Tables[i]
		fmt.Fprintf(out, "%%table %s %s %d\n", t.Class, strconv.Quote(t.Label), t.Parts)
		ix, err := s.Index(i)
		if err != nil {
			return errors.Join(out.Flush(), err)
		}
		for _, c := range ix.Columns {
			fmt.Fprintf(out, "%%column %s %s %s", strconv.Quote(c.Component), strconv.Quote(c.Field), c.Type)
			if c.Type == Fixed {
				fmt.Fprintf(out, " %d", c.Scale)
			}
			fmt.Fprintln(out)
		}
	}
	for i := range info.Tables {
		if err := writeRows(out, s, i); err != nil {
			return errors.Join(out.Flush(), err)
		}
	}
	if f, ok := s.(*File); ok {
		if err := f.checkEnd(); err != nil {
			return errors.Join(out.Flush(), err)
		}
	}
	return out.Flush()
}

func writeRows(out *bufio.Writer, s State, i int) error {
	ix, err := s.Index(i)
	if err != nil {
		return err
	}
	var line []byte
	for b := range ix.Blocks {
		rows, err := LoadRows(s, i, b)
		if err != nil {
			return err
		}
		prefix := rowPrefix(rows)
		names := make([]string, len(rows.Columns))
		for k := range rows.Columns {
			names[k] = columnPath(&rows.Columns[k])
		}
		for r := range rows.Keys.A {
			line = append(append(line[:0], prefix...), rows.Keys.At(r).digits()...)
			line = append(line, ']')
			head := len(line)
			if len(names) == 0 {
				out.Write(append(line, '\n'))
			}
			for k := range names {
				line = append(append(line[:head], names[k]...), " = "...)
				v := rows.Columns[k].At(r)
				line = append(v.Append(line), '\n')
				if _, err := out.Write(line); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// rowPrefix returns the start of a table's lines, up to the key.
func rowPrefix(t *Table) string {
	class := ""
	if t.Class != Archetype {
		class = t.Class.String() + " "
	}
	return class + PathName(t.Label, "[=%#") + "["
}

// columnPath returns the text between key and value.
func columnPath(c *Column) string {
	return "." + PathName(c.Component, ".=") + "." + PathName(c.Field, "=")
}

// PathName returns a name in the form for a path of the text twin. It is a Go string literal if it contains a space, a
// quote, a backslash, a non-printable character or one of the special characters. Otherwise it is unchanged.
func PathName(name, special string) string {
	for _, r := range name {
		if r == ' ' || r == '"' || r == '\\' || !unicode.IsPrint(r) || r == unicode.ReplacementChar || strings.ContainsRune(special, r) {
			return strconv.Quote(name)
		}
	}
	return name
}

// TextError reports the line of a text twin that is not as expected.
type TextError struct {
	Name string
	Line int
	Msg  string
}

func (e *TextError) Error() string { return fmt.Sprintf("%s:%d: %s", e.Name, e.Line, e.Msg) }

// maxLine is the length in bytes of the longest line of a text twin. It has room for any value that fits a cell, at
// four characters a byte, and for the path.
const maxLine = 4*maxCell + 64<<10

// ReadText reads a text twin and writes the .snap that it describes. It keeps a few rows in memory. Errors contain
// name. They are a *TextError if the text is at fault.
func ReadText(ws io.WriteSeeker, r io.Reader, name string, opts WriteOptions) error {
	p := textParser{in: bufio.NewReaderSize(r, 1<<16)}
	err := p.parse(ws, opts)
	if err != nil && err != p.ioErr {
		return &TextError{name, p.line, err.Error()}
	}
	return err
}

type textParser struct {
	in    *bufio.Reader
	line  int
	buf   []byte
	ioErr error

	head   Head
	tables []Table
	writer *Writer

	// The current table, the rows collected so far, and the column that comes next in the last row.
	table    int
	prefixes []string
	paths    []string
	rows     Table
	column   int
}

// next returns the next line without its end, and false at the end. It skips comments and empty lines.
func (p *textParser) next() (string, bool, error) {
	for {
		p.buf = p.buf[:0]
		for {
			part, err := p.in.ReadSlice('\n')
			if p.buf = append(p.buf, part...); len(p.buf) > maxLine {
				p.line++
				return "", false, fmt.Errorf("line is longer than %d bytes", maxLine)
			}
			if err == bufio.ErrBufferFull {
				continue
			}
			if err != nil && err != io.EOF {
				p.ioErr = err
				return "", false, err
			}
			if err == io.EOF && len(p.buf) == 0 {
				return "", false, nil
			}
			break
		}
		p.line++
		if !utf8.Valid(p.buf) {
			return "", false, errors.New("line is not UTF-8")
		}
		if line := strings.TrimRight(string(p.buf), "\r\n"); line != "" && line[0] != '#' {
			return line, true, nil
		}
	}
}

func (p *textParser) parse(ws io.WriteSeeker, opts WriteOptions) error {
	line, _, err := p.next()
	if err != nil {
		return err
	}
	if line != textHeader {
		p.line = max(p.line, 1)
		return fmt.Errorf("expected %q", textHeader)
	}
	var ok bool
	for {
		if line, ok, err = p.next(); err != nil {
			return err
		}
		if !ok || line[0] != '%' {
			break
		}
		if err := p.directive(line); err != nil {
			return err
		}
	}
	if p.writer, err = NewWriter(ws, p.head, p.tables, opts); err != nil {
		return err
	}
	for i := range p.tables {
		p.prefixes = append(p.prefixes, rowPrefix(&p.tables[i]))
	}
	p.enter(0)
	for ; ok; line, ok, err = p.next() {
		if err := p.row(line); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if err := p.flush(); err != nil {
		return err
	}
	return p.writer.Close()
}

// directive reads a line that begins with %.
func (p *textParser) directive(line string) error {
	name, rest, _ := strings.Cut(line[1:], " ")
	fields, err := splitFields(rest)
	if err != nil {
		return err
	}
	want := map[string]int{"seed": 1, "tick": 1, "phase": 1, "native": 1, "peer": 1, "epoch": 1, "rng": 1, "history": 1, "meta": 2, "table": 3}
	if n, ok := want[name]; ok && len(fields) != n || name == "column" && len(fields) != 3 && len(fields) != 4 {
		return fmt.Errorf("%%%s with %d fields", name, len(fields))
	}
	switch name {
	case "seed":
		p.head.Seed, err = strconv.ParseUint(fields[0], 10, 64)
	case "tick":
		p.head.Point.Tick, err = strconv.ParseUint(fields[0], 10, 64)
	case "phase":
		p.head.Point.Phase = fields[0]
		err = p.head.Point.check()
	case "native":
		p.head.Point = p.head.Point.Named(fields[0])
		err = p.head.Point.check()
	case "peer":
		p.head.Peer = fields[0]
		err = checkText(fields[0])
	case "epoch":
		var n uint64
		n, err = strconv.ParseUint(fields[0], 10, 32)
		p.head.Epoch = uint32(n)
	case "rng":
		var v Value
		v, err = ParseValue(Bytes, 0, fields[0])
		p.head.RNG = append([]byte{}, v.Raw...)
	case "history":
		p.head.History, err = merkle.ParseHash(fields[0])
	case "meta":
		if p.head.Meta == nil {
			p.head.Meta = map[string]string{}
		}
		p.head.Meta[fields[0]] = fields[1]
		err = checkText(fields[0])
	case "table":
		t := Table{Label: fields[1]}
		if t.Class, err = ParseClass(fields[0]); err == nil && fields[2] == "2" {
			t.Keys.B = []uint64{}
		} else if fields[2] != "1" {
			err = errors.Join(err, fmt.Errorf("keys of %q parts, expected 1 or 2", fields[2]))
		}
		p.tables = append(p.tables, t)
	case "column":
		if len(p.tables) == 0 {
			return errors.New("%column before any %table")
		}
		err = p.addColumn(fields)
	default:
		return fmt.Errorf("unknown directive %%%s", name)
	}
	if err != nil {
		return fmt.Errorf("%%%s: %w", name, err)
	}
	return nil
}

func (p *textParser) addColumn(fields []string) error {
	typ, err := ParseType(fields[2])
	if err != nil {
		return err
	}
	scale := uint64(0)
	if len(fields) == 4 {
		if scale, err = strconv.ParseUint(fields[3], 10, 32); err != nil {
			return err
		}
	}
	t := &p.tables[len(p.tables)-1]
	t.Columns = append(t.Columns, NewColumn(fields[0], fields[1], typ, uint32(scale)))
	return nil
}

// splitFields splits at spaces. A field that begins with a quote is a Go string literal.
func splitFields(s string) ([]string, error) {
	var fields []string
	for s != "" {
		if s[0] != '"' {
			field, rest, _ := strings.Cut(s, " ")
			fields, s = append(fields, field), rest
			continue
		}
		literal, err := strconv.QuotedPrefix(s)
		if err != nil {
			return nil, fmt.Errorf("malformed string in %.40q", s)
		}
		text, err := strconv.Unquote(literal)
		if err != nil {
			return nil, fmt.Errorf("malformed string %.40q", literal)
		}
		fields = append(fields, text)
		if s = s[len(literal):]; s != "" && s[0] != ' ' {
			return nil, fmt.Errorf("expected a space before %.40q", s)
		}
		s = strings.TrimPrefix(s, " ")
	}
	return fields, nil
}

// enter makes table i the current table.
func (p *textParser) enter(i int) {
	p.table, p.column, p.paths = i, 0, p.paths[:0]
	if i < len(p.tables) {
		p.rows = emptyLike(&p.tables[i])
		for k := range p.rows.Columns {
			p.paths = append(p.paths, "]"+columnPath(&p.rows.Columns[k])+" = ")
		}
	}
}

// flush passes the collected rows to the writer.
func (p *textParser) flush() error {
	if p.column != 0 {
		return fmt.Errorf("row %s%s] lacks %s", p.prefixes[p.table], p.rows.Keys.At(p.rows.Rows()-1), p.rows.Columns[p.column].Name())
	}
	if p.rows.Rows() == 0 {
		return nil
	}
	err := p.writer.Append(&p.rows)
	p.rows = emptyLike(&p.rows)
	return err
}

// row parses one line of one row.
func (p *textParser) row(line string) error {
	for p.table < len(p.tables) && !strings.HasPrefix(line, p.prefixes[p.table]) {
		if err := p.flush(); err != nil {
			return err
		}
		p.enter(p.table + 1)
	}
	if p.table == len(p.tables) {
		return fmt.Errorf("%.60q is not a row of this or a later table", line)
	}
	rest := line[len(p.prefixes[p.table]):]
	end := strings.IndexByte(rest, ']')
	if end < 0 {
		return errors.New("expected ] after the key")
	}
	key, err := ParseKey(rest[:end])
	if err != nil {
		return err
	}
	if key.Two != (p.rows.Keys.B != nil) {
		return fmt.Errorf("key %s does not have %d parts", key, p.rows.Keys.Parts())
	}
	rest = rest[end:]
	if p.column == 0 {
		if p.rows.Rows() >= meanBlockRows {
			if err := p.flush(); err != nil {
				return err
			}
		}
		p.rows.Keys.add(key)
	} else if last := p.rows.Keys.At(p.rows.Rows() - 1); key != last {
		return fmt.Errorf("row %s begins, but row %s lacks %s", key, last, p.rows.Columns[p.column].Name())
	}
	if len(p.paths) == 0 {
		if rest != "]" {
			return fmt.Errorf("expected a line that ends after the key, got %.60q", rest)
		}
		return nil
	}
	text, ok := strings.CutPrefix(rest, p.paths[p.column])
	if !ok {
		return fmt.Errorf("expected %q after the key, got %.60q", p.paths[p.column], rest)
	}
	c := &p.rows.Columns[p.column]
	v, err := ParseValue(c.Type, c.Scale, text)
	if err != nil {
		return err
	}
	switch {
	case v.Absent:
		c.AppendAbsent()
	case c.Type.Width() > 0:
		c.AppendUint(v.bits())
	default:
		c.AppendBytes(v.Raw)
	}
	p.column = (p.column + 1) % len(p.paths)
	return nil
}
