package bytediff

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Bounds of the text that is compared line by line, and of a line that is shown.
const (
	maxText  = 1 << 20 // bytes of each side, from the first line that differs on
	maxLines = 2000    // of each side
	maxLine  = 200     // bytes that are shown of a line
)

// Text is how two texts differ.
type Text struct {
	Line  int64     // the number of the first line that differs, from 1
	First [2]string // that line of both, or a part of it around the first difference; "" after the end of a file

	Counted        bool // whether what differs is small enough to be compared line by line
	Removed, Added int  // lines that only the first file has, and only the second
}

// textOf returns how two files differ as texts, nil if one of them is none.
func textOf(pair [2]File, r *Result) (*Text, error) {
	lines := int64(0)
	for i, f := range pair {
		text, n, err := f.text(r.Prefix)
		if err != nil || !text {
			return nil, err
		}
		if i == 0 {
			lines = n
		}
	}
	t := &Text{Line: 1 + lines}
	before := make([]byte, min(r.Prefix, maxText))
	if err := pair[0].read(before, r.Prefix-int64(len(before))); err != nil {
		return nil, err
	}
	before = before[bytes.LastIndexByte(before, '\n')+1:]
	rest := [2]string{}
	whole := len(before) < maxText
	for i, f := range pair {
		left := f.Size - r.Prefix
		after := make([]byte, min(left, maxText))
		if err := f.read(after, r.Prefix); err != nil {
			return nil, err
		}
		t.First[i] = excerpt(before, after)
		if need := left - r.Suffix; need < maxText {
			end := int64(len(after))
			if n := bytes.IndexByte(after[need:], '\n'); n >= 0 {
				end = need + int64(n) + 1
			} else if end < left {
				whole = false
			}
			after = after[:end]
		} else {
			whole = false
		}
		rest[i] = string(before) + string(after)
	}
	if whole && max(strings.Count(rest[0], "\n"), strings.Count(rest[1], "\n")) < maxLines {
		t.count(rest[0], rest[1])
	}
	return t, nil
}

// text reports whether a file is text in UTF-8, and counts its line ends before an offset.
func (f File) text(offset int64) (ok bool, lines int64, err error) {
	block := make([]byte, min(f.Size, blockSize))
	for at := int64(0); at < f.Size; {
		part := block[:min(f.Size-at, blockSize)]
		if err := f.read(part, at); err != nil {
			return false, 0, err
		}
		if cut := incomplete(part); at+int64(len(part)) < f.Size {
			part = part[:len(part)-cut]
		}
		if len(part) == 0 || bytes.IndexByte(part, 0) >= 0 || !utf8.Valid(part) {
			return false, 0, nil
		}
		lines += int64(bytes.Count(part[:min(max(offset-at, 0), int64(len(part)))], []byte("\n")))
		at += int64(len(part))
	}
	return true, lines, nil
}

// incomplete returns how many bytes at the end of a text begin a character that is not all there.
func incomplete(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// excerpt returns a line, or a part of it around where it differs.
func excerpt(before, after []byte) string {
	if i := bytes.IndexByte(after, '\n'); i >= 0 {
		after = after[:i]
	}
	before = before[max(0, len(before)-maxLine/2):]
	return strings.ToValidUTF8(string(before)+string(after[:min(len(after), maxLine-len(before))]), "")
}

// count counts the lines that only one of two texts has.
func (t *Text) count(a, b string) {
	d := diffmatchpatch.New()
	d.DiffTimeout = 0 // else a busy machine gets a coarser answer
	left, right, _ := d.DiffLinesToRunes(a, b)
	for _, part := range d.DiffMainRunes(left, right, false) {
		switch n := utf8.RuneCountInString(part.Text); part.Type {
		case diffmatchpatch.DiffDelete:
			t.Removed += n
		case diffmatchpatch.DiffInsert:
			t.Added += n
		}
	}
	t.Counted = true
}
