package flow

import "context"

// window is how many branches on both sides of a difference are kept.
const window = 4096

// difference is where two sequences of branches go different ways.
type difference struct {
	equal uint64      // branches before it, as the first sequence counts
	index [2]uint64   // of the last equal branch in each, as it counts; meaningless if equal is 0
	last  [2]Address  // the last equal branch
	next  [2]*Address // the first that differs; nil where a sequence ends
	// before are the branches before next that decided: the last ones of two runs of one build, whose values may come from a
	// function that has just returned, else the last one.
	before [2][]Address
	near   [2][]Address // the branches around it
	past   []Address    // the equal branches up to it, of two runs of one build
	of     int          // the build that decided by its last branch
	alone  bool         // it alone has the difference: the builds cannot be compared there
}

// identical compares two threads address by address: one build recorded both. It returns nil if all branches are equal.
func identical(ctx context.Context, a, b *Branches) (*difference, error) {
	const size = window
	var bufs [2][]Address
	var have [2]int
	var before []Address
	for i := range bufs {
		bufs[i] = make([]Address, size)
	}
	equal := uint64(0)
	for {
		if err := interrupted(ctx); err != nil {
			return nil, err
		}
		for i, s := range []*Branches{a, b} {
			if have[i] = s.Next(bufs[i]); s.Err() != nil {
				return nil, s.Err()
			}
		}
		n := min(have[0], have[1])
		for i := range n {
			if bufs[0][i] != bufs[1][i] {
				return differenceAt(equal+uint64(i), i, bufs, have, before), nil
			}
		}
		equal += uint64(n)
		if have[0] != have[1] {
			return differenceAt(equal, n, bufs, have, before), nil
		}
		if n == 0 {
			return nil, nil
		}
		before = append(before[:0], bufs[0][:n]...)
	}
}

// lately is how many branches may lie between a value and the decision by it.
const lately = 3

// differenceAt describes the difference at place i of two buffers.
func differenceAt(equal uint64, i int, bufs [2][]Address, have [2]int, before []Address) *difference {
	p := &difference{equal: equal, index: [2]uint64{equal - 1, equal - 1}}
	past := append(before, bufs[0][:i]...)
	p.past = past
	if len(past) > 0 {
		p.last = [2]Address{past[len(past)-1], past[len(past)-1]}
		p.before[0] = past[max(0, len(past)-lately):]
	}
	for k := range bufs {
		if i < have[k] {
			p.next[k] = &bufs[k][i]
		}
		p.near[k] = append(append([]Address(nil), past...), bufs[k][i:max(i, have[k])]...)
	}
	return p
}
