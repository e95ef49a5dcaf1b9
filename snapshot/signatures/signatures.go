// Package signatures writes, reads and verifies chains of tick signatures. With such a chain, one peer of a
// deterministic game signs its state, tick by tick. A state that is presented later can then be checked against the
// chain without a replay.
//
// # Format
//
// A chain is a file of package frame, version 1, with the magic "\x89TSIGS\r\n". Integers in entries are little-endian.
// The usual name is tick-signatures.bin.
//
//	frame kind 1, header: the first frame and no other
//	    a MessagePack map {seed u64, peer str, key bin(32), start bin(32)}
//	frame kind 2, entry, 144 bytes
//	    previous 32 ‖ skipped u64 ‖ tick u64 ‖ state hash 32 ‖ signature 64
//	frame kind 3, end, at most one, after all entries, 104 bytes
//	    last 32 ‖ count u64 ‖ signature 64
//
// Signatures are pure Ed25519 (RFC 8032), hashes SHA-256:
//
//	genesis  SHA-256( "desynctool tick-signatures 1 genesis\n" ‖ seed u64 ‖ key 32
//	         ‖ start 32 ‖ u32(len peer) ‖ peer )
//	entry    signs "desynctool tick-signatures 1 entry\n" ‖ the first 80 bytes
//	link     SHA-256( "desynctool tick-signatures 1 link\n" ‖ the 144 bytes )
//	end      signs "desynctool tick-signatures 1 end\n" ‖ last ‖ count
//
// The previous hash of the first entry is the genesis. For every other entry it is the link hash of the entry before. A
// state hash is the full Merkle root of the state before the tick's orders. Ticks strictly ascend. skipped is the
// number of ticks between an entry and the entry before, 0 for the first. docs/signatures.md specifies the format for
// other languages, and explains what a chain can and cannot prove. docs/vectors/signatures.json contains example bytes.
package signatures

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Magic is the start of every chain.
const Magic = "\x89TSIGS\r\n"

// Version is the format version that is written, and the newest version that can be read.
const Version = 1

// Name is the usual file name of a chain.
const Name = "tick-signatures.bin"

// Kinds of frames, and sizes of payloads, are part of the format.
const (
	headerFrame = 1
	entryFrame  = 2
	endFrame    = 3

	messageSize = 32 + 8 + 8 + 32 // of an entry, without its domain
	entrySize   = messageSize + ed25519.SignatureSize
	endSize     = 32 + 8 + ed25519.SignatureSize
)

// The domains ensure that a signature for one purpose is not valid for another.
const (
	genesisDomain = "desynctool tick-signatures 1 genesis\n"
	entryDomain   = "desynctool tick-signatures 1 entry\n"
	linkDomain    = "desynctool tick-signatures 1 link\n"
	endDomain     = "desynctool tick-signatures 1 end\n"
)

// The header is the only payload without a fixed size.
var format = frame.Format{Name: "chain of tick signatures", Magic: Magic, Version: Version, MaxPayload: 1 << 20}

// IsChain reports whether a file that begins with head is a chain.
func IsChain(head []byte) bool { return strings.HasPrefix(string(head), Magic) }

// Key is an Ed25519 public key.
type Key [ed25519.PublicKeySize]byte

// String returns the key as 64 lower-case hex digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// eighth is the y of two points of order 8. The y of the two others is 2^255 - 19 less it.
var eighth = Key{
	0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0,
	0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
}

// SmallOrder reports whether k is, in any encoding, one of the eight points that 8 times are the neutral point. Signatures
// of such a key can be made without a secret, also one signature for many messages.
func (k Key) SmallOrder() bool {
	var zeros, ones, is, less byte
	for i, b := range k[1:] {
		all := byte(0xff)
		if i == len(k)-2 {
			all = 0x7f // the highest bit is the sign of x
		}
		b &= all
		zeros, ones, is, less = zeros|b, ones|(b^all), is|(b^eighth[1+i]), less|(b^(all-eighth[1+i]))
	}
	return zeros == 0 && k[0] <= 1 || ones == 0 && k[0] >= 0xec && k[0] <= 0xee || is == 0 && k[0] == eighth[0] || less == 0 && k[0] == 0xed-eighth[0]
}

// Verify reports whether k signed a message, by Ed25519 without points of small order as k or as R.
func (k Key) Verify(message []byte, s Signature) bool {
	return !k.SmallOrder() && !Key(s[:len(k)]).SmallOrder() && ed25519.Verify(k[:], message, s[:])
}

// ErrSmallOrder is wrapped by the error of a key that is a point of small order.
var ErrSmallOrder = errors.New("a point of small order: anybody can sign for it")

// ParseKey parses 64 hex digits. A point of small order is an error.
func ParseKey(s string) (Key, error) {
	var k Key
	if len(s) != 2*len(k) {
		return k, fmt.Errorf("key has %d characters, expected %d hex digits", len(s), 2*len(k))
	}
	if _, err := hex.Decode(k[:], []byte(s)); err != nil {
		return k, fmt.Errorf("key: %w", err)
	}
	if k.SmallOrder() {
		return k, fmt.Errorf("key %s is %w", k, ErrSmallOrder)
	}
	return k, nil
}

// Header identifies the chain's session and signer. It is not signed itself: the first entry signs the genesis, which
// covers all of it.
type Header struct {
	Seed  uint64
	Peer  string
	Key   Key         // of the signer
	Start merkle.Hash // state hash of the chain's first state point; zero if not known
}

// Genesis returns the previous hash of the first entry.
func (h *Header) Genesis() merkle.Hash {
	b := binary.LittleEndian.AppendUint64([]byte(genesisDomain), h.Seed)
	b = append(b, h.Key[:]...)
	b = append(b, h.Start[:]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(h.Peer)))
	return sha256.Sum256(append(b, h.Peer...))
}

// Signature is an Ed25519 signature.
type Signature [ed25519.SignatureSize]byte

// Entry signs the state of one tick.
type Entry struct {
	Previous  merkle.Hash // link hash of the entry before; the genesis for the first entry
	Skipped   uint64      // ticks between the entry before and this one that were not signed
	Tick      uint64      // the state point
	State     merkle.Hash // the full root of the state there
	Signature Signature
}

// AppendMessage appends the bytes that an entry signs.
func (e *Entry) AppendMessage(b []byte) []byte { return e.appendFields(append(b, entryDomain...)) }

func (e *Entry) appendFields(b []byte) []byte {
	b = append(b, e.Previous[:]...)
	b = binary.LittleEndian.AppendUint64(b, e.Skipped)
	b = binary.LittleEndian.AppendUint64(b, e.Tick)
	return append(b, e.State[:]...)
}

// Append appends the 144 bytes of an entry.
func (e *Entry) Append(b []byte) []byte { return append(e.appendFields(b), e.Signature[:]...) }

// Link returns the link hash, which is the next entry's Previous.
func (e *Entry) Link() merkle.Hash {
	var b [len(linkDomain) + entrySize]byte
	return sha256.Sum256(e.Append(append(b[:0], linkDomain...)))
}

// Signed reports whether key signed the entry.
func (e *Entry) Signed(key Key) bool {
	var b [len(entryDomain) + messageSize]byte
	return key.Verify(e.AppendMessage(b[:0]), e.Signature)
}

func parseEntry(b []byte) (e Entry) {
	copy(e.Previous[:], b)
	e.Skipped = binary.LittleEndian.Uint64(b[32:])
	e.Tick = binary.LittleEndian.Uint64(b[40:])
	copy(e.State[:], b[48:])
	copy(e.Signature[:], b[messageSize:])
	return e
}

// End signs the number of entries in a chain, and the last one.
type End struct {
	Last      merkle.Hash // link hash of the last entry; the genesis if there is none
	Count     uint64      // number of entries
	Signature Signature
}

// AppendMessage appends the bytes that an end signs.
func (e *End) AppendMessage(b []byte) []byte { return e.appendFields(append(b, endDomain...)) }

func (e *End) appendFields(b []byte) []byte {
	return binary.LittleEndian.AppendUint64(append(b, e.Last[:]...), e.Count)
}

// Append appends the 104 bytes of an end.
func (e *End) Append(b []byte) []byte { return append(e.appendFields(b), e.Signature[:]...) }

// Signed reports whether key signed the end.
func (e *End) Signed(key Key) bool {
	return key.Verify(e.AppendMessage(nil), e.Signature)
}

func parseEnd(b []byte) (e End) {
	copy(e.Last[:], b)
	e.Count = binary.LittleEndian.Uint64(b[32:])
	copy(e.Signature[:], b[40:])
	return e
}
