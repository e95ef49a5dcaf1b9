package document

import "github.com/sergi/go-diff/diffmatchpatch"

// maxMarked is the length in bytes up to which two texts are compared character
// by character.
const maxMarked = 512

// marked returns a and b in the colours of the two sides, with the characters
// that only one of them has underlined.
func (s Style) marked(a, b string) (string, string) {
	if len(a) > maxMarked || len(b) > maxMarked {
		return s.good.Sprint(a), s.bad.Sprint(b)
	}
	d := diffmatchpatch.New()
	d.DiffTimeout = 0 // never a coarser answer on a busy machine
	var left, right string
	for _, part := range d.DiffCleanupSemantic(d.DiffMain(a, b, false)) {
		switch part.Type {
		case diffmatchpatch.DiffDelete:
			left += s.goodMark.Sprint(part.Text)
		case diffmatchpatch.DiffInsert:
			right += s.badMark.Sprint(part.Text)
		default:
			left += s.good.Sprint(part.Text)
			right += s.bad.Sprint(part.Text)
		}
	}
	return left, right
}
