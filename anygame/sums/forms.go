package sums

import (
	"bytes"
	"slices"
	"strconv"
	"sync"

	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/internal/textsearch"
)

// form is how lines of one shape are read.
type form struct {
	known    bool
	template int // -1 if they have no checkpoint
	last     int // if this is the template that fitted last, -1 if any is
	back     bool
	confirms bool // they name the last confirmed tick
	spots    []spot
}

// spot is where a line has a value.
type spot struct {
	slot     uint8
	from, to uint16
	digits   uint16 // where its digits begin, of a checksum
	letters  bool   // there are letters among them
}

// isOdd reports whether a literal of a template may be a part of a number: then the shape of a line does not decide
// whether it has the template.
func isOdd(t template) bool {
	return slices.ContainsFunc(t.text.elements, func(e element) bool { return e.kind == literal && !textsearch.IsPlain(string(e.text)) })
}

// take takes a line.
func (r *reader) take(raw []byte) {
	if !r.plain {
		if r.pattern.rooms != nil {
			r.within = r.pattern.rooms.of(plain(raw))
		}
		r.match(r.text(raw))
		if list := rosterOf(r.form); list != nil {
			for line := list.more(); line != nil; line = list.more() {
				r.match(line)
			}
		}
		return
	}
	f := r.forms.Of(raw)
	if f == nil {
		if r.forms.Full() {
			r.forms.Reset()
		}
		r.match(r.text(raw))
		return
	}
	r.takeAs(f, raw)
}

// takeAs takes a line of a form.
func (r *reader) takeAs(f *form, raw []byte) {
	if f.known && (f.last == r.last || f.last < 0) && r.again(f, raw) {
		return
	}
	line, last := r.text(raw), r.last
	if how, ok := r.match(line); ok && len(line) == len(raw) && textsearch.IsFirm(raw) {
		how.last = min(how.last, last)
		*f = how
		r.spot(f, line)
	}
}

// again takes a line of a known form. It returns false if a value is too large.
func (r *reader) again(f *form, line []byte) bool {
	if f.template < 0 {
		if r.leave(len(line), f.back); f.confirms {
			r.confirms(line)
		}
		return true
	}
	for _, at := range f.spots {
		r.matched.values[at.slot] = line[at.from:at.to]
		r.matched.whole[at.slot] = whole{line[at.digits:at.to], at.letters}
	}
	last := r.last
	if r.last = f.template; r.checkpoints(f.template, unknown, true) {
		return true
	}
	r.last = last
	return false
}

// spot notes where a line has the values of its template.
func (r *reader) spot(f *form, line []byte) {
	if f.template < 0 {
		return
	}
	roles := &r.pattern.templates[f.template].roles
	note := func(slot int, sum bool) {
		if slot >= 0 {
			value := r.matched.values[slot]
			from := cap(line) - cap(value)
			at := spot{slot: uint8(slot), from: uint16(from), to: uint16(from + len(value)), digits: uint16(from)}
			if sum {
				number := r.matched.whole[slot]
				at.digits, at.letters = at.to-uint16(len(number.digits)), number.letters
			}
			f.spots = append(f.spots, at)
		}
	}
	note(roles.tick, false)
	note(roles.peer, false)
	note(roles.scope, false)
	note(roles.phase, false)
	for _, p := range roles.points {
		for _, s := range p.sums {
			note(s.slot, true)
		}
	}
}

// match takes the checkpoints of a line. It returns how other lines of its shape are read if ok is set.
func (r *reader) match(line []byte) (how form, ok bool) {
	how, ok = form{known: true, template: -1, last: -1}, true
	r.parsed++
	for n := range r.pattern.templates {
		n = (n + r.last) % len(r.pattern.templates)
		t := &r.pattern.templates[n]
		if !t.text.match(line, r.matched) {
			continue
		}
		how.last = len(r.pattern.templates) // the order of the templates decides
		phase, told := r.around[0].judge(r.matched.before)
		other, also := r.around[1].judge(r.matched.after)
		if told = max(told, also); told == differs || told == others && !t.others {
			break
		}
		if other != unknown {
			phase = other
		}
		r.last = n
		if r.checkpoints(n, phase, r.wholes(n)) {
			how.template = n
			return how, ok && phase == unknown
		}
		ok = false
	}
	how.back = len(rollbacks().Find(line, &r.places)) > 0
	r.leave(len(line), how.back)
	how.confirms = r.confirms(line)
	return how, ok
}

// leave passes a line without checkpoints.
func (r *reader) leave(size int, back bool) {
	if r.passed < maxBetween {
		r.passed += size + 1
		r.back = r.back || back
	}
}

// rollbacks finds the words of lines that report a rollback.
var rollbacks = sync.OnceValue(func() *textsearch.Searcher {
	return textsearch.NewFolded([]string{"rollback", "roll back", "rolling back", "resim"})
})

// confirmedNames finds the last confirmed tick that a line names: confirmed_frame=216, last confirmed: 216.
var confirmedNames = lazyregexp.New(`(?i)(?:^|[^a-z])(?:last[ _-]?confirmed(?:[ _-]?(?:frame|tick|turn|step))?|confirmed[ _-]?(?:frame|tick|turn|step))["']?(?: *[=:] *| is | to | )["']?(\d{1,18})(?:$|[^\d.])`)

// confirms notes the last confirmed tick that a line without checkpoints names, and reports whether it names one.
func (r *reader) confirms(line []byte) bool {
	if !bytes.Contains(line, []byte("onfirmed")) && !bytes.Contains(line, []byte("ONFIRMED")) {
		return false
	}
	found := confirmedNames.FindSubmatch(line)
	if found == nil {
		return false
	}
	tick, err := strconv.ParseUint(string(found[1]), 10, 63)
	if err == nil && r.any && tick > r.confirmed && tick <= r.newest && r.newest-tick <= window {
		r.confirmed = tick
		r.confirmations++
	}
	return true
}
