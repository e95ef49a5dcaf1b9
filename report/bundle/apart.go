package bundle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
)

// Two logs with the same seed belong to two matches if one peer cannot have left both: they begin at the same point,
// name the same peer, and are not copies. The other logs are assigned by what the headers state about the match (peers,
// parameters, start, build), else by their first orders.

// firstOrders is how many orders at the beginning of a log are compared with another log's.
const firstOrders = 64

// ofOneSeed takes matches apart that have only a seed in common.
func (m *Matches) ofOneSeed() {
	for _, x := range slices.Clone(m.List) {
		if x.id != "" || x.Seed == nil {
			continue
		}
		logs := lists.Where(x.units, func(u *unit) bool { return u.log != nil && u.part == nil })
		if !m.conflict(logs) {
			continue
		}
		groups := m.grouped(logs)
		if groups == nil {
			m.doubts = append(m.doubts, func() {
				paths := lists.Map(logs, func(u *unit) string { return u.path })
				x.Doubts = append(x.Doubts, fmt.Sprintf("these may belong to two matches: %s; they have the same seed, two of them belong to the same peer, and nothing shows which belong together",
					strings.Join(shortened(paths), ", ")))
			})
			continue
		}
		m.divide(x, groups)
	}
}

// divide makes matches of groups of logs. Other files of the match go to the new match in their folder, or above; see
// byFolder.
func (m *Matches) divide(x *Match, groups [][]*unit) {
	units := m.forget(x)
	for _, g := range groups {
		m.add(g...)
	}
	for _, u := range units {
		if u.match == nil {
			u.seed = nil
		}
	}
}

// conflict reports whether two of some logs cannot be of one match.
func (m *Matches) conflict(logs []*unit) bool {
	for i, a := range logs {
		for _, b := range logs[:i] {
			if a.peer == "" || a.peer != b.peer || a.log.first != b.log.first || a.log.native != b.log.native {
				continue
			}
			x, err1 := m.whole.digest(a.path)
			y, err2 := m.whole.digest(b.path)
			if err1 == nil && err2 == nil && x != y {
				return true
			}
		}
	}
	return false
}

// grouped returns logs by matches, each without a conflict; nil if nothing shows which belong
// together.
func (m *Matches) grouped(logs []*unit) [][]*unit {
	for _, key := range []func(u *unit) string{
		func(u *unit) string { return u.log.peers },
		func(u *unit) string { return u.log.peers + "\n" + u.log.params },
		func(u *unit) string { return u.log.start.String() },
		func(u *unit) string { return u.log.build },
	} {
		if groups := m.by(logs, key); groups != nil {
			return groups
		}
	}
	return m.byOrders(logs)
}

// by groups logs by a key, nil if two of a group conflict or a log is alone in its group.
func (m *Matches) by(logs []*unit, key func(u *unit) string) [][]*unit {
	index := map[string]int{}
	var groups [][]*unit
	for _, u := range logs {
		k := key(u)
		i, ok := index[k]
		if !ok {
			i = len(groups)
			index[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], u)
	}
	if len(groups) < 2 {
		return nil
	}
	if slices.ContainsFunc(groups, func(g []*unit) bool { return len(g) < 2 || m.conflict(g) }) {
		return nil
	}
	return groups
}

// byOrders groups logs that begin with the same orders, most of them at least; nil if that does not separate them.
func (m *Matches) byOrders(logs []*unit) [][]*unit {
	group := make([]int, len(logs))
	n := 0
	for i := range logs {
		group[i] = -1
		for k := range i {
			same, of := m.shared(logs[i], logs[k])
			switch {
			case of >= fewOrders && 4*same >= 3*of:
				if group[i] >= 0 && group[i] != group[k] {
					return nil
				}
				group[i] = group[k]
			case of < fewOrders || 4*same > of:
				return nil // neither the same nor others
			}
		}
		if group[i] < 0 {
			group[i] = n
			n++
		}
	}
	if n < 2 {
		return nil
	}
	groups := make([][]*unit, n)
	for i, u := range logs {
		groups[group[i]] = append(groups[group[i]], u)
	}
	if slices.ContainsFunc(groups, m.conflict) {
		return nil
	}
	return groups
}

// fewOrders is how many orders are too few to distinguish logs.
const fewOrders = 4

// shared returns how many of the first orders of two logs are the same, and of how many: the orders of ticks that both
// cover, on the side that has fewer.
func (m *Matches) shared(a, b *unit) (same, of int) {
	x, y := m.begins(a), m.begins(b)
	from, to := max(x.from, y.from), min(x.to, y.to)
	within := func(l *begun) (n int) {
		for _, tick := range l.orders {
			if tick >= from && tick <= to {
				n++
			}
		}
		return n
	}
	for order, tick := range x.orders {
		if _, ok := y.orders[order]; ok && tick >= from && tick <= to {
			same++
		}
	}
	return same, min(within(x), within(y))
}

// begun is how a log begins.
type begun struct {
	orders   map[string]uint64 // the first, with their ticks
	from, to uint64            // ticks
}

// begins reads the beginning of a log, once.
func (m *Matches) begins(u *unit) *begun {
	if u.begun != nil {
		return u.begun
	}
	out := &begun{orders: map[string]uint64{}}
	u.begun = out
	source, closer, err := openLog(m.whole.tree, u.file, nil)
	if err != nil {
		return out
	}
	defer closer.Close()
	for ticks := 0; len(out.orders) < firstOrders; {
		rec, err := source.Next()
		if err != nil {
			break // what precedes damage counts
		}
		if rec.Tick == nil {
			continue
		}
		if ticks == 0 {
			out.from = rec.Tick.Number
		}
		ticks++
		out.to = rec.Tick.Number
		for i := range rec.Tick.Orders {
			o := &rec.Tick.Orders[i]
			out.orders[fmt.Sprintf("%d %d %d %x", rec.Tick.Number, o.Player, o.Kind, o.Payload)] = rec.Tick.Number
		}
	}
	return out
}

// apart reports whether the logs of two matches of one seed show that they are two.
func (m *Matches) apart(x, y *Match) bool {
	var a, b []*unit
	a = append(a, lists.Where(x.units, func(u *unit) bool { return u.log != nil })...)
	b = append(b, lists.Where(y.units, func(u *unit) bool { return u.log != nil })...)
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	same := func(key func(u *unit) string) bool {
		return slices.ContainsFunc(a, func(u *unit) bool { return slices.ContainsFunc(b, func(v *unit) bool { return key(u) == key(v) }) })
	}
	if !same(func(u *unit) string { return u.log.peers }) || !same(func(u *unit) string { return u.log.params }) ||
		!same(func(u *unit) string { return u.log.start.String() }) || !same(func(u *unit) string { return u.log.build }) {
		return true
	}
	return m.byOrders([]*unit{a[0], b[0]}) != nil
}
