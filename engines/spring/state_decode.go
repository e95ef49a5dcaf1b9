package spring

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/snapshot"
)

const (
	maxDepth  = 16 // tabs before a line, plus one
	maxParams = 1024
)

// decoder reads the state of one frame.
type decoder struct {
	name string
	text []byte
	pos  int // of the current line
	line int

	*scratch
	tables   []*table
	cells    cells
	game     *table
	section  string
	headings map[string]bool // that were met
	rules    []*rule         // of the current section
	depth    int             // of the current line

	// rows are the rows that lines of a depth belong to, and lines of more tabs
	// unless there is another row. Blocks are the names of the lines around the current one.
	rows   [maxDepth]*table
	blocks [maxDepth]string

	history uint64 // number of the frame that the next checksums belong to, plus one
	params  int    // of the current command
	want    int    // parameters that it should have, -1 if it does not state a number
	key     []byte // of a parameter
}

// scratch is memory that decoders use one after another.
type scratch struct {
	content []byte // the file's
	states  int    // that were read with it
	known   []*table
}

// maxScratch is how many bytes of a file, and of tables, are kept for the next decoder.
const maxScratch = 4 << 20

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// free gives the memory to the next decoder.
func (s *scratch) free() {
	s.clean()
	scratches.Put(s)
}

// clean leaves no more memory than is to be kept.
func (s *scratch) clean() {
	if cap(s.content) > maxScratch {
		s.content = nil
	}
	size := 0
	for _, t := range s.known {
		t.cells = nil
		size += t.size()
	}
	if size > maxScratch {
		s.known = nil
	}
}

// table returns the table of a label as the state before left it.
func (s *scratch) table(label string) *table {
	for _, t := range s.known {
		if t.label == label {
			return t
		}
	}
	t := &table{label: label, slots: map[name]*slot{}, named: map[name]*use{}}
	s.known = append(s.known, t)
	return t
}

// rule is an item with its table, and the rows of the current list.
type rule struct {
	*item
	table *table
	name  []byte // the item's key
	got   int
	want  int // -1 if not known
	line  int // that said so
}

func newDecoder(name string, text []byte, s *scratch) *decoder {
	s.states++
	d := &decoder{name: name, text: text, scratch: s, headings: map[string]bool{}, want: -1}
	d.game = d.table(gameLabel, false)
	d.game.begin(0, 0)
	d.rows[0] = d.game
	return d
}

func (d *decoder) table(label string, two bool) *table {
	for _, t := range d.tables {
		if t.label == label {
			return t
		}
	}
	t := d.scratch.table(label)
	t.reset(d.states, two, &d.cells)
	d.tables = append(d.tables, t)
	return t
}

func (d *decoder) malformed(kind error, format string, args ...any) error {
	return &frame.Error{
		Name: d.name, Offset: int64(d.pos), Err: kind,
		Msg: fmt.Sprintf("line %d of the frame: ", d.line) + fmt.Sprintf(format, args...),
	}
}

func (d *decoder) errorf(format string, args ...any) error {
	return d.malformed(frame.Fault(args), format, args...)
}

// corrupt returns an error of a table as one of the current line.
func (d *decoder) corrupt(err error) error {
	if err == nil {
		return nil
	}
	return d.errorf("%v", err)
}

// decode reads all lines.
func (d *decoder) decode() error {
	for d.pos < len(d.text) {
		d.line++
		rest := d.text[d.pos:]
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			return d.malformed(frame.ErrTorn, "the file ends inside the line")
		}
		line := rest[:end]
		if end > 0 && line[end-1] == '\r' {
			line = line[:end-1]
		}
		if err := d.take(line); err != nil {
			return err
		}
		d.pos += end + 1
	}
	if err := d.endSection(); err != nil {
		return err
	}
	// Only its lines show where a script's dump ends.
	switch teams := d.table(teamLabel, false); {
	case !d.headings[teamSection]:
		return d.malformed(frame.ErrTorn, "the state ends before its teams")
	case d.section == teamSection && teams.lacks():
		return d.malformed(frame.ErrTorn, "the state ends inside its last team")
	case d.headings[engineSection] && !d.headings[allySection]:
		return d.malformed(frame.ErrTorn, "the state ends before its ally teams")
	}
	return nil
}

// take takes one line.
func (d *decoder) take(line []byte) error {
	depth := 0
	for depth < len(line) && line[depth] == '\t' {
		depth++
	}
	line = line[depth:]
	switch {
	case d.line == 1:
		return d.first(line, depth)
	case len(line) == 0:
		return nil
	case depth >= maxDepth:
		return d.errorf("%d tabs, expected at most %d", depth, maxDepth-1)
	case depth == 0 || d.history > 0:
		return d.checksum(line, depth)
	case depth > 1 && d.section == "":
		return d.errorf("%.40q, expected a section", line)
	}
	for i := depth + 1; i <= d.depth; i++ {
		d.rows[i], d.blocks[i] = nil, ""
	}
	d.depth, d.blocks[depth] = depth, ""
	key, value, colon := cutKey(line)
	if depth == 1 {
		return d.heading(string(key), value, colon)
	}
	for _, r := range d.rules {
		if r.depth == depth && r.key == string(key) {
			return d.begin(r, value)
		}
	}
	row, component := d.place(depth)
	switch {
	case row.label == commandLabel && !colon:
		return d.parameter(row, line)
	case colon && len(value) == 0 && classOf(string(key)) != word:
		// "The unit is CBuilder" is the block CBuilder.
		key = bytes.TrimPrefix(key, []byte("The unit is "))
		block, err := row.mark(component, key)
		d.blocks[depth] = block
		return d.corrupt(err)
	}
	return d.pairs(row, component, key, value)
}

// first takes the line that names the frame.
func (d *decoder) first(line []byte, depth int) error {
	if _, ok := frameNumber(line); !ok || depth > 0 {
		return d.errorf("%.40q, expected frame: NUMBER, seed: NUMBER", line)
	}
	_, seed, _ := bytes.Cut(line, seedMark)
	return d.corrupt(d.game.add(gameLabel, []byte("seed"), seed))
}

// place returns the row that a line of a depth belongs to, and the component: the
// innermost named block around the line, else the row itself.
func (d *decoder) place(depth int) (*table, string) {
	at := depth
	for d.rows[at] == nil {
		at--
	}
	for i := depth - 1; i >= at && i > 0; i-- {
		if d.blocks[i] != "" {
			return d.rows[at], d.blocks[i]
		}
	}
	return d.rows[at], d.rows[at].label
}

// heading takes a line of depth 1: the name of a section, perhaps with the number
// of its rows, or a value of the whole game.
func (d *decoder) heading(key string, value []byte, colon bool) error {
	if err := d.endSection(); err != nil {
		return err
	}
	if !colon {
		return d.errorf("%.40q, expected a section", key)
	}
	d.rules = d.rules[:0]
	d.section, d.blocks[1] = key, key
	for i := range items {
		it := &items[i]
		if it.section != key {
			continue
		}
		r := &rule{item: it, table: d.table(it.label, it.child), name: []byte(it.key), want: -1}
		d.rules = append(d.rules, r)
		if it.count == "" {
			if err := d.expect(r, value); err != nil {
				return err
			}
		}
	}
	if len(d.rules) == 0 && len(value) > 0 {
		return d.corrupt(d.game.add(gameLabel, []byte(key), value))
	}
	if d.headings[key] {
		return d.errorf("%s for the second time", key)
	}
	d.headings[key] = true
	return nil
}

// expect notes how many rows a list should have.
func (d *decoder) expect(r *rule, value []byte) error {
	n, ok := engine.ParseInt(value)
	if !ok || n < 0 || n > 1<<31 {
		return d.errorf("%.40q, expected a number of rows", value)
	}
	if err := d.settle(r); err != nil {
		return err
	}
	r.got, r.want, r.line = 0, int(n), d.line
	if t := r.table; len(t.keysA) == 0 {
		t.hint = int(n)
		if row := d.rows[d.depth]; r.child && row != nil {
			t.hint *= row.hint
		}
		t.hint = min(t.hint, (len(d.text)-d.pos)/16)
	}
	return nil
}

// settle checks that a list has as many rows as it should.
func (d *decoder) settle(r *rule) error {
	if r.want >= 0 && r.want != r.got {
		kind := frame.ErrCorrupt
		if d.pos >= len(d.text) && r.got < r.want {
			kind = frame.ErrTorn
		}
		return d.malformed(kind, "%d of %s, line %d has %d", r.got, r.label, r.line, r.want)
	}
	r.got, r.want = 0, -1
	return nil
}

// endSection checks the lists of the section that ends.
func (d *decoder) endSection() error {
	if err := d.endCommand(); err != nil {
		return err
	}
	for _, r := range d.rules {
		if err := d.settle(r); err != nil {
			return err
		}
	}
	return nil
}

// endCommand checks the number of parameters of the command that ends.
func (d *decoder) endCommand() error {
	if d.want >= 0 && d.params != d.want {
		kind := frame.ErrCorrupt
		if d.pos >= len(d.text) && d.params < d.want {
			kind = frame.ErrTorn
		}
		return d.malformed(kind, "command with %d parameters, expected %d", d.params, d.want)
	}
	d.want, d.params = -1, 0
	return nil
}

// begin begins a row.
func (d *decoder) begin(r *rule, value []byte) error {
	if err := d.endCommand(); err != nil {
		return err
	}
	for _, inner := range d.rules {
		if inner.child && inner.depth > r.depth && !r.child {
			if err := d.settle(inner); err != nil {
				return err
			}
		}
	}
	number, rest := uint64(r.got), value
	if r.id {
		digits := value
		if i := bytes.IndexByte(value, ' '); i >= 0 {
			digits, rest = value[:i], value[i+1:]
		} else {
			rest = nil
		}
		n, ok := engine.ParseInt(digits)
		if !ok || n < 0 {
			return d.errorf("%s is %.40q, expected a number", r.key, digits)
		}
		number = uint64(n)
	}
	r.got++
	if r.child {
		at := r.fields - 1
		for d.rows[at] == nil {
			at--
		}
		owner := d.rows[at]
		if owner == d.game || owner.two {
			return d.errorf("%s outside of a row", r.key)
		}
		r.table.begin(owner.keysA[len(owner.keysA)-1], number)
	} else {
		r.table.begin(number, 0)
	}
	d.rows[r.fields] = r.table
	d.depth = max(d.depth, r.fields)
	if !r.id {
		after := []byte(nil)
		if i := bytes.Index(rest, []byte(" (")); i >= 0 && rest[len(rest)-1] == ')' {
			rest, after = rest[:i], rest[i+1:]
		}
		if err := r.table.add(r.label, r.name, rest); err != nil {
			return d.corrupt(err)
		}
		rest = after
	}
	return d.afterName(r.table, rest)
}

// afterName takes what follows the number or name of a row: "(name: tank)", or
// words, "t.id 1 t.wt 2 owner 5".
func (d *decoder) afterName(t *table, b []byte) error {
	if len(b) > 1 && b[0] == '(' && b[len(b)-1] == ')' {
		key, value, colon := cutKey(b[1 : len(b)-1])
		if !colon {
			return d.errorf("%.40q, expected (key: value)", b)
		}
		return d.corrupt(t.add(t.label, key, value))
	}
	for len(b) > 0 {
		key, rest, ok := bytes.Cut(b, []byte(" "))
		if !ok {
			return d.errorf("%.40q without a value", key)
		}
		value, more, _ := bytes.Cut(rest, []byte(" "))
		if err := t.add(t.label, key, value); err != nil {
			return d.corrupt(err)
		}
		b = more
	}
	return nil
}

// parameter takes a parameter of a command.
func (d *decoder) parameter(row *table, value []byte) error {
	if d.params == maxParams {
		return d.errorf("more than %d parameters", maxParams)
	}
	d.key = append(strconv.AppendInt(append(d.key[:0], "params["...), int64(d.params), 10), ']')
	s := row.at(row.label, d.key)
	s.class = parameter
	d.params++
	if bits, ok := parseFloat(value); ok {
		return d.corrupt(row.putBits(s, decimal, uint64(bits)))
	}
	return d.corrupt(row.putText(s, value))
}

// pairs takes "heading: 0, mapSquare: 0", cut after the first key.
func (d *decoder) pairs(row *table, component string, key, value []byte) error {
	for {
		var rest []byte
		more := false
		s := row.at(component, key)
		if s.class != word {
			value, rest, more = cutPair(value)
		}
		for _, r := range d.rules {
			if r.count == string(key) && r.depth > d.depth {
				if err := d.expect(r, value); err != nil {
					return err
				}
			}
		}
		if row.label == commandLabel && string(key) == commandParams {
			n, ok := engine.ParseInt(value)
			if !ok || n < 0 || n > maxParams {
				return d.errorf("params is %.40q, expected 0 to %d", value, maxParams)
			}
			d.want = int(n)
		}
		if err := row.putValue(s, value); err != nil {
			return d.corrupt(err)
		}
		if !more {
			return nil
		}
		colon := false
		if key, value, colon = cutKey(rest); !colon {
			return d.errorf("%.40q, expected key: value", rest)
		}
	}
}

// checksum takes a line of the checksums that Recoil writes after the last frame: the thing they belong to, or one of
// them.
func (d *decoder) checksum(line []byte, depth int) error {
	if d.history == 0 {
		if err := d.endSection(); err != nil {
			return err
		}
		rest, ok := bytes.CutPrefix(line, []byte("internal frame checksums ("))
		digits, _, ok2 := bytes.Cut(rest, []byte("):"))
		n, ok3 := engine.ParseInt(digits)
		if !ok || !ok2 || !ok3 || n < 0 {
			return d.errorf("%.40q, expected tabs", line)
		}
		d.history = uint64(n) + 1
		d.table(historyLabel, true).class = snapshot.Cache
		return nil
	}
	if depth != 1 {
		return d.errorf("%.40q, expected a checksum", line)
	}
	t := d.table(historyLabel, true)
	t.begin(d.history-1, uint64(len(t.keysA)))
	return d.corrupt(t.add(t.label, []byte("checksum"), line))
}

// cutKey cuts "key: value" and "key value".
func cutKey(line []byte) (key, value []byte, colon bool) {
	i := bytes.IndexByte(line, ':')
	if i < 0 {
		key, value, _ = bytes.Cut(line, []byte(" "))
		return key, value, false
	}
	value = line[i+1:]
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	return line[:i], value, true
}

// cutPair cuts a value from the pair after it: at ", " outside of angle brackets,
// or at tabs.
func cutPair(b []byte) (value, rest []byte, more bool) {
	open := false
	if n := len(b); n > 1 && b[0] == '<' && b[n-1] == '>' && bytes.IndexByte(b, '>') == n-1 {
		return b, nil, false
	}
	for i, c := range b {
		switch {
		case c == '<':
			open = true
		case c == '>':
			open = false
		case c == ',' && !open && i+1 < len(b) && b[i+1] == ' ':
			return b[:i], b[i+2:], true
		case c == '\t':
			return b[:i], bytes.TrimLeft(b[i:], "\t"), true
		}
	}
	return b, nil, false
}
