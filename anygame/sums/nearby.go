package sums

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/tracediff"
)

// Limits of the search for values near checksums.
const (
	nearbyBefore = 512 << 10 // bytes of all logs before the first checksum that differs
	nearbyAfter  = 64 << 10  // of each log after it
	fewestBefore = 3         // ticks in which a value is equal in all logs before it differs
	mostNearby   = 32        // values that differ
)

// nearbyLog has the values in the part of a log around the first checksum that differs.
type nearbyLog struct {
	tick  uint64 // of that checksum
	equal uint64 // of the one before it
	kinds map[string]*nearbyKind
	order []*nearbyKind
}

// nearbyKind is a kind of lines about one thing, with its values in the last pass over each tick.
type nearbyKind struct {
	key   string
	names []string // of the values, empty for those that do not count
	of    string   // what the lines are about: " of unit 7"
	ticks []uint64
	at    map[uint64][][]byte
}

// nearbyValue is a value that begins to differ in a tick.
type nearbyValue struct {
	name   string
	tick   uint64
	values []string // by log
}

// narrow finds the values that logs have near their checksums, on the same lines or on others, and that begin to differ where
// the checksums do. They are equal in all logs in the ticks before. The first of them is a path to its value, others follow.
//
//	turn=150 checksum=8c2f11d0 hp0=1000 hp1=895
func (p *Pattern) narrow(sides []tracediff.Side) ([][]tracediff.Detail, error) {
	var logs []*nearbyLog
	for i := range sides {
		log, err := p.readNearby(&sides[i], nearbyBefore/int64(len(sides)))
		if log == nil {
			return nil, err
		}
		logs = append(logs, log)
	}
	var list []nearbyValue
	for _, kind := range logs[0].order {
		for place, name := range kind.names {
			if one := kind.begins(logs, place); one != nil && !slices.ContainsFunc(list, func(v nearbyValue) bool { return v.name == name+kind.of }) {
				one.name = name + kind.of
				list = append(list, *one)
			}
		}
	}
	first := logs[0].tick
	for _, one := range list {
		first = min(first, one.tick)
	}
	list = slices.DeleteFunc(list, func(v nearbyValue) bool { return v.tick > first })
	// A generator differs wherever another number was drawn: other values show more.
	generator := func(v nearbyValue) bool { return hasPart(v.name, generators) }
	list = slices.Concat(lists.Where(list, func(v nearbyValue) bool { return !generator(v) }), lists.Where(list, generator))
	since := ""
	if first < logs[0].tick {
		since = "from " + p.tickName()(first) + " on"
	}
	out := make([][]tracediff.Detail, len(logs))
	for n, one := range list[:min(len(list), mostNearby)] {
		for i, value := range one.values {
			if n == 0 {
				out[i] = append(out[i], tracediff.Detail{Text: one.name, Aside: since}, tracediff.Detail{Text: value})
			} else {
				out[i] = append(out[i], tracediff.Detail{Text: one.name + " " + value})
			}
		}
	}
	return out, nil
}

// begins returns the value in one place of lines if it begins to differ after the last checksums that are equal, and not after
// the first that differ; nil if it does not.
func (k *nearbyKind) begins(logs []*nearbyLog, place int) *nearbyValue {
	equal := 0
	for _, tick := range k.ticks {
		one, differ := &nearbyValue{tick: tick}, false
		for _, log := range logs {
			other := log.kinds[k.key]
			if other == nil || other.names[place] == "" || other.names[place] != k.names[place] || tick > log.tick {
				return nil
			}
			if values := other.at[tick]; values != nil {
				one.values = append(one.values, strings.ToValidUTF8(string(values[place]), "\uFFFD"))
				differ = differ || one.values[0] != one.values[len(one.values)-1]
			}
		}
		switch {
		case len(one.values) < len(logs):
		case !differ:
			equal++
		case equal < fewestBefore || tick <= logs[0].equal && logs[0].equal < logs[0].tick:
			return nil
		default:
			return one
		}
	}
	return nil
}

// readNearby reads the part of a log around a side's checksum, from so many bytes before it. It returns nil if that is not on the
// line of its tick, or the log has become shorter.
func (p *Pattern) readNearby(side *tracediff.Side, before int64) (*nearbyLog, error) {
	at := side.Value.Pos.Offset
	head := make([]byte, min(at, maxLine))
	if _, err := io.ReadFull(side.In, head); err != nil {
		return nil, err
	}
	from := max(int64(len(head)), at-before)
	if err := side.SkipTo(from - int64(len(head))); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(side.In, at-from+nearbyAfter))
	if err != nil {
		return nil, err
	}
	if int(from) == len(head) {
		text, from = append(head, text...), 0
	}
	if int64(len(text)) <= at-from {
		return nil, nil
	}
	r, l := newReader(p, bytes.NewReader(nil), side.Name, -1), valuedLines{}
	if i := bytes.IndexByte(head, '\n'); i > 0 { // perhaps the names of columns
		first := plain(bytes.TrimRight(head[:i], "\r"))
		r.text(first)
		l.take(first)
	}
	log := &nearbyLog{kinds: map[string]*nearbyKind{}}
	var peer string
	var ok bool
	line, _, _ := bytes.Cut(text[at-from:], []byte("\n"))
	if log.tick, peer, _, ok = r.on(line); !ok {
		return nil, nil
	}
	if from > 0 { // the first line is cut off
		whole := min(at-from, int64(bytes.IndexByte(text, '\n')+1))
		text, from = text[whole:], from+whole
	}
	tick, nth, offset := uint64(0), map[string]int{}, from
	for line := range bytes.Lines(text) {
		begin := offset
		offset += int64(len(line))
		own, name, sums, ok := r.on(line)
		if p.peers && (!ok || name != peer) {
			continue
		}
		line = plain(bytes.TrimRight(line, "\r\n"))
		if p.peers && !isDigit(name[0]) { // the lines of all peers have the same words
			line = bytes.ReplaceAll(line, []byte(name), []byte("peer"))
		}
		takes := l.take(line)
		if !ok && l.own {
			own, ok = l.tick, true
		}
		if ok && own != tick {
			if clear(nth); own < tick && tick-own > rollback { // another match
				clear(log.kinds)
				log.order, log.equal = nil, 0
			}
			tick = own
		}
		if begin > at && tick > log.tick {
			break
		}
		if sums != nil && tick < log.tick && begin < at {
			log.equal = max(log.equal, tick)
		}
		if takes && tick > 0 {
			log.add(&l, tick, sums, nth)
		}
	}
	return log, nil
}

// on returns the tick and the peer of a line with checksums, and the checksums.
func (r *reader) on(line []byte) (tick uint64, peer string, sums [][]byte, ok bool) {
	line = r.text(bytes.TrimRight(line, "\r\n"))
	for i := range r.pattern.templates {
		t := &r.pattern.templates[i]
		if !t.text.match(line, r.matched) {
			continue
		}
		if tick, ok = t.roles.tickOf(r.matched.values[t.roles.tick]); !ok {
			continue
		}
		for _, p := range t.roles.points {
			for _, s := range p.sums {
				sums = append(sums, r.matched.values[s.slot])
			}
		}
		return tick, t.roles.peerName(r.matched.values), sums, true
	}
	return 0, "", nil, false
}

// add adds the values of a line, without its checksums.
func (b *nearbyLog) add(l *valuedLines, tick uint64, sums [][]byte, nth map[string]int) {
	form := string(l.key)
	if sums != nil { // words before the values may show the pass over the tick
		form = strconv.Itoa(len(l.values)) + " values"
	}
	key := strings.Join(append(l.ids, form), " ")
	if nth[key]++; nth[key] > 1 {
		key += strings.Repeat("#", min(nth[key], 64))
	}
	kind := b.kinds[key]
	if kind == nil {
		if len(b.kinds) == maxGroups {
			return
		}
		kind = &nearbyKind{key: key, names: slices.Clone(l.names), at: map[uint64][][]byte{}}
		for i, name := range kind.names {
			meaning := vocabulary.Of(name)
			sum := slices.ContainsFunc(sums, func(sum []byte) bool { return bytes.Equal(sum, l.values[i]) })
			generator := meaning == vocabulary.WeakSum && hasPart(name, generators)
			if (sum || meaning == vocabulary.WeakSum) && !generator || name == "text" || name == "value" || meaning == vocabulary.Sum {
				kind.names[i] = ""
			}
		}
		if len(l.ids) == 1 {
			kind.of = " of " + l.ids[0]
		}
		b.kinds[key], b.order = kind, append(b.order, kind)
	}
	if kind.at[tick] == nil {
		kind.ticks = append(kind.ticks, tick)
	}
	values, all := make([][]byte, len(l.values)), bytes.Join(l.values, nil)
	for i, value := range l.values {
		values[i], all = all[:len(value):len(value)], all[len(value):]
	}
	kind.at[tick] = values
}
