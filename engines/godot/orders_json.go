package godot

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/lists"
)

// AppendJSON appends a value as JSON, keys in order. Values that JSON cannot express become strings: numbers that are
// not finite, bytes as 0x and hex digits, an object as Object#NUMBER.
func AppendJSON(dst []byte, v *Value) []byte {
	switch v.Kind {
	case Bool:
		return strconv.AppendBool(dst, v.Bits != 0)
	case Int:
		return strconv.AppendInt(dst, int64(v.Bits), 10)
	case Float:
		if f := math.Float64frombits(v.Bits); math.IsNaN(f) || math.IsInf(f, 0) {
			return append(append(append(dst, '"'), KeyName(v)...), '"')
		}
		return append(dst, KeyName(v)...)
	case Dictionary, Struct:
		dst = append(dst, '{')
		for n, i := range v.Order() {
			if n > 0 {
				dst = append(dst, ',')
			}
			dst = appendQuoted(dst, KeyName(&v.Keys[i]))
			dst = AppendJSON(append(dst, ':'), &v.Values[i])
		}
		return append(dst, '}')
	case Array:
		dst = append(dst, '[')
		for i := range v.Values {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendJSON(dst, &v.Values[i])
		}
		return append(dst, ']')
	case Nil:
		return append(dst, "null"...)
	}
	return appendQuoted(dst, KeyName(v))
}

func appendQuoted(dst []byte, s string) []byte {
	b, _ := json.Marshal(strings.ToValidUTF8(s, "\uFFFD")) // strings always can be
	return append(dst, b...)
}

// Order returns the numbers of a dictionary's keys in the order of the keys: first by kind, then
// by value.
func (v *Value) Order() []int {
	order := make([]int, len(v.Keys))
	for i := range order {
		order[i] = i
	}
	lists.SortStable(order, func(i, j int) int {
		a, b := &v.Keys[i], &v.Keys[j]
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(int64(a.Bits), int64(b.Bits)), cmp.Compare(a.Text, b.Text))
	})
	return order
}

// KeyName returns a key as a name: a text unchanged, a number in digits, others as JSON.
func KeyName(v *Value) string {
	switch v.Kind {
	case Text:
		if !utf8.ValidString(v.Text) {
			return strings.ToValidUTF8(v.Text, "\uFFFD")
		}
		return v.Text
	case Float:
		f := math.Float64frombits(v.Bits)
		s := strconv.FormatFloat(f, 'g', -1, 64)
		if f == math.Trunc(f) && !strings.ContainsAny(s, "eIN") {
			s += ".0"
		}
		return s
	case Bytes:
		return "0x" + hex.EncodeToString([]byte(v.Text))
	case Object:
		s := v.Type + "#" + strconv.FormatUint(v.Bits, 10)
		if v.Text != "" {
			s += "." + v.Text
		}
		return s
	}
	return string(AppendJSON(nil, v))
}

// Unhashed reports whether the addon leaves the value of a key out of its hashes: the key begins with an underscore, or
// is a negative number. A single underscore is the type of a converted object, and is kept.
func Unhashed(key *Value) bool {
	switch key.Kind {
	case Text:
		return strings.HasPrefix(key.Text, "_") && key.Text != TypeKey
	case Int:
		return int64(key.Bits) < 0
	}
	return false
}

// TypeKey is the key of the type of a vector, transform, resource or object in the dictionary
// that the addon makes of it.
const TypeKey = "_"
