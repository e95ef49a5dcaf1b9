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
	lines []nearbyLine
	forms map[string]*valued // by their keys
	kinds map[string]*nearbyKind
	order []*nearbyKind
}

// nearbyLine is a line with values.
type nearbyLine struct {
	key    string // what lines of one form have in common
	tick   uint64
	text   []byte
	values [][]byte
}

// nearbyKind is a kind of lines about one thing, with its values in the last pass over each tick.
type nearbyKind struct {
	key   string
	names []string
	line  valuedLines // the first of them
	thing int         // the place of what they are about, -1 if nothing shows it
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
	arrange(logs)
	var list []nearbyValue
	for _, kind := range logs[0].order {
		for place := range kind.names {
			one := kind.begins(logs, place)
			if one == nil {
				continue
			}
			if one.name = kind.name(place); !slices.ContainsFunc(list, func(v nearbyValue) bool { return v.name == one.name }) {
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
	var found [][]byte
	for _, tick := range k.ticks {
		differ := false
		found = found[:0]
		for _, log := range logs {
			other := log.kinds[k.key]
			if other == nil || other.names[place] == "" || other.names[place] != k.names[place] || tick > log.tick {
				return nil
			}
			if values := other.at[tick]; values != nil {
				found = append(found, values[place])
				differ = differ || !bytes.Equal(found[0], values[place])
			}
		}
		switch {
		case len(found) < len(logs):
		case !differ:
			equal++
		case equal < fewestBefore || tick <= logs[0].equal && logs[0].equal < logs[0].tick:
			return nil
		default:
			return &nearbyValue{tick: tick, values: lists.Map(found, func(v []byte) string { return strings.ToValidUTF8(string(v), "\uFFFD") })}
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
	log := &nearbyLog{forms: map[string]*valued{}}
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
	tick, offset := uint64(0), from
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
			if own < tick && tick-own > rollback { // another match
				clear(log.forms)
				log.lines, log.equal = nil, 0
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
			log.add(&l, tick, sums)
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
func (b *nearbyLog) add(l *valuedLines, tick uint64, sums [][]byte) {
	form := string(l.key)
	if sums != nil { // words before the values may show the pass over the tick
		form = strconv.Itoa(len(l.values)) + " values"
	}
	if len(l.ids) > 0 {
		form = strings.Join(append(l.ids, form), " ")
	}
	one := b.forms[form]
	if one == nil {
		if len(b.forms) == maxGroups {
			return
		}
		one = &valued{names: slices.Clone(l.names)}
		for i, name := range one.names {
			meaning := vocabulary.Of(name)
			sum := slices.ContainsFunc(sums, func(sum []byte) bool { return bytes.Equal(sum, l.values[i]) })
			generator := meaning == vocabulary.WeakSum && hasPart(name, generators)
			if (sum || meaning == vocabulary.WeakSum) && !generator || meaning == vocabulary.Sum {
				one.names[i] = ""
			}
		}
		b.forms[form] = one
	}
	values := slices.Clone(l.values)
	one.ticks, one.values = append(one.ticks, tick), append(one.values, values)
	b.lines = append(b.lines, nearbyLine{form, tick, l.parsed.line, values})
}

// arrange finds out which lines of logs are about the same things, and puts their values together.
func arrange(logs []*nearbyLog) {
	all := lists.Map(logs, func(log *nearbyLog) map[string]*valued { return log.forms })
	things := map[string]int{}
	for key, one := range all[0] {
		things[key] = one.thingIn(key, all)
	}
	for _, log := range logs {
		log.kinds = map[string]*nearbyKind{}
		nth, last := map[string]int{}, uint64(0)
		for _, line := range log.lines {
			if line.tick != last {
				clear(nth)
				last = line.tick
			}
			thing, key := -1, line.key
			if at, ok := things[line.key]; ok && at >= 0 {
				thing = at
				key += " " + string(line.values[thing])
			}
			if nth[key]++; nth[key] > 1 {
				key += strings.Repeat("#", min(nth[key], 64))
			}
			kind := log.kinds[key]
			if kind == nil {
				if len(log.kinds) == maxGroups {
					continue
				}
				kind = &nearbyKind{key: key, line: valuedLines{begun: true}, thing: thing, at: map[uint64][][]byte{}}
				kind.line.take(line.text)
				if kind.names = slices.Clone(kind.line.names); len(kind.names) != len(line.values) {
					continue
				}
				for i, name := range kind.names {
					if name == "text" || name == "value" || log.forms[line.key].names[i] == "" {
						kind.names[i] = ""
					}
				}
				log.kinds[key], log.order = kind, append(log.order, kind)
			}
			if kind.at[line.tick] == nil {
				kind.ticks = append(kind.ticks, line.tick)
			}
			kind.at[line.tick] = line.values
		}
	}
}

// name returns a value in words, with what its line is about: hp of unit 7
func (k *nearbyKind) name(place int) string {
	name := k.names[place]
	if thing := k.line.thing(k.thing); thing != "" && thing != name {
		return name + " of " + thing
	}
	return name
}
