package check

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
)

const (
	logMagic = "\x89DOL\r\n\x1a\n"

	maxList         = 1 << 16 // order kinds, peers, parameters
	maxText         = 1 << 16 // bytes of a string
	maxOrderPayload = 4 << 20

	syncSize, hashSize = 8, 32

	// keptHashes is how many hashes back, at least, two hashes of one state are compared with each other.
	keptHashes = 16384
)

// Kinds of records of an order log.
const (
	logHeader   = 1
	logTick     = 2
	logObserved = 3
)

// Kinds of markers that have special rules.
const (
	markJoin      = 1
	markLeave     = 2
	markRemoval   = 3
	markReconnect = 4
	markLoad      = 6
	markResync    = 7
	markFailed    = 8
	markLast      = 8
)

// logOrder is an order, as applied.
type logOrder struct {
	sub, player, sequence, kind uint32
	payload                     []byte
}

type logKind struct {
	name  string
	local bool
}

// logHash names a hash of one state.
type logHash struct {
	point          uint64
	peer           uint32
	kind, coverage string
}

// logChecker checks one order log.
type logChecker struct {
	c *checker
	w walker

	known  facts
	headed bool // there was a header that could be read
	kinds  []logKind
	names  bool // kinds come from the header
	own    uint32
	owned  bool
	first  uint64
	epoch  uint32

	started bool
	next    uint64 // the lowest number that the next tick may have
	full    bool   // no tick may follow in this epoch
	holes   uint64 // ticks without a record
	ticks   uint64

	wanted  map[uint64]bool       // points for which hashes are kept
	seen    [2]map[inEpoch][]byte // the last ones, and those before
	history [hashSize]byte        // of the point at
	at      uint64
	chained bool // history is known

	syncs, histories, inputs bool // there was one
}

func checkLog(c *checker, in *input) (facts, error) {
	l := &logChecker{c: c, wanted: in.wanted, seen: [2]map[inEpoch][]byte{{}, nil}}
	l.known.log = &logFacts{hashes: map[inEpoch][]byte{}}
	if err := readFrames(c, in.content, l.frame); err != nil {
		return facts{}, err
	}
	if !l.headed {
		return l.known, nil
	}
	whole := place{}
	switch {
	case l.ticks == 0:
	case !l.syncs:
		c.add("record-sync", whole, "no sync hash of the log's own peer: nothing shows in which tick it differs from the others")
	case !l.histories:
		c.add("record-history", whole, "no history hash: a difference that healed before the first hash that differs does not show")
	}
	if l.ticks > 0 && !l.inputs {
		c.add("order-no-input-hash", whole, "no tick has an input hash: orders that were lost on the way into the log are not noticed")
	}
	if l.holes > 0 {
		c.add("order-every-tick", whole, "%d ticks have no record, and no new epoch follows them: they may be taken for a gap, or the gap for ticks without orders", l.holes)
	}
	return l.known, nil
}

func (l *logChecker) frame(n int, offset int64, kind uint32, payload []byte) {
	in := fmt.Sprintf("frame %d", n)
	l.w = walker{
		c: l.c, b: payload, base: offset, in: in, most: maxText,
		value: "order-value", shape: "order-type", shortest: "order-shortest", text: "order-limit", utf8: "order-utf8",
	}
	where := offsetAt(offset, in)
	if n == 0 && kind != logHeader {
		l.c.add("order-header-first", where, "the first frame has kind %d, expected %d, the header", kind, logHeader)
	}
	switch kind {
	case logHeader:
		if n > 0 {
			l.c.add("order-header-first", where, "a second header")
			return
		}
		l.header()
	case logTick:
		l.tick()
	case logObserved:
		list := l.hashes()
		if len(list) == 0 {
			l.w.note("order-observed", 0, "a record of no hashes")
		}
		l.w.finish()
		l.take(list)
	default:
		l.c.add("order-kind", where, "the frame has kind %d", kind)
	}
}

func (l *logChecker) header() {
	w, f := &l.w, &l.known
	w.in += ", header"
	w.tuple(10, "the header")
	f.seed, f.seeded = w.uint(math.MaxUint64, "the seed"), true
	f.log.peer = w.str("the peer's name")
	build := w.str("the build")
	at := w.at
	w.tuple(2, "the tick rate")
	num, den := w.uint(math.MaxUint32, "the tick rate"), w.uint(math.MaxUint32, "the tick rate")
	if (num == 0) != (den == 0) {
		w.note("order-rate", at, "the tick rate is %d/%d", num, den)
	}
	start := w.fixed(hashSize, "the start hash")
	l.first = w.uint(math.MaxUint64, "the first point")
	l.epoch = uint32(w.uint(math.MaxUint32, "the epoch"))
	names := map[string]bool{}
	for i := range l.list("the order kinds") {
		at := w.at
		what := fmt.Sprintf("order kind %d", i)
		w.tuple(2, what)
		k := logKind{w.str("the name of " + what), w.bool("local of " + what)}
		if w.bad {
			return
		}
		if k.name == "" || names[k.name] {
			w.note("order-kind-names", at, "%s is named %s, expected a name that no other has", what, quoted(k.name))
		}
		names[k.name] = true
		l.kinds = append(l.kinds, k)
	}
	peers := map[string]bool{}
	count := l.list("the peers")
	for i := range count {
		at := w.at
		name := w.str(fmt.Sprintf("the name of peer %d", i))
		if w.bad {
			return
		}
		if name == f.log.peer && !l.owned {
			l.own, l.owned = uint32(i), true
		}
		if peers[name] {
			w.note("order-peer-twice", at, "%s is in the list of peers twice", quoted(name))
		}
		peers[name] = true
	}
	if count == 0 {
		l.owned = true
	} else if !l.owned {
		w.note("order-peer-name", 0, "the log's peer is %s, which is not in its list of peers", quoted(f.log.peer))
	}
	last := ""
	for i := range l.list("the parameters") {
		at := w.at
		what := fmt.Sprintf("parameter %d", i)
		w.tuple(2, what)
		key := w.str("the key of " + what)
		w.str("the value of " + what)
		if w.bad {
			return
		}
		if i > 0 && key <= last {
			w.note("order-params", at, "%s follows %s", quoted(key), quoted(last))
		}
		last = key
		if machineFacts[key] {
			w.note("record-machine-param", at, "parameter %s belongs to the machine", quoted(key))
		}
	}
	w.finish()
	if w.bad {
		return
	}
	l.headed, l.names = true, true
	l.next = l.first
	if build == "" {
		w.note("record-build", 0, "no build")
	}
	if num == 0 && den == 0 {
		w.note("record-rate", 0, "no tick rate")
	}
	switch zero := allZero(start); {
	case zero && l.first == 0:
		w.note("record-start", 0, "no start hash: that the peers began with the same state is not known")
	case !zero && l.first == 0 && l.epoch == 0:
		l.history, l.at, l.chained = sha256.Sum256(start), 0, true
		if l.owned {
			l.keep(logHash{0, l.own, "state", ""}, start)
		}
	}
}

// list reads the length of one of the header's lists.
func (l *logChecker) list(what string) int {
	at := l.w.at
	n := l.w.array(what)
	if n > maxList {
		l.w.fail("order-limit", at, "%s are %d, at most %d are allowed", what, n, maxList)
		return 0
	}
	return n
}

func (l *logChecker) tick() {
	w := &l.w
	w.tuple(5, "the tick")
	at := w.at
	number := w.uint(math.MaxUint64, "the tick's number")
	if w.bad {
		return
	}
	w.in = fmt.Sprintf("%s, tick %d", w.in, number)
	inputAt := w.at
	input := w.fixed(8, "the input hash")
	orders := l.orders()
	w.part = ""
	if w.bad {
		return
	}
	l.ticks++
	if !allZero(input) {
		l.inputs = true
		if got, ok := l.inputHash(number, orders); ok && !bytes.Equal(got, input) {
			w.note("order-input-hash", inputAt, "the input hash is %x, the orders give %x", input, got)
		}
	}
	hashes := l.hashes()
	marker := l.markers(number)
	w.part = ""
	w.finish()
	l.step(number, at, marker)
	l.take(hashes) // which belong to the epoch that a marker may have opened
}

func (l *logChecker) orders() []logOrder {
	w := &l.w
	count := w.array("the orders")
	var list []logOrder
	misplaced := false
	for i := range count {
		w.part, w.i = "order", i
		at := w.at
		w.tuple(5, "the order")
		o := logOrder{
			sub: uint32(w.uint(math.MaxUint32, "the sub tick")), player: uint32(w.uint(math.MaxUint32, "the player")),
			sequence: uint32(w.uint(math.MaxUint32, "the sequence")),
		}
		kindAt := w.at
		o.kind = uint32(w.uint(math.MaxUint32, "the kind"))
		if !w.bad && l.names && uint64(o.kind) >= uint64(len(l.kinds)) {
			w.note("order-order-kind", kindAt, "the order has kind %d, the header has %d", o.kind, len(l.kinds))
		}
		payloadAt := w.at
		o.payload = w.bin("the payload")
		if w.bad {
			return nil
		}
		if len(o.payload) > maxOrderPayload {
			w.note("order-payload", payloadAt, "the payload has %d bytes, at most %d are allowed", len(o.payload), maxOrderPayload)
		}
		if i > 0 && !misplaced && o.before(&list[i-1]) {
			misplaced = true
			w.note("order-applied", at, "it comes after an order that has to be applied after it: (%d, %d, %d) follows (%d, %d, %d)",
				o.sub, o.player, o.sequence, list[i-1].sub, list[i-1].player, list[i-1].sequence)
		}
		list = append(list, o)
	}
	return list
}

func (o *logOrder) before(p *logOrder) bool {
	switch {
	case o.sub != p.sub:
		return o.sub < p.sub
	case o.player != p.player:
		return o.player < p.player
	}
	return o.sequence < p.sequence
}

// opening is a marker by which a tick opens an epoch.
type opening struct {
	history []byte // nil if it is not known
	point   uint64
}

func (l *logChecker) markers(tick uint64) *opening {
	w := &l.w
	var opened *opening
	for i := range w.array("the markers") {
		w.part, w.i = "marker", i
		at := w.at
		w.tuple(8, "the marker")
		kindAt := w.at
		kind := w.uint(math.MaxUint8, "the marker's kind")
		if !w.bad && (kind == 0 || kind > markLast) {
			w.note("order-marker-kind", kindAt, "the marker has kind %d, expected 1 to %d", kind, markLast)
			kind = 0
		}
		w.uint(math.MaxUint32, "the player")
		w.uint(math.MaxUint32, "the peer")
		sequenceAt := w.at
		sequence := w.uint(math.MaxUint32, "the sequence")
		pointAt := w.at
		point := w.uint(math.MaxUint64, "the point")
		fresh := w.bool("new epoch")
		historyAt := w.at
		history := w.bin("the history hash")
		w.str("the text")
		if w.bad {
			return nil
		}
		if sequence != 0 && kind != markFailed && kind != 0 {
			w.note("order-marker-unused", sequenceAt, "the sequence is %d in a marker of kind %d, which has no use for it", sequence, kind)
		}
		switch kind {
		case markJoin, markLeave, markRemoval, markReconnect, markResync:
			if point != tick {
				w.note("order-marker-point", pointAt, "the point is %d, expected the point of the tick, %d", point, tick)
			}
		}
		if len(history) != 0 && len(history) != hashSize {
			w.note("order-marker-history", historyAt, "the history hash has %d bytes, expected 0 or %d", len(history), hashSize)
		} else if len(history) > 0 && (allZero(history) || !fresh) {
			w.note("order-marker-history", historyAt, "a history hash that is all zero, or in a marker without a new epoch, expected none")
		}
		if !fresh {
			continue
		}
		switch kind {
		case markJoin, markReconnect, markLoad, markResync, 0:
		default:
			w.note("order-marker-epoch", at, "a marker of kind %d opens an epoch", kind)
		}
		if opened != nil {
			w.note("order-one-epoch", at, "a second marker of the tick opens an epoch")
			continue
		}
		opened = &opening{point: point}
		if len(history) == hashSize {
			opened.history = slices.Clone(history)
		}
	}
	return opened
}

// step takes the number of the next tick.
func (l *logChecker) step(number uint64, at int, opened *opening) {
	w := &l.w
	switch {
	case opened != nil:
		if l.started {
			l.epoch++
		}
		l.chained = false
		if opened.history != nil {
			copy(l.history[:], opened.history)
			l.at, l.chained = opened.point, true
		}
	case !l.started && number < l.next && l.headed:
		l.c.add("order-first-point", w.place(at), "the log begins at point %d", l.first)
		return
	case l.started && (l.full || number < l.next):
		l.c.add("order-ascending", w.place(at), "it follows tick %d in epoch %d", l.next-1, l.epoch)
		return
	case number > l.next && l.headed:
		l.holes += number - l.next
	}
	l.started = true
	l.next = number + 1
	l.full = l.next == 0
}

func isName(s string) bool {
	for _, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return len(s) <= 64
}
