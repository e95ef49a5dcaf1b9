// Package survey finds evidence in ordinary notations among files that belong to no known format.
//
// A single file does not show what it is: any program writes JSON. A survey looks at all files of a session, groups
// them by their names, learns one schema from some of each group, and finds out which number in the names is the tick
// and which part is the peer. Then a file is recognised by its name, and is only opened if its content is needed.
//
// Ordinary notations come last: if any file has a known format, a survey finds nothing.
package survey

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/snapshot"
)

const (
	headLen     = 64 << 10 // bytes by which a notation is recognised
	mostLearned = 24       // files that the schema is learned from
	mostMatched = 4        // ticks at which the states of all peers are compared
	learnLen    = 64 << 20 // bytes of all of them
	sampleText  = 4 << 20  // bytes of one of them
	wholeText   = 1 << 32  // bytes of a file that is read whole
	mostGroups  = 1 << 10
	mostTried   = 4 // files of a group that may show what the others are
)

// For looks at the files at some paths.
//
// If a page describes the files, those are read as it describes them, even next to files of known formats.
func For(tree files.Tree, paths []string) (*Survey, error) {
	page, err := Page(tree, paths)
	if err != nil {
		return nil, err
	}
	return Under(tree, paths, page), nil
}

// Under is For with a page, nil for none, and ignores other pages.
func Under(tree files.Tree, paths []string, page *description.Description) *Survey {
	s := &Survey{tree: tree, page: page, groups: map[groupName]*group{}, folders: map[string]bool{}, parts: map[string][]string{}, rest: map[string]bool{}}
	if s.page != nil && !beside(s.page.File, paths) {
		s.notes = append(s.notes, fmt.Sprintf("the files are read as %s describes them (%s)", s.page.File, s.page.Title()))
	}
	for _, path := range paths {
		path = filepath.Clean(path)
		if stat, err := tree.Stat(path); err == nil {
			s.walk(path, stat.IsDir(), true, int(limits.Folders.Max()))
		}
		if s.known != "" {
			s.list, s.notes = formats.All(), nil
			return s
		}
	}
	s.recognized()
	s.logs()
	s.adopt()
	s.choose()
	if len(s.order) > 0 {
		s.learn()
	} else {
		s.raw()
	}
	for _, g := range s.kinds {
		if g.kind == description.State && g.binary && g.notation == nil {
			s.notes = slices.Insert(s.notes, 0, g.misdescribed())
		}
	}
	s.own = s.described(slices.Concat(s.logFormats(), s.formats()))
	s.list = slices.Concat(formats.All(), s.own)
	return s
}

// adopt gives files without a recognised notation the notation of files with a similar name, if they can be read so:
// whether a file begins like a notation depends on its first values.
func (s *Survey) adopt() {
	s.unread = slices.DeleteFunc(s.unread, func(g *group) bool {
		i := slices.IndexFunc(s.order, g.sibling)
		if i < 0 {
			return false
		}
		text, err := s.read(filepath.Join(g.dir, g.bases[0]), sampleText)
		if err != nil || new(states.Schema).Learn(s.order[i].notation, text) != nil {
			return false
		}
		g.notation = s.order[i].notation
		s.order = append(s.order, g)
		return true
	})
	slices.SortStableFunc(s.order, func(a, b *group) int { return cmp.Or(cmp.Compare(a.dir, b.dir), cmp.Compare(a.bases[0], b.bases[0])) })
}

// Lost returns the files in no notation that have the same name as files in another folder, or the same name except for
// one word as files next to them.
func (s *Survey) Lost() (out []string) {
	read := slices.Clone(s.order)
	for _, l := range s.found {
		read = append(read, l.group)
	}
	for _, g := range s.unread {
		if !slices.ContainsFunc(read, g.sibling) {
			continue
		}
		for _, base := range g.bases {
			out = append(out, filepath.Join(g.dir, base)+": in no notation that is read, as other files of such a name are")
		}
	}
	return out
}

// sibling reports whether the files of two groups belong together by their names.
func (g *group) sibling(other *group) bool {
	if g.dir != other.dir {
		return g.shape == other.shape
	}
	a, b := g.words(g.bases[0]), other.words(other.bases[0])
	if len(a) != len(b) || len(a) < 3 || a[len(a)-1] != b[len(b)-1] { // the extension is also a word
		return false
	}
	unlike := 0
	for i := range a {
		if a[i] != b[i] {
			unlike++
		}
	}
	return unlike == 1
}

// Survey has the findings about some files.
type Survey struct {
	tree    files.Tree
	page    *description.Description // nil for a game that is not described
	list    []engine.Format
	own     []engine.Format // of the list, those that it found
	files   int
	all     []string        // the files that were looked at
	folders map[string]bool // that were walked, without links
	known   string          // the first file that is evidence of a known format
	groups  map[groupName]*group
	kinds   []*group // in the order of the paths
	left    int      // files that are in no group
	order   []*group // those that may be evidence
	found   []log
	unread  []*group                  // of text that is in no notation
	schemas map[string]*states.Schema // by table, one for files with all tables
	parts   map[string][]string       // of a file, the others with tables of the same state
	rest    map[string]bool           // files that are such others
	seen    states.Found
	noise   map[column]bool // that are not compared
	noisy   []NoisyColumn
	quiet   bool // nothing but noise differs, and it is compared
	notes   []string
}

// groupName is the name of a group: its folder, the names of its files without the digits, and the kind that the page
// gives them.
type groupName struct {
	dir, shape string
	kind       description.Kind
}

// group is the files of one folder that have names with only different numbers.
type group struct {
	groupName
	page     *description.Description
	bases    []string // in order
	given    bool     // one of its files is a path that was given
	alone    bool     // nothing shows that it is evidence but its content
	known    bool     // its files have a known format
	text     bool     // one of those that were tried is text
	binary   bool
	trace    bool               // its files also look like traces, as a table with two columns does
	notation *notation.Notation // nil for text in none
	samples  []sample

	several bool // a file has several states
	raw     bool // its files are raw memory
	medium  bool // its files are pictures, programs and the like

	tick   int            // the number of the names that is the tick, -1 if none is
	peer   []int          // the words of the names that show the peer
	table  string         // the only one in its files, by their names; empty for files with all
	from   int            // the first word of the names that is the table
	to     int            // the first word after it
	schema *states.Schema // of its files
	found  states.Found   // in the files that were read
}

// sample is a file that was read.
type sample struct {
	base    string
	ticks   []uint64 // of the states in it, if it has them
	peers   bool     // it names peers
	states  int
	text    []byte            // until it is decoded
	cut     bool              // the text is only the beginning of the file
	damaged bool              // it cannot be read
	worlds  []*snapshot.World // until they are compared
}

// walk looks at a file or folder.
func (s *Survey) walk(path string, folder, given bool, deeper int) {
	if !folder {
		s.add(path, given)
		return
	}
	names, err := s.tree.Names(path)
	if err != nil || deeper < 0 || s.visited(path) {
		return
	}
	slices.Sort(names)
	for _, name := range names {
		if name[0] == '.' || s.known != "" {
			continue
		}
		at := filepath.Join(path, name)
		stat, err := s.tree.Stat(at)
		if s.files++; err != nil || limits.Files.Over(int64(s.files)) {
			continue
		}
		switch {
		case stat.IsDir():
			s.walk(at, true, false, deeper-1)
		case stat.Mode().IsRegular() && stat.Size() > 0:
			s.add(at, false)
		}
	}
}

// visited notes that a folder is walked. It reports whether it was before, under any name.
func (s *Survey) visited(path string) bool {
	t, ok := s.tree.(interface{ Real(path string) string })
	if !ok {
		return false
	}
	real := t.Real(path)
	if real == "" {
		return false
	}
	before := s.folders[real]
	s.folders[real] = true
	return before
}

// add adds a file to its group. The first of a group that can be recognised shows what the others are.
func (s *Survey) add(path string, given bool) {
	base := filepath.Base(path)
	if base == description.Base {
		return
	}
	s.all = append(s.all, path)
	name := s.groupOf(path)
	if name.kind == description.Other {
		return
	}
	g := s.groups[name]
	if g == nil {
		if len(s.groups) == mostGroups {
			s.left++
			return
		}
		g = &group{groupName: name, page: s.page, tick: -1}
		s.groups[name] = g
		s.kinds = append(s.kinds, g)
	}
	g.bases = append(g.bases, base)
	g.given = g.given || given
	if g.notation == nil && !g.known && len(g.bases) <= mostTried {
		s.recognize(g, path)
	}
}

// recognize finds out what the files of a group are by one of them.
func (s *Survey) recognize(g *group, path string) {
	head, whole, err := s.head(path)
	if err != nil {
		return
	}
	found := notation.Of(filepath.Base(path), head, whole)
	if g.kind == description.Undescribed && s.isKnown(path, head) {
		if g.trace = found != nil && found.Name == "csv"; !g.trace {
			g.known = true
			return
		}
	}
	binary := bytes.IndexByte(head, 0) >= 0
	g.notation, g.text = found, g.text || !binary
	g.binary = binary && (found != nil || !g.text)
	g.medium = slices.ContainsFunc(media, func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) })
}

// recognized takes the groups that may be evidence, and notes what else there is.
func (s *Survey) recognized() {
	for _, g := range s.kinds {
		switch {
		case g.known:
		case g.notation != nil || g.text && g.kind != description.State:
			s.order = append(s.order, g)
		case g.kind != description.Undescribed && !(g.binary && g.kind == description.State):
			s.notes = append(s.notes, g.misdescribed())
		}
	}
	if s.left > 0 {
		s.notes = append(s.notes, fmt.Sprintf("files with more than %d kinds of names: %d were not looked at", mostGroups, s.left))
	}
}

// misdescribed returns the note about described files that cannot be read.
func (g *group) misdescribed() string {
	return fmt.Sprintf("%s: described as %s, and in no notation that is read", filepath.Join(g.dir, g.bases[0]), g.kind)
}

// groupOf returns the name of the group of a file.
func (s *Survey) groupOf(path string) groupName {
	dir, base := filepath.Split(path)
	return groupName{filepath.Clean(dir), shapeOf(plainName(s.page, base)), s.kindOf(path)}
}

// isKnown reports whether a file has a known format, and notes that there is evidence of one.
func (s *Survey) isKnown(path string, head []byte) bool {
	f := formats.Recognize(path, head[:min(len(head), formats.HeadLen)])
	if f == nil {
		return bytes.Contains(head, []byte(`"desynctool.`)) || strings.HasPrefix(filepath.Base(path), "desync_report_")
	}
	if f.Snapshot != nil || f.Log != nil || f.Native || f.Trace != nil && f.Trace.Read != nil {
		if s.page == nil {
			s.known = path
		}
	}
	return true
}

// head returns the first bytes of what is in a file, and whether that is all.
func (s *Survey) head(path string) (head []byte, whole bool, err error) {
	text, err := s.read(path, headLen+1)
	return text[:min(len(text), headLen)], len(text) <= headLen, err
}

// read returns up to most bytes of the content of a file, which may be compressed.
func (s *Survey) read(path string, most int64) ([]byte, error) {
	content, err := s.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(content, most))
	return text, errors.Join(err, content.Close())
}

// choose finds the groups that are evidence of a session: files that were given, and files of one name in two folders or
// of one folder that differ in their numbers. Another file is evidence if it contains several states.
func (s *Survey) choose() {
	shapes := map[string]int{}
	for _, g := range s.order {
		shapes[g.shape] += len(g.bases)
	}
	beside := map[string]int{} // by folder and notation
	for _, g := range s.order {
		beside[g.dir+"\x00"+g.notation.Name+"\x00"+filepath.Ext(g.shape)]++
	}
	for _, g := range s.order {
		like := beside[g.dir+"\x00"+g.notation.Name+"\x00"+filepath.Ext(g.shape)]
		g.alone = !g.given && g.kind != description.State && shapes[g.shape] < 2 && like < 2
		slices.SortFunc(g.bases, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	}
}

// learn learns the schema from some files of each group, and which parts of their names are the tick and the peer.
func (s *Survey) learn() {
	each := max(1, mostLearned/len(s.order))
	left := int64(learnLen)
	for _, g := range s.order {
		for _, base := range Picks(g.bases, each) {
			text, cut, err := s.sample(filepath.Join(g.dir, base), left)
			if left -= int64(len(text)); err != nil || left <= 0 {
				continue
			}
			if cut {
				text = bytes.TrimRight(text, "\n") // the cut end shows nothing about how files end
			}
			g.samples = append(g.samples, sample{base: base, text: text, cut: cut})
		}
	}
	s.order = slices.DeleteFunc(s.order, func(g *group) bool { return len(g.samples) == 0 })
	for _, folder := range s.byFolder() {
		s.divide(folder)
	}
	s.schemas = map[string]*states.Schema{}
	only := s.onlyTable()
	for _, g := range s.order {
		key := g.notation.Name + " " + g.table
		if s.schemas[key] == nil {
			s.schemas[key] = &states.Schema{Table: g.table, Unnamed: only, Hints: s.hints()}
		}
		g.schema, g.tick = s.schemas[key], -1
		for _, p := range g.samples {
			_ = g.schema.Learn(g.notation, p.text) // data that cannot be read is reported when it is opened
		}
	}
	for _, g := range s.order {
		g.found = states.Found{}
		for i := range g.samples {
			g.look(&g.samples[i])
			g.samples[i].text = nil
		}
	}
	s.order = slices.DeleteFunc(s.order, func(g *group) bool {
		first := g.samples[0]
		return g.alone && first.states < 2 && !(first.cut && len(first.ticks) > 0)
	})
	for _, g := range s.order {
		s.seen.Merge(&g.found)
	}
	s.missing()
	s.name()
	s.findNoise(left)
}

// sample reads the begin of a file: at most sampleText bytes, or its first two lines if these are longer and not more than
// most bytes, since a line may be a state.
func (s *Survey) sample(path string, most int64) (text []byte, cut bool, err error) {
	text, err = s.read(path, min(most, sampleText))
	if err != nil || len(text) < sampleText || bytes.IndexByte(text, '\n') >= 0 {
		return text, len(text) == sampleText, err
	}
	all, err := s.read(path, most)
	if err != nil {
		return nil, false, err
	}
	n := bytes.IndexByte(all, '\n') + 1
	if n > 0 && n < len(all) {
		n += bytes.IndexByte(all[n:], '\n') + 1
	}
	if n == 0 {
		return text, true, nil
	}
	return all[:n:n], n < len(all), nil
}

// findNoise compares states of peers, to find out what is noise. If only what may be noise differs in some, all are read.
func (s *Survey) findNoise(left int64) {
	pairs := map[pair]*compared{} // of all tables
	for _, most := range []int{mostMatched, math.MaxInt} {
		left = s.match(pairs, left, most)
		s.compare(pairs)
		list := complete(pairs)
		if s.noisy, s.quiet = noise(list); !s.quiet {
			break
		}
		if most == math.MaxInt {
			s.quiet = !believed(s.noisy, list)
		}
	}
	if note := noiseNote(s.noisy, s.quiet); note != "" {
		s.notes = append(s.notes, note)
	}
	s.noise = map[column]bool{}
	for i := range s.noisy {
		n := &s.noisy[i]
		n.Path = s.seen.PathOf(n.Table, n.Component, n.Field)
		if !s.quiet {
			s.noise[n.column()] = true
		}
	}
}

// match reads the files of so many ticks that two peers have, as far as these were not compared and the samples lack one.
func (s *Survey) match(pairs map[pair]*compared, left int64, most int) int64 {
	done := map[uint64]bool{}
	for who := range pairs {
		done[who.tick] = true
	}
	peers := map[uint64]map[string]bool{}
	each := func(do func(g *group, base string, tick uint64)) {
		for _, g := range s.order {
			for _, base := range g.bases {
				if n, ok := g.tickOf(base); ok && !done[n] {
					do(g, base, n)
				}
			}
		}
	}
	each(func(g *group, base string, tick uint64) {
		if peers[tick] == nil {
			peers[tick] = map[string]bool{}
		}
		peers[tick][g.dir+"\x00"+g.peerOf(base)] = true
	})
	maps.DeleteFunc(peers, func(_ uint64, of map[string]bool) bool { return len(of) < 2 })
	ticks := map[uint64]bool{}
	for _, tick := range Picks(slices.Sorted(maps.Keys(peers)), most) {
		ticks[tick] = true
	}
	each(func(g *group, base string, tick uint64) {
		read := func(p sample) bool { return p.base == base && p.worlds != nil }
		if !ticks[tick] || left <= 0 || slices.ContainsFunc(g.samples, read) {
			return
		}
		text, err := s.read(filepath.Join(g.dir, base), min(left, sampleText))
		if left -= int64(len(text)); err != nil || left <= 0 {
			return
		}
		p := sample{base: base, text: text, cut: len(text) == sampleText}
		g.look(&p)
		p.text = nil
		g.samples = append(g.samples, p)
	})
	return left
}

// look finds out what the heads of the states in a file contain.
func (g *group) look(p *sample) {
	worlds, found, err := g.schema.Read(g.notation, p.text)
	p.ticks, p.peers = nil, false
	if p.damaged = err != nil && !p.cut; p.damaged {
		return
	}
	if found != nil {
		g.found.Merge(found)
	}
	if !p.cut {
		p.worlds = worlds
	}
	p.states = len(worlds)
	for _, w := range worlds {
		if w.Point.Known() {
			p.ticks = append(p.ticks, w.Point.Tick)
		}
		p.peers = p.peers || w.Peer != ""
	}
}

// pair is two peers at one tick.
type pair struct {
	tick          uint64
	first, second string
}

// compare compares the states of peers that were read.
func (s *Survey) compare(pairs map[pair]*compared) {
	byTick := map[moment][]seen{}
	for _, g := range s.order {
		for i := range g.samples {
			p := &g.samples[i]
			for _, w := range p.worlds {
				if n, ok := g.tickOf(p.base); ok && !w.Point.Known() {
					w.Point = snapshot.Point{Tick: n}
				}
				g.named(w, p.base)
				at := moment{w.Point.Tick, g.table}
				byTick[at] = append(byTick[at], seen{g.dir + "\x00" + cmp.Or(w.Peer, g.peerOf(p.base)), w})
			}
			p.worlds = nil
		}
	}
	for at, states := range byTick {
		first := states[0]
		for _, other := range states[1:] {
			if other.peer == first.peer {
				continue
			}
			if c := compareStates(first.world, other.world); c != nil {
				who := pair{at.tick, first.peer, other.peer}
				if pairs[who] == nil {
					pairs[who] = c
				} else {
					pairs[who].add(c)
				}
			}
		}
	}
}

// complete returns the pairs with all tables compared, in the order of their ticks.
func complete(pairs map[pair]*compared) (list []compared) {
	most := 0
	for _, c := range pairs {
		most = max(most, c.tables)
	}
	for _, who := range slices.SortedStableFunc(maps.Keys(pairs), func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(a.first, b.first), cmp.Compare(a.second, b.second))
	}) {
		if pairs[who].tables == most {
			list = append(list, *pairs[who])
		}
	}
	return list
}

// moment is a state point of the files with one table, or with all.
type moment struct {
	tick  uint64
	table string
}

// seen is a state that was read, and its peer.
type seen struct {
	peer  string
	world *snapshot.World
}

// Picks returns up to most of some names or ticks: the first, the last, and some between them.
func Picks[T cmp.Ordered](list []T, most int) (out []T) {
	if len(list) <= most {
		return list
	}
	for i := range most {
		out = append(out, list[i*(len(list)-1)/max(1, most-1)])
	}
	return slices.Compact(out)
}
