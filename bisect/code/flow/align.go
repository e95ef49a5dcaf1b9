package flow

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Builds that were compiled otherwise have other blocks at other addresses. Their branches are compared by function and
// line, and only at the lines that both builds visited alike in the ticks before, in which their states agree: a line that
// one compiler makes a block of and the other does not is left out.

// line is a line of source, the same in both builds. It counts from the declaration of its function, so that a change
// above that does not move it.
type line struct {
	function, file string
	number, column int
}

// lines numbers the lines of two builds alike, or the statements in them.
type lines struct {
	programs  [2]*programs
	columns   bool // a line may have several
	numbers   map[line]int32
	functions []string // of each number
	relative  []int
	known     [2]map[Address]int32
}

func newLines(programs [2]*programs, columns bool) *lines {
	return &lines{programs: programs, columns: columns, numbers: map[line]int32{}, known: [2]map[Address]int32{{}, {}}}
}

// number returns the number of the line of a branch, -1 if it is not known.
func (l *lines) number(build int, at Address) (int32, error) {
	if n, ok := l.known[build][at]; ok {
		return n, nil
	}
	p, declared, err := l.programs[build].line(at)
	if err != nil {
		return 0, err
	}
	n := int32(-1)
	if p.Function != "" {
		key := line{p.Function, path.Base(strings.ReplaceAll(p.File, `\`, "/")), p.Line - declared, 0}
		if l.columns {
			key.column = p.Column
		}
		var ok bool
		if n, ok = l.numbers[key]; !ok {
			n = int32(len(l.numbers))
			l.numbers[key] = n
			l.functions, l.relative = append(l.functions, p.Function), append(l.relative, key.number)
		}
	}
	l.known[build][at] = n
	return n, nil
}

// steps are the lines that a thread visited, each with the branches in a row that lie in it.
type steps struct {
	ctx      context.Context
	lines    *lines
	build    int
	branch   *Branches
	keep     func(n int32) bool
	buf      []Address
	have     []Address
	index    uint64 // of the next branch
	last     int32
	before   Address // the branch before the returned one
	latest   Address
	from, at visit // the branch of a line, kept or not, before the returned one, and that itself
}

// visit is a branch of a line.
type visit struct {
	line  int32
	at    Address
	index uint64
}

func (l *lines) steps(ctx context.Context, build int, r *Recording, thread uint32, keep func(n int32) bool) *steps {
	return &steps{ctx: ctx, lines: l, build: build, branch: r.Branches(r.Thread(thread)), keep: keep, buf: make([]Address, window), last: -1}
}

// next returns the next line that is kept and is not the one before.
func (s *steps) next() (n int32, at Address, index uint64, err error) {
	for {
		if len(s.have) == 0 {
			if err := interrupted(s.ctx); err != nil {
				return 0, 0, 0, err
			}
			s.have = s.buf[:s.branch.Next(s.buf)]
			if len(s.have) == 0 {
				return -1, 0, s.index, s.branch.Err()
			}
		}
		at, index = s.have[0], s.index
		s.have = s.have[1:]
		s.before, s.latest = s.latest, at
		s.index++
		if n, err = s.lines.number(s.build, at); err != nil {
			return 0, 0, 0, err
		}
		if n >= 0 {
			s.from, s.at = s.at, visit{n, at, index}
		}
		if n >= 0 && n != s.last && s.keep(n) {
			s.last = n
			return n, at, index, nil
		}
	}
}

// maxLearned bounds the branches of the ticks before.
const maxLearned = 1 << 23

// learned is what the ticks before show.
type learned struct {
	keep map[int32]bool
	seen map[int32]bool
	all  bool // both builds visited all lines alike: then lines that were never seen count too
}

// learn finds the lines that both builds visit alike.
func (l *lines) learn(ctx context.Context, leads [2][]*Recording, thread uint32) (*learned, error) {
	var visits [2][][]int32
	total := uint64(0)
	for k := min(len(leads[0]), len(leads[1])); k > 0; k-- {
		a, b := leads[0][len(leads[0])-k], leads[1][len(leads[1])-k]
		if total += a.Thread(thread).Count + b.Thread(thread).Count; total > maxLearned && k > 1 {
			total, visits = 0, [2][][]int32{} // the later ticks are nearer
		}
		for i, r := range []*Recording{a, b} {
			if total > 8*maxLearned {
				return nil, fmt.Errorf("%s has too many branches to align builds that were compiled otherwise", r.Name)
			}
			list, err := l.visits(ctx, i, r, thread)
			if err != nil {
				return nil, err
			}
			visits[i] = append(visits[i], list)
		}
	}
	if len(visits[0]) == 0 {
		return nil, errors.New("there is no tick before it, which would show how the branches of builds that were compiled otherwise correspond")
	}
	out := &learned{keep: map[int32]bool{}, seen: map[int32]bool{}, all: true}
	for i := range visits {
		for _, list := range visits[i] {
			for _, n := range list {
				out.keep[n], out.seen[n] = true, true
			}
		}
	}
	for out.prune(visits) {
		out.all = false
	}
	return out, nil
}

// visits returns the lines of a recording.
func (l *lines) visits(ctx context.Context, build int, r *Recording, thread uint32) (list []int32, err error) {
	s := l.steps(ctx, build, r, thread, func(int32) bool { return true })
	for {
		n, _, _, err := s.next()
		if n < 0 || err != nil {
			return list, err
		}
		list = append(list, n)
	}
}

// prune drops lines that the builds do not visit alike, and reports whether there were any.
func (o *learned) prune(visits [2][][]int32) bool {
	for k := range visits[0] {
		a, b := o.filtered(visits[0][k]), o.filtered(visits[1][k])
		counts := map[int32]int{}
		for _, n := range a {
			counts[n]++
		}
		for _, n := range b {
			counts[n]--
		}
		dropped := false
		for n, count := range counts {
			if count != 0 {
				delete(o.keep, n)
				dropped = true
			}
		}
		if dropped {
			return true
		}
		for i := range a {
			if a[i] != b[i] {
				delete(o.keep, a[i])
				delete(o.keep, b[i])
				return true
			}
		}
	}
	return false
}

// filtered returns the kept lines, each once in a row.
func (o *learned) filtered(list []int32) (out []int32) {
	last := int32(-1)
	for _, n := range list {
		if o.keep[n] && n != last {
			out = append(out, n)
			last = n
		}
	}
	return out
}

// counts reports whether a line of the tick is compared.
func (o *learned) counts(n int32) bool { return o.keep[n] || o.all && !o.seen[n] }

// aligned compares a thread of the tick line by line. It returns nil if the builds visit the same lines.
func (l *lines) aligned(ctx context.Context, o *learned, ticks [2]*Recording, thread uint32) (*difference, error) {
	var s [2]*steps
	for i := range s {
		s[i] = l.steps(ctx, i, ticks[i], thread, o.counts)
	}
	p := &difference{}
	var around [2][]Address
	same := int32(-1) // the last equal line
	for {
		var n [2]int32
		var at [2]Address
		var index [2]uint64
		for i := range s {
			var err error
			if n[i], at[i], index[i], err = s[i].next(); err != nil {
				return nil, err
			}
		}
		if n[0] == n[1] {
			if n[0] < 0 {
				return nil, nil
			}
			p.last, p.index = at, index
			p.equal++
			same = n[0]
			for i := range at {
				if around[i] = append(around[i], at[i]); len(around[i]) > 2*window {
					around[i] = append(around[i][:0], around[i][window:]...)
				}
			}
			continue
		}
		for i := range at {
			p.near[i] = around[i]
			if n[i] >= 0 {
				p.next[i], p.before[i] = &at[i], []Address{s[i].before}
				p.near[i] = append(p.near[i], at[i])
			}
			// After the last equal line a build may visit lines that are not compared: it decides at the last of them.
			if from := s[i].from; n[i] >= 0 && p.equal > 0 && from.line != same && from.index > p.index[i] {
				p.of, p.last[i], p.index[i] = i, from.at, from.index
			}
		}
		return p, nil
	}
}

// novelty is the first branch of a build to a place that it did not visit in the ticks before.
type novelty struct {
	index uint64  // of the branch
	from  Address // the branch before it, 0 if there is none
	to    Address
	near  []Address
	moved bool // the build visits other lines of the function alone, which are not next to it
}

// novelties returns the places that a thread of a build visits in the tick and did not visit in the ticks before, in
// order, at most maxNew, and all that it visits.
func novelties(ctx context.Context, r *run, thread uint32) (list []novelty, known map[Address]bool, err error) {
	known = map[Address]bool{}
	buf := make([]Address, window)
	for _, lead := range r.lead {
		b := lead.Branches(lead.Thread(thread))
		for n := b.Next(buf); n > 0; n = b.Next(buf) {
			for _, at := range buf[:n] {
				known[at] = true
			}
		}
		if err := errors.Join(b.Err(), interrupted(ctx)); err != nil {
			return nil, nil, err
		}
	}
	b := r.tick.Branches(r.tick.Thread(thread))
	var last Address
	index := uint64(0)
	for n := b.Next(buf); n > 0 && len(list) < maxNew; n = b.Next(buf) {
		for i, at := range buf[:n] {
			if !known[at] && len(list) < maxNew {
				known[at] = true
				list = append(list, novelty{index: index, from: last, to: at, near: append([]Address(nil), buf[:i+1]...)})
			}
			last = at
			index++
		}
		if err := interrupted(ctx); err != nil {
			return nil, nil, err
		}
	}
	return list, known, b.Err()
}

// maxNew bounds the places that are visited for the first time.
const maxNew = 256

// alone returns the first line that one build visits for the first time in the tick and the other build does not visit. It
// prefers the second build. It has to lie in a function that the other build visits: else its compiler may have left no
// block there. If the builds visit other lines of the function in the ticks before, which compilers do, or if the other
// build too visits lines of it alone, then both may have come to one place, and there is no answer.
func (l *lines) alone(o *learned, lists [2][]novelty, known [2]map[Address]bool) (build int, first *novelty, err error) {
	var visited [2]map[int32]bool // lines
	var functions [2]map[string]bool
	for i := range lists {
		if len(lists[i]) == maxNew {
			return 0, nil, nil
		}
		visited[i], functions[i] = map[int32]bool{}, map[string]bool{}
		for at := range known[i] {
			n, err := l.number(i, at)
			if err != nil {
				return 0, nil, err
			}
			if n >= 0 {
				visited[i][n], functions[i][l.functions[n]] = true, true
			}
		}
	}
	var fresh, only [2]map[string]bool // functions that a build visits lines of for the first time, and alone
	var lines [2]map[string][]int
	for i, list := range lists {
		fresh[i], only[i], lines[i] = map[string]bool{}, map[string]bool{}, map[string][]int{}
		for _, v := range list {
			n, err := l.number(i, v.to)
			if err != nil {
				return 0, nil, err
			}
			if n >= 0 {
				fresh[i][l.functions[n]] = true
				if !visited[1-i][n] {
					only[i][l.functions[n]] = true
					lines[i][l.functions[n]] = append(lines[i][l.functions[n]], l.relative[n])
				}
			}
		}
	}
	for _, i := range []int{1, 0} {
		for k, v := range lists[i] {
			n, _ := l.number(i, v.to)
			if n < 0 || visited[1-i][n] {
				continue
			}
			name := l.functions[n]
			if !functions[1-i][name] {
				break
			}
			if alike := o.alike(l, name); alike && !only[1-i][name] || !alike && !fresh[1-i][name] {
				lists[i][k].moved = apart(lines[i][name])
				return i, &lists[i][k], nil
			}
		}
	}
	return 0, nil, nil
}

// apart reports whether lines of one function are not one passage: an optimiser has moved code, and the first of them may
// not be the line that decides.
func apart(list []int) bool {
	slices.Sort(list)
	for i := range list {
		if i > 0 && list[i]-list[i-1] > 4 {
			return true
		}
	}
	return false
}

// alike reports whether the builds visited the lines of a function alike in the ticks before, but for a few: the ones that
// were changed.
func (o *learned) alike(l *lines, function string) bool {
	kept, other := 0, 0
	for n := range o.seen {
		if l.functions[n] == function {
			if o.keep[n] {
				kept++
			} else {
				other++
			}
		}
	}
	return other <= 2 && other < kept
}
