package factorio

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"github.com/desynctool/desynctool/tracediff"
)

// How many differing places are listed, and counted.
const (
	maxListed  = 5
	maxCounted = 1000
)

// window is how many bytes of data are shown, and before how many of them precede the first difference.
const (
	window = 16
	before = 4
)

// narrower reads a part of two files side by side.
type narrower struct {
	sides [2]*scanner
	now   [2]token
	ended [2]bool
	root  bool // the part is data between tags
	list  [2][]tracediff.Detail
	path  [2][]tag // of the first difference
	count int
	err   error
}

// narrowLevel finds where two files differ within a part: the tags that lead there, and the
// bytes. Of more than two peers it takes the first and the first that differs from it.
func narrowLevel(sides []tracediff.Side) ([][]tracediff.Detail, error) {
	out := make([][]tracediff.Detail, len(sides))
	other := otherOf(sides)
	if other < 0 {
		return out, nil
	}
	n := &narrower{}
	for i, side := range []*tracediff.Side{&sides[0], &sides[other]} {
		at := side.Value.Pos.Offset
		if err := side.SkipTo(at); err != nil {
			return out, err
		}
		n.sides[i] = newScanner(side.In, side.Name, at)
	}
	n.run()
	out[0], out[other] = n.list[0], n.list[1]
	return out, n.err
}

// otherOf returns the first side with another value than the first one, -1 if none has.
func otherOf(sides []tracediff.Side) int {
	for i := 1; i < len(sides); i++ {
		if a, b := sides[0].Value, sides[i].Value; a.Sum("") != b.Sum("") || a.Count != b.Count {
			return i
		}
	}
	return -1
}

// advance reads the next token of a side. A side ends after the tag that the part is.
func (n *narrower) advance(i int) {
	if n.ended[i] {
		return
	}
	s := n.sides[i]
	begun := n.now[i].bytes != nil
	if begun && !n.root && len(s.stack) == 0 {
		n.ended[i] = true
		return
	}
	t, err := s.next()
	switch {
	case err == io.EOF:
		n.ended[i] = true
	case err != nil:
		n.err, n.ended[i] = err, true
	case n.root && begun && t.kind == open:
		n.ended[i] = true
	default:
		n.now[i] = t
	}
}

func (n *narrower) both() {
	n.advance(0)
	n.advance(1)
}

func (n *narrower) run() {
	n.both()
	if n.ended[0] || n.ended[1] {
		return
	}
	n.root = n.now[0].kind != open
	for (!n.ended[0] || !n.ended[1]) && n.count < maxCounted {
		a, b := &n.now[0], &n.now[1]
		if !n.ended[0] && !n.ended[1] && a.kind == b.kind && bytes.Equal(a.bytes, b.bytes) {
			n.both()
			continue
		}
		n.differ()
		switch {
		case n.ended[0] || n.ended[1]:
			n.finish()
			return
		case a.kind == data && b.kind == data: // the rest of both belongs to the same place
			for i := range n.sides {
				for n.advance(i); !n.ended[i] && n.now[i].kind == data && !n.now[i].first; n.advance(i) {
				}
			}
		case a.kind == open && b.kind == open && a.name == b.name: // other attributes
			n.both()
		default:
			if !n.leave() {
				n.finish()
				return
			}
		}
	}
	n.finish()
}

// leave skips the rest of the tag that contains the difference on both sides: the only thing known about it is that its
// parts differ.
func (n *narrower) leave() bool {
	depth := min(len(n.around(0)), len(n.around(1)))
	if depth == 0 {
		return false
	}
	for i := range n.sides {
		for !n.ended[i] && len(n.sides[i].stack) >= depth {
			n.advance(i)
		}
		n.advance(i)
	}
	return true
}

// around returns the tags around the current token; a close tag is within the tag that it closes.
func (n *narrower) around(i int) []tag {
	s, t := n.sides[i], &n.now[i]
	depth := len(s.stack)
	switch {
	case n.ended[i]:
	case t.kind == close && s.closed != nil:
		return append(s.stack[:depth:depth], *s.closed)
	case t.kind == open && depth > 0 && s.stack[depth-1].at == t.at:
		depth--
	}
	return s.stack[:depth]
}

// differ lists what both sides have where they differ.
func (n *narrower) differ() {
	n.count++
	if n.count > maxListed {
		return
	}
	texts, asides := n.values()
	for i := range n.sides {
		if n.count == 1 {
			n.path[i] = slices.Clone(n.around(i))
			n.list[i] = append(pathOf(n.path[i]), tracediff.Detail{Text: texts[i], Aside: asides[i]})
			continue
		}
		n.list[i] = append(n.list[i], tracediff.Detail{Text: "then in " + n.place(i) + ": " + texts[i], Aside: asides[i]})
	}
}

// place names the tags around the current token, from where they differ from the tags of the first difference, or the
// innermost one.
func (n *narrower) place(i int) string {
	around := n.around(i)
	same := 0
	for same < min(len(around), len(n.path[i])) && around[same] == n.path[i][same] {
		same++
	}
	if same = min(same, len(around)-1); same < 0 {
		return "the same part"
	}
	return places(around[same:])
}

// values describes what both sides have at the current token.
func (n *narrower) values() (texts, asides [2]string) {
	a, b := &n.now[0], &n.now[1]
	from := 0
	if !n.ended[0] && !n.ended[1] && a.kind == data && b.kind == data {
		same := 0
		for same < min(len(a.bytes), len(b.bytes)) && a.bytes[same] == b.bytes[same] {
			same++
		}
		if max(len(a.bytes), len(b.bytes)) > window {
			from = max(same-before, 0)
		}
	}
	for i := range n.sides {
		t := &n.now[i]
		if n.ended[i] {
			texts[i] = "nothing more"
			continue
		}
		asides[i] = fmt.Sprintf("offset %d", t.at)
		if t.kind != data {
			texts[i] = string(t.bytes)
			continue
		}
		texts[i] = "bytes " + hexOf(t.bytes, from)
		asides[i] = fmt.Sprintf("offset %d", t.at+int64(from))
	}
	return texts, asides
}

// hexOf shows some bytes from a place on.
func hexOf(b []byte, from int) string {
	shown := b[min(from, len(b)):]
	text, more := "", len(shown) > window
	shown = shown[:min(len(shown), window)]
	for i, c := range shown {
		if i > 0 {
			text += " "
		}
		text += hex.EncodeToString([]byte{c})
	}
	if len(shown) == 0 {
		text = "end"
	}
	if from > 0 {
		text = "… " + text
	}
	if more {
		text += " …"
	}
	return text
}

// finish adds how many more places differ.
func (n *narrower) finish() {
	if n.count <= maxListed {
		return
	}
	text := fmt.Sprintf("… and %d more places", n.count-maxListed)
	if n.count >= maxCounted {
		text = fmt.Sprintf("… and more than %d more places", maxCounted-maxListed-1)
	}
	for i := range n.list {
		n.list[i] = append(n.list[i], tracediff.Detail{Text: text})
	}
}
