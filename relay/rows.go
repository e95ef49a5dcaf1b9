package relay

// A rowRange is a range of rows of a listed column.
type rowRange struct {
	listed, depth int
	from, rows    uint64
}

type foundRow struct {
	listed    int
	key, key2 uint64
	values    []value // of each group
}

func (r *Relay) push(w rowRange) {
	l := &r.listed[w.listed]
	if len(r.work) == workMost {
		r.flags |= cut
		l.more = true
		return
	}
	r.work = append(r.work, w)
	l.pending++
}

// askRows asks for the next ranges: a small one for its rows, a large one for the sums of its parts.
func (r *Relay) askRows() {
	if len(r.work) == 0 || r.rounds >= roundsMost-1 || r.full || r.spent == spentMost {
		r.share()
		return
	}
	var parts []part
	for len(r.work) > 0 && len(parts) < partsMost && r.spent < spentMost {
		w := r.work[0]
		r.work = r.work[1:]
		l := &r.listed[w.listed]
		l.pending--
		r.spent++
		p := part{what: askBuckets, depth: w.depth, step: endOfTick, listed: w.listed, table: l.table, column: l.column, point: r.point, from: w.from}
		if w.rows*(18+l.width()) < body || w.depth >= 10 {
			p.what = askRows
		}
		parts = append(parts, p)
	}
	r.stage = rowsStage
	r.ask(parts)
}

func (r *Relay) afterRows() {
	for k := range r.parts {
		p := &r.parts[k]
		if p.what == askRows {
			r.compareRows(p, k)
			continue
		}
		parent := uint64(0)
		if p.depth > 0 {
			parent = p.from >> (64 - 6*p.depth) << (64 - 6*p.depth)
		}
		for i := range 64 {
			if differs, _ := r.differ(k, 8*i); differs {
				rows := r.rowsOf[p.table] >> (6 * (p.depth + 1))
				r.push(rowRange{p.listed, p.depth + 1, parent | uint64(i)<<(58-6*p.depth), rows + rows/2 + 1})
			}
		}
	}
	r.askRows()
}

type answeredRow struct {
	hash, key, key2 uint64
	value           value
}

// rowsIn reads an answer with rows, and whether there are more. One with rows of another range, out of order or twice is
// not an answer.
func (r *Relay) rowsIn(p *part, in reader) (rows []answeredRow, more, ok bool) {
	more = in.number(1) != 0
	for len(in.b) > 0 && !in.bad {
		row := answeredRow{key: in.number(8), key2: in.number(8)}
		row.hash, row.value = rowHash(row.key, row.key2), in.value()
		if row.hash < p.from || !within(row.hash, p.from, p.depth) || len(rows) > 0 && row.hash <= rows[len(rows)-1].hash {
			return nil, false, false
		}
		rows = append(rows, row)
	}
	return rows, more, !in.bad
}

func (r *Relay) compareRows(p *part, k int) {
	l := &r.listed[p.listed]
	all, next := make([][]answeredRow, len(r.groups)), make([]int, len(r.groups))
	bound, anyMore := uint64(1<<64-1), false
	for g, of := range r.groups { // up to where all of them have answered
		rows, more, ok := r.rowsIn(p, r.answered(of.peer, k))
		if !ok {
			r.flags |= cut
			l.more = true
			return
		}
		if all[g] = rows; more {
			anyMore = true
			last := uint64(0)
			if len(rows) > 0 {
				last = rows[len(rows)-1].hash
			}
			bound = min(bound, last)
		}
	}
	for {
		var it *answeredRow
		for g := range all {
			if next[g] < len(all[g]) && all[g][next[g]].hash <= bound && (it == nil || all[g][next[g]].hash < it.hash) {
				it = &all[g][next[g]]
			}
		}
		if it == nil {
			break
		}
		if !r.mergeRow(p.listed, it, all, next) {
			r.full, l.more = true, true
			r.flags |= cut
			return
		}
	}
	if anyMore && bound < 1<<64-1 && within(bound+1, p.from, p.depth) && bound >= p.from {
		r.push(rowRange{p.listed, p.depth, bound + 1, 1})
	}
}

// mergeRow lists a row if it differs. It returns false if there is no room.
func (r *Relay) mergeRow(number int, it *answeredRow, all [][]answeredRow, next []int) bool {
	l, with, differs := &r.listed[number], 0, false
	row, size := foundRow{listed: number, key: it.key, key2: it.key2}, 17
	for g := range all {
		v := value{noRow}
		if next[g] < len(all[g]) && all[g][next[g]].key == it.key && all[g][next[g]].key2 == it.key2 {
			v = all[g][next[g]].value
			next[g]++
			with++
			differs = differs || !v.is(it.value)
		}
		row.values = append(row.values, v)
		size += len(v)
	}
	whole := with == len(all)
	if whole && (l.column == 0 || !differs) {
		return true
	}
	if r.foundSize+size > r.valueRoom {
		return false
	}
	l.all++
	if l.column == 0 || whole { // that a row is on one side only is the identity's
		l.rows++
	}
	r.foundSize += size
	r.found = append(r.found, row)
	return true
}
