package relay

import (
	"cmp"
	"slices"
)

// A readReport is a report, whatever peer has made it.
type readReport struct {
	flags    byte
	point    uint64
	step     int
	stepName string
	silent   uint64
	groups   []group
	columns  []readColumn
}

type readColumn struct {
	label, component, field string
	kind, flags             byte
	scale, rows             uint32
	values                  []foundRow
}

// read reads a report; ok is false if that is not possible.
func read(b []byte, peers int) (d readReport, ok bool) {
	in := reader{b: b}
	if string(in.bytes(4)) != "DFR\x01" {
		return d, false
	}
	d.flags = byte(in.number(1))
	in.number(8)
	d.point, d.step, d.stepName, d.silent = in.number(8), int(in.number(2)), in.text(), in.number(8)
	groups := in.number(1)
	if groups > groupsMost {
		return d, false
	}
	for range groups {
		g := group{members: in.number(8), root: in.number(8), stepRoot: in.number(8), inputs: in.number(8)}
		if g.members == 0 || g.members>>(peers-1)>>1 != 0 {
			return d, false
		}
		d.groups = append(d.groups, g)
	}
	in.number(8)
	for n := in.number(1); n > 0 && !in.bad; n-- {
		c := readColumn{label: in.text(), component: in.text(), field: in.text(), kind: byte(in.number(1)), scale: uint32(in.number(4)), flags: byte(in.number(1)), rows: uint32(in.number(4))}
		for rows := in.number(4); rows > 0 && !in.bad; rows-- {
			row := foundRow{key: in.number(8), key2: in.number(8)}
			for range groups {
				row.values = append(row.values, in.value())
			}
			c.values = append(c.values, row)
		}
		d.columns = append(d.columns, c)
	}
	return d, !in.bad && len(in.b) == 0
}

func (r *Relay) readable(b []byte) bool {
	_, ok := read(b, len(r.peers))
	return ok
}

// share makes the report of what was found, and hands it out.
func (r *Relay) share() {
	shown := 0
	for i := range r.listed {
		l := &r.listed[i]
		for _, identity := range r.listed {
			if identity.table == l.table && identity.column == 0 && l.column > 0 && (identity.first || l.rows == 0 && !l.unfinished()) {
				l.first = false // it may be that only rows of one side differ
				break
			}
		}
		if l.unfinished() {
			r.flags |= cut
		}
		if l.all > 0 || l.unfinished() || l.first {
			shown++
		}
		if l.rows == 0 && !l.unfinished() && !l.first {
			r.columnsDiffer--
		}
	}
	point := r.point
	if len(r.groups) == 0 {
		point = 0
	}
	b := appendNumber(append([]byte("DFR\x01"), byte(r.flags)), r.seed, 8)
	b = appendText(appendNumber(appendNumber(b, point, 8), uint64(r.step), 2), r.stepName)
	b = append(appendNumber(b, r.silent, 8), byte(len(r.groups)))
	for _, g := range r.groups {
		for _, v := range []uint64{g.members, g.root, g.stepRoot, g.inputs} {
			b = appendNumber(b, v, 8)
		}
	}
	b = appendNumber(appendNumber(b, uint64(r.tablesDiffer), 4), uint64(r.columnsDiffer), 4)
	b = append(b, byte(shown))
	slices.SortStableFunc(r.found, func(a, b foundRow) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.key2, b.key2))
	})
	for i := range r.listed {
		if l := &r.listed[i]; l.all > 0 || l.unfinished() || l.first {
			b = r.appendColumn(b, i)
		}
	}
	r.takes(b, r.id, 0)
}

func (l *listed) unfinished() bool { return l.pending > 0 || l.more }

func (r *Relay) appendColumn(b []byte, number int) []byte {
	l := &r.listed[number]
	b = appendText(appendText(appendText(b, l.label), l.component), l.field)
	flags := byte(0)
	if l.unfinished() {
		flags |= 1
	}
	if l.first {
		flags |= 2
	}
	b = append(appendNumber(append(b, l.kind), uint64(l.scale), 4), flags)
	b = appendNumber(appendNumber(b, l.rows+l.pending, 4), l.all, 4)
	for _, row := range r.found {
		if row.listed == number {
			b = appendNumber(appendNumber(b, row.key, 8), row.key2, 8)
			for _, v := range row.values {
				b = append(b, v...)
			}
		}
	}
	return b
}
