package statements

import (
	"bytes"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/tracediff"
)

// Frameworks for tests write the two values that they compare on separate lines, above or below the message:
//
//	Expected: "c0ffee11"                E   AssertionError: tick 412: state hash differs
//	Received: "c0ffee12"                E   assert '9f3acc01' == '9f3acc02'
//	hash mismatch after frame 240

// label is the beginning of such a line in lower case, and the side that the value belongs to.
type label struct{ begin, side string }

// labels are those that frameworks write.
var labels = [...]label{
	{"expected value", "expected"}, {"expected", "expected"}, {"want", "expected"},
	{"actual value", "actual"}, {"actual", "actual"}, {"received", "actual"}, {"got", "actual"}, {"but was", "actual"}, {"which is", ""},
}

// maxContext is how many lines above or below the values their message is at most.
const maxContext = 8

// compared is the value, or the two values, on a line of an assertion.
type compared struct {
	sides  []string
	values []string
}

// comparedIn reads a line of an assertion. It has no values if the line is none.
func comparedIn(line string) (c compared) {
	text := unquoted(line)
	low := strings.ToLower(text)
	for _, l := range labels {
		rest, ok := strings.CutPrefix(low, l.begin)
		if rest = strings.TrimLeft(rest, " "); !ok || rest == "" || rest[0] != ':' && rest[0] != '=' {
			continue
		}
		if v := valueOf(text[len(text)-len(rest)+1:]); v != "" {
			return compared{[]string{l.side}, []string{v}}
		}
		return c
	}
	text = strings.TrimPrefix(text, "assert ")
	for _, op := range []string{" == ", " != "} {
		if a, b, ok := strings.Cut(text, op); ok && valueOf(a) != "" && valueOf(b) != "" {
			return compared{[]string{"", ""}, []string{valueOf(a), valueOf(b)}}
		}
	}
	return c
}

// valueOf returns the one sum in a text, perhaps with quotes or its type around it: uint64(0x9f3acc01). It is empty if there is
// anything else.
func valueOf(text string) string {
	text = strings.Trim(text, " \"'`,.")
	if open := strings.IndexByte(text, '('); open > 0 && strings.HasSuffix(text, ")") && !strings.Contains(text[:open], " ") {
		text = strings.Trim(text[open+1:len(text)-1], " \"'")
	}
	units := split(text)
	if len(units) != 1 || units[0].kind != number && units[0].kind != sum || len(units[0].text) < minSum {
		return ""
	}
	return units[0].text
}

// assertion finds the first two values that differ in the lines of an assertion, each side's. End is where its lines end.
func assertion(lines []string) (values []tracediff.ClaimedValue, end int) {
	var all compared
	for i, line := range lines {
		c := comparedIn(line)
		if len(c.values) > 0 && len(all.values) > 0 && slices.Contains(all.sides, c.sides[0]) && c.sides[0] != "" {
			return nil, 0 // two assertions
		}
		all.sides, all.values = append(all.sides, c.sides...), append(all.values, c.values...)
		if len(all.values) < 2 {
			continue
		}
		if all.sides[0] == "" {
			all.sides = []string{tracediff.OneSide, tracediff.OtherSide}
		}
		for k, v := range all.values[:2] {
			values = append(values, tracediff.ClaimedValue{Peer: all.sides[k], Value: v})
		}
		if all.sides[1] == "" || tracediff.EqualSums(all.values[0], all.values[1]) || !areSums(values, true) {
			return nil, 0
		}
		return values, i + 1
	}
	return nil, 0
}

// isCompared reports whether a line has one of two values of an assertion, or both.
func isCompared(line []byte) bool {
	if len(line) > maxCompared {
		return false
	}
	begin := bytes.TrimLeft(bytes.TrimPrefix(line, []byte("E ")), " \t>|")
	labelled := func(l label) bool {
		return len(begin) > len(l.begin) && bytes.EqualFold(begin[:len(l.begin)], []byte(l.begin))
	}
	return slices.ContainsFunc(labels[:], labelled) && len(comparedIn(string(line)).values) > 0
}

// maxCompared is how many bytes a line of an assertion has at most.
const maxCompared = 256

// readAssertion makes a statement of an assertion without a phrase for a desync: a line near its values has a tick, and a
// word for a sum. Used is how many bytes of the rest belong to it.
func readAssertion(previous, first, rest []byte) (s *statement, used int) {
	lines, ends := following(plain(first), rest)
	own := len(lines) - len(ends)
	values, end := assertion(lines[own-1:])
	if values == nil {
		return nil, 0
	}
	end += own - 1
	for i, line := range slices.Concat(lines[end:], linesAbove(previous)) {
		m := parse(line, true)
		if len(m.ticks) == 0 || m.ticks[0].weak || !m.has(nouns) || m.has(stored|elsewhere) || m.lead.file {
			continue
		}
		if i += end; i >= len(lines) {
			i = end - 1 // it is above the values
		}
		if i >= own {
			used = ends[i-own]
		}
		text := m.text + " " + strings.TrimSpace(strings.Join(lines[own-1:end], " "))
		return &statement{text: text, tick: m.ticks[0].number, tickWord: m.ticks[0].word, values: values}, used
	}
	return nil, 0
}
