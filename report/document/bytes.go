package document

import (
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/desynctool/desynctool/bytediff"
	"github.com/desynctool/desynctool/internal/prose"
)

// bytesDocument is desynctool.bytes/1.
type bytesDocument struct {
	Head
	Kind     string                      `json:"kind"` // bytes
	Peers    []string                    `json:"peers"`
	Sizes    map[string]int64            `json:"sizes"`
	Prefix   int64                       `json:"equal_begin"`
	Suffix   int64                       `json:"equal_end"`
	Inserted string                      `json:"inserted,omitempty"` // the peer whose file has extra bytes, and is otherwise equal
	Bytes    int64                       `json:"bytes"`
	Count    int64                       `json:"range_count"`
	Ranges   []byteRange                 `json:"ranges"` // the first 1000, with at most 64 bytes each
	Stride   *bytediff.Stride            `json:"stride,omitempty"`
	Text     *byteText                   `json:"text,omitempty"`
	Programs map[string]bytediff.Program `json:"programs,omitempty"`
}

type byteRange struct {
	Offset  int64             `json:"offset"`
	Length  int64             `json:"length"`
	Values  map[string]string `json:"values"` // hex
	Numbers []byteNumber      `json:"numbers"`
}

type byteNumber struct {
	Offset int64             `json:"offset"`
	Type   string            `json:"type"` // as in the text twin
	Order  string            `json:"byte_order,omitempty"`
	Values map[string]string `json:"values"`
}

type byteText struct {
	Line    int64             `json:"line"`
	Values  map[string]string `json:"values"`
	Removed *int              `json:"removed,omitempty"` // lines; absent if too many differ
	Added   *int              `json:"added,omitempty"`   // lines; absent if too many differ
}

// Bytes returns the document of two files that were compared byte by byte; names are the peers' names.
func Bytes(r *bytediff.Result, names [2]string, warnings []string) Document {
	return Document{
		StatusOf(r),
		func() any { return bytesJSON(r, names, warnings) },
		func(out *Text, all bool) { bytesText(out, r, names, all) },
	}
}

// both returns the values of two peers.
func both[T any](names [2]string, a, b T) map[string]T { return map[string]T{names[0]: a, names[1]: b} }

func bytesJSON(r *bytediff.Result, names [2]string, warnings []string) *bytesDocument {
	doc := &bytesDocument{
		Head: head("bytes", StatusOf(r), warnings), Kind: "bytes", Peers: names[:], Sizes: both(names, r.Sizes[0], r.Sizes[1]),
		Prefix: r.Prefix, Suffix: r.Suffix, Bytes: r.Bytes, Count: r.Count, Stride: r.Stride,
	}
	if file, ok := r.Inserted(); ok {
		doc.Inserted = names[file]
	}
	for i := range r.Ranges {
		g := &r.Ranges[i]
		d := byteRange{Offset: g.Offset, Length: g.Length, Values: both(names, hex.EncodeToString(g.Raw[0]), hex.EncodeToString(g.Raw[1]))}
		for k := range g.Numbers {
			d.Numbers = append(d.Numbers, numberDocuments(&g.Numbers[k], names)...)
		}
		doc.Ranges = append(doc.Ranges, d)
	}
	if t := r.Text; t != nil {
		doc.Text = &byteText{Line: t.Line, Values: both(names, t.First[0], t.First[1]), Removed: orNull(t.Counted, t.Removed), Added: orNull(t.Counted, t.Added)}
	}
	if p := r.Programs; p != nil {
		doc.Programs = both(names, p[0], p[1])
	}
	return doc
}

// numberDocuments returns a number as each type that it may have.
func numberDocuments(n *bytediff.Number, names [2]string) (list []byteNumber) {
	order := ""
	if n.Width > 1 {
		order = map[bool]string{false: "little", true: "big"}[n.Big]
	}
	add := func(letter string, texts [2]string) {
		typ := letter + strconv.Itoa(8*n.Width)
		list = append(list, byteNumber{n.Offset, typ, order, both(names, texts[0], texts[1])})
	}
	add("u", unsignedTexts(n))
	if s := n.Signed(); s[0] < 0 || s[1] < 0 {
		add("i", [2]string{strconv.FormatInt(s[0], 10), strconv.FormatInt(s[1], 10)})
	}
	if n.Float != nil {
		add("f", floatTexts(n))
	}
	return list
}

func unsignedTexts(n *bytediff.Number) [2]string {
	return [2]string{strconv.FormatUint(n.Unsigned[0], 10), strconv.FormatUint(n.Unsigned[1], 10)}
}

func floatTexts(n *bytediff.Number) (texts [2]string) {
	for i, f := range n.Float {
		texts[i] = strconv.FormatFloat(f, 'g', -1, 8*n.Width)
	}
	return texts
}

func bytesText(out *Text, r *bytediff.Result, names [2]string, all bool) {
	s := out.Style
	a, b := s.name.Sprint(prose.Name(names[0])), s.name.Sprint(prose.Name(names[1]))
	out.put(s.Verdict(StatusOf(r)), "  byte by byte, since no format of both is known  ", a, " | ", b)
	if !r.Diverged() && !r.Incomplete() {
		out.Row("size", fmt.Sprintf("%s, equal in all", prose.Count(r.Prefix, "byte", "bytes")))
		return
	}
	if p := r.Programs; p != nil {
		programsText(out, p, names)
	}
	size := prose.Count(r.Sizes[0], "byte", "bytes") + " each"
	if r.Sizes[0] != r.Sizes[1] {
		size = fmt.Sprintf("%d | %s", r.Sizes[0], prose.Count(r.Sizes[1], "byte", "bytes"))
	}
	out.Row("size", size, fmt.Sprintf("; equal are the first %d and the last %d", r.Prefix, r.Suffix))
	file, inserted := r.Inserted()
	if r.Incomplete() {
		out.Row("cut", fmt.Sprintf("%s ends at offset %d, and %s goes on there: either the file is cut, or it lacks the %s that follow",
			prose.Name(names[1-file]), r.Prefix, prose.Name(names[file]), prose.Count(r.Sizes[file]-r.Prefix, "byte", "bytes")))
		return
	}
	if t := r.Text; t != nil {
		textText(out, t, names)
		return
	}
	if inserted {
		out.Row("differs", fmt.Sprintf("%s has %s more at offset %d; the rest is equal", prose.Name(names[file]),
			prose.Count(r.Sizes[file]-r.Sizes[1-file], "byte", "bytes"), r.Prefix))
	} else if r.Count > 0 {
		out.Row("differs", fmt.Sprintf("%s in %s, from offset %d on", prose.Count(r.Bytes, "byte", "bytes"), prose.Count(r.Count, "range", "ranges"), r.Prefix))
	}
	if inserted || r.Programs != nil {
		return
	}
	if t := r.Stride; t != nil {
		out.Row("stride", fmt.Sprintf("every %d bytes, at offset %d of each: so begin %d of %s", t.Distance, t.Offset, t.Ranges,
			prose.Count(len(r.Ranges), "range", "ranges")))
	}
	rangesText(out, r, all)
}

func programsText(out *Text, p *[2]bytediff.Program, names [2]string) {
	for i := range p {
		build := "no build id"
		if p[i].Build != "" {
			build = "build id " + p[i].Build
		}
		out.Row("program", prose.Name(names[i]), ": ", p[i].Format, " for ", p[i].Machine, ", ", Safe(build))
	}
	if p[0] == p[1] && p[0].Build != "" {
		out.Row("", "the build ids are equal, the files are not: one of them was changed after it was linked")
	}
}

func textText(out *Text, t *bytediff.Text, names [2]string) {
	s := out.Style
	lines := ""
	if t.Counted {
		lines = fmt.Sprintf("; %s only on %s, %d only on %s", prose.Count(t.Removed, "line", "lines"), prose.Name(names[0]), t.Added, prose.Name(names[1]))
	}
	out.Row("text", fmt.Sprintf("first in line %d%s", t.Line, lines))
	a, b := s.marked(strconv.Quote(t.First[0]), strconv.Quote(t.First[1]))
	out.put("  ", a)
	out.put("  ", b)
}

// rangesText takes about a screenful, or lists all ranges that were kept.
func rangesText(out *Text, r *bytediff.Result, all bool) {
	s := out.Style
	shown, wide := r.Ranges, 64
	if !all {
		shown, wide = shown[:min(len(shown), screenful)], 16
	}
	row := func(i int) []string {
		g := &shown[i]
		cells := []string{strconv.FormatInt(g.Offset, 10), "", "", numbersText(g)}
		for k, raw := range g.Raw {
			cells[1+k] = hex.EncodeToString(raw[:min(len(raw), wide)])
			if g.Length > int64(wide) {
				cells[1+k] += "…"
			}
		}
		return cells
	}
	out.table(len(shown), row, table{indent: "  ", between: map[int]string{1: s.faint.Sprint(" | ")}, paint: func(_ int, r []string) []string {
		return []string{r[0], s.good.Sprint(r[1]), s.bad.Sprint(r[2]), s.faint.Sprint(r[3])}
	}})
	switch n := r.Count - int64(len(shown)); {
	case n > 0 && all:
		out.put(s.faint.Sprintf("  … and %d more", n))
	case n > 0:
		out.put(s.faint.Sprintf("  … and %d more  (--all)", n))
	}
	out.put(s.faint.Sprint("which members these are: --struct FILE, or --debug-info GAME --type TYPE"))
}

// numbersText returns a range as an integer and as floats, where such a number has all of it.
func numbersText(g *bytediff.Range) string {
	text, floats := "", map[int]bool{}
	for i := range g.Numbers {
		n := &g.Numbers[i]
		if !n.Covers(g) {
			continue
		}
		if text == "" {
			u := unsignedTexts(n)
			text = fmt.Sprintf("u%d %s | %s", 8*n.Width, u[0], u[1])
		}
		if n.Float != nil && !floats[n.Width] {
			floats[n.Width] = true
			f, order := floatTexts(n), ""
			if n.Big {
				order = ", big-endian"
			}
			text += fmt.Sprintf(", f%d %s | %s%s", 8*n.Width, f[0], f[1], order)
		}
	}
	return text
}
