package sums

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/internal/lists"
)

// encoded is the form of logs with checksums in base 64 or the like: "step 45 digest 3wwzb/WVbI5A", {"units":"yM4cJg=="}. Their
// bytes are read as digits in hexadecimal.
type encoded struct {
	length  int // of a checksum
	inner   lineForm
	lexicon vocabulary.Lexicon
	buffer  []byte
}

func (e *encoded) fork() lineForm {
	one := &encoded{length: e.length}
	if e.inner != nil {
		one.inner = e.inner.fork()
	}
	return one
}

// line returns a line with digits, which is valid until the next call.
func (e *encoded) line(line []byte) []byte {
	e.buffer = e.buffer[:0]
	at := 0
	for {
		from, to := e.find(line, at)
		if to == 0 {
			break
		}
		e.buffer = append(append(e.buffer, line[at:from]...), "0x"...)
		e.buffer, at = hex.AppendEncode(e.buffer, line[from:to]), to
	}
	if at > 0 {
		e.buffer = append(e.buffer, line[at:]...)
		line = e.buffer
	}
	if e.inner != nil {
		return e.inner.line(line)
	}
	return line
}

// find returns where the next text after a word for a checksum is, or after any word if it is padded, 0 if there is none. It has the
// wanted length, if there is one.
func (e *encoded) find(line []byte, at int) (from, to int) {
	line = line[:min(len(line), maxLine)]
	for i := at; i < len(line); {
		if !isLetter(line[i]) {
			i++
			continue
		}
		begin := i
		for i < len(line) && (isLetter(line[i]) || isDigit(line[i])) {
			i++
		}
		named := e.lexicon.Of(line[begin:i]) == vocabulary.Sum
		for from = i; from < len(line) && from < i+4 && strings.IndexByte(` ="':[(<`, line[from]) >= 0; from++ {
		}
		for to = from; to < len(line) && isCode(line[to]); to++ {
		}
		if from > i && to-from >= 8 && (e.length == 0 || to-from == e.length) && (named || line[to-1] == '=') {
			return from, to
		}
	}
	return 0, 0
}

// isCode reports whether such a checksum may have a byte.
func isCode(c byte) bool {
	return c < 0x80 && (isLetter(c) || isDigit(c) || strings.IndexByte("+/-=", c) >= 0)
}

// learnEncoded finds lines with such checksums: they have one length and letters of both cases or signs, and seldom only digits
// in hexadecimal.
func learnEncoded(lines [][]byte, how choice) (lineForm, []template) {
	lines = lines[:min(len(lines), maxRows)]
	e := &encoded{}
	texts := map[int][]string{}
	for _, line := range lines {
		if from, to := e.find(line, 0); to > 0 {
			texts[to-from] = append(texts[to-from], string(line[from:to]))
		}
	}
	for length, found := range texts {
		if n := len(texts[e.length]); len(found) > n || len(found) == n && length > e.length {
			e.length = length
		}
	}
	found := texts[e.length]
	mixed := func(text string) bool {
		_, _, whole := integer([]byte(text))
		return !whole && strings.ToLower(text) != text && strings.ToUpper(text) != text && strings.ContainsAny(text, "0123456789+/=")
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(found)))
	if len(distinct) < fewestAlike || mostRelayed*len(distinct) < len(found) || 4*lists.Count(found, mixed) < 3*len(found) {
		return nil, nil
	}
	other := lists.Map(lines, func(line []byte) []byte { return bytes.Clone(e.line(line)) })
	inner, list := learnRoster(other, how)
	if inner == nil {
		inner, list = learnRecords(other, how)
	}
	if inner == nil {
		list = learnText(other, how)
	}
	if len(list) == 0 {
		return nil, nil
	}
	for i := range list {
		for _, p := range list[i].roles.points {
			for n := range p.sums {
				p.sums[n].text = 2 * e.length
			}
		}
	}
	e.inner = inner
	return e, list
}
