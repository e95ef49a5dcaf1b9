package zeroad

import (
	"bytes"
	"errors"

	"github.com/desynctool/desynctool/snapshot"
)

// A recorder remembers what the components of a dump put into tables. In the next dump, of the same moment by another
// peer or of the next turn by the same, most have the same text: then the same is put there again, and the text is not
// read.
type recorder struct {
	before, now recording

	cursor   int  // in the blocks of before
	stopped  bool // for the rest of this dump
	repeated bool // something, in this dump
	filled   bool // nothing more of this dump is recorded

	on      bool
	current block
}

// recording is what was put into tables by a dump.
type recording struct {
	text   []byte
	blocks []block
	ops    []op
	values []byte
}

// block is one component of an entity, without the line that names it.
type block struct {
	own         *table
	entity      uint64
	start, end  int // in the text
	ops, opsEnd int
	values      int // where its ops' values begin
	valuesEnd   int
}

// op is a row that begins, if it has no field, or a value in the current row.
type op struct {
	table *table
	field *field
	bits  uint64 // the second part of the row's key; or the value; or of a text where it ends, and 32 bits above where it begins
}

// noRow is the field of an op that makes a table exist, with or without a row.
var noRow = new(field)

// errRepeat means that reading has to begin again without repeating anything: it has reached a limit, and only the text
// shows where.
var errRepeat = errors.New("at a limit while something was repeated")

// Limits of a recording: if a dump has more, only the components up to there are repeated.
const (
	maxOps    = 1 << 18
	maxValues = 4 << 20 // bytes
	maxBlocks = 1 << 16
)

// maxBeside is how many components of an entity are searched for one.
const maxBeside = 64

// begin begins a dump.
func (r *recorder) begin(text []byte) {
	r.before, r.now = r.now, r.before
	r.now.text = append(r.now.text[:0], text[:min(len(text), maxScratch)]...)
	r.now.blocks, r.now.ops, r.now.values = r.now.blocks[:0], r.now.ops[:0], r.now.values[:0]
	r.cursor, r.stopped, r.repeated, r.filled, r.on = 0, false, false, false, false
}

// forget has the next dump repeat nothing.
func (r *recorder) forget() { r.before, r.now = recording{}, recording{} }

// stop neither records nor repeats anything in the rest of the dump: the meaning of a component's text depends on the
// text before it there.
func (r *recorder) stop() { r.on, r.stopped = false, true }

// full is stop for a table that has all allowed columns: one more must be refused at its place in the text, not later.
func (r *recorder) full() error {
	r.stop()
	if r.repeated {
		return errRepeat
	}
	return nil
}

// find returns what a component of an entity was in the dump before, nil if it is not known.
func (r *recorder) find(own *table, entity uint64) *block {
	if r.stopped {
		return nil
	}
	list := r.before.blocks
	for r.cursor < len(list) && list[r.cursor].entity < entity {
		r.cursor++
	}
	for i := r.cursor; i < min(len(list), r.cursor+maxBeside) && list[i].entity == entity; i++ {
		if list[i].own == own {
			r.cursor = i
			return &list[i]
		}
	}
	return nil
}

// same returns how many bytes a component takes at the beginning of a text if that is the same as it was, else 0.
func (r *recorder) same(b *block, text []byte) int {
	old := r.before.text[b.start:b.end]
	if !bytes.HasPrefix(text, old) || bytes.HasPrefix(text[len(old):], fieldIndent) {
		return 0
	}
	return len(old)
}

// repeat puts what a component was into the tables again, and records it, at another place in the text.
func (r *recorder) repeat(b *block, start int) error {
	r.repeated = true
	values := r.before.values[b.values:b.valuesEnd]
	for i := range r.before.ops[b.ops:b.opsEnd] {
		o := &r.before.ops[b.ops+i]
		switch {
		case o.field == noRow:
			o.table.open()
			continue
		case o.field == nil:
			o.table.open().add(b.entity, o.bits)
			continue
		}
		c, err := o.table.at(o.field)
		switch {
		case err != nil:
			return errRepeat
		case c.Type == snapshot.String:
			c.AppendBytes(values[o.bits>>32 : uint32(o.bits)])
		default:
			c.AppendUint(o.bits)
		}
	}
	now := &r.now
	if r.filled || start+b.end-b.start > len(now.text) || len(now.blocks) >= maxBlocks || len(now.ops)+b.opsEnd-b.ops > maxOps || len(now.values)+len(values) > maxValues {
		r.filled = true
		return nil
	}
	moved := block{own: b.own, entity: b.entity, start: start, end: start + b.end - b.start, ops: len(now.ops), values: len(now.values)}
	now.ops = append(now.ops, r.before.ops[b.ops:b.opsEnd]...)
	now.values = append(now.values, values...)
	moved.opsEnd, moved.valuesEnd = len(now.ops), len(now.values)
	now.blocks = append(now.blocks, moved)
	return nil
}

// start begins to record a component. Its own row already exists.
func (r *recorder) start(own *table, entity uint64, at int) {
	if r.on = !r.stopped && !r.filled; r.on {
		r.current = block{own: own, entity: entity, start: at, ops: len(r.now.ops), values: len(r.now.values)}
	}
}

// end ends it.
func (r *recorder) end(at int) {
	if !r.on {
		return
	}
	if r.on = false; at > len(r.now.text) || len(r.now.blocks) >= maxBlocks {
		r.fill()
		return
	}
	r.current.end, r.current.opsEnd, r.current.valuesEnd = at, len(r.now.ops), len(r.now.values)
	r.now.blocks = append(r.now.blocks, r.current)
}

// fill ends recording, without the current component.
func (r *recorder) fill() {
	r.on, r.filled = false, true
	r.now.ops, r.now.values = r.now.ops[:r.current.ops], r.now.values[:r.current.values]
}

// add records an op.
func (r *recorder) add(o op) {
	if len(r.now.ops) >= maxOps {
		r.fill()
	} else {
		r.now.ops = append(r.now.ops, o)
	}
}

// row records that a row begins.
func (r *recorder) row(t *table, second uint64) {
	if r.on {
		r.add(op{t, nil, second})
	}
}

// opened records that a table is there.
func (r *recorder) opened(t *table) {
	if r.on {
		r.add(op{t, noRow, 0})
	}
}

// bits records a number in the current row.
func (r *recorder) bits(t *table, f *field, bits uint64) {
	if r.on {
		r.add(op{t, f, bits})
	}
}

// bytes records a text in the current row.
func (r *recorder) bytes(t *table, f *field, value []byte) {
	switch {
	case !r.on:
	case len(r.now.values)+len(value) > maxValues:
		r.fill()
	default:
		at := len(r.now.values) - r.current.values
		r.now.values = append(r.now.values, value...)
		r.add(op{t, f, uint64(at)<<32 | uint64(at+len(value))})
	}
}
