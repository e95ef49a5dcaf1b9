package sums

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/internal/lists"
)

// renamed is the form of logs that name ticks by another word: "gt=440", "epoch 12", {"height": 7}. The word is read as
// "tick".
type renamed struct {
	name   []byte
	inner  lineForm // or nil
	buffer []byte
}

func (r *renamed) fork() lineForm {
	one := &renamed{name: r.name}
	if r.inner != nil {
		one.inner = r.inner.fork()
	}
	return one
}

// line returns a line with the other name, which is valid until the next call.
func (r *renamed) line(line []byte) []byte {
	for end := 0; ; {
		i := bytes.Index(line[end:], r.name)
		if i < 0 {
			break
		}
		begin := end + i
		if end = begin + len(r.name); (begin == 0 || !isLetter(line[begin-1]) && !isDigit(line[begin-1])) && valueAt(line[end:]) {
			r.buffer = append(append(append(r.buffer[:0], line[:begin]...), "tick"...), line[end:]...)
			line = r.buffer
			break
		}
	}
	if r.inner != nil {
		return r.inner.line(line)
	}
	return line
}

// valueAt reports whether a text after a name begins with a number that the name belongs to.
func valueAt(text []byte) bool {
	rest := bytes.TrimLeft(text, `"=:#[( `)
	return len(rest) < len(text) && len(text)-len(rest) <= 4 && len(rest) > 0 && isDigit(rest[0])
}

// numberedNames are parts of names of numbers that grow, and are no ticks.
const numberedNames = " seq sequence packet packets pkt msg message messages chunk part piece fragment record row entry event asset file " +
	"line id uid pid total sent recv received ack bytes "

// fewestGrown is how many lines show that a number grows, and mostGrown how many names are tried.
const fewestGrown, mostGrown = 5, 4

// item finds the number of an item in a list that a person wrote. Logs have no such lists.
var item = lazyregexp.New(`^\s*\d{1,3}[.)] `)

// learnRenamed finds the lines of a log that name ticks by another word: a number with one name that grows by regular steps
// from line to line, next to a checksum that is called one.
func learnRenamed(lines [][]byte, how choice) (form lineForm, found []template) {
	values := map[string][][]byte{}
	p := parsed{}
	if 2*lists.Count(lines, item.Match) > len(lines) {
		return nil, nil
	}
	for _, line := range lines {
		p.line = line[:min(len(line), maxLine)]
		p.tokens = tokens(p.line, p.tokens[:0])
		seen := map[string]bool{}
		for i := range p.tokens {
			t := &p.tokens[i]
			if t.kind != number || !t.whole || p.hasUnit(i) || p.glued(i) {
				continue
			}
			name := p.nameText(p.nameOf(i))
			if name == "" || seen[name] || p.lexicon.Of([]byte(name)) != vocabulary.Other && !strings.EqualFold(name, "height") ||
				hasPart(name, numberedNames) || len(values[name]) == maxRows {
				continue
			}
			if seen[name] = true; values[name] != nil || len(values) < maxSlots {
				values[name] = append(values[name], bytes.Clone(p.line[t.from:t.to]))
			}
		}
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(values)), func(name string) bool {
		f := figuresOf(values[name])
		return len(values[name]) < fewestGrown || !f.regular || 8*f.falls > f.rises || f.letters > 0 || !f.isTick(len(values[name]))
	})
	lists.SortStable(names, func(a, b string) int {
		return cmp.Or(len(values[b])-len(values[a]), distance(a)-distance(b))
	})
	var rivals []string
	for _, name := range names[:min(len(names), mostGrown)] {
		r := &renamed{name: []byte(name)}
		other := lists.Map(lines, func(line []byte) []byte { return bytes.Clone(r.line(line)) })
		inner, list := learnRecords(other, how)
		if inner == nil {
			list = learnText(other, how)
		}
		list = slices.DeleteFunc(list, func(t template) bool { return t.roles.tickWord != "tick" || t.vague })
		if len(list) == 0 {
			continue
		}
		for i := range list {
			list[i].roles.tickWord, list[i].vague = name, true
		}
		if len(rivals) == 0 || name == how.tick {
			r.inner, form, found = inner, r, list
		}
		rivals = append(rivals, name)
	}
	for i := range found {
		found[i].roles.rivals = rivals
	}
	return form, found
}

// distance is how far a number with a name is from the tick that was simulated on this machine: of two ticks on a line the
// nearer one belongs to the checksum.
func distance(name string) int {
	switch {
	case hasPart(name, " sim simulation logic game world applied executed simulated current cur "):
		return 0
	case hasPart(name, farTicks):
		return 2
	}
	return 1
}

// farTicks are parts of names of ticks of something else.
const farTicks = " net network server remote confirmed ack acked acknowledged render draw display input received recv predicted " +
	"latest max target delay peer oldest newest last next "
