package signatures

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"

	"github.com/desynctool/desynctool/internal/file/frame"
)

// maxPeer is the longest name of a peer in bytes, as in order logs.
const maxPeer = 65536

// append appends the payload of the header's frame.
func (h *Header) append(b []byte) []byte {
	out := bytes.NewBuffer(b)
	enc := msgpack.NewEncoder(out)
	bin := func(b []byte) {
		_ = enc.EncodeBytesLen(len(b))
		out.Write(b)
	}
	// The errors come from writing to out, which cannot fail.
	_ = enc.EncodeMapLen(4)
	_ = enc.EncodeString("seed")
	_ = enc.EncodeUint(h.Seed)
	_ = enc.EncodeString("peer")
	_ = enc.EncodeString(h.Peer)
	_ = enc.EncodeString("key")
	bin(h.Key[:])
	_ = enc.EncodeString("start")
	bin(h.Start[:])
	return out.Bytes()
}

func (h *Header) check() error {
	if len(h.Peer) > maxPeer {
		return fmt.Errorf("peer has a name of %d bytes, limit is %d", len(h.Peer), maxPeer)
	}
	return nil
}

// parseHeader parses the payload of the header's frame. Keys may be in any order; unknown keys are ignored.
func parseHeader(b []byte) (Header, error) {
	var h Header
	if err := frame.ScanMsgpack(b, frame.Limits{}); err != nil {
		return h, err
	}
	dec := msgpack.NewDecoder(bytes.NewReader(b))
	n, err := mapLen(dec)
	if err != nil {
		return h, err
	}
	seen := map[string]bool{}
	for range n {
		key, err := text(dec, "a key of the header")
		if err != nil {
			return h, err
		}
		if seen[key] {
			return h, fmt.Errorf("header has %q twice", key)
		}
		seen[key] = true
		switch key {
		case "seed":
			h.Seed, err = number(dec)
		case "peer":
			h.Peer, err = text(dec, "peer")
		case "key":
			err = binary32(dec, "key", (*[32]byte)(&h.Key))
		case "start":
			err = binary32(dec, "start", (*[32]byte)(&h.Start))
		default:
			err = dec.Skip()
		}
		if err != nil {
			return h, err
		}
	}
	for _, key := range []string{"seed", "peer", "key", "start"} {
		if !seen[key] {
			return h, fmt.Errorf("header has no %q", key)
		}
	}
	return h, h.check()
}

func mapLen(dec *msgpack.Decoder) (int, error) {
	c, err := dec.PeekCode()
	if err == nil && !msgpcode.IsFixedMap(c) && c != msgpcode.Map16 && c != msgpcode.Map32 {
		err = errors.New("header is not a map")
	}
	if err != nil {
		return 0, err
	}
	return dec.DecodeMapLen()
}

func text(dec *msgpack.Decoder, what string) (string, error) {
	c, err := dec.PeekCode()
	if err == nil && !msgpcode.IsString(c) {
		err = fmt.Errorf("%s is not a str", what)
	}
	if err != nil {
		return "", err
	}
	return dec.DecodeString()
}

// number reads an unsigned integer in any form. A signed form is accepted if the value is not negative.
func number(dec *msgpack.Decoder) (uint64, error) {
	c, err := dec.PeekCode()
	if err != nil {
		return 0, err
	}
	switch {
	case c <= msgpcode.PosFixedNumHigh, c >= msgpcode.Uint8 && c <= msgpcode.Uint64:
		return dec.DecodeUint64()
	case c >= msgpcode.Int8 && c <= msgpcode.Int64:
		n, err := dec.DecodeInt64()
		if err == nil && n < 0 {
			err = fmt.Errorf("seed is %d, expected 0 at least", n)
		}
		return uint64(n), err
	}
	return 0, errors.New("seed is not an unsigned integer")
}

func binary32(dec *msgpack.Decoder, what string, to *[32]byte) error {
	c, err := dec.PeekCode()
	if err != nil {
		return err
	}
	if !msgpcode.IsBin(c) {
		return fmt.Errorf("%s is not a bin", what)
	}
	b, err := dec.DecodeBytes()
	if err != nil {
		return err
	}
	if len(b) != len(to) {
		return fmt.Errorf("%s has %d bytes, expected %d", what, len(b), len(to))
	}
	copy(to[:], b)
	return nil
}
