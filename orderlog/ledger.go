package orderlog

import (
	"slices"
	"strconv"
)

func decimal(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// ledger collects differences in the order in which they were found. A missing or extra order waits, because the same
// order may appear in another tick.
type ledger struct {
	limit  int
	window uint64

	queue   []*entry // entries after counted are not yet counted
	counted int
	waiting map[waitKey][]*entry

	kept  []Difference
	count int
	kinds map[DifferenceKind]int
	// The earliest difference of inputs, and the earliest order that failed.
	input, failed moment
}

type entry struct {
	Difference
	generation int
	found      uint64 // tick
	key        waitKey
}

type waitKey struct {
	item itemKey
	lane int
	kind DifferenceKind // Missing or Extra; empty if the entry does not wait
}

func newLedger(opts CompareOptions) ledger {
	return ledger{limit: opts.Limit, window: opts.LateWindow, waiting: map[waitKey][]*entry{}, kinds: map[DifferenceKind]int{}}
}

func (l *ledger) add(c *comparer, d Difference) *entry {
	e := &entry{Difference: d, generation: c.generation, found: c.now}
	l.queue = append(l.queue, e)
	if n := len(l.queue) - l.counted; n > maxPending {
		l.take(n / 2)
	}
	return e
}

// wait adds a difference that may be resolved later. peer is the lane that lacks the order or has the extra one.
func (l *ledger) wait(c *comparer, d Difference, key itemKey, peer *lane) {
	e := l.add(c, d)
	if d.Kind == Failed {
		return
	}
	e.key = waitKey{key, peer.index, d.Kind}
	l.waiting[e.key] = append(l.waiting[e.key], e)
}

// resolve reports whether an order at place resolves a waiting one: the order was late or early.
func (l *ledger) resolve(c *comparer, kind DifferenceKind, key itemKey, peer *lane, place Place) bool {
	k := waitKey{key, peer.index, kind}
	list := l.waiting[k]
	for len(list) > 0 && (list[0].generation != c.generation || c.now-list[0].found > l.window) {
		list = list[1:]
	}
	if len(list) == 0 {
		delete(l.waiting, k)
		return false
	}
	e := list[0]
	l.waiting[k] = list[1:]
	if len(list) == 1 {
		delete(l.waiting, k)
	}
	e.Kind = Late
	e.Have, e.Lack = nil, nil
	e.key = waitKey{}
	if kind == Missing {
		e.At = append(e.At, place)
	} else { // the base comes first
		e.At = append([]Place{place}, e.At...)
	}
	return true
}

// settle counts the differences that can no longer be resolved.
func (l *ledger) settle(generation int, now uint64) {
	n := 0
	for _, e := range l.queue[l.counted:] {
		if e.generation == generation && now-e.found <= l.window {
			break
		}
		n++
	}
	l.take(n)
}

func (l *ledger) close() { l.take(len(l.queue) - l.counted) }

// take counts the next n differences in the queue and adds them to the list up to the limit.
func (l *ledger) take(n int) {
	for i := l.counted; i < l.counted+n; i++ {
		e := l.queue[i]
		l.queue[i] = nil
		// Entries with the same key wait in the queue's order.
		if list := l.waiting[e.key]; len(list) > 1 && list[0] == e {
			l.waiting[e.key] = list[1:]
		} else if len(list) == 1 && list[0] == e {
			delete(l.waiting, e.key)
		}
		l.count++
		l.kinds[e.Kind]++
		if len(l.kept) < l.limit {
			l.kept = append(l.kept, e.Difference)
		}
		first := &l.input
		if e.Kind == Failed {
			first = &l.failed
		}
		first.note(e.generation, e.Tick, func() string { return e.Difference.String() })
	}
	if l.counted += n; l.counted > len(l.queue)/2 {
		l.queue = slices.Delete(l.queue, 0, l.counted)
		l.counted = 0
	}
}
