package orderlog

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/vmihailenco/msgpack/v5"
	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// Number is a number inside a payload that names its fields: JSON or MessagePack.
type Number struct {
	Value int64 // without the fraction, if there is one

	begin, end int // byte range in the payload
	json       bool
}

// Numbers returns the numbers in a payload in their order, without those that do not fit an int64. A payload that does
// not name its fields has none.
func Numbers(payload []byte) []Number {
	if _, ok := payloadFields(payload); !ok {
		return nil
	}
	if first := bytes.TrimLeft(payload, " \t\r\n")[0]; first == '{' || first == '[' {
		return jsonNumbers(payload)
	}
	return msgpackNumbers(payload)
}

// HasNumber reports whether Numbers would return a number with this value. It skips most payloads without reading them.
func HasNumber(payload []byte, value int64) bool {
	first := bytes.TrimLeft(payload, " \t\r\n")
	if len(first) > 0 && first[0] != '{' && first[0] != '[' {
		// MessagePack contains the lower bytes of a number unchanged, after the higher ones.
		low := []byte{byte(value >> 8), byte(value)}
		if value >= -1<<7 && value < 1<<8 {
			low = low[1:]
		}
		if !bytes.Contains(payload, low) {
			return false
		}
	}
	return slices.ContainsFunc(Numbers(payload), func(n Number) bool { return n.Value == value })
}

// Replace returns a copy of the payload with another value in place of the number.
func (n Number) Replace(payload []byte, value int64) []byte {
	var fresh []byte
	if n.json {
		fresh = strconv.AppendInt(nil, value, 10)
	} else {
		var buf bytes.Buffer
		e := msgpack.NewEncoder(&buf)
		e.UseCompactInts(true)
		_ = e.EncodeInt(value) // a bytes.Buffer never fails
		fresh = buf.Bytes()
	}
	return slices.Concat(payload[:n.begin], fresh, payload[n.end:])
}

func jsonNumbers(payload []byte) (list []Number) {
	dec := json.NewDecoder(bytes.NewReader(payload))
	dec.UseNumber()
	for {
		tok, err := dec.Token()
		if err != nil {
			return list
		}
		text, ok := tok.(json.Number)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(text.String(), 64)
		if err != nil || math.Abs(v) >= 1<<63 {
			continue
		}
		whole, err := strconv.ParseInt(text.String(), 10, 64)
		if err != nil {
			whole = int64(v)
		}
		end := int(dec.InputOffset())
		list = append(list, Number{whole, end - len(text), end, true})
	}
}

// msgpackNumbers returns the integers of a payload that payloadFields has checked. Keys of maps do not count.
func msgpackNumbers(payload []byte) (list []Number) {
	r := bytes.NewReader(payload)
	dec := msgpack.NewDecoder(r)
	var walk func() error
	walk = func() error {
		begin := len(payload) - r.Len()
		c, err := dec.PeekCode()
		if err != nil {
			return err
		}
		elements, keyed := 0, false
		switch {
		case msgpcode.IsFixedArray(c), c == msgpcode.Array16, c == msgpcode.Array32:
			elements, err = dec.DecodeArrayLen()
		case msgpcode.IsFixedMap(c), c == msgpcode.Map16, c == msgpcode.Map32:
			elements, err = dec.DecodeMapLen()
			keyed = true
		case msgpcode.IsFixedNum(c), c >= msgpcode.Uint8 && c <= msgpcode.Int64:
			v, err := dec.DecodeInterface()
			if value, ok := asInt64(v); ok && err == nil {
				list = append(list, Number{value, begin, len(payload) - r.Len(), false})
			}
			return err
		default:
			return dec.Skip()
		}
		for i := 0; i < elements && err == nil; i++ {
			if keyed {
				if err = dec.Skip(); err != nil {
					return err
				}
			}
			err = walk()
		}
		return err
	}
	if err := walk(); err != nil && err != io.EOF {
		return nil
	}
	return list
}

func asInt64(v any) (int64, bool) {
	switch v := v.(type) {
	case int8:
		return int64(v), true
	case int16:
		return int64(v), true
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case uint8:
		return int64(v), true
	case uint16:
		return int64(v), true
	case uint32:
		return int64(v), true
	case uint64:
		return int64(v), v <= math.MaxInt64
	}
	return 0, false
}
