package bisect

import (
	"encoding/binary"
	"hash/maphash"
)

// blockPoints is how many state points one block spans.
const blockPoints = 1 << 10

// block contains the hashes of a log at points that are the same when divided by blockPoints. Equal blocks of two logs
// need no closer look, so comparing many peers with each other costs little more than reading their logs.
type block struct {
	key    uint64 // of the points, divided
	hashes []Hash
	digest uint64
}

// blocksOf cuts hashes into blocks.
func blocksOf(hashes []Hash) (blocks []block) {
	var buf []byte
	for len(hashes) > 0 {
		key := hashes[0].Point / blockPoints
		buf = buf[:0]
		n := 0
		for n < len(hashes) && hashes[n].Point/blockPoints == key {
			buf = binary.LittleEndian.AppendUint64(buf, hashes[n].Point)
			buf = append(buf, hashes[n].Sum[:]...)
			n++
		}
		blocks = append(blocks, block{key, hashes[:n], maphash.Bytes(partSeed, buf)})
		hashes = hashes[n:]
	}
	return blocks
}

// digestOf digests all hashes of some blocks.
func digestOf(blocks []block) uint64 {
	buf := make([]byte, 0, 8*len(blocks))
	for i := range blocks {
		buf = binary.LittleEndian.AppendUint64(buf, blocks[i].digest)
	}
	return maphash.Bytes(partSeed, buf)
}

// parting is when two logs diverge.
type parting struct{ split, equal *uint64 }

// parted returns when two peers' logs diverge. Logs with the same hashes as logs that were compared before diverge at
// the same point.
func (r *Result) parted(a, b *peer) parting {
	key := [2]uint64{a.digest, b.digest}
	p, ok := r.partings[key]
	if !ok {
		p.split, p.equal = split(a.blocks, b.blocks)
		if r.partings == nil {
			r.partings = map[[2]uint64]parting{}
		}
		r.partings[key] = p
	}
	return p
}

// split returns the first point at which two peers' hashes differ, and the last one before it at which
// they are equal.
func split(a, b []block) (split, equal *uint64) {
	for x, y := range inCommon(a, b, blockKey) {
		if x.digest == y.digest {
			equal = &x.hashes[len(x.hashes)-1].Point
			continue
		}
		for h, other := range inCommon(x.hashes, y.hashes, hashPoint) {
			point := h.Point
			if h.Sum != other.Sum {
				return &point, equal
			}
			equal = &point
		}
	}
	return nil, equal
}

func blockKey(b *block) uint64 { return b.key }

// recordedPoints counts the points for which two or more peers' logs have a sync hash; if there are none, the points
// for which they have another hash of one kind.
func recordedPoints(peers []*peer) int {
	if n := recordedSyncs(peers); n > 0 {
		return n
	}
	points := map[uint64]bool{}
	for i, a := range peers {
		for _, b := range peers[:i] {
			if a.log == nil || b.log == nil {
				continue
			}
			for k := range a.log.Parts {
				x := &a.log.Parts[k]
				if y := b.log.part(x.Kind, x.Coverage); y != nil {
					for h := range inCommon(x.Hashes, y.Hashes, partPoint) {
						points[h.Point] = true
					}
				}
			}
		}
	}
	return len(points)
}

func recordedSyncs(peers []*peer) int {
	lists := make([][]block, 0, len(peers))
	for _, p := range peers {
		if len(p.blocks) > 0 {
			lists = append(lists, p.blocks)
		}
	}
	n := 0
	for len(lists) > 1 {
		key := lists[0][0].key
		for _, l := range lists {
			key = min(key, l[0].key)
		}
		var seen [blockPoints]uint8
		left := lists[:0]
		for _, l := range lists {
			if l[0].key == key {
				for i := range l[0].hashes {
					if s := &seen[l[0].hashes[i].Point%blockPoints]; *s < 2 {
						if *s++; *s == 2 {
							n++
						}
					}
				}
				l = l[1:]
			}
			if len(l) > 0 {
				left = append(left, l)
			}
		}
		lists = left
	}
	return n
}
