package sums

import (
	"slices"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/textsearch"
)

// Limits of a sample.
const (
	maxSlots     = 64      // values of a line
	maxGroups    = 1 << 12 // templates that are looked at
	maxRows      = 1 << 12 // lines of one template that are looked at
	maxLine      = 1 << 12 // bytes of a line that are looked at
	maxTemplates = 32      // templates of one log
)

// group is lines that are alike.
type group struct {
	template text
	line     []byte // the first one
	columns  []column
	seen     int
	at       []int // number of the line of each row
	leads    leads
	sums     []string // of each row, nil until they are needed
	good     int      // lines without a complaint
	others   int      // lines with checksums of other peers
}

// learnText finds the templates of lines with ticks and checksums.
func learnText(lines [][]byte, how choice) []template {
	groups := map[string]*group{}
	var list []*group
	p := parsed{alone: how.alone}
	var key []byte
	known := map[uint64]*group{} // of lines by their shapes, nil for those that have none
	for n, line := range lines {
		shape := textsearch.Shape(line[:min(len(line), maxLine)])
		if g, ok := known[shape]; ok && (g == nil || g.seen >= maxRows) {
			if g != nil {
				g.seen++
			}
			continue
		}
		if !p.take(line) {
			known[shape] = nil
			continue
		}
		key = p.key(key[:0])
		g := groups[string(key)]
		if g == nil {
			if len(groups) == maxGroups {
				continue
			}
			g = &group{line: line, template: p.template(), columns: p.columns()}
			groups[string(key)] = g
			list = append(list, g)
		}
		known[shape] = g
		if g.seen++; g.seen > maxRows {
			continue
		}
		switch complains(line) {
		case fine:
			g.good++
		case others:
			g.others++
		}
		p.add(g)
		g.at = append(g.at, n)
		g.leads.add(&p)
	}
	return accept(list, len(lines), how)
}

// accept returns the templates that are checkpoints.
func accept(list []*group, lines int, how choice) []template {
	lists.SortStable(list, func(a, b *group) int { return b.seen - a.seen })
	var out []template
	var groups []*group // of out
	taken := map[string]*group{}
	for _, g := range list {
		few := g.seen < 3 && lines > 2
		most := min(g.seen, maxRows)
		if few || 2*(g.good+g.others) < most || len(out) == maxTemplates {
			continue
		}
		fixed := g.fix()
		r, ok := resolve(g.columns, how)
		told := 2*g.good < most
		if !ok || told && r.peer < 0 && !r.own(g.columns) {
			continue
		}
		form := g.template.trim(&r)
		if form == nil {
			continue
		}
		if !form.match(g.line, newMatched()) { // numbers and words run into each other
			continue
		}
		key := form.String()
		if same := taken[key]; same != nil { // only the words before its values are others
			i := slices.Index(groups, same)
			a, b := passIn(same.line), passIn(g.line)
			out[i].passes = out[i].passes || a != b && a != unknown && b != unknown
			continue
		}
		taken[key] = g
		out = append(out, template{text: form, roles: r, fixed: fixed, others: told, vague: r.steady || r.bare || isVague(g.line), crowded: isCrowded(g.line, &r), redoes: r.redoes(g.columns)})
		if g.passes(&out[len(out)-1]) {
			out[len(out)-1].passes, out[len(out)-1].guess = true, true
		}
		out[len(out)-1].apart = g.apart(&out[len(out)-1])
		groups = append(groups, g)
	}
	pair(out, groups)
	if slices.ContainsFunc(out, func(t template) bool { return !t.vague }) { // values without any name are other things
		out = slices.DeleteFunc(out, func(t template) bool { return t.vague && !t.roles.named() })
	}
	return separate(out)
}

// isVague reports whether a line has words, and none for a checksum.
func isVague(line []byte) bool {
	words := false
	for _, t := range tokens(line, nil) {
		if t.kind != word {
			continue
		}
		switch vocabulary.Of(string(line[t.from:t.to])) {
		case vocabulary.Sum, vocabulary.WeakSum:
			return false
		case vocabulary.Other:
			words = words || t.to-t.from > 1
		}
	}
	return words
}

// isCrowded reports whether a line has no word for a checksum, and many other numbers with names than those that are read.
func isCrowded(line []byte, r *roles) bool {
	const many = 8
	p, n := parsed{line: line, tokens: tokens(line, nil)}, 0
	for _, point := range r.points {
		n -= len(point.sums)
	}
	for i, t := range p.tokens {
		if t.kind == word && vocabulary.Of(p.text(i)) == vocabulary.Sum {
			return false
		}
		if t.kind == number && p.nameOf(i).from >= 0 {
			n++
		}
	}
	return n >= many
}

// separate names templates with the same checkpoints after their words. Of those without such words, the first one
// stays.
func separate(list []template) []template {
	count := map[string]int{}
	twins := map[int]bool{}
	for i := range list {
		for _, p := range list[i].roles.points {
			if !twins[list[i].twin] {
				count[p.scope]++
			}
		}
		twins[list[i].twin] = list[i].twin > 0
	}
	var out []template
	taken := map[string]bool{}
	for _, t := range list {
		if t.roles.scope >= 0 || t.twin > 0 {
			out = append(out, t)
			continue
		}
		if points := t.roles.points; len(points) == 1 && t.fixed != "" && count[points[0].scope] > 1 {
			points[0].scope = t.fixed
		}
		if slices.ContainsFunc(t.roles.points, func(p point) bool { return taken[p.scope] }) {
			continue
		}
		for _, p := range t.roles.points {
			taken[p.scope] = true
		}
		out = append(out, t)
	}
	return out
}
