package tracediff

// gathered is the memory for pairing the checkpoints of one tick. It is reused for the next tick.
type gathered struct {
	lists [][]cell // by peer

	// The content of the cells in lists.
	checkpoints []Checkpoint
	sums        []Sum
	values      []byte
	details     []Detail

	slots       []slot
	cells       []cell // of the slots
	index       map[place]int
	counts, own map[*keyInfo]uint32
	sequences   [][]int // by peer: its slots, in its order
}

// place is a checkpoint within a tick.
type place struct {
	k          *keyInfo
	occurrence uint32
}

// slot is a place with the peers' checkpoints there.
type slot struct {
	place
	cells []cell
	next  int // next slot, -1 at the end
}

const (
	maxGathered = 1024 // reuse the memory of at most this many checkpoints
	maxCleared  = 64   // and of this many places, because clearing a map costs as much as its largest size
)

// begin starts a tick of n peers.
func (g *gathered) begin(n int) {
	if cap(g.checkpoints) > maxGathered {
		*g = gathered{index: g.index, counts: g.counts, own: g.own}
	}
	if len(g.lists) != n {
		g.lists = make([][]cell, n)
	}
	for i := range g.lists {
		g.lists[i] = g.lists[i][:0]
	}
	g.checkpoints, g.sums, g.values, g.details = g.checkpoints[:0], g.sums[:0], g.values[:0], g.details[:0]
}

// clone returns a copy of a checkpoint that is valid until the next tick begins.
func (g *gathered) clone(c *Checkpoint) *Checkpoint {
	g.checkpoints = append(g.checkpoints, *c)
	d := &g.checkpoints[len(g.checkpoints)-1]
	at := len(g.sums)
	g.sums = append(g.sums, c.Sums...)
	d.Sums = g.sums[at:len(g.sums):len(g.sums)]
	for i := range d.Sums {
		v := &d.Sums[i].Value
		at := len(g.values)
		g.values = append(g.values, *v...)
		*v = g.values[at:len(g.values):len(g.values)]
	}
	if c.Detail != nil {
		at = len(g.details)
		g.details = append(g.details, c.Detail...)
		d.Detail = g.details[at:len(g.details):len(g.details)]
	}
	return d
}

// pair starts the pairing of n peers' checkpoints.
func (g *gathered) pair(n int) {
	if g.index == nil || len(g.index) > maxCleared {
		g.index, g.counts, g.own = map[place]int{}, map[*keyInfo]uint32{}, map[*keyInfo]uint32{}
	}
	clear(g.index)
	clear(g.counts)
	g.slots, g.cells = g.slots[:0], g.cells[:0]
	if len(g.sequences) != n {
		g.sequences = make([][]int, n)
	}
	for i := range g.sequences {
		g.sequences[i] = g.sequences[i][:0]
	}
}

// slot returns the slot of a place among n peers, and whether it is new.
func (g *gathered) slot(at place, n int) (i int, made bool) {
	i, ok := g.index[at]
	if ok {
		return i, false
	}
	i = len(g.slots)
	g.index[at] = i
	from := len(g.cells)
	for range n {
		g.cells = append(g.cells, cell{})
	}
	g.slots = append(g.slots, slot{place: at, cells: g.cells[from:len(g.cells):len(g.cells)], next: -1})
	return i, true
}
