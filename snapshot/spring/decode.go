package spring

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/desynctool/desynctool/orderlog/frame"
	"github.com/desynctool/desynctool/snapshot"
)

// item says which lines begin a row. The engine's own names of things are in the
// singular of the sections'.
type item struct {
	section string // of depth 1
	depth   int
	key     string
	label   string
	list    string // that tells how many there are; "" is the section
	child   bool   // keyed by (the row around it, index)
	byID    bool   // of a child: keyed by its own number, not by its index
	named   bool   // the line has a name behind the key: "17206 (name: tank)"
}

// items is the one table of what becomes a row.
var items = []item{
	{section: "units", depth: 2, key: "unitID", label: "Unit", named: true},
	{section: "units", depth: 4, key: "name", label: "UnitPiece", list: "pieces", child: true},
	{section: "units", depth: 4, key: "weaponID", label: "UnitWeapon", list: "weapons", child: true, byID: true, named: true},
	{section: "units", depth: 5, key: "commandID", label: "UnitCommand", list: "commandQue.size()", child: true},
	{section: "unitsToBeRemoved", depth: 2, key: "unitID", label: "UnitToBeRemoved", named: true},
	{section: "features", depth: 2, key: "featureID", label: "Feature", named: true},
	{section: "projectiles", depth: 2, key: "projectileID", label: "Projectile"},
	{section: "teams", depth: 2, key: "teamID", label: "Team", named: true},
	{section: "allyteams", depth: 2, key: "allyteamID", label: "AllyTeam"},
	{section: "loaded models", depth: 2, key: "name", label: "Model"},
	{section: "loaded models", depth: 3, key: "name", label: "ModelPiece", list: "pieceObjects", child: true},
	{section: "CobEngine", depth: 3, key: "id", label: "CobThread", list: "CobThreads"},
}

// parametersKey is the line behind which the parameters of a command stand, one a
// line, and historyKey the one behind which checksums do.
const (
	parametersKey = "params"
	historyKey    = "internal frame checksums"
)

const (
	maxDepth  = 16
	maxCells  = 1 << 26 // rows times columns of all tables
	maxFields = 4096    // of a table
)

// decoder reads the state of one frame.
type decoder struct {
	name string
	text []byte
	pos  int
	line int

	all     []*table
	byName  map[string]*table
	game    *table
	section string
	rules   [maxDepth][]*rule // of the section at hand
	counts  []count
	blocks  [maxDepth]string // names of the lines around the one at hand, by depth
	rows    [maxDepth]*table // the row that lines deeper than that depth belong to
	history bool             // checksums follow
	params  int              // of the command at hand
}

// rule is an item with its table.
type rule struct {
	*item
	table *table
	count int
}

// count is how many rows a list is to have.
type count struct {
	rule *rule
	want int
	line int
}

func newDecoder(name string, text []byte) *decoder {
	d := &decoder{name: name, text: text, byName: map[string]*table{}}
	d.game = d.table("Game", false)
	d.game.begin(0, 0)
	d.rows[0] = d.game
	return d
}

func (d *decoder) table(label string, two bool) *table {
	t := d.byName[label]
	if t == nil {
		t = newTable(label, two)
		d.byName[label] = t
		d.all = append(d.all, t)
	}
	return t
}

func (d *decoder) errorf(format string, args ...any) error {
	return &frame.Error{
		Name: d.name, Offset: int64(d.pos), Err: frame.ErrCorrupt,
		Msg: fmt.Sprintf("line %d of the frame: ", d.line) + fmt.Sprintf(format, args...),
	}
}

func (d *decoder) torn(format string, args ...any) error {
	return &frame.Error{
		Name: d.name, Offset: int64(d.pos), Err: frame.ErrTorn,
		Msg: fmt.Sprintf("line %d of the frame: ", d.line) + fmt.Sprintf(format, args...),
	}
}

// decode reads all lines.
func (d *decoder) decode(w *snapshot.World) error {
	for d.pos < len(d.text) {
		d.line++
		rest := d.text[d.pos:]
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			return d.torn("the file ends inside the line")
		}
		line := rest[:end]
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if d.line == 1 {
			if err := d.first(line, w); err != nil {
				return err
			}
		} else if err := d.take(line); err != nil {
			return err
		}
		d.pos += end + 1
	}
	if d.section == "" {
		return d.torn("no units")
	}
	if err := d.endSection(); err != nil {
		return err
	}
	if d.byName["Team"] == nil {
		return d.torn("the state ends before its teams")
	}
	return nil
}

// first takes the line that names the frame.
func (d *decoder) first(line []byte, w *snapshot.World) error {
	number, ok := frameNumber(line)
	if !ok {
		return d.errorf("%.40q, expected frame: NUMBER, seed: NUMBER", line)
	}
	w.Point = (&dumpHead{}).point(number)
	_, seed, _ := bytes.Cut(line, []byte(", seed: "))
	return d.game.field("Game", "seed", seed, d)
}

// take takes one line.
func (d *decoder) take(line []byte) error {
	depth := 0
	for depth < len(line) && line[depth] == '\t' {
		depth++
	}
	line = line[depth:]
	switch {
	case len(line) == 0:
		return nil
	case depth >= maxDepth:
		return d.errorf("%d tabs, expected at most %d", depth, maxDepth-1)
	case depth == 0 && (bytes.HasPrefix(line, []byte(historyKey)) || d.history):
		return d.checksum(line)
	case depth == 0:
		return d.errorf("%.40q, expected tabs", line)
	}
	key, value, colon := cutKey(line)
	if depth == 1 {
		return d.heading(string(key), value, colon)
	}
	if d.section == "" {
		return d.errorf("%.40q, expected units", line)
	}
	for _, r := range d.rules[depth] {
		if string(key) == r.key {
			return d.begin(r, depth, value)
		}
	}
	row := d.row(depth)
	if row == nil {
		return d.errorf("%.40q belongs to nothing", line)
	}
	if row.label == "UnitCommand" && !colon {
		d.params++
		return row.number(row.parameter(d.params-1), line, d)
	}
	if colon && len(value) == 0 { // the name of a block
		d.blocks[depth] = blockName(key)
		d.clear(depth)
		return nil
	}
	d.clear(depth)
	return d.pairs(row, d.block(depth, row), depth, key, value)
}

// row returns the row that a line of a depth belongs to.
func (d *decoder) row(depth int) *table {
	for i := depth - 1; i >= 0; i-- {
		if d.rows[i] != nil {
			return d.rows[i]
		}
	}
	return nil
}

// block returns the component that a line of a depth belongs to: the innermost
// named block around it, else the row itself.
func (d *decoder) block(depth int, row *table) string {
	for i := depth - 1; i > 1; i-- {
		if d.rows[i] != nil {
			break
		}
		if d.blocks[i] != "" {
			return d.blocks[i]
		}
	}
	return row.label
}

// clear forgets the blocks and rows deeper than a line.
func (d *decoder) clear(depth int) {
	for i := depth + 1; i < maxDepth; i++ {
		d.blocks[i] = ""
	}
	for i := depth; i < maxDepth; i++ {
		if d.rows[i] != nil && i > 0 {
			d.rows[i] = nil
		}
	}
}

// blockName returns the component that a block is called: "The unit is CBuilder"
// is CBuilder.
func blockName(key []byte) string {
	return string(bytes.TrimPrefix(key, []byte("The unit is ")))
}

// heading takes a line of depth 1: the name of a section with the number of its
// rows, or a value of the whole game.
func (d *decoder) heading(key string, value []byte, colon bool) error {
	if err := d.endSection(); err != nil {
		return err
	}
	d.section = key
	for i := range d.rows {
		if i > 0 {
			d.rows[i] = nil
		}
		d.blocks[i], d.rules[i] = "", nil
	}
	known := false
	for i := range items {
		it := &items[i]
		if it.section != key {
			continue
		}
		known = true
		r := &rule{item: it, table: d.table(it.label, it.child)}
		d.rules[it.depth] = append(d.rules[it.depth], r)
		if it.list == "" {
			if err := d.expect(r, value); err != nil {
				return err
			}
		}
	}
	if known || len(value) == 0 {
		return nil
	}
	if !colon {
		return d.errorf("%.40q, expected a section", key)
	}
	return d.game.field("Game", key, value, d)
}

// expect notes how many rows a list is to have.
func (d *decoder) expect(r *rule, value []byte) error {
	n, err := strconv.ParseUint(string(value), 10, 31)
	if err != nil {
		return d.errorf("%.40q, expected a number of rows", value)
	}
	r.count = 0
	d.counts = append(d.counts, count{r, int(n), d.line})
	return nil
}

// settle checks the counts of the lists for which it is true.
func (d *decoder) settle(which func(r *rule) bool) error {
	for i := 0; i < len(d.counts); {
		c := d.counts[i]
		if !which(c.rule) {
			i++
			continue
		}
		if c.want != c.rule.count {
			err := d.errorf("%d of %s, line %d says %d", c.rule.count, c.rule.label, c.line, c.want)
			if d.pos >= len(d.text) && c.rule.count < c.want {
				err = d.torn("%d of %s, line %d says %d", c.rule.count, c.rule.label, c.line, c.want)
			}
			return err
		}
		d.counts = slices.Delete(d.counts, i, i+1)
	}
	return nil
}

// endSection checks the counts of the section that ends.
func (d *decoder) endSection() error {
	if err := d.endCommand(); err != nil {
		return err
	}
	return d.settle(func(*rule) bool { return true })
}

// endCommand checks the number of parameters of the command that ends.
func (d *decoder) endCommand() error {
	t := d.byName["UnitCommand"]
	if t == nil || t.wantParams < 0 {
		return nil
	}
	want := t.wantParams
	t.wantParams = -1
	if d.params != want {
		return d.errorf("command with %d parameters, expected %d", d.params, want)
	}
	return nil
}

// begin begins a row.
func (d *decoder) begin(r *rule, depth int, value []byte) error {
	if err := d.endCommand(); err != nil {
		return err
	}
	if err := d.settle(func(o *rule) bool { return o.depth > depth }); err != nil {
		return err
	}
	id, rest := value, []byte(nil)
	if i := bytes.IndexByte(value, ' '); i >= 0 {
		id, rest = value[:i], value[i+1:]
	}
	number := uint64(r.count)
	numbered := r.key != "name" && r.key != "commandID"
	if numbered {
		n, err := strconv.ParseUint(string(id), 10, 63)
		if err != nil {
			return d.errorf("%s is %.40q, expected a number", r.key, id)
		}
		number = n
	}
	r.count++
	owner := uint64(0)
	if r.child {
		parent := d.row(depth)
		if parent == nil || parent == d.game {
			return d.errorf("%s outside of a row", r.key)
		}
		owner = parent.keysA[len(parent.keysA)-1]
		if parent.two {
			return d.errorf("%s inside %s", r.key, parent.label)
		}
	}
	d.clear(depth - 1)
	t := r.table
	switch {
	case !r.child:
		t.begin(number, 0)
	default:
		t.begin(owner, number)
	}
	d.rows[depth] = t
	d.params = 0
	switch {
	case r.key == "name":
		return d.name2(t, value)
	case r.key == "commandID":
		return t.field(t.label, r.key, value, d)
	case r.label == "CobThread":
		return d.thread(t, rest)
	case r.named:
		return d.parenthesis(t, rest)
	}
	return nil
}

// name2 takes "base" or "base (parentName: hull)".
func (d *decoder) name2(t *table, value []byte) error {
	name, rest, _ := bytes.Cut(value, []byte(" ("))
	if err := t.text(t.label, "name", name, d); err != nil {
		return err
	}
	if len(rest) == 0 {
		return nil
	}
	return d.parenthesis(t, append([]byte("("), rest...))
}

// parenthesis takes "(name: tank)".
func (d *decoder) parenthesis(t *table, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	b = bytes.TrimSuffix(bytes.TrimPrefix(b, []byte("(")), []byte(")"))
	key, value, colon := cutKey(b)
	if !colon {
		return d.errorf("%.40q, expected (key: value)", b)
	}
	return t.text(t.label, string(key), value, d)
}

// thread takes "t.id 1 t.wt 2 owner 5 … dead|gargage|waiting 0|0|0".
func (d *decoder) thread(t *table, b []byte) error {
	words := bytes.Fields(b)
	for i := 0; i+1 < len(words); i += 2 {
		if err := t.field(t.label, string(words[i]), words[i+1], d); err != nil {
			return err
		}
	}
	if len(words)%2 != 0 {
		return d.errorf("%.40q without a value", words[len(words)-1])
	}
	return nil
}

// checksum takes a line of the checksums that Recoil puts behind the last frame:
// how many there are, or one of them.
func (d *decoder) checksum(line []byte) error {
	if !d.history {
		if err := d.endSection(); err != nil {
			return err
		}
		d.history = true
		d.table("FrameChecksum", false).class = snapshot.Cache
		return nil
	}
	t := d.byName["FrameChecksum"]
	t.begin(uint64(len(t.keysA)), 0)
	return t.text(t.label, "checksum", line, d)
}

// pairs takes "heading: 0, mapSquare: 0", cut behind the first key.
func (d *decoder) pairs(row *table, component string, depth int, key, value []byte) error {
	for {
		var rest []byte
		more := false
		if !whole(key) {
			value, rest, more = cutPair(value)
		}
		for _, r := range d.listOf(key) {
			if r.depth > depth {
				return d.expect(r, value)
			}
		}
		if row.label == "UnitCommand" && string(key) == parametersKey {
			n, err := strconv.ParseUint(string(value), 10, 31)
			if err != nil {
				return d.errorf("params is %.40q, expected a number", value)
			}
			row.wantParams = int(n)
			return nil
		}
		if err := row.known(component, key, value, d); err != nil {
			return err
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

// listOf returns the rules of the section whose number of rows a key tells.
func (d *decoder) listOf(key []byte) []*rule {
	for depth := range d.rules {
		for i, r := range d.rules[depth] {
			if r.list != "" && string(key) == r.list {
				return d.rules[depth][i : i+1]
			}
		}
	}
	return nil
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

// whole reports whether all that stands behind a key is its value, even if there
// are commas in it.
func whole(key []byte) bool {
	switch string(key) {
	case "tx1,tx2,tz1,tz2", "ids", "wts|ids", "parentName", "name", "modelType":
		return true
	}
	return false
}

// cutPair cuts a value from the pair behind it: at ", " outside of angle brackets,
// or at tabs.
func cutPair(b []byte) (value, rest []byte, more bool) {
	open := false
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
