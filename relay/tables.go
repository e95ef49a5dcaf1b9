package relay

import "fmt"

// A listed column differs.
type listed struct {
	table, column           uint32
	label, component, field string
	kind                    byte // its type; 0 is the identity
	scale                   uint32
	known                   bool // its name is known
	rows, pending, all      uint64
	more, first             bool // more rows differ than are listed; it differs after the step
}

const bytesKind, kindMost = 14, 15 // types of docs/snapshot.md

// afterTables asks for the columns of tables that differ. The first answers have the number of tables.
func (r *Relay) afterTables() {
	if r.tableCount == 0 {
		for _, of := range r.groups {
			in := r.answered(of.peer, 0)
			r.tableCount = max(r.tableCount, uint32(in.number(4)))
		}
		if r.tableCount == 0 {
			r.flags |= cut
		}
		if r.tableCount > leavesInAnswer {
			r.askTables(0)
			return
		}
	}
	most := partsMost
	if r.step != endOfTick {
		most /= 2
	}
	counts, parts := map[int]int{}, []part(nil)
	for k := range r.parts {
		p := &r.parts[k]
		for i := range min(uint64(r.tableCount)-min(p.from, uint64(r.tableCount)), leavesInAnswer) {
			if differs, _ := r.differ(k, 4+8*int(i)); !differs {
				continue
			}
			if p.step == endOfTick {
				r.tablesDiffer++
			}
			if counts[p.step]++; counts[p.step] > most {
				r.flags |= cut
				continue
			}
			parts = append(parts, part{what: askColumns, step: p.step, point: r.point, table: uint32(p.from + i)})
		}
	}
	if len(parts) == 0 {
		r.share()
		return
	}
	r.stage = columnsStage
	r.ask(parts)
}

// differ compares eight bytes of the groups' answers. One that lacks them leaves the report incomplete.
func (r *Relay) differ(part, at int) (differs, ok bool) {
	first, ok := uint64(0), true
	for g, of := range r.groups {
		in := r.answered(of.peer, part)
		in.bytes(at)
		v := in.number(8)
		if in.bad {
			ok = false
			r.flags |= cut
		}
		if g == 0 {
			first = v
		}
		differs = differs || v != first
	}
	return differs, ok
}

// afterColumns lists the columns with sums that differ.
func (r *Relay) afterColumns() {
	for k := range r.parts {
		p := &r.parts[k]
		count, rows := uint64(0), uint64(0)
		for _, of := range r.groups {
			in := r.answered(of.peer, k)
			rows = max(rows, in.number(4))
			count = max(count, in.number(4))
		}
		r.rowsOf[p.table] = max(rows, r.rowsOf[p.table])
		if count == 0 || count > leavesInAnswer {
			r.flags |= cut
		}
		for i := range min(count, leavesInAnswer) {
			if differs, ok := r.differ(k, 8+8*int(i)); differs && ok {
				r.lists(p, uint32(i), rows)
			}
		}
	}
	r.askNames()
}

func (r *Relay) lists(p *part, column uint32, rows uint64) {
	at := 0
	for at < len(r.listed) && (r.listed[at].table != p.table || r.listed[at].column != column) {
		at++
	}
	if at == len(r.listed) {
		r.columnsDiffer++
		if at == listedMost {
			r.flags |= cut
			return
		}
		r.listed = append(r.listed, listed{table: p.table, column: column})
	}
	if p.step != endOfTick {
		r.listed[at].first = true
	} else {
		r.push(rowRange{listed: at, rows: rows})
	}
}

// askNames asks what the listed columns are.
func (r *Relay) askNames() {
	var parts []part
	for k := r.named; k < len(r.listed) && len(parts) < partsMost; k++ {
		l := &r.listed[k]
		parts = append(parts, part{what: askNames, step: endOfTick, point: r.point, table: l.table, column: l.column, listed: k})
	}
	if len(parts) == 0 {
		r.askRows()
		return
	}
	r.stage = namesStage
	r.ask(parts)
	r.rounds--
}

func (r *Relay) afterNames() {
	for k, p := range r.parts {
		l := &r.listed[p.listed]
		for _, g := range r.groups {
			in := r.answered(g.peer, k)
			of := listed{label: in.text(), component: in.text(), field: in.text(), kind: byte(in.number(1)), scale: uint32(in.number(4))}
			if identity := l.column == 0; in.bad || len(in.b) > 0 || of.kind > kindMost || (of.kind == 0) != identity || identity && of.component+of.field != "" {
				continue
			}
			l.label, l.component, l.field, l.kind, l.scale, l.known = of.label, of.component, of.field, of.kind, of.scale, true
			break
		}
		if l.known {
			continue
		}
		if l.label = fmt.Sprint("table ", l.table); l.column > 0 {
			l.component, l.field, l.kind = "column", fmt.Sprint(l.column), bytesKind
		}
	}
	r.named += len(r.parts)
	r.askNames()
}

// width is how many bytes a value has, about.
func (l *listed) width() uint64 {
	if l.kind == 0 {
		return 0
	}
	return []uint64{0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 52, 52, 8}[l.kind]
}
