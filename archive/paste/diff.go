package paste

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/file/partial"
	"github.com/desynctool/desynctool/internal/prose"
)

// side is one of the two files of a diff, as far as its lines show it.
type side struct {
	path string // as in the diff, empty if it has none
	text []byte
	buf  []byte // text after room for the first line of an excerpt
	next int64  // the number of the line that comes next, 0 where that is not known
	head bool   // the first line of the file is there
}

// pair is two files of a diff.
type pair struct {
	p     *peeler
	kind  string // "unified", as notes call it
	left  side
	right side
	hunks int
	short int // hunks that have fewer lines than their heads announce
	long  int // and more
	// around is how many lines in both sides are at the beginning or the end of a hunk at most:
	// fewer after the last one show that the files end with it.
	around int
	cut    bool
	open   bool // a hunk breaks off among lines that both sides have some of, and that differ
	room   int  // bytes that each side may have, as far as that is known
}

// add adds a line to one side.
func (s *side) add(line []byte) {
	s.text = append(append(s.text, line...), '\n')
	if s.next > 0 {
		s.next++
	}
}

// hunk begins a hunk at lines of both sides, from 1.
func (d *pair) hunk(left, right int64) error {
	if d.p.hunks++; limits.Hunks.Over(int64(d.p.hunks)) {
		return limits.Hunks.Reached("", 0)
	}
	d.hunks++
	for i, s := range [2]*side{&d.left, &d.right} {
		at := [2]int64{left, right}[i]
		if d.hunks == 1 {
			s.buf = make([]byte, headRoom, headRoom+d.room)
			s.text = s.buf[headRoom:]
			s.next = 1
			s.head = at <= 1
		}
		if at != s.next {
			g := partial.Gap{First: s.next, Last: at - 1, Next: left}
			if at < s.next { // hunks out of order
				g = partial.Gap{Next: left}
			}
			s.text = g.Append(s.text)
		}
		s.next = at
	}
	return nil
}

// breakOff ends a hunk that breaks off among lines that differ, which begin at a mark on each side.
// A line that only one side has shows nothing there: the other side may have it in what is cut off.
// Where only one side has such lines, and earlier hunks have others, they are taken back.
func (d *pair) breakOff(left, right mark) {
	if l, r := len(d.left.text) > left.size, len(d.right.text) > right.size; l && r || d.hunks == 1 {
		d.open = true
	} else {
		d.left.back(left)
		d.right.back(right)
	}
}

// mark is a place in a side.
type mark struct {
	size int
	next int64
}

func (s *side) mark() mark { return mark{len(s.text), s.next} }

func (s *side) back(m mark) { s.text, s.next = s.text[:m.size], m.next }

// mayFollow reports whether more lines may follow a hunk with so many lines in both sides around what
// differs.
func (d *pair) mayFollow(before, after int) bool {
	d.around = max(d.around, before, after)
	return after >= d.around
}

// finish adds the two files, if they are of a known format. If more is set, the files may go on after the last hunk.
func (d *pair) finish(b *body, more bool) bool {
	if d.hunks == 0 {
		return false
	}
	if more || d.cut {
		for _, s := range []*side{&d.left, &d.right} {
			s.text = append(s.text, partial.Gap{First: s.next}.Line()...)
		}
	}
	format := d.p.formatOf(&d.left)
	if format == "" {
		format = d.p.formatOf(&d.right)
	}
	if format == "" {
		return false
	}
	way := d.p.way(format)
	if way == WholeOnly && !(d.left.isWhole() && d.right.isWhole()) {
		d.p.unread = format
		return false
	}
	paste := fmt.Sprintf("%08x-%08x", crc32.Checksum(d.left.text, castagnoli), crc32.Checksum(d.right.text, castagnoli))
	head := partial.Head{Format: format, Paste: paste, Open: d.open}.Line()
	a, z := sides(d.left.path, d.right.path)
	d.p.diffs++
	for i, s := range []*side{&d.left, &d.right} {
		f := File{Format: format, Text: s.file(head, way), Folder: [2][2]string{a, z}[i][0], Name: [2][2]string{a, z}[i][1]}
		d.p.files = append(d.p.files, f)
	}
	b.say(d.p)
	d.p.note("a %s diff of two files, taken for %s and %s; what lies outside its %s is not known, and equal only if the diff is whole", d.kind, a[0], z[0], prose.Count(d.hunks, "hunk", "hunks"))
	if d.cut {
		d.p.note("the diff ends within a hunk")
	}
	if d.short > 0 {
		d.p.note("hunks with fewer lines than their heads announce: %d", d.short)
	}
	if d.long > 0 {
		d.p.note("hunks with more lines than their heads announce: %d", d.long)
	}
	return true
}

// isWhole reports whether all lines of a side are there.
func (s *side) isWhole() bool { return bytes.IndexByte(s.text, gapSign) < 0 }

// gapSign is the first byte of the line of a gap.
var gapSign = partial.Gap{}.Line()[0]

// headRoom is how much the first line of an excerpt may take before a side is copied.
const headRoom = 64

// file returns the file that a side is shown as.
func (s *side) file(head []byte, way Way) []byte {
	if way == Excerpts {
		whole := s.buf[:cap(s.buf)]
		if from := headRoom - len(head); from >= 0 && len(s.text) > 0 && len(whole) >= headRoom+len(s.text) && &whole[headRoom] == &s.text[0] {
			copy(whole[from:], head)
			return whole[from : headRoom+len(s.text)]
		}
		return append(head[:len(head):len(head)], s.text...)
	}
	var text []byte
	for ls := (&lines{text: s.text}); !ls.ended(); {
		at := ls.at
		if line := ls.next(); len(line) == 0 || line[0] != gapSign {
			text = append(text, s.text[at:ls.at]...)
		}
	}
	return text
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// formatOf returns the format of a side by its lines.
func (p *peeler) formatOf(s *side) string {
	if s.head {
		if name := p.known.Whole(s.text[:min(len(s.text), HeadLen)]); name != "" {
			return name
		}
	}
	ls := lines{text: s.text}
	for tries := 0; !ls.ended() && tries < 100; tries++ { // hunks
		var run []byte
		for !ls.ended() {
			line := ls.next()
			if _, gap := partial.ParseGap(line); gap {
				break
			}
			if len(run)+len(line) < HeadLen {
				run = append(append(run, line...), '\n')
			}
		}
		for len(run) > 0 {
			if name := p.known.Lines(run); name != "" {
				return name
			}
			_, n := cutLine(run)
			run = run[n:]
		}
	}
	return ""
}

// sides returns folder and base name of both files of a diff.
func sides(left, right string) (l, r [2]string) {
	a, b := parts(left), parts(right)
	base := func(p []string) string {
		if len(p) == 0 {
			return "text.txt"
		}
		return p[len(p)-1]
	}
	l, r = [2]string{"left", base(a)}, [2]string{"right", base(b)}
	for i := 1; i <= min(len(a), len(b)); i++ {
		if x, y := a[len(a)-i], b[len(b)-i]; x != y {
			if i == 1 {
				x, y = stem(x), stem(y)
			}
			if x != y && x != "" && y != "" {
				l[0], r[0] = x, y
			}
			break
		}
	}
	return l, r
}

// stem returns a base name without its extension.
func stem(base string) string {
	if i := strings.LastIndexByte(base, '.'); i > 0 {
		return base[:i]
	}
	return base
}

// parts returns the names in a path, those that can be names.
func parts(path string) (list []string) {
	const longest = 200
	for part := range strings.SplitSeq(strings.ReplaceAll(path, `\`, "/"), "/") {
		part = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f || r == '\ufffd' || r == ':' || r == '@' {
				return -1
			}
			return r
		}, strings.ToValidUTF8(part, ""))
		if part = strings.Trim(part, " \t\""); part != "" && part != "." && part != ".." && len(part) <= longest {
			list = append(list, part)
		}
	}
	return list
}

// diff takes the diff that begins at the current line, if there is one.
func (p *peeler) diff(b *body) (bool, error) {
	line, ok := b.clone().peek()
	if !ok {
		return false, nil
	}
	switch {
	case bytes.HasPrefix(line, []byte("@@ -")), bytes.HasPrefix(line, []byte("--- ")):
		return p.unified(b)
	case bytes.HasPrefix(line, []byte("*** ")), bytes.HasPrefix(line, []byte(hunkStars)):
		return p.context(b)
	case bytes.HasPrefix(line, []byte("diff ")), isNormalHead(line):
		return p.normal(b)
	}
	return false, nil
}
