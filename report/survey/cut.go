package survey

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/snapshot"
)

// A file in most notations may end after any row. If it is cut there, nothing in it shows the cut. So a state can be
// cut if another peer's file of the same tick has all its content, in the same order, and only goes on after its end.
// Such a state is incomplete: the missing part is not known. It is whole if the peer's dump before or after it ends in
// the same way, since two cuts in a row that each fall between two rows are no accident. A count or a checksum in the
// file that differs is content that differs, and then the state is not cut.

// mostSiblings is how many files of other peers a file is compared with.
const mostSiblings = 8

// doubt marks the last state of a file as incomplete if the file may be cut.
func (f *found) doubt(g *group, path string, worlds []*snapshot.World) {
	if len(worlds) == 0 || !g.raw && !g.schema.EndsAnywhere(g.notation) {
		return
	}
	last := worlds[len(worlds)-1]
	other, line, known := f.longer(g, path, last)
	if other == "" {
		return
	}
	for _, near := range g.nextTo(filepath.Base(path)) {
		near = filepath.Join(g.dir, near)
		if worlds, err := f.whole(g, near, nil); err == nil && len(worlds) > 0 {
			if again, _, _ := f.longer(g, near, worlds[len(worlds)-1]); again != "" {
				return
			}
		}
	}
	end := fmt.Sprintf("ends after line %d", line)
	if g.binary {
		end = "ends"
	}
	last.Tables = known
	last.SetIncomplete(fmt.Sprintf("the file %s, and %s goes on there: either the file is cut, or its state lacks what follows", end, other), "")
}

// nextTo returns the files of a peer before and after one of them.
func (g *group) nextTo(base string) (out []string) {
	own := slices.DeleteFunc(slices.Clone(g.bases), func(b string) bool { return g.peerOf(b) != g.peerOf(base) })
	i := slices.Index(own, base)
	return slices.Concat(own[max(i-1, 0):max(i, 0)], own[i+1:min(i+2, len(own))])
}

// longer returns a file that has all of another one and goes on after its end, empty if there is none. Last is the last
// state of the other one. With the file are the last line of the other one, and the tables that are known.
func (f *found) longer(g *group, path string, last *snapshot.World) (other string, line int, known []snapshot.Table) {
	for _, s := range f.siblings(g, path) {
		line := f.survey.cutAfter(path, s.path)
		for _, part := range f.survey.parts[path] {
			i := slices.IndexFunc(f.survey.parts[s.path], func(p string) bool { return f.survey.tableOf(p) == f.survey.tableOf(part) })
			if i < 0 || line < 0 {
				line = -1
				break
			}
			if n := f.survey.cutAfter(part, f.survey.parts[s.path][i]); n != 0 {
				line = n
			}
		}
		if line <= 0 {
			continue
		}
		if g.raw {
			return s.path, line, last.Tables[:1] // a part of a word is not known
		}
		all, err := f.whole(s.group, s.path, nil)
		if err != nil {
			continue
		}
		for _, w := range all {
			if !w.Point.Same(last.Point) && len(all) > 1 {
				continue
			}
			if known := within(w, last); known != nil {
				return s.path, line, known
			}
		}
	}
	return "", 0, nil
}

// within returns the tables of a state if another one has all their content, and more, else nil. A null where the other
// one has a table or map is left out: it is a name after which the file is cut.
func within(all, part *snapshot.World) []snapshot.Table {
	p := *part
	p.Meta, p.Tables = nil, append([]snapshot.Table{}, part.Tables...)
	p.SetIncomplete("", "")
	for i := range p.Tables {
		t := &p.Tables[i]
		of := all.Table(t.Class, t.Label)
		t.Columns = slices.DeleteFunc(slices.Clone(t.Columns), func(c snapshot.Column) bool {
			return (of == nil || of.Column(c.Component, c.Field) == nil) && isNull(&c)
		})
	}
	a, errA := snapshot.Hold(all)
	b, errB := snapshot.Hold(&p)
	if errA != nil || errB != nil || a.Info().Root == b.Info().Root {
		return nil
	}
	a, b, err := snapshot.Common(a, b)
	if err != nil || a.Info().Root != b.Info().Root || !bytes.Equal(a.Info().RNG, b.Info().RNG) {
		return nil
	}
	return p.Tables
}

// isNull reports whether a column has only nulls.
func isNull(c *snapshot.Column) bool {
	for i := range c.Rows() {
		if c.Has(i) && string(c.At(i).Raw) != "null" {
			return false
		}
	}
	return true
}

// sibling is a file of another peer.
type sibling struct {
	group *group
	path  string
}

// siblings returns files of other peers with states of the same tick, or files of the same name, or of names that differ in
// numbers, if names show no tick.
func (f *found) siblings(g *group, path string) (out []sibling) {
	base := filepath.Base(path)
	tick, named := g.tickOf(base)
	for _, o := range f.survey.order {
		if o.notation.Name != g.notation.Name || o.table != g.table {
			continue
		}
		for _, b := range o.bases {
			n, ok := o.tickOf(b)
			at := filepath.Join(o.dir, b)
			if at != path && ok == named && n == tick && (named || b == base || o == g || len(o.bases) == 1) && len(out) < mostSiblings {
				out = append(out, sibling{o, at})
			}
		}
	}
	return out
}

// tableOf returns the table in a file.
func (s *Survey) tableOf(path string) string { return s.groups[s.groupOf(path)].table }

// cutAfter returns the last line of a file, 1 for a binary one, if the other file has more lines, and the file has all of its
// lines before the last one that both have. It returns -1 if one of these is missing, and 0 if the file is as long. The
// lines of both may be in different orders.
func (s *Survey) cutAfter(path, other string) int {
	a, errA := s.tree.Stat(path)
	b, errB := s.tree.Stat(other)
	if errA != nil || errB != nil || a.Size() == b.Size() {
		return 0
	}
	binary := s.groups[s.groupOf(path)].binary
	n, more := 0, 0
	if !binary {
		if n, more = s.lines(path), s.lines(other); n >= more {
			return 0
		}
	}
	text, err := s.read(path, wholeText)
	if err != nil {
		return -1
	}
	all, err := s.read(other, wholeText)
	switch {
	case err != nil:
		return -1
	case len(all) > len(text) && bytes.HasPrefix(all, text):
		return max(n, 1)
	case binary:
		return 0
	}
	type line struct {
		sum uint64
		at  int
	}
	order := func(a, b line) int { return cmp.Or(cmp.Compare(a.sum, b.sum), cmp.Compare(a.at, b.at)) }
	seed, list := maphash.MakeSeed(), make([]line, 0, more)
	for text := range bytes.Lines(all) {
		list = append(list, line{maphash.Bytes(seed, text), len(list)})
	}
	slices.SortFunc(list, order)
	last, ordered := -1, true
	for text := range bytes.Lines(text) {
		sum := maphash.Bytes(seed, text)
		i, _ := slices.BinarySearchFunc(list, line{sum, last + 1}, order)
		switch {
		case i < len(list) && list[i].sum == sum:
			last = list[i].at
		case i > 0 && list[i-1].sum == sum:
			ordered = false
		}
	}
	if last < 0 || ordered && last >= n {
		return -1
	}
	return n
}

// lines returns how many lines a file has, 0 if it cannot be read.
func (s *Survey) lines(path string) (n int) {
	content, err := s.Open(path)
	if err != nil {
		return 0
	}
	defer content.Close()
	buf, end := make([]byte, headLen), byte('\n')
	for {
		k, err := content.Read(buf)
		if n += bytes.Count(buf[:k], []byte("\n")); k > 0 {
			end = buf[k-1]
		}
		if err == nil {
			continue
		}
		if end != '\n' {
			n++
		}
		return n
	}
}
