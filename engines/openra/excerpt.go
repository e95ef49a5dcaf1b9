package openra

import (
	"bytes"
	"strconv"

	"github.com/desynctool/desynctool/internal/file/partial"
	"github.com/desynctool/desynctool/snapshot"
)

// section is a part of a report.
type section int

const (
	inHead section = iota
	inTraits
	inEffects
	inOrders
	inSystem
	unknownSection // after a gap
)

// pieces reads an excerpt: what its lines are is shown by their form alone. A line that makes no
// sense, as the one at which a person stopped, is passed over and counted.
type pieces struct {
	d       *decoder
	missing partial.Missing
	spaces  bool // tabs have become spaces

	section section
	t       *table // of the lines of values; nil where it is not known
	in      bool   // t is one of an order
	next    int64  // the line of the left file that the last gap was followed by
	since   int64  // lines since then
	lines   int64  // of the file, as far as they are known; 0 where they are not
	unnamed *table
	issued  map[uint64]uint64
	wrong   int
	first   int // line of the first one that makes no sense
}

// IsExcerpt reports whether some lines come from the middle of a report: a trait of an actor is among the first two,
// and another line has the report's form.
func IsExcerpt(lines []byte) bool {
	traits, known := 0, 0
	for n := 0; n < 8 && len(lines) > 0; n++ {
		line, rest, _ := bytes.Cut(lines, []byte("\n"))
		lines = rest
		line = bytes.TrimRight(line, "\r")
		if text := bytes.TrimLeft(line, "\t "); len(text) == len(line) || !isTrait(text) {
			if n == 0 && traits == 0 && !fieldLike(line) {
				return false
			}
			if fieldLike(line) {
				known++
			}
			continue
		}
		if n > 1 && traits == 0 {
			return false
		}
		traits++
	}
	return traits > 1 || traits > 0 && known > 0
}

// fieldLike reports whether a line has the indentation of a value, and a name.
func fieldLike(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("\t\t ")) && !bytes.HasPrefix(line, []byte("  ")) {
		return false
	}
	name, _, ok := bytes.Cut(bytes.TrimLeft(line, "\t "), []byte(": "))
	return ok && len(name) > 0 && bytes.IndexByte(name, ' ') < 0
}

// isTrait reports whether a text is "ID KIND OWNER TRAIT (HASH)".
func isTrait(text []byte) bool {
	d := decoder{}
	rest, _, err := d.hashed(text)
	if err != nil {
		return false
	}
	number, rest, _ := bytes.Cut(rest, []byte(" "))
	if bytes.Count(rest, []byte(" ")) < 2 || len(number) == 0 || number[0] < '0' || number[0] > '9' {
		return false
	}
	_, err = strconv.ParseUint(string(number), 10, 32)
	return err == nil
}

// excerpt reads what is there of a report.
func (d *decoder) excerpt() *pieces {
	p := &pieces{d: d, issued: map[uint64]uint64{}, lines: 0}
	p.spaces = !bytes.Contains(d.text, []byte("\n\t"))
	d.actors = map[uint64]*seen{}
	for !d.ended() {
		line, err := d.line()
		if err != nil { // cut off inside
			break
		}
		p.lines++
		p.since++
		if g, ok := partial.ParseGap(line); ok {
			p.gap(g)
			continue
		}
		if err := p.line(line); err != nil {
			if p.wrong++; p.wrong == 1 {
				p.first = d.row
			}
		}
	}
	return p
}

// cut notes that the report breaks off after the last line that was read.
func (p *pieces) cut() { p.missing.Cut(p.lines) }

// gap forgets what earlier lines said.
func (p *pieces) gap(g partial.Gap) {
	p.missing.Add(g)
	if p.lines = g.Last; g.Last == 0 {
		p.lines = max(0, g.Next-1)
	}
	p.t, p.in, p.next, p.since = nil, false, g.Next, 0
	if p.section != inOrders && p.section != inSystem {
		p.section = unknownSection
	}
}

// begins are the lines that begin a section.
var begins = map[string]section{traits: inTraits, effects: inEffects, orders: inOrders, systemInfo: inSystem}

func (p *pieces) line(line []byte) error {
	d := p.d
	if s, ok := begins[string(bytes.TrimRight(line, " \t"))]; ok {
		p.section, p.t, p.in = s, nil, false
		return nil
	}
	text := bytes.TrimLeft(line, "\t ")
	if len(text) == len(line) {
		return p.plain(line)
	}
	deep := bytes.HasPrefix(line, []byte("\t\t"))
	if p.spaces {
		deep = !isTrait(text) && bytes.Contains(text, []byte(": ")) && !p.orderLine(text)
	}
	switch {
	case p.orderLine(text):
		p.section = inOrders
		return p.orders(text)
	case deep:
		return p.value(text)
	case isTrait(text) && p.section != inEffects:
		p.section = inTraits
		t, err := d.trait(text)
		p.t = t
		return err
	case p.section == inEffects || p.section == unknownSection:
		p.section = inEffects
		t, err := d.effect(text)
		p.t = t
		return err
	}
	return d.errorf("%.60q, expected a trait", line)
}

// plain takes a line that is not indented.
func (p *pieces) plain(line []byte) error {
	d := p.d
	switch {
	case len(line) == 0:
		return nil
	case string(line) == host:
		d.meta["host"] = "true"
		return nil
	}
	for prefix, read := range map[string]func() error{"Player: ": d.player, "Game ID: ": d.game, "Sync for net frame ": d.netFrame, "SharedRandom: ": d.random} {
		if bytes.HasPrefix(line, []byte(prefix)) {
			d.back()
			return read()
		}
	}
	if text, ok := bytes.CutPrefix(line, []byte("Out of sync frame: ")); ok {
		d.meta["out_of_sync_frame"] = string(text)
		return nil
	}
	if text, ok := bytes.CutPrefix(line, []byte("Recorded frames: ")); ok {
		_, err := d.frames(string(text))
		d.meta["recorded_frames"] = string(text)
		return err
	}
	return d.errorf("%.60q, expected a line of a sync report", line)
}

// value takes a line of a value. If it is not known what it belongs to, it becomes a separate row, keyed by its line in
// the left file of the diff.
func (p *pieces) value(text []byte) error {
	d := p.d
	if p.t != nil {
		return d.field(p.t, text)
	}
	if p.unnamed == nil {
		t, err := d.tables.add("(unnamed)", "unnamed trait", false)
		if err != nil {
			return err
		}
		p.unnamed = t
	}
	key := uint64(max(0, p.next+p.since-1))
	if n := len(p.unnamed.keysA); n > 0 && key <= p.unnamed.keysA[n-1] {
		key = p.unnamed.keysA[n-1] + 1
	}
	name, value, ok := bytes.Cut(text, []byte(": "))
	if !ok {
		return d.errorf("%.60q, expected a name and a value", text)
	}
	p.unnamed.addRow(key, 0)
	return d.set(p.unnamed, name, value)
}

// orderLine reports whether a text belongs to an order.
func (p *pieces) orderLine(text []byte) bool {
	return bytes.HasPrefix(text, []byte("ClientId: ")) || p.section == inOrders
}

// orders takes a line of an order. One without a head belongs to an order that is not known.
func (p *pieces) orders(text []byte) error {
	d, t := p.d, p.d.tables.orders
	if rest, first := bytes.CutPrefix(text, []byte("ClientId: ")); first {
		number, rest, ok := bytes.Cut(rest, []byte(" "))
		client, err := strconv.ParseUint(string(number), 10, 31)
		if err != nil || !ok {
			return d.errorf("%.60q, expected a client's number and an order", text)
		}
		t.addRow(client, p.issued[client])
		p.issued[client]++
		p.in = true
		return d.orderField(t, rest)
	}
	if !p.in {
		return p.value(text)
	}
	return d.orderField(t, text)
}

// mark notes the parts of the state that are not known.
func (p *pieces) mark(h *snapshot.Head, e partial.Head) {
	text := p.missing.String()
	if p.wrong > 0 {
		if text != "" {
			text += "; "
		}
		text += "lines that make no sense: " + strconv.Itoa(p.wrong) + ", the first of them line " + strconv.Itoa(p.first)
	}
	if p.spaces {
		if text != "" {
			text += "; "
		}
		text += "tabs have become spaces"
	}
	h.SetIncomplete(text, e.Twin())
}
