package tracediff

import (
	"errors"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/internal/file/frame"
)

// peer is one trace.
type peer struct {
	n        int
	r        *Reader
	info     *TraceInfo
	trace    *Trace
	rec      *Record // the next record, nil if it has not been read
	torn     bool    // rec comes from a last line without an end
	done     bool
	at       Tick // tick of rec
	last     Tick // tick of the record before
	started  bool
	cadence  cadence  // of all its ticks
	hurt     bool     // lines before the next record are malformed
	lost     []span   // ranges where malformed lines may have been checkpoints
	settling *settler // for traces with rollbacks
}

// span is a range of ticks, both ends included.
type span struct{ from, to Tick }

// maxSpans limits the length of peer.lost. After that the last span grows.
const maxSpans = 1 << 12

// lose notes where malformed lines are. The record after them belongs to tick to.
func (p *peer) lose(from, to Tick) {
	if p.hurt = false; len(p.lost) < maxSpans {
		p.lost = append(p.lost, span{from, to})
	} else {
		p.lost[maxSpans-1].to = to
	}
}

// mayHaveLost reports whether malformed lines may have been checkpoints of a tick.
func (p *peer) mayHaveLost(t Tick) bool {
	i := len(p.lost)
	for i > 0 && p.lost[i-1].to.compare(t) >= 0 {
		if i--; p.lost[i].from.compare(t) <= 0 {
			return true
		}
	}
	return false
}

// pass treats the line of n bytes at p's position as checkpoint x.
func (p *peer) pass(t Tick, n int, x *Checkpoint, to *cell) {
	*to = cell{c: x, pos: Position{p.r.line, p.r.win.offset()}}
	p.r.win.pos += n + 1
	p.r.line++
	p.at = t
	p.consume()
}

// peek reads the next record of p unless that was already done.
func (c *comparer) peek(p *peer) error {
	for p.rec == nil && !p.done {
		rec, err := p.read()
		if err != nil {
			return err
		}
		if rec == nil {
			return nil
		}
		if rec.Event != nil || rec.Checkpoint.Phase == Predicted {
			c.culprit = fmt.Sprintf("%s: %s predicts or rolls back", p.info.File, rec.Pos)
			return errRollback
		}
		tick := rec.Checkpoint.Tick
		at := Tick{p.last.Epoch, tick}
		if p.started && tick < p.last.Number {
			if p.torn {
				p.end(nil)
				return nil
			}
			if p.last.Number-tick <= c.opts.Rollback && !p.trace.Dialect.Restarts {
				c.culprit = fmt.Sprintf("%s: %s goes back from tick %d to %d", p.info.File, rec.Pos, p.last.Number, tick)
				return errRollback
			}
			at.Epoch = p.epoch(p.info.Epochs + 1)
			c.newEpoch(p, rec, at)
		}
		if p.hurt {
			p.lose(p.last, at)
		}
		p.rec, p.at = rec, at
	}
	return nil
}

// epoch returns the number of the trace's epoch that begins after it went back so often.
func (p *peer) epoch(n uint64) uint64 {
	list := p.trace.Dialect.Epochs
	if n < uint64(len(list)) {
		return list[n]
	}
	if last := len(list) - 1; last > 0 {
		return list[last] + n - uint64(last)
	}
	return n
}

// newEpoch warns that a trace starts a new epoch.
func (c *comparer) newEpoch(p *peer, rec *Record, at Tick) {
	p.info.Epochs++
	if p.info.Epochs <= 3 && p.trace.Dialect.Match == nil {
		c.warn("%s: %s goes back from tick %d to %d: taken for a state that was loaded, epoch %d", p.info.File, rec.Pos, p.last.Number, at.Number, at.Epoch)
	}
}

// read returns the next record of p, nil at its end. It counts malformed lines and skips them.
func (p *peer) read() (*Record, error) {
	for {
		rec, err := p.r.read()
		p.torn = p.r.cut
		if p.r.broke() {
			p.hurt = true
		}
		if err == nil {
			return rec, nil
		}
		var syntax *SyntaxError
		var malformed *frame.Error
		switch {
		case err == io.EOF:
			p.end(nil)
		case errors.As(err, &syntax):
			if p.torn {
				continue
			}
			p.hurt = true
			if p.info.Malformed++; p.info.Malformed == 1 {
				p.info.Trouble = err.Error()
			}
			continue
		case errors.As(err, &malformed), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, ErrRunning):
			p.end(err)
		default:
			return nil, err
		}
		return nil, nil
	}
}

// end ends the trace. err is nil if nothing is wrong.
func (p *peer) end(err error) {
	p.done, p.rec = true, nil
	if p.hurt {
		p.lose(p.last, Tick{^uint64(0), 0})
	}
	info := p.info
	info.Ended = err == nil && !info.Running && !info.Dialect.Endless && (p.r.source != nil || p.r.binary != nil || p.r.text.ended && p.r.text.trouble == "")
	if errors.Is(err, ErrRunning) {
		info.Running, err = true, nil
	}
	if err != nil {
		info.Torn = errors.Is(err, frame.ErrTorn) || errors.Is(err, io.ErrUnexpectedEOF)
		info.Trouble = err.Error()
	}
	if p.torn {
		info.Torn = true
		info.Trouble = "last line has no end"
	}
	if text := p.r.cutOff(); text != "" {
		info.Torn = true
		info.Trouble = text
	}
}

// cutOff describes how a text breaks off that was read to its end and has a complete last line. It returns "" if the
// text does not break off.
func (r *Reader) cutOff() (text string) {
	if r.text.begun && !r.text.ended {
		text = "no " + textEnd + " at the end"
	}
	if t := r.text.trouble; t != "" {
		text = t
	}
	if w := r.win; w != nil && w.torn != nil {
		text = w.torn.Error() // and not that the last line has no end
	}
	if w := r.win; w != nil && w.cut {
		text = fmt.Sprintf("file was cut to %d bytes while it was read", w.size)
	}
	return text
}

// consume marks the next record of p as used. It stays valid until p reads again.
func (p *peer) consume() {
	if !p.started {
		p.started = true
		p.info.First, p.info.Empty = p.at, false
	}
	p.last = p.at
	p.info.Last = p.at
	p.rec = nil
}

func (p *peer) lastTick() Tick {
	if p.settling != nil {
		return p.settling.lastTick
	}
	return p.last
}
