package tracediff

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// memo is the part of a line between tick and value. Traces repeat it in every tick, so most lines need no full parse.
type memo struct {
	mid           string // "system=Combat scope=Infantry sum=", or up to "n=" if the line has a count
	system, scope string
	count         bool
	next          [2]*memo // the memos that followed it the last times
}

// maxMemos limits the number of memos.
const maxMemos = 1 << 14

const (
	tickPrefix = keyTick + "="
	sumPrefix  = keySum + "="
)

// fast parses a line that is like an earlier one. It returns false if it is not; f is then undefined.
func (f *fields) fast(line []byte) bool {
	if f.last == nil {
		return false
	}
	i := len(f.begin)
	if i == 0 || len(line) < i || string(line[:i]) != string(f.begin) {
		if !f.fastTick(line) {
			return false
		}
		i = len(f.begin)
	}
	m := f.last.next[0]
	if m == nil || len(line)-i <= len(m.mid) || string(line[i:i+len(m.mid)]) != m.mid {
		m = f.last.next[1]
		if m == nil || len(line)-i <= len(m.mid) || string(line[i:i+len(m.mid)]) != m.mid {
			return false
		}
	}
	i += len(m.mid)
	count := uint64(0)
	if m.count {
		begin := i
		for ; i < len(line) && line[i]-'0' <= 9; i++ {
			count = 10*count + uint64(line[i]-'0')
		}
		if n := i - begin; n == 0 || n > 19 || len(line)-i <= len(sumPrefix)+1 || line[i] != ' ' || string(line[i+1:i+1+len(sumPrefix)]) != sumPrefix {
			return false
		}
		i += 1 + len(sumPrefix)
	}
	value := line[i:]
	if value[0] == '"' || len(value) > MaxText || hasBlank(value) {
		return false
	}
	// Field by field, because most of the time is spent here.
	c := &f.c
	c.Tick, c.System, c.Scope = f.beginTick, m.system, m.scope
	c.Phase, c.Occurrence = Confirmed, 0
	c.Count, c.HasCount = count, m.count
	if cap(c.Sums) == 0 {
		c.Sums = make([]Sum, 1)
	}
	c.Sums = c.Sums[:1]
	c.Sums[0].Name, c.Sums[0].Value = "", value
	f.event = false
	f.last = m
	return true
}

// fastTick parses the start of a line, up to the blank after the tick.
func (f *fields) fastTick(line []byte) bool {
	if len(line) < len(tickPrefix) || string(line[:len(tickPrefix)]) != tickPrefix {
		return false
	}
	i := len(tickPrefix)
	tick := uint64(0)
	for ; i < len(line) && line[i]-'0' <= 9; i++ {
		tick = 10*tick + uint64(line[i]-'0')
	}
	if n := i - len(tickPrefix); n == 0 || n > 19 || i == len(line) || line[i] != ' ' {
		return false
	}
	f.begin, f.beginTick = append(f.begin[:0], line[:i+1]...), tick
	return true
}

// hasBlank reports whether a byte in b ends a value. It checks eight at a time.
func hasBlank(b []byte) bool {
	const ones = 0x0101010101010101
	blank := func(x uint64) bool { return (x-ones*(' '+1))&^x&(ones<<7) != 0 }
	if len(b) >= 8 {
		for i := 0; i+8 <= len(b); i += 8 {
			if blank(binary.LittleEndian.Uint64(b[i:])) {
				return true
			}
		}
		return blank(binary.LittleEndian.Uint64(b[len(b)-8:]))
	}
	return slices.ContainsFunc(b, func(c byte) bool { return c <= ' ' })
}

// learn stores the part of a line between tick and value, if the line has the usual form.
func (f *fields) learn(line []byte) {
	f.last = nil
	if len(f.c.Sums) != 1 || f.event || f.c.Phase != Confirmed || bytes.IndexByte(line, '"') >= 0 || !bytes.HasPrefix(line, []byte(tickPrefix)) {
		return
	}
	_, rest, _ := bytes.Cut(line, []byte{' '})
	end := bytes.LastIndex(rest, []byte(sumPrefix))
	if end < 0 || f.c.Sums[0].Name != "" || string(rest[end+len(sumPrefix):]) != string(f.c.Sums[0].Value) {
		return
	}
	mid := rest[:end+len(sumPrefix)]
	if f.c.HasCount {
		i := bytes.LastIndex(rest[:end], []byte(" "+keyCount+"="))
		if i < 0 || string(bytes.TrimLeft(rest[i+len(" n="):end], "0123456789")) != " " {
			return
		}
		mid = rest[:i+len(" n=")]
	}
	m := f.byMid[string(mid)]
	if m == nil {
		if len(f.byMid) >= maxMemos {
			return
		}
		m = &memo{mid: string(mid), system: f.c.System, scope: f.c.Scope, count: f.c.HasCount}
		if f.byMid == nil {
			f.byMid = map[string]*memo{}
		}
		f.byMid[m.mid] = m
	}
	f.last = m
}
