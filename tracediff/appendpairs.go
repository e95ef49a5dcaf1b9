package tracediff

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// appendPairs appends the canonical line of a record, without its end.
func appendPairs(b []byte, r *Record) []byte {
	if e := r.Event; e != nil {
		b = append(b, keyEvent+"="...)
		b = append(b, e.Kind.String()...)
		b = appendNumber(b, keyTick, e.Tick)
		if other := eventKinds[e.Kind].other; other != "" {
			b = appendNumber(b, other, e.Other)
		}
		if eventKinds[e.Kind].player {
			b = appendNumber(b, keyPlayer, uint64(e.Player))
			b = appendPhase(b, e.Phase)
		}
		return appendSums(b, e.Sums)
	}
	c := r.Checkpoint
	b = append(b, keyTick+"="...)
	b = strconv.AppendUint(b, c.Tick, 10)
	b = appendName(b, keySystem, c.System)
	b = appendName(b, keyScope, c.Scope)
	b = appendPhase(b, c.Phase)
	if c.HasCount {
		b = appendNumber(b, keyCount, c.Count)
	}
	return appendSums(b, c.Sums)
}

func appendNumber(b []byte, key string, n uint64) []byte {
	b = append(append(append(b, ' '), key...), '=')
	return strconv.AppendUint(b, n, 10)
}

func appendName(b []byte, key, name string) []byte {
	if name == "" {
		return b
	}
	return appendValue(append(append(append(b, ' '), key...), '='), name)
}

// appendPhase appends the phase unless it is the default.
func appendPhase(b []byte, p Phase) []byte {
	if p == Confirmed {
		return b
	}
	return append(append(b, " "+keyPhase+"="...), p.String()...)
}

func appendSums(b []byte, sums []Sum) []byte {
	for _, s := range sums {
		b = append(b, " "+keySum...)
		if s.Name != "" {
			b = append(append(b, '.'), s.Name...)
		}
		b = appendValue(append(b, '='), string(s.Value))
	}
	return b
}

// appendValue appends a value. It quotes the value if a reader would not accept it as one, or a terminal could
// interpret it.
func appendValue(b []byte, v string) []byte {
	if v == "" || v[0] == '"' || strings.ContainsFunc(v, func(c rune) bool {
		return c <= ' ' || c == utf8.RuneError || !strconv.IsPrint(c)
	}) {
		return strconv.AppendQuote(b, v)
	}
	return append(b, v...)
}

// appendDetail appends a detail on one line, without characters that a terminal could interpret.
func appendDetail(b []byte, d Detail) []byte {
	for i, text := range []string{d.Text, d.Aside} {
		if i > 0 && text != "" {
			b = append(b, "  "...)
		}
		for _, c := range text {
			if c == utf8.RuneError || !strconv.IsPrint(c) {
				q := strconv.QuoteRune(c)
				b = append(b, q[1:len(q)-1]...)
				continue
			}
			b = utf8.AppendRune(b, c)
		}
	}
	return b
}

// plainName reports whether a sum's name is valid in a key.
func plainName(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool {
		return c <= ' ' || c == '=' || c == '"' || c == utf8.RuneError || !strconv.IsPrint(c)
	})
}
