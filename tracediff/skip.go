package tracediff

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
)

// sameGrammar reports whether the same bytes mean the same in all traces.
func (c *comparer) sameGrammar() bool {
	a := &c.peers[0].r.grammar
	for _, p := range c.peers {
		b := &p.r.grammar
		if p.r.win == nil || p.r.binary != nil || b.kind != a.kind || b.sep != a.sep || b.column != a.column || len(b.columns) != len(a.columns) {
			return false
		}
		if b.kind == Pattern {
			// Without ticks in the lines, the number of matches determines the tick.
			hasTick := slices.ContainsFunc(b.groups, func(g group) bool { return g.key == keyTick })
			if !hasTick || a.pattern.String() != b.pattern.String() {
				return false
			}
		}
	}
	return true
}

// next returns the offset of the next record.
func (p *peer) next() int64 {
	if p.rec != nil {
		return p.rec.Pos.Offset
	}
	return p.r.win.offset()
}

// unread puts back the next record.
func (p *peer) unread() {
	if p.rec == nil {
		return
	}
	w := p.r.win
	w.pos = int(p.rec.Pos.Offset - w.base)
	p.r.line = p.rec.Pos.Line
	p.r.row.value = p.r.row.value[:0]
	p.rec = nil
}

// live returns the peers that have not ended.
func (c *comparer) live() []*peer {
	return lists.Where(c.peers, func(p *peer) bool { return !p.done })
}

// there returns peers as a set.
func there(peers []*peer) (set uint64) {
	for _, p := range peers {
		set |= 1 << p.n
	}
	return set
}

// maySkip reports whether it is worth trying to skip equal bytes.
func (c *comparer) maySkip() bool {
	if !c.alike || c.peers[0].done || c.open && c.differs {
		return false
	}
	at := c.peers[0].next()
	return at >= max(c.noSkip, c.sizes.head) && !c.split()
}

// skip moves all peers that have not ended past bytes that are equal. It goes back to the start of the tick in which
// the equal bytes end, so that all of that tick is read.
func (c *comparer) skip() error {
	live := c.live()
	if len(live) < 2 {
		c.noSkip = 1 << 62
		return nil
	}
	var windows []*window
	for _, p := range live {
		p.unread()
		windows = append(windows, p.r.win)
	}
	first := windows[0]
	begun := first.offset()
	n, lines, err := skipEqual(windows, c.opts.FirstOnly, c.mapped && live[0].r.grammar.kind != Hashes)
	if err != nil {
		return err
	}
	if n < c.sizes.skip {
		for _, w := range windows {
			w.pos -= int(n)
		}
		c.backoff = min(max(2*c.backoff, 256), 64<<10)
		c.noSkip = begun + n + c.backoff
		return nil
	}
	c.backoff = 0
	for _, p := range live {
		p.r.line += lines
		if lines > 0 {
			c.compared |= 1 << p.n
		}
	}
	c.noSkip = first.offset() + 1
	return c.rewind(live, n)
}

// skipEqual moves windows forward to the last line that begins within the equal bytes at their positions. It returns
// the number of bytes and lines that it skipped. Lines are counted in a second pass over the bytes; with toEnd, this
// pass is omitted if everything is equal to the end. With count, lines are counted in the first pass, which is faster
// otherwise.
func skipEqual(windows []*window, count, toEnd bool) (total, lines int64, err error) {
	first := windows[0]
	far := true
	for _, w := range windows {
		far = far && w.mapped
	}
	for {
		n := len(first.rest())
		for _, w := range windows[1:] {
			n = min(n, len(w.rest()))
		}
		if n == 0 {
			ended := false
			for _, w := range windows {
				if len(w.rest()) == 0 {
					if err := w.fill(); err != nil {
						return 0, 0, err
					}
					ended = ended || len(w.rest()) == 0 && w.eof
				}
			}
			if ended {
				break
			}
			continue
		}
		equal := n
		for _, w := range windows[1:] {
			equal = equalPrefix(first.rest()[:equal], w.rest()[:equal])
		}
		lines += int64(bytes.Count(first.rest()[:equal], newline))
		for _, w := range windows {
			w.pos += equal
		}
		total += int64(equal)
		if equal < n {
			break
		}
		if far && total >= first.far {
			far = false // only once
			more, counted, err := equalAhead(windows, count)
			if err != nil {
				return 0, 0, err
			}
			atEnd := toEnd
			for _, w := range windows {
				atEnd = atEnd && w.offset()+more == w.size
			}
			if !atEnd && !count {
				if counted, err = countLines(first, more); err != nil {
					return 0, 0, err
				}
			}
			lines += counted
			for _, w := range windows {
				if err := w.seek(w.offset() + more); err != nil {
					return 0, 0, err
				}
			}
			total += more
		}
	}
	// Go back to the start of the line.
	begin := max(0, first.pos-int(min(total, int64(first.sizes.line))))
	back := first.pos - begin
	if i := bytes.LastIndexByte(first.buf[begin:first.pos], '\n'); i >= 0 {
		back -= i + 1
	} else if total > int64(first.sizes.line) {
		return 0, 0, fmt.Errorf("%s: line of more than %d bytes at offset %d", first.name, first.sizes.line, first.offset()-int64(back))
	}
	for _, w := range windows {
		w.pos -= back
	}
	return total - int64(back), lines, nil
}

// rewind moves peers that have skipped n equal bytes back to the start of the last line's tick. It treats the line
// before as the last line of the previous tick. It goes back only as far as the data is in memory.
func (c *comparer) rewind(live []*peer, n int64) error {
	r := live[0].r
	w := r.win
	line := r.line
	limit := w.pos - int(min(n, int64(w.margin), int64(w.pos)))
	at := w.pos
	var tick, prev uint64
	found, over := false, false
	for at > limit {
		begin := bytes.LastIndexByte(w.buf[limit:at-1], '\n') + 1 + limit
		line--
		r.rec.Pos = Position{line, w.base + int64(begin)}
		if w.buf[begin] == '%' && r.grammar.kind == Pairs {
			at = begin
			continue
		}
		if ok, err := r.parse(trimReturn(w.buf[begin : at-1])); ok && err == nil {
			c := r.rec.Checkpoint
			if r.rec.Event != nil || c.Phase == Predicted {
				return errRollback
			}
			if found && c.Tick != tick {
				prev, over = c.Tick, true
				line++
				break
			}
			tick, found = c.Tick, true
		}
		at = begin
	}
	if over || limit > w.pos-int(min(n, int64(w.pos))) {
		if c.open && (!found || tick != c.tick.Number) {
			c.closeTick()
		}
		for _, p := range live {
			p.started = true
			if tick < p.last.Number {
				p.last.Epoch++
				p.info.Epochs++
			}
			p.last.Number = tick
			if over {
				p.last.Number = prev
				p.cadence.see(p.last)
			}
			p.info.Last = p.last
		}
		if p := live[0]; p.last.Epoch > c.tick.Epoch {
			c.warn("%s: tick %d of line %d comes after tick %d: taken for a state that was loaded, epoch %d", p.info.File, tick, line, c.tick.Number, p.last.Epoch)
		}
		if over {
			c.prev, c.hasPrev = live[0].last, true
			c.partings.meets(c.prev, there(live))
			c.result.LastCompared = c.prev
		}
	}
	back, lines := w.pos-at, r.line-line
	for _, p := range live {
		p.r.win.pos -= back
		p.r.line -= lines
	}
	return nil
}

// capture keeps the lines around a value, or around p's position if the value is absent.
func (p *peer) capture(out *Context, v *Value, n int) {
	if b := p.r.binary; b != nil {
		b.capture(out, v, n)
		return
	}
	if p.r.source != nil {
		p.captureAgain(out, v, n)
		return
	}
	if p.settling == nil {
		p.unread()
	}
	w := p.r.win
	offset, line := w.offset(), p.r.line
	if v.Present {
		offset, line = v.Pos.Offset, v.Pos.Line
	}
	for w.base+int64(len(w.buf))-offset < int64(2*(n+1)*maxContextLine) && !w.eof {
		if w.fill() != nil {
			return
		}
	}
	lines, before := w.capture(offset, n)
	out.keep(lines, before, line-int64(before))
}

// capture keeps the checkpoints around a value, as far as they are in its frame.
func (b *frames) capture(out *Context, v *Value, n int) {
	if !v.Present || v.Pos.Offset != b.r.Offset() {
		return
	}
	var lines [][]byte
	at := 0
	for i := max(0, b.next-1-n); i < min(len(b.checkpoints), b.next+n); i++ {
		if i == b.next-1 {
			at = len(lines)
		}
		lines = append(lines, appendPairs(nil, &Record{Checkpoint: &b.checkpoints[i]}))
	}
	out.keep(lines, at, 0)
}
