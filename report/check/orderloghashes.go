package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
)

// inputHash computes the input hash of a tick's orders, if their kinds are known.
func (l *logChecker) inputHash(tick uint64, orders []logOrder) ([]byte, bool) {
	if !l.names {
		return nil, false
	}
	le := binary.LittleEndian
	buf := make([]byte, 4)
	count := uint32(0)
	for i := range orders {
		o := &orders[i]
		if uint64(o.kind) >= uint64(len(l.kinds)) {
			return nil, false
		}
		k := &l.kinds[o.kind]
		if k.local {
			continue
		}
		count++
		buf = le.AppendUint64(buf, tick)
		buf = le.AppendUint32(buf, o.sub)
		buf = le.AppendUint32(buf, o.player)
		buf = le.AppendUint32(buf, o.sequence)
		buf = append(le.AppendUint32(buf, uint32(len(k.name))), k.name...)
		buf = append(le.AppendUint32(buf, uint32(len(o.payload))), o.payload...)
	}
	le.PutUint32(buf, count)
	sum := sha256.Sum256(buf)
	return sum[:8], true
}

// observed is a hash with its place.
type observed struct {
	logHash
	bytes []byte
	at    place
}

// hash reads one hash.
func (l *logChecker) hash() observed {
	w := &l.w
	var o observed
	at := w.at
	w.tuple(5, "the hash")
	o.point = w.uint(math.MaxUint64, "the point")
	o.peer = uint32(w.uint(math.MaxUint32, "the peer"))
	kindAt := w.at
	o.kind = w.str("the hash's kind")
	coverageAt := w.at
	o.coverage = w.str("the coverage")
	bytesAt := w.at
	o.bytes = w.bin("the hash's bytes")
	o.at = w.place(at)
	if w.bad {
		return o
	}
	if o.kind == "" || !isName(o.kind) {
		w.note("order-hash-name", kindAt, "the kind is %s", quoted(o.kind))
	}
	if !isName(o.coverage) {
		w.note("order-hash-name", coverageAt, "the coverage is %s", quoted(o.coverage))
	}
	usual := map[string]int{"sync": syncSize, "state": hashSize, "history": hashSize}[o.kind]
	switch n := len(o.bytes); {
	case n == 0 || n > 64:
		w.note("order-hash-width", bytesAt, "the hash has %d bytes, expected 1 to 64", n)
	case usual != 0 && o.coverage == "" && n != usual:
		w.note("order-hash-usual", bytesAt, "a %s hash of %d bytes, expected %d", o.kind, n, usual)
	}
	return o
}

// hashes reads a list of hashes.
func (l *logChecker) hashes() []observed {
	w := &l.w
	n := w.array("the hashes")
	list := make([]observed, 0, min(n, 64))
	for i := range n {
		w.part, w.i = "hash", i
		o := l.hash()
		if w.bad {
			break
		}
		list = append(list, o)
	}
	return list
}

// take compares the hashes of a record with others: sync hashes first, since the others follow from them.
func (l *logChecker) take(list []observed) {
	for _, sync := range []bool{true, false} {
		for i := range list {
			if o := &list[i]; (o.kind == "sync") == sync {
				l.takeOne(o)
			}
		}
	}
}

func (l *logChecker) takeOne(o *observed) {
	own := l.owned && o.peer == l.own && o.coverage == ""
	if was := l.find(o.logHash); was != nil && !bytes.Equal(was, o.bytes) {
		l.c.add("order-hash-twice", o.at, "the %s hash of point %d and peer %d is %x, before it was %x", o.kind, o.point, o.peer, o.bytes, was)
	}
	l.keep(o.logHash, o.bytes)
	if !own {
		return
	}
	switch {
	case o.kind == "sync" && len(o.bytes) == syncSize:
		l.syncs = true
		switch {
		case !l.chained || o.point == l.at:
		case o.point == l.at+1:
			l.history, l.at = sha256.Sum256(append(slices.Clone(l.history[:]), o.bytes...)), o.point
		default:
			l.chained = false // a hole
		}
		if state := l.find(logHash{o.point, o.peer, "state", ""}); len(state) == hashSize && !bytes.HasPrefix(state, o.bytes) {
			l.c.add("hash-sync", o.at, "the sync hash of point %d is %x, the state hash begins with %x", o.point, o.bytes, state[:syncSize])
		}
	case o.kind == "state" && len(o.bytes) == hashSize:
		if sync := l.find(logHash{o.point, o.peer, "sync", ""}); len(sync) == syncSize && !bytes.HasPrefix(o.bytes, sync) {
			l.c.add("hash-sync", o.at, "the state hash of point %d begins with %x, the sync hash is %x", o.point, o.bytes[:syncSize], sync)
		}
	case o.kind == "history" && len(o.bytes) == hashSize:
		l.histories = true
		if l.chained && l.at == o.point && !bytes.Equal(o.bytes, l.history[:]) {
			l.c.add("hash-history", o.at, "the history hash of point %d is %x…, the sync hashes before it give %x…", o.point, o.bytes[:8], l.history[:8])
		}
		copy(l.history[:], o.bytes) // later hashes are compared with the recorded one
		l.at, l.chained = o.point, true
	}
}

// inEpoch is a hash of one epoch: in another the same point may be another state.
type inEpoch struct {
	logHash
	epoch uint32
}

// find returns what was recorded of a state in this epoch, nil if it is not known any more.
func (l *logChecker) find(h logHash) []byte {
	for _, seen := range l.seen {
		if b, ok := seen[inEpoch{h, l.epoch}]; ok {
			return b
		}
	}
	return nil
}

func (l *logChecker) keep(h logHash, b []byte) {
	if l.wanted[h.point] && l.owned && h.peer == l.own && h.coverage == "" {
		l.known.log.hashes[inEpoch{logHash{h.point, 0, h.kind, ""}, l.epoch}] = slices.Clone(b)
	}
	if len(l.seen[0]) == keptHashes {
		l.seen = [2]map[inEpoch][]byte{{}, l.seen[0]}
	}
	l.seen[0][inEpoch{h, l.epoch}] = slices.Clone(b)
}

func allZero(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 })
}
