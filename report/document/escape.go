package document

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// EscapeBytes writes bytes in the strings of a report that are not UTF-8 as \xff, as Safe does: JSON has no such
// strings, and a report is the same once it was saved and read.
func (r *Report) EscapeBytes() { escapeBytes(reflect.ValueOf(r)) }

// EscapeBytes writes bytes in the strings of a match that are not UTF-8 as \xff.
func (d *MatchDocument) EscapeBytes() { escapeBytes(reflect.ValueOf(d)) }

func escapeBytes(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			escapeBytes(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			escapeBytes(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			escapeBytes(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value, name := reflect.New(v.Type().Elem()).Elem(), reflect.New(key.Type()).Elem()
			value.Set(v.MapIndex(key))
			name.Set(key)
			escapeBytes(value)
			escapeBytes(name)
			v.SetMapIndex(key, reflect.Value{})
			v.SetMapIndex(name, value)
		}
	case reflect.String:
		if s := v.String(); !utf8.ValidString(s) && v.CanSet() {
			v.SetString(escapedBytes(s))
		}
	}
}

// escapedBytes writes what is not UTF-8 as \xff.
func escapedBytes(s string) string {
	var out strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&out, `\x%02x`, s[0])
		} else {
			out.WriteString(s[:size])
		}
		s = s[size:]
	}
	return out.String()
}
