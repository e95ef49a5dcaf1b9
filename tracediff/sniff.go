package tracediff

import (
	"bytes"
	"fmt"
)

// sniffLen is how much of a file is used to recognize it.
const sniffLen = 64 << 10

// Sniff returns the grammar of a trace with these first bytes. It returns Unknown if none is recognized without a
// pattern.
func Sniff(head []byte) Grammar {
	g, _ := sniff(head, len(head) < sniffLen)
	return g.kind
}

// sniff recognizes a file. whole means that head is the whole file. If nothing matches, it returns the reason.
func sniff(head []byte, whole bool) (grammar, string) {
	if len(head) == 0 {
		return grammar{}, "empty file"
	}
	if bytes.HasPrefix(head, []byte(Magic)) {
		return grammar{kind: Binary}, ""
	}
	head = bytes.TrimPrefix(head, []byte(byteOrderMark))
	if bytes.HasPrefix(head, []byte(textBegin[:len("%desynctool trace ")])) {
		return grammar{kind: Pairs}, ""
	}
	if bytes.IndexByte(head[:min(len(head), 512)], 0) >= 0 {
		return grammar{}, "binary file of another kind"
	}
	lines, numbers := sniffLines(head, whole)
	if len(lines) == 0 {
		return grammar{}, "no line of a trace at the start of the file"
	}
	var f fields
	for _, line := range lines {
		if f.parsePairs(line, new(names)) == nil {
			return grammar{kind: Pairs}, ""
		}
	}
	// A line or two may be damaged, so most lines decide.
	hashes := 0
	for _, line := range lines {
		if value := bytes.TrimSpace(line); isChecksum(value) && len(digits(value)) >= 8 {
			hashes++
		}
	}
	if 2*hashes > len(lines) {
		return grammar{kind: Hashes}, ""
	}
	for _, sep := range []byte(",;\t ") {
		g, misfit, ok := sniffTable(lines, sep)
		if ok {
			return g, ""
		}
		if misfit >= 0 {
			return grammar{}, fmt.Sprintf("line %d, %s, is not a row of the table of %d columns above it: a tick and %d checksums, some perhaps empty",
				numbers[misfit], quoteShort(lines[misfit]), len(g.columns)+1, len(g.columns))
		}
	}
	return grammar{}, fmt.Sprintf("line %s has no pairs of tick and sum, and is neither a checksum nor a row of a table; a pattern may find a checksum in it", quoteShort(lines[0]))
}

// sniffLines returns the first whole lines that are neither empty nor comments, with their numbers.
func sniffLines(head []byte, whole bool) (lines [][]byte, numbers []int) {
	for n := 1; len(head) > 0 && len(lines) < 20; n++ {
		line, rest, ended := bytes.Cut(head, newline)
		if !ended && !whole {
			break
		}
		if line = trimReturn(line); len(bytes.TrimSpace(line)) > 0 && line[0] != '#' {
			lines, numbers = append(lines, line), append(numbers, n)
		}
		head = rest
	}
	return lines, numbers
}

// isChecksum reports whether b is hex or decimal digits.
func isChecksum(b []byte) bool {
	b = digits(b)
	for _, c := range b {
		if lowerHex(c) == 0 {
			return false
		}
	}
	return len(b) > 0 && len(b) <= 2*MaxText/4
}
