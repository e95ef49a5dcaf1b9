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
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/memory"
	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/snapshot"
)

const (
	headLen     = 64 << 10 // bytes by which a notation is recognised
	mostLearned = 24       // files that the schema is learned from
	mostMatched = 4        // ticks at which the states of all peers are compared
	mostDoubted = 16       // of them, if what differs may be noise
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
	s := &Survey{tree: tree, page: page, groups: map[groupName]*group{}, folders: map[string]bool{}, parts: map[string][]string{}, rest: map[string]bool{}, restNames: map[string]bool{}}
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
	read := slices.Clone(s.order)
	if len(s.order) > 0 {
		s.learn()
	} else {
		s.raw()
	}
	if !slices.ContainsFunc(s.order, func(g *group) bool { return !s.perhapsLog(g) }) {
		s.values(read)
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
	lists.SortStable(s.order, func(a, b *group) int { return cmp.Or(cmp.Compare(a.dir, b.dir), cmp.Compare(a.bases[0], b.bases[0])) })
}

// Lost returns the files in no notation that have the same name as files in another folder, or the same name except for
// one word as files next to them, and the columns that are not compared because the states of a peer lack them.
func (s *Survey) Lost() (out []string) {
	out = append(out, s.lacking...)
	read := slices.Clone(s.order)
	read = append(read, lists.Map(s.found, func(l log) *group { return l.group })...)
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
	tree      files.Tree
	page      *description.Description // nil for a game that is not described
	list      []engine.Format
	own       []engine.Format // of the list, those that it found
	files     int
	all       []string        // the files that were looked at
	folders   map[string]bool // that were walked, without links
	known     string          // the first file that is evidence of a known format
	groups    map[groupName]*group
	kinds     []*group // in the order of the paths
	left      int      // files that are in no group
	order     []*group // those that may be evidence
	found     []log
	unread    []*group                  // of text that is in no notation
	schemas   map[string]*states.Schema // by table, one for files with all tables
	parts     map[string][]string       // of a file, the others with tables of the same state
	rest      map[string]bool           // files that are such others
	restNames map[string]bool           // their names without folders
	seen      states.Found
	noise     map[column]bool // that are not compared
	noisy     []NoisyColumn
	lacking   []string // notes on columns that the states of some peers lack
	quiet     bool     // nothing but noise differs, and it is compared
	notes     []string
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

	several bool            // a file has several states
	rows    bool            // a file is a table with a row of values at the end of each tick
	raw     bool            // its files are raw memory
	noisy   map[uint64]bool // words of it, by their offsets, that are not compared
	layout  *memory.Layout  // of the memory, if a header shows it
	dump    bool            // they are hex dumps
	torn    map[string]bool // files with several states that break off in the last one
	marked  bool            // some of its states are marked as predictions
	medium  bool            // its files are pictures, programs and the like

	tick   int            // the number of the names that is the tick, -1 if none is
	peer   []int          // the words of the names that show the peer
	mixed  bool           // files of its folder name different peers
	dated  bool           // the tick is a date: three numbers, from that one on
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
	peer    string   // the first of them
	states  int
	text    []byte            // until it is decoded
	cut     bool              // the text is only the beginning of the file
	damaged bool              // it cannot be read
	worlds  []*snapshot.World // until they are compared
	lists   map[string]bool   // the labels of its tables, with and without rows; nil if a table without rows is not written
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
	s.metrics()
	for _, folder := range s.byFolder() {
		s.divide(folder)
	}
	s.schemas = map[string]*states.Schema{}
	only, several := s.onlyTable(), severalOf(s.order)
	untimed := !slices.ContainsFunc(s.order, func(g *group) bool { return strings.Contains(g.shape, "#") })
	for _, g := range s.order {
		texts := lists.Map(g.samples, func(p sample) []byte { return p.text })
		g.notation = cmp.Or(notation.Settled(g.notation, texts...), g.notation)
		key := g.notation.Name + " " + g.table
		if s.schemas[key] == nil {
			s.schemas[key] = &states.Schema{Table: g.table, Unnamed: only, Dumps: several, Untimed: untimed, Hints: s.hints()}
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
	s.order = slices.DeleteFunc(s.order, (*group).isOnlyOne)
	for _, g := range s.order {
		s.seen.Merge(&g.found)
		for _, base := range slices.Sorted(maps.Keys(g.torn)) {
			s.notes = append(s.notes, filepath.Join(g.dir, base)+": the last line breaks off, and only the states before it are compared")
		}
	}
	s.guesses()
	s.missing()
	s.name()
	s.order = slices.DeleteFunc(s.order, func(g *group) bool { return g.isOther() || s.untimed(g) })
	s.findRows()
	s.measured()
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
