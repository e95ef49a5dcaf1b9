package orderlog

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"

	"github.com/desynctool/desynctool/internal/file/frame"
)

// Limits on the description of one altered payload.
const (
	maxFields  = 4096 // values of a payload to examine; if there are more, only bytes are compared
	maxChanges = 16   // changes to keep
	maxExcerpt = 64   // bytes of each side to keep
	maxNesting = 64
)

// PayloadDiff is the difference between two payloads. Base and Peer are the bytes that are left without the equal bytes
// at both ends, at most 64 of each.
type PayloadDiff struct {
	Offset  int           `json:"offset"` // of the first byte that differs
	Base    Bytes         `json:"base"`
	Peer    Bytes         `json:"peer"`
	BaseLen int           `json:"base_len"` // length of Base before the cut to 64 bytes
	PeerLen int           `json:"peer_len"`
	Fields  []FieldChange `json:"fields,omitempty"` // the first 16
	// FieldCount counts all fields that differ. It is 0 if the payload has no fields, and if different bytes encode the
	// same values.
	FieldCount int `json:"field_count"`
}

// FieldChange is a value that differs inside a payload. A side without the value has "absent".
type FieldChange struct {
	Path string `json:"path"`
	Base string `json:"base"`
	Peer string `json:"peer"`
}

// Bytes prints as in the text twin: 0x and hex digits.
type Bytes []byte

func (b Bytes) String() string { return fmt.Sprintf("0x%x", []byte(b)) }

// MarshalText returns the same text as String.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads what MarshalText returns.
func (b *Bytes) UnmarshalText(text []byte) error {
	digits, ok := bytes.CutPrefix(text, []byte("0x"))
	if !ok {
		return fmt.Errorf("%.20q: expected 0x and hex digits", text)
	}
	raw, err := hex.AppendDecode(nil, digits)
	if err != nil {
		return fmt.Errorf("%.20q: expected 0x and hex digits: %w", text, err)
	}
	*b = raw
	return nil
}

const absent = "absent"

// DiffPayload finds the bytes that differ between two payloads. It also finds the fields that differ if both payloads
// are JSON or MessagePack with an object, map or array.
func DiffPayload(base, peer []byte) PayloadDiff {
	d := diffBytes(base, peer)
	a, ok := payloadFields(base)
	b, ok2 := payloadFields(peer)
	if ok && ok2 {
		d.fields(a, b)
	}
	return d
}

func diffBytes(a, b []byte) PayloadDiff {
	offset, a, b := cutSame(a, b)
	return PayloadDiff{
		Offset:  offset,
		Base:    bytes.Clone(a[:min(len(a), maxExcerpt)]),
		Peer:    bytes.Clone(b[:min(len(b), maxExcerpt)]),
		BaseLen: len(a),
		PeerLen: len(b),
	}
}

// cutSame removes the bytes that a and b have in common: offset bytes at the beginning, then the common bytes at the
// end.
func cutSame(a, b []byte) (offset int, restA, restB []byte) {
	for offset < len(a) && offset < len(b) && a[offset] == b[offset] {
		offset++
	}
	a, b = a[offset:], b[offset:]
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return offset, a, b
}

func (d *PayloadDiff) fields(a, b []Field) {
	// If a path occurs twice, the first value counts.
	first := func(list []Field) map[string]string {
		m := make(map[string]string, len(list))
		for _, f := range list {
			if _, ok := m[f.Path]; !ok {
				m[f.Path] = f.Value
			}
		}
		return m
	}
	inA, inB := first(a), first(b)
	add := func(path, base, peer string) {
		if d.FieldCount++; len(d.Fields) < maxChanges {
			d.Fields = append(d.Fields, FieldChange{path, clip(base), clip(peer)})
		}
	}
	for _, f := range a {
		base, ok := inA[f.Path]
		if !ok {
			continue // already listed
		}
		delete(inA, f.Path)
		peer, ok := inB[f.Path]
		if !ok {
			peer = absent
		}
		delete(inB, f.Path)
		if !ok || base != peer {
			add(f.Path, base, peer)
		}
	}
	for _, f := range b {
		if peer, ok := inB[f.Path]; ok {
			delete(inB, f.Path)
			add(f.Path, absent, peer)
		}
	}
}

// clip shortens a long value so that it fits a line.
func clip(s string) string {
	const limit = 256
	if len(s) <= limit {
		return s
	}
	end := limit
	for end > limit-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d bytes)", s[:end], len(s))
}

// payloadFields decodes a payload that names its own fields.
func payloadFields(b []byte) ([]Field, bool) {
	trimmed := bytes.TrimLeft(b, " \t\r\n")
	if len(trimmed) == 0 {
		return nil, false
	}
	var f fieldList
	if trimmed[0] == '{' || trimmed[0] == '[' {
		// Neither byte can begin a MessagePack container.
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.UseNumber()
		if !f.json(dec, "", 0) {
			return nil, false
		}
		if _, err := dec.Token(); err != io.EOF {
			return nil, false
		}
		return f.list, true
	}
	switch c := b[0]; {
	case msgpcode.IsFixedArray(c), msgpcode.IsFixedMap(c), c == msgpcode.Array16, c == msgpcode.Array32, c == msgpcode.Map16, c == msgpcode.Map32:
	default: // a single number or string is probably not JSON
		return nil, false
	}
	if frame.ScanMsgpack(b, frame.Limits{Elements: 2 * maxFields}) != nil {
		return nil, false
	}
	dec := msgpack.NewDecoder(bytes.NewReader(b))
	return f.list, f.msgpack(dec, "", 0)
}

type fieldList struct{ list []Field }

func (f *fieldList) add(path, value string) bool {
	path = cmp.Or(path, ".")
	f.list = append(f.list, Field{path, value})
	return len(f.list) <= maxFields
}

func member(path, key string) string {
	plain := key != ""
	for i := 0; i < len(key) && plain; i++ {
		c := key[i]
		plain = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
	}
	if !plain {
		return path + "[" + strconv.Quote(key) + "]"
	}
	if path == "" {
		return key
	}
	return path + "." + key
}

func element(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

func (f *fieldList) json(dec *json.Decoder, path string, depth int) bool {
	tok, err := dec.Token()
	if err != nil || depth > maxNesting {
		return false
	}
	switch v := tok.(type) {
	case json.Delim:
		n := 0
		for ; dec.More(); n++ {
			at := element(path, n)
			if v == '{' {
				key, err := dec.Token()
				if err != nil {
					return false
				}
				at = member(path, key.(string))
			}
			if !f.json(dec, at, depth+1) {
				return false
			}
		}
		if _, err := dec.Token(); err != nil {
			return false
		}
		if n == 0 {
			return f.add(path, map[json.Delim]string{'{': "{}", '[': "[]"}[v])
		}
		return true
	case string:
		return f.add(path, strconv.Quote(v))
	case json.Number:
		return f.add(path, v.String())
	default:
		return f.add(path, strings.ReplaceAll(fmt.Sprint(v), "<nil>", "null"))
	}
}

func (f *fieldList) msgpack(dec *msgpack.Decoder, path string, depth int) bool {
	c, err := dec.PeekCode()
	if err != nil || depth > maxNesting {
		return false
	}
	switch {
	case msgpcode.IsFixedArray(c), c == msgpcode.Array16, c == msgpcode.Array32:
		n, err := dec.DecodeArrayLen()
		if err != nil {
			return false
		}
		for i := range n {
			if !f.msgpack(dec, element(path, i), depth+1) {
				return false
			}
		}
		return n > 0 || f.add(path, "[]")
	case msgpcode.IsFixedMap(c), c == msgpcode.Map16, c == msgpcode.Map32:
		n, err := dec.DecodeMapLen()
		if err != nil {
			return false
		}
		for range n {
			code, err := dec.PeekCode()
			if err != nil {
				return false
			}
			key, text, ok := scalar(dec, code)
			if !ok {
				return false
			}
			at := path + "[" + key + "]"
			if text {
				at = member(path, key)
			}
			if !f.msgpack(dec, at, depth+1) {
				return false
			}
		}
		return n > 0 || f.add(path, "{}")
	}
	value, text, ok := scalar(dec, c)
	if text {
		value = strconv.Quote(value)
	}
	return ok && f.add(path, value)
}

// scalar decodes a value that is not a container. A float gives the shortest decimal that identifies it.
func scalar(dec *msgpack.Decoder, c byte) (value string, text, ok bool) {
	if msgpcode.IsString(c) {
		s, err := dec.DecodeString()
		return s, true, err == nil
	}
	if msgpcode.IsBin(c) {
		b, err := dec.DecodeBytes()
		return Bytes(b).String(), false, err == nil
	}
	v, err := dec.DecodeInterface()
	if err != nil {
		return "", false, false
	}
	switch v := v.(type) {
	case nil:
		return "null", false, true
	case float32:
		return strconv.FormatFloat(float64(v), 'g', -1, 32), false, true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), false, true
	case bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64:
		return fmt.Sprint(v), false, true
	}
	return "", false, false
}
