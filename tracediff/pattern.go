package tracediff

import (
	"errors"
	"regexp"
	"strings"
)

// group describes a group of the pattern: a key, with a name for a sum.
type group struct{ key, name string }

func patternGrammar(p *regexp.Regexp) (grammar, string) {
	g := grammar{kind: Pattern, pattern: p, groups: make([]group, p.NumSubexp()+1)}
	sums := 0
	for i, name := range p.SubexpNames() {
		switch name {
		case keyTick, keySystem, keyScope, keyPhase:
			g.groups[i].key = name
		case "count":
			g.groups[i].key = keyCount
		case keySum:
			g.groups[i].key = keySum
			sums++
		default:
			if rest, ok := strings.CutPrefix(name, keySum+"_"); ok && rest != "" {
				g.groups[i] = group{keySum, rest}
				sums++
			}
		}
	}
	if sums == 0 {
		return grammar{}, "the pattern has no group named sum"
	}
	return g, ""
}

func (r *Reader) parsePattern(line []byte) (bool, error) {
	m := r.grammar.pattern.FindSubmatchIndex(line)
	if m == nil {
		return false, nil
	}
	r.matched++
	sums := r.f.c.Sums[:0]
	r.f.c = Checkpoint{Tick: r.matched}
	r.f.seen = 0
	var err error
	for i, g := range r.grammar.groups {
		if g.key == "" || m[2*i] < 0 {
			continue
		}
		value := line[m[2*i]:m[2*i+1]]
		if g.key == keySum {
			sums, err = addSum(sums, g.name, value)
		} else {
			sums, err = r.f.pair(sums, []byte(g.key), value, r.names)
		}
		if err != nil {
			return false, err
		}
	}
	r.f.c.Sums = sums
	if len(sums) == 0 {
		return false, errors.New("the pattern matches without a checksum")
	}
	return true, nil
}
