// Package merkle computes, compares and proves Merkle trees. Peers of a lockstep game use these trees to compare their
// states.
//
// A tree has named leaves: the RNG state with the empty label, if the game has one, then one leaf for each archetype in
// the byte order of the labels. The root is the state hash. The first 8 bytes of the root are the sync hash, which
// peers exchange every tick.
//
// # Definition
//
// All hashes are SHA-256. Every variable part of a leaf is preceded by its length. Every preimage of a leaf begins with
// a domain byte and has a length that is 1 modulo 8. So no preimage of a leaf has 64 bytes, like the preimages of
// interior nodes:
//
//	RNG leaf        0x01 ‖ u32(len state) ‖ u32(0) ‖ state padded to 8
//	archetype leaf  0x02 ‖ u32(len label) ‖ u32(columns) ‖ u64(rows)
//	                ‖ label padded to 8 ‖ the 32-byte digest of each column
//	interior node   left ‖ right
//
// Integers are little-endian; "padded to 8" means followed by zero bytes up to the next multiple of 8. The first column
// digest of an archetype is the digest of its keys. Package snapshot defines column digests.
//
// Level 0 contains the leaves in order. Level k+1 contains the hash of each pair of nodes on level k; a last odd node
// is promoted, that is, moved up unchanged. If there is one leaf, it is the root. If there are none, the root is
// SHA-256 of nothing.
//
// docs/merkle.md has the same definition with a worked example, and testdata/merkle/*.json contains vectors for other
// languages.
package merkle

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// HashSize is the size of a full hash in bytes.
const HashSize = sha256.Size

// ShortSize is the size in bytes of a truncated hash, which live sync checks exchange.
const ShortSize = 8

// Hash is a full SHA-256 hash of a node.
type Hash [HashSize]byte

// Short is the first 8 bytes of a Hash.
type Short [ShortSize]byte

// String returns the hash as 64 lower-case hex digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// Short returns the first 8 bytes of h.
func (h Hash) Short() Short { return Short(h[:ShortSize]) }

// IsZero reports whether h is all zero bytes. In practice no SHA-256 hash is.
func (h Hash) IsZero() bool { return h == Hash{} }

// MarshalText returns h as 64 hex digits.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText sets h from 64 hex digits.
func (h *Hash) UnmarshalText(text []byte) error {
	parsed, err := ParseHash(string(text))
	if err == nil {
		*h = parsed
	}
	return err
}

// ParseHash parses 64 hex digits.
func ParseHash(s string) (Hash, error) {
	var h Hash
	if len(s) == 2*ShortSize {
		return h, fmt.Errorf("hash is cut to its first %d bytes, as live checks exchange it; that proves nothing, expected all %d hex digits", ShortSize, 2*HashSize)
	}
	if len(s) != 2*HashSize {
		return h, fmt.Errorf("hash has %d characters, expected %d hex digits", len(s), 2*HashSize)
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil {
		return Hash{}, fmt.Errorf("hash is not hex: %v", err)
	}
	return h, nil
}

// String returns the hash as 16 lower-case hex digits in byte order, which are a prefix of the full hash's digits.
func (s Short) String() string { return hex.EncodeToString(s[:]) }

// Uint64 returns the hash as a little-endian number, which games exchange as a sync hash.
func (s Short) Uint64() uint64 { return binary.LittleEndian.Uint64(s[:]) }

// MarshalText returns s as 16 hex digits.
func (s Short) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText sets s from 16 hex digits.
func (s *Short) UnmarshalText(text []byte) error {
	if len(text) != 2*ShortSize {
		return fmt.Errorf("sync hash has %d characters, expected %d hex digits", len(text), 2*ShortSize)
	}
	var parsed Short
	if _, err := hex.Decode(parsed[:], text); err != nil {
		return fmt.Errorf("sync hash is not hex: %v", err)
	}
	*s = parsed
	return nil
}

// Domain bytes of leaf preimages. They are part of the format.
const (
	domainRNG       = 0x01
	domainArchetype = 0x02
)

// RNGLeaf returns the leaf hash of an RNG state.
func RNGLeaf(state []byte) Hash {
	buf := make([]byte, 0, 9+len(state)+7)
	buf = append(buf, domainRNG)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(state)))
	buf = binary.LittleEndian.AppendUint32(buf, 0)
	buf = appendPadded(buf, state)
	return sha256.Sum256(buf)
}

// ArchetypeLeaf returns the leaf hash of an archetype from its label, its number of rows and the digests of its
// columns. The digest of the keys comes first.
func ArchetypeLeaf(label string, rows uint64, columns []Hash) Hash {
	var room [1024]byte // enough for most leaves; append grows it if needed
	buf := append(room[:0], domainArchetype)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(label)))
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(columns)))
	buf = binary.LittleEndian.AppendUint64(buf, rows)
	buf = appendPadded(buf, []byte(label))
	for i := range columns {
		buf = append(buf, columns[i][:]...)
	}
	return sha256.Sum256(buf)
}

func appendPadded(buf, part []byte) []byte {
	buf = append(buf, part...)
	for n := len(part); n%8 != 0; n++ {
		buf = append(buf, 0)
	}
	return buf
}

// nodeHash returns the hash of an interior node.
func nodeHash(left, right *Hash) Hash {
	var buf [2 * HashSize]byte
	copy(buf[:HashSize], left[:])
	copy(buf[HashSize:], right[:])
	return sha256.Sum256(buf[:])
}

// Leaf is one named leaf of a tree.
type Leaf struct {
	Label string // empty for the RNG
	Hash  Hash
}

// Tree is a Merkle tree with all of its nodes. The zero Tree has no leaves.
type Tree struct {
	labels []string
	// levels[0] are the leaves; the last level is only the root.
	levels [][]Hash
}

// New builds the tree over leaves. Their labels must be strictly ascending in byte order, with the empty label of the
// RNG first.
func New(leaves []Leaf) (*Tree, error) {
	t := &Tree{labels: make([]string, len(leaves))}
	level := make([]Hash, len(leaves))
	for i, leaf := range leaves {
		if i > 0 && leaves[i-1].Label >= leaf.Label {
			return nil, fmt.Errorf("leaf %d: label %q does not follow %q", i, leaf.Label, leaves[i-1].Label)
		}
		t.labels[i] = leaf.Label
		level[i] = leaf.Hash
	}
	for len(level) > 0 {
		t.levels = append(t.levels, level)
		if len(level) == 1 {
			break
		}
		level = parents(level)
	}
	return t, nil
}

// parents returns the level above.
func parents(level []Hash) []Hash {
	up := make([]Hash, (len(level)+1)/2)
	for i := range up {
		if 2*i+1 == len(level) {
			up[i] = level[2*i] // promoted
		} else {
			up[i] = nodeHash(&level[2*i], &level[2*i+1])
		}
	}
	return up
}

// Root returns the root over leaves without keeping the tree. It does not check the order of labels.
func Root(leaves []Leaf) Hash {
	if len(leaves) == 0 {
		return sha256.Sum256(nil)
	}
	level := make([]Hash, len(leaves))
	for i := range leaves {
		level[i] = leaves[i].Hash
	}
	for n := len(level); n > 1; n = (n + 1) / 2 {
		for i := 0; i < n/2; i++ {
			level[i] = nodeHash(&level[2*i], &level[2*i+1])
		}
		if n%2 == 1 {
			level[n/2] = level[n-1]
		}
	}
	return level[0]
}

// Len returns the number of leaves.
func (t *Tree) Len() int { return len(t.labels) }

// Label returns the label of leaf i.
func (t *Tree) Label(i int) string { return t.labels[i] }

// Leaf returns the hash of leaf i.
func (t *Tree) Leaf(i int) Hash { return t.levels[0][i] }

// Root returns the state hash.
func (t *Tree) Root() Hash {
	if len(t.levels) == 0 {
		return sha256.Sum256(nil)
	}
	return t.levels[len(t.levels)-1][0]
}

// SyncHash returns the first 8 bytes of the root.
func (t *Tree) SyncHash() Short { return t.Root().Short() }

// Node returns node i of a level, from the left. Level 0 contains the leaves.
func (t *Tree) Node(level, i int) Hash { return t.levels[level][i] }

// IsZero reports whether s is all zero bytes, which means no hash.
func (s Short) IsZero() bool { return s == Short{} }
