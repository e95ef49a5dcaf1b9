package survey

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/snapshot"
)

// found is a format of states that a survey found: all groups of one notation with files that contain one or more
// states.
type found struct {
	survey   *Survey
	notation *notation.Notation
	several  bool // states in a file
	peers    bool // files name peers
	groups   map[groupName]*group
	first    *group
	shapes   map[string][]*group // by the shape of their names; see index

	room atomic.Pointer[[]byte] // memory of the text that was read last, for the next one; nil while it is used

	mu   sync.Mutex
	kept map[string][]*snapshot.World // states of files with several, by the file
}

// formats returns what was found.
func (s *Survey) formats() (out []engine.Format) {
	var all []*found
	for _, g := range s.order {
		if !slices.ContainsFunc(g.bases, func(base string) bool { return !s.rest[filepath.Join(g.dir, base)] }) {
			continue
		}
		f := &found{survey: s, notation: g.notation, groups: map[groupName]*group{}}
		for _, other := range s.order {
			if other != g && (g.table == "" || other.table == "" || other.dir != g.dir) {
				continue
			}
			f.peers = f.peers || other.namesPeer()
			for _, p := range other.samples {
				// of a large file only the first states were read, or part of one
				f.several = f.several || p.states > 1 || p.cut && other.tick < 0 && other.schema.Several()
				f.peers = f.peers || p.peers
			}
		}
		merged := false
		for _, other := range all {
			if other.notation.Name == f.notation.Name && other.several == f.several && other.peers == f.peers {
				other.groups[g.groupName] = g
				merged = true
			}
		}
		if !merged {
			f.groups[g.groupName], f.first = g, g
			all = append(all, f)
		}
	}
	for path := range s.rest {
		s.restNames[filepath.Base(path)] = true
	}
	for _, f := range all {
		f.index()
		out = append(out, f.entry())
	}
	if len(s.rest) > 0 {
		out = append(out, engine.Format{
			Name: "table", Title: "table of a state", Files: "*", Gives: []string{"state"},
			Sniff: func([]byte) bool { return false },
			Paths: func(path string) bool { return s.rest[filepath.Clean(path)] },
		})
	}
	return out
}

// entry returns the format.
func (f *found) entry() engine.Format {
	name, title := f.notation.Name+"-state", "state as "+f.notation.Title
	if f.several {
		name, title = f.notation.Name+"-states", "states as "+f.notation.Title
	}
	title = f.first.title(title)
	if f.peers {
		name += "-of-peers"
	}
	s := snapshot.Format{
		Name: name, Title: title, Paths: f.has, ParseName: f.parseName, NamesPeer: f.peers,
		Sniff: func([]byte) bool { return false },
		Usual: func(string) bool { return true },
		Open:  f.open,
		Light: len(f.survey.parts) > 0, // equal files may be parts of states that differ
	}
	if f.several {
		s.Parts = f.parts
	}
	if g := f.survey.ground(); g != nil {
		s.Ground = func(snapshot.State) *snapshot.Ground { return g }
	}
	e := engine.State(s, "*", "state")
	e.Paths = f.has
	return e
}

// group returns the group of a file, nil if it has another format.
func (f *found) group(path string) *group { return f.groups[f.survey.groupOf(path)] }

func (f *found) has(path string) bool {
	return f.group(path) != nil && !f.survey.rest[filepath.Clean(path)]
}

// parseName reads a name that shows the tick.
func (f *found) parseName(base string) (snapshot.FileName, bool) {
	rest := f.survey.restNames[base]
	for _, g := range f.shapes[shapeOf(plainName(f.survey.page, base))] {
		switch {
		case !g.ticked(base) || rest && f.survey.rest[filepath.Join(g.dir, base)]:
			continue
		case rest:
			return snapshot.FileName{}, false // in one folder it is the first of a state, in another one it is not
		}
		at, ok := g.pointOf(base)
		if g.mixed {
			return snapshot.FileName{}, false // only the file shows whose it is
		}
		return snapshot.FileName{Point: at, Peer: g.peerOf(base)}, ok
	}
	return snapshot.FileName{NoEvidence: true}, rest
}

// index finds the groups for names of each shape. Folders have the same names as a rule, and their groups read these
// alike: a name is then tried with one of them.
func (f *found) index() {
	type reading struct {
		shape, dir      string
		tick            int
		several, within bool
	}
	f.shapes = map[string][]*group{}
	seen := map[reading]bool{}
	for _, g := range f.survey.order {
		r := reading{shape: g.shape, tick: g.tick, several: g.several, within: g.showsTicks()}
		if len(f.survey.rest) > 0 {
			r.dir = g.dir
		}
		if f.groups[g.groupName] == g && !seen[r] {
			seen[r] = true
			f.shapes[g.shape] = append(f.shapes[g.shape], g)
		}
	}
}

// namesPeer reports whether names show the peer.
func (g *group) namesPeer() bool {
	return len(g.peer) > 0 || slices.ContainsFunc(g.bases, func(base string) bool { return g.peerOf(base) != "" })
}

// ticked reports whether a name shows the tick, and nothing in the file is described as the tick.
func (g *group) ticked(base string) bool {
	_, ok := g.tickOf(base)
	return ok && !(g.page != nil && g.page.Tick != "" && g.showsTicks())
}

// decode reads the states in a file.
func (f *found) decode(r io.ReaderAt, size int64, name string) ([]*snapshot.World, error) {
	room := f.room.Swap(nil)
	if room == nil || int64(cap(*room)) > 2*size { // a large one is not kept for small files
		room = new([]byte)
	}
	text, err := engine.ReadTextInto(*room, r, size, name)
	if err != nil {
		return nil, err
	}
	g, path := f.group(name), filepath.Clean(name)
	if !cmp.Or(g, f.first).raw { // raw states have the memory of the file
		*room = text
		defer f.room.Store(room)
	}
	if g == nil { // a part of a file, or a copy: they are read as the first group is
		return f.whole(f.first, path, text)
	}
	worlds, err := f.whole(g, path, text)
	if err == nil {
		f.doubt(g, path, worlds)
	}
	return worlds, err
}

// whole reads the states in a file of a group, as its text has them. A nil text is read.
func (f *found) whole(g *group, path string, text []byte) (worlds []*snapshot.World, err error) {
	if text == nil {
		if text, err = f.survey.read(path, wholeText); err != nil {
			return nil, err
		}
	}
	if worlds, err = g.decode(text, path); err != nil {
		return nil, err
	}
	if worlds, err = f.survey.join(worlds, path); err != nil {
		return nil, err
	}
	for _, w := range worlds {
		divide(w, f.survey.noise)
		if w.Peer == "" {
			w.Peer = g.peerOf(filepath.Base(path))
		}
	}
	return worlds, nil
}

// decode reads the states in a file of a group.
func (g *group) decode(text []byte, name string) ([]*snapshot.World, error) {
	if g.raw && g.dump {
		if text = hexDump(text); text == nil {
			return nil, fmt.Errorf("%s: no hex dump, as the files with such names are", name)
		}
	}
	if g.layout != nil {
		return layOutState(g.layout, text, name)
	}
	if g.raw {
		return []*snapshot.World{rawState(text, g.noisy)}, nil
	}
	if g.torn[filepath.Base(name)] {
		text = untorn(text)
	}
	worlds, err := g.schema.Decode(g.notation, text)
	if e := (*notation.Error)(nil); errors.As(err, &e) {
		return nil, e.In(name, text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if g.several {
		worlds = withTicks(worlds)
		if g.marked {
			worlds = slices.DeleteFunc(worlds, isGuess)
		}
	}
	for _, w := range worlds {
		if p := &w.Point; g.rows && p.Known() {
			*p = snapshot.Point{Tick: p.Tick + 1, Native: "tick " + strconv.FormatUint(p.Tick, 10), Relation: snapshot.After}
		}
	}
	return worlds, nil
}

// withTicks returns the states of a file that have a tick, if one has: the others are a header, or other lines of a log.
func withTicks(worlds []*snapshot.World) []*snapshot.World {
	ticked := func(w *snapshot.World) bool { return w.Point.Known() }
	if !slices.ContainsFunc(worlds, ticked) {
		return worlds
	}
	return slices.DeleteFunc(worlds, func(w *snapshot.World) bool { return !ticked(w) })
}

// open opens a state.
func (f *found) open(r io.ReaderAt, size int64, name string) (snapshot.State, error) {
	if section, ok := r.(*io.SectionReader); ok {
		_, number, _ := section.Outer()
		at := max(0, strings.LastIndexByte(name, '@')) // a state of several is opened as FILE@TICK
		f.mu.Lock()
		all := f.kept[name[:at]]
		f.mu.Unlock()
		if number < int64(len(all)) && name[at:] == fmt.Sprintf("@%d", all[number].Point.Tick) {
			return snapshot.Hold(all[number])
		}
	}
	worlds, err := f.decode(r, size, name)
	if err != nil {
		return nil, err
	}
	if len(worlds) != 1 {
		return nil, fmt.Errorf("%s: %d states, expected one", name, len(worlds))
	}
	w := worlds[0]
	if g := f.group(name); g != nil {
		g.named(w, filepath.Base(name))
	}
	if n, ok := f.parseName(filepath.Base(name)); ok && !w.Point.Known() {
		w.Point = n.Point
	}
	return snapshot.Hold(w)
}

// parts lists the states in a file, and keeps them until they are opened.
func (f *found) parts(r io.ReaderAt, size int64, name string) ([]snapshot.Part, error) {
	worlds, err := f.decode(r, size, name)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept == nil {
		f.kept = map[string][]*snapshot.World{}
	}
	f.kept[name] = worlds
	out := make([]snapshot.Part, len(worlds))
	for i, w := range worlds {
		out[i] = snapshot.Part{Peer: w.Peer, Point: w.Point, Offset: int64(i), Size: size, Numbered: true}
	}
	return out, nil
}

// Ordinary returns the entries of the formats that a survey reads, for lists of formats. They recognise nothing by
// themselves.
func Ordinary() (out []engine.Format) {
	nothing := func([]byte) bool { return false }
	for _, n := range notation.All() {
		files := "*" + strings.Join(n.Extensions, ", *")
		out = append(out, engine.Format{Name: n.Name, Title: "states of any game as " + n.Title, Files: files, Gives: []string{"state"}, Sniff: nothing})
	}
	return append(out,
		engine.Format{Name: "sums", Title: "log of any game with a tick and a checksum on a line", Files: "*", Gives: []string{"checkpoints"}, Sniff: nothing},
		engine.Format{Name: "inputs", Title: "inputs of any game: JSON, a table, or lines of a log", Files: "*", Gives: []string{"orders"}, Sniff: nothing})
}
