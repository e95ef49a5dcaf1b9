package openra

// seen is how many of an actor's traits have a type. Most actors have few types.
type seen struct {
	few  []typeCount
	many map[*table]uint64 // of those after maxFew
}

type typeCount struct {
	t *table
	n uint64
}

const maxFew = 16

// count returns how many traits of a type there were, and adds one.
func (s *seen) count(t *table) (before uint64) {
	for i := range s.few {
		if c := &s.few[i]; c.t == t {
			c.n++
			return c.n - 1
		}
	}
	if len(s.few) < maxFew {
		s.few = append(s.few, typeCount{t, 1})
		return 0
	}
	if s.many == nil {
		s.many = map[*table]uint64{}
	}
	before = s.many[t]
	s.many[t]++
	return before
}

func (s *seen) reset() {
	s.few = s.few[:0]
	clear(s.many)
}

// spare returns one that is empty.
func (d *decoder) spare() *seen {
	const at = 256
	if len(d.spares) == 0 {
		d.spares = make([]seen, at)
	}
	s := &d.spares[0]
	d.spares = d.spares[1:]
	return s
}
