package bundle

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// Matches are the matches with artifacts below some paths. Every folder is walked once and every file recognised once,
// and each file belongs to one match:
//
//   - Files that name a match belong to it, by the game, the engine's own name of the match, and the seed. A log with
//     several games is cut into them.
//   - Folders of several sessions (one/host, one/client, two/host, two/client) belong to as many matches, though their
//     files state the same match.
//   - Two files with one seed belong to two matches if one peer cannot have left both; see [apart].
//   - A file that names no match belongs to the match of its folder, or of the nearest folder above, in the same game.
//     If there are several, it belongs to none of them, and that is reported.
type Matches struct {
	List []*Match // in the order of their first files

	whole *Session
	of    map[string][]*Match        // by path, of all files
	below map[string]map[*Match]bool // by folder, the matches with something in it or below
	// doubts write what could not be decided, once the matches have names.
	doubts []func()
}

// Match is one match, and its files.
type Match struct {
	Number int    // from 1
	Game   string // empty if no file contains it
	// Name is the engine's own name of the match, else its seed, else its folder or file. It
	// is distinct among the matches of a game.
	Name   string
	Seed   *uint64  // nil if no file contains it
	Files  []string // evidence in it, in the order of the paths
	Doubts []string // what could not be decided

	all     *Matches
	id      string
	units   []*unit
	session string // the folder of its session if others are next to it, else empty
}

// unit is a file, or a part of one, or the states in a folder, that is assigned as a whole.
type unit struct {
	identity
	dir     string // of the folder that contains it
	path    string // of the file, or of the first state
	file    *File  // nil for states
	part    *part  // nil for a whole file
	entries []*snapshot.Entry
	home    string // the folder of a peer that contains it, else empty
	session string // the folder of several sessions that contains it, else empty
	match   *Match

	begun *begun // of a log, once read
}

// OpenMatches walks some paths as Open does and returns the matches below them. There is at least one.
func OpenMatches(tree *archive.Tree, paths []string) (*Matches, error) {
	return openMatches(tree, paths, nil)
}

func openMatches(tree *archive.Tree, paths []string, names *naming) (*Matches, error) {
	s, err := look(tree, paths, names, nil)
	if err != nil {
		return nil, err
	}
	m := &Matches{whole: s, of: map[string][]*Match{}, below: map[string]map[*Match]bool{}}
	units := m.units()
	m.split(units)
	m.finish(units)
	return m, nil
}

// Whole returns the session of all files of all matches.
func (m *Matches) Whole() (*Session, error) { return m.whole, m.whole.arrange() }

// Open returns the session of one match. It reads no file of another match. If there is only one match, its session has
// all files.
func (x *Match) Open() (*Session, error) {
	if len(x.all.List) == 1 {
		return x.all.Whole()
	}
	whole := x.all.whole
	s, err := newSession(whole.tree, whole.paths, whole.names, whole.survey)
	if err != nil {
		return nil, err
	}
	s.match = x
	cuts := map[string][]archive.Span{}
	for _, u := range x.units {
		if u.part != nil {
			cuts[filepath.Clean(u.path)] = u.part.spans
		}
	}
	if len(cuts) > 0 {
		s.tree = whole.tree.Cut(cuts)
	}
	for _, f := range whole.files {
		if x.has(f.Path) {
			own := x.file(f)
			s.files = append(s.files, own)
			s.byPath[f.Path] = own
		}
	}
	for _, r := range whole.roots {
		switch {
		case r.file != nil:
			if f := s.byPath[r.file.Path]; f != nil {
				s.roots = append(s.roots, &root{file: f})
			}
		default:
			if f := x.folder(s, x.narrowed(r.folder)); f != nil {
				s.roots = append(s.roots, &root{folder: f, lost: s.mine(r.lost)})
			}
		}
	}
	return s, s.arrange()
}

// file returns a file as a session of the match has it.
func (x *Match) file(f *File) *File {
	own := *f
	own.place, own.read, own.opened, own.gameLog = nil, nil, nil, nil
	for _, u := range x.units {
		if u.file == f && u.part != nil {
			own.claims, own.scanned, own.each = nil, false, nil
			if u.part.format != nil {
				own.Format = u.part.format
			}
		}
	}
	return &own
}

// narrowed returns the folder that a user would give for this match only: the folder with all files of this match and
// none of another one, else f.
func (x *Match) narrowed(f *folder) *folder {
	for len(x.all.below[f.path]) > 1 {
		with := lists.Where(f.folders, func(sub *folder) bool { return x.all.below[sub.path][x] })
		if len(with) != 1 || slices.ContainsFunc(f.files, func(file *File) bool { return x.has(file.Path) }) ||
			slices.ContainsFunc(f.set.Entries, x.hasState) {
			return f
		}
		f = with[0]
	}
	return f
}

// folder returns the part of a folder that belongs to the match, nil if nothing does.
func (x *Match) folder(s *Session, f *folder) *folder {
	out := &folder{path: f.path, real: f.real, set: &snapshot.Set{Path: f.set.Path, Peer: f.set.Peer, Folders: f.set.Folders}}
	for _, e := range f.set.Entries {
		if x.hasState(e) {
			out.set.Entries = append(out.set.Entries, e)
		}
	}
	out.set.Warnings, out.set.Conflicts = s.mine(f.set.Warnings), s.mine(f.set.Conflicts)
	for _, file := range f.files {
		if own := s.byPath[file.Path]; own != nil {
			out.files = append(out.files, own)
		}
	}
	out.walked = lists.Map(f.walked, func(w *walked) *walked { return &walked{path: w.path} })
	s.walked = append(s.walked, out.walked...)
	for _, sub := range f.folders {
		if below := x.folder(s, sub); below != nil {
			out.folders = append(out.folders, below)
		}
	}
	if len(out.set.Entries)+len(out.files)+len(out.folders) == 0 {
		s.walked = s.walked[:len(s.walked)-len(out.walked)]
		return nil
	}
	return out
}

// has reports whether a file belongs to the match.
func (x *Match) has(path string) bool {
	list, known := x.all.of[path]
	if !known {
		owner := x.all.owner(filepath.Dir(path))
		return owner == x
	}
	return slices.Contains(list, x)
}

// hasState reports whether a state belongs to the match.
func (x *Match) hasState(e *snapshot.Entry) bool {
	return slices.ContainsFunc(x.units, func(u *unit) bool { return u.holds(e) })
}

// holds reports whether a state is one of the unit's.
func (u *unit) holds(e *snapshot.Entry) bool {
	return slices.Contains(u.entries, e)
}

// owner returns the only match with files in a folder, or in the nearest folder above that has files of any match; nil
// if there are several.
func (m *Matches) owner(dir string) *Match {
	for {
		if list := m.below[dir]; len(list) > 0 {
			if len(list) > 1 {
				return nil
			}
			for x := range list {
				return x
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil
		}
		dir = parent
	}
}

// ofAnother reports whether a path belongs to another match than x: by itself, or by the nearest folder above that has
// evidence in it.
func (m *Matches) ofAnother(path string, x *Match) bool {
	for {
		if list, known := m.of[path]; known {
			return !slices.Contains(list, x)
		}
		if list, known := m.below[path]; known {
			return !list[x]
		}
		i := strings.LastIndexByte(path, filepath.Separator)
		if i <= 0 {
			return false
		}
		path = path[:i]
	}
}

// units returns all evidence with its identity.
func (m *Matches) units() (list []*unit) {
	s := m.whole
	var walk func(f *folder)
	files := func(dir string, all []*File) {
		for _, f := range all {
			parts := s.identify(f)
			if len(parts) == 1 {
				parts = m.byClaims(&unit{path: f.Path, file: f}, parts[0])
			}
			for i := range parts {
				u := &unit{identity: parts[i].identity, dir: dir, path: f.Path, file: f}
				if len(parts) > 1 {
					u.part = &parts[i]
				}
				list = append(list, u)
			}
		}
	}
	walk = func(f *folder) {
		type alike struct {
			dir, format string
			seed        uint64
		}
		states := map[alike]*unit{}
		for _, e := range f.set.Entries {
			key := alike{e.Dir, e.Format.Name, e.Seed}
			if u := states[key]; u != nil {
				u.entries = append(u.entries, e)
				continue
			}
			u := &unit{identity: identity{known: true}, dir: f.path, path: e.Path(), entries: []*snapshot.Entry{e}}
			native := false
			if format := s.formatOf(e.Format.Name); format != nil {
				u.game, native = format.Game, format.Native
			}
			if e.Seed != 0 || native {
				seed := e.Seed
				u.seed = &seed
			}
			states[key] = u
			list = append(list, u)
		}
		files(f.path, f.files)
		files(f.path, s.leftOut(f))
		for _, sub := range f.folders {
			walk(sub)
		}
	}
	for _, r := range s.roots {
		if r.file != nil {
			files(filepath.Dir(r.file.Path), []*File{r.file})
			continue
		}
		begin := len(list)
		walk(r.folder)
		folders := s.sessions(r.folder)
		if len(folders) < 2 {
			continue
		}
		homes := map[string]bool{}
		for _, home := range s.below(r.folder) {
			homes[home.path] = true
		}
		for _, u := range list[begin:] {
			for dir := u.dir; ; dir = filepath.Dir(dir) {
				if homes[dir] {
					u.home = dir
				}
				if slices.Contains(folders, dir) {
					u.session = dir
				}
				if dir == r.folder.path || filepath.Dir(dir) == dir {
					break
				}
			}
		}
	}
	return list
}

// leftOut returns the files of a folder that are states and not among those of its set: another file has the same
// point.
func (s *Session) leftOut(f *folder) (list []*File) {
	if len(f.set.Warnings)+len(f.set.Conflicts) == 0 {
		return nil
	}
	known := map[string]bool{}
	for _, e := range f.set.Entries {
		known[filepath.Join(e.Dir, e.Base)] = true
	}
	for _, file := range f.files {
		known[file.Path] = true
	}
	for _, w := range f.walked {
		names, err := s.tree.Names(w.path)
		if err != nil {
			continue
		}
		slices.Sort(names)
		for _, name := range names {
			path := filepath.Join(w.path, name)
			if known[path] || name[0] == '.' {
				continue
			}
			if file := s.recognise(path); file.isState() {
				list = append(list, file)
			}
		}
	}
	return list
}

// join makes a unit one of a match.
func (x *Match) join(u *unit) {
	u.match = x
	x.units = append(x.units, u)
	x.Game = cmp.Or(x.Game, u.game)
	x.id = cmp.Or(x.id, u.id)
	if x.Seed == nil {
		x.Seed = u.seed
	}
	for dir := u.dir; ; dir = filepath.Dir(dir) {
		below := x.all.below[dir]
		if below == nil {
			below = map[*Match]bool{}
			x.all.below[dir] = below
		}
		if below[x] {
			return
		}
		below[x] = true
		if filepath.Dir(dir) == dir {
			return
		}
	}
}

// forget takes all units from a match, which is gone then.
func (m *Matches) forget(x *Match) []*unit {
	units := x.units
	x.units = nil
	for _, list := range m.below {
		delete(list, x)
	}
	for _, u := range units {
		u.match = nil
	}
	m.List = slices.DeleteFunc(m.List, func(y *Match) bool { return y == x })
	return units
}

// add adds a match of some units.
func (m *Matches) add(units ...*unit) *Match {
	x := &Match{all: m}
	m.List = append(m.List, x)
	for _, u := range units {
		x.join(u)
	}
	return x
}

// finish sorts the matches and names them, and assigns the files that are not evidence.
func (m *Matches) finish(units []*unit) {
	if len(m.List) == 0 {
		m.add()
	}
	order := map[*unit]int{}
	for i, u := range units {
		order[u] = i
	}
	first := func(x *Match) int {
		least := len(units)
		for _, u := range x.units {
			least = min(least, order[u])
		}
		return least
	}
	for _, x := range m.List {
		slices.SortFunc(x.units, func(a, b *unit) int { return cmp.Compare(order[a], order[b]) })
	}
	lists.SortStable(m.List, func(a, b *Match) int { return cmp.Compare(first(a), first(b)) })
	for i, x := range m.List {
		x.Number = i + 1
		for _, u := range x.units {
			for _, path := range u.paths() {
				x.Files = append(x.Files, path)
				m.of[path] = append(m.of[path], x)
			}
		}
	}
	for _, u := range units {
		if u.match == nil {
			var list []*Match
			if owner := m.owner(u.dir); owner != nil {
				list = append(list, owner)
			}
			m.of[u.path] = list
		}
	}
	taken := map[[2]string]int{}
	for _, x := range m.List {
		x.Name = x.name()
		taken[[2]string{x.Game, x.Name}]++
	}
	for _, x := range m.List {
		if taken[[2]string{x.Game, x.Name}] > 1 {
			x.Name += " in " + x.place()
		}
	}
	for _, say := range m.doubts {
		say()
	}
	m.doubtUnbound()
}

// paths returns the files of a unit.
func (u *unit) paths() (paths []string) {
	if u.file != nil {
		return []string{u.path}
	}
	for _, e := range u.entries {
		if path := filepath.Join(e.Dir, e.Base); len(paths) == 0 || paths[len(paths)-1] != path {
			paths = append(paths, path)
		}
	}
	return paths
}

// name returns what the match is called.
func (x *Match) name() string {
	switch {
	case x.id != "":
		return x.id
	case x.Seed != nil:
		return fmt.Sprintf("seed %016x", *x.Seed)
	}
	return x.place()
}

// place returns the folder that has all of the match, or its first file.
func (x *Match) place() string {
	if len(x.units) == 0 {
		return x.all.whole.what()
	}
	if x.session != "" {
		return x.session
	}
	dir := x.units[0].dir
	for _, u := range x.units[1:] {
		for dir != u.dir && !strings.HasPrefix(u.dir, dir+string(filepath.Separator)) && filepath.Dir(dir) != dir {
			dir = filepath.Dir(dir)
		}
	}
	if len(x.all.below[dir]) > 1 || len(x.units) == 1 {
		return x.units[0].where()
	}
	return dir
}

// where names a unit for a text.
func (u *unit) where() string {
	if u.part != nil {
		return fmt.Sprintf("%s from line %d on", u.path, u.part.line)
	}
	return u.path
}

// Get returns the match with a number, from 1.
func (m *Matches) Get(number int) (*Match, error) {
	if number < 1 || number > len(m.List) {
		return nil, fmt.Errorf("--match %d: of %s: %s", number, prose.Count(len(m.List), "match", "matches"), m)
	}
	return m.List[number-1], nil
}

// maxNamed is how many matches a text names.
const maxNamed = 20

// String names the matches in a line.
func (m *Matches) String() string {
	var list []string
	for i, x := range m.List {
		if i == maxNamed {
			list = append(list, fmt.Sprintf("and %d more", len(m.List)-i))
			break
		}
		list = append(list, x.String())
	}
	return strings.Join(list, "; ")
}

// Document identifies the match.
func (x *Match) Document() document.MatchDocument {
	d := document.MatchDocument{Number: x.Number, Game: x.Game, Name: x.Name, Doubts: slices.Clone(x.Doubts)}
	d.EscapeBytes()
	return d
}

// String names the match with its number and game.
func (x *Match) String() string {
	name := x.Name
	if x.Game != "" {
		name = x.Game + ", " + name
	}
	return fmt.Sprintf("%d: %s", x.Number, name)
}

// ofSeveral reports whether the match has files of several peers.
func (x *Match) ofSeveral() bool {
	names, dirs := map[string]bool{}, map[string]bool{}
	for _, u := range x.units {
		if u.peer != "" {
			names[u.peer] = true
		}
		dirs[u.dir] = true
	}
	return len(names) > 1 || len(dirs) > 1
}

// OnlySeeds reports whether files with other seeds are next to one match of the game: only the seed distinguishes them,
// and no other match has files of two peers. Comparisons leave such files out by themselves.
func (m *Matches) OnlySeeds() bool {
	seeds := map[uint64]bool{}
	whole := 0
	for _, x := range m.List {
		if x.ofSeveral() {
			whole++
		}
		if whole > 1 || x.Seed == nil || x.id != "" || x.session != "" || seeds[*x.Seed] || x.Game != m.List[0].Game {
			return false
		}
		seeds[*x.Seed] = true
	}
	return true
}
