package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Set is the snapshots of one peer, by seed and state point. Which points there
// are is read off the files' names; headers are read when a file is opened.
type Set struct {
	Path     string      // the folder or file
	Peer     string      // whose they are, if the files' names or contents say so
	Entries  []*Entry    // ascending by seed, then point, one for each
	Others   []string    // paths of the folder's files that are not snapshots
	Warnings files.Notes // files left out, and why
	Lost     files.Notes // states that cannot be read, as ReadFolder found by their content
	Folders  []string    // paths of folders in it that were not looked into

	// Conflicts are files for the same state point that hold different states,
	// so that the peer's state there is not known.
	Conflicts files.Notes

	// Copies counts files that are left out since another one has the same state.
	Copies int

	session  *uint64 // the only seed that Entries may have, nil before Session
	rechecks int
}

// Entry is one snapshot of a Set.
type Entry struct {
	Tree   files.Tree // that Dir is in
	Dir    string
	Base   string // name of the file in Dir
	Peer   string // whose state it is, if the name or the file says so
	Seed   uint64
	Point  Point
	Format *Format

	checked bool        // seed and point are those of the header
	root    merkle.Hash // if checked

	// parts and part are set if the file holds several states.
	parts *partFile
	part  *Part

	state State // in memory, nil if it is in a file
	info  *Info // nil unless it was read

	kept *keeping // nil for what need not be read whole

	content *content // nil unless Check has read it
	bytes   *content // nil unless Undamaged has read it
}

// Path returns the path of the file, and for one of several states in it,
// FILE@TICK.
func (e *Entry) Path() string {
	if e.part != nil {
		return e.parts.name(e.part)
	}
	if e.state != nil {
		return e.Base
	}
	return e.Dir + string(filepath.Separator) + e.Base
}

func (e *Entry) compare(f *Entry) int {
	return cmp.Or(cmp.Compare(e.Peer, f.Peer), cmp.Compare(e.Seed, f.Seed), e.Point.Compare(f.Point))
}

// Open opens the snapshot. If its header has another seed or point than its
// name, the error is a *MisnamedError and the State is open all the same.
func (e *Entry) Open() (State, error) { return e.openLike(nil) }

// openLike opens the snapshot. What is the same in another one, if it is in memory, has its digests.
func (e *Entry) openLike(other *Entry) (State, error) {
	if e.state != nil {
		return staysOpen{e.state}, nil
	}
	if s := e.kept.state(); s != nil {
		return s, nil
	}
	if e.part != nil {
		s, err := e.parts.open(e.part)
		if err == nil {
			other.likeOf(s)
			e.kept.keepSmall(s)
		}
		return s, err
	}
	s, err := OpenPath(e.Tree, e.Path(), e.Format)
	if err != nil {
		return nil, err
	}
	other.likeOf(s)
	if head := headOf(s); head.Seed != e.Seed || !head.Point.Same(e.Point) {
		return s, &MisnamedError{e.Path(), e.Seed, e.Point, head.Seed, head.Point}
	}
	e.kept.keepSmall(s)
	return s, nil
}

// likeOf has a state that was just opened look at e, if that is in memory.
func (e *Entry) likeOf(s State) {
	if e == nil || e.kept == nil {
		return
	}
	if h := heldOf(s); h != nil {
		h.like = e.kept.Load()
	}
}

// MisnamedError says that a file's name and its header disagree. The header is
// right.
type MisnamedError struct {
	Path  string
	Seed  uint64 // by the name
	Point Point

	HeaderSeed  uint64
	HeaderPoint Point
}

func (e *MisnamedError) Error() string {
	return fmt.Sprintf("%s: the name says seed %016x, state point %s; the header says seed %016x, state point %s",
		e.Path, e.Seed, e.Point, e.HeaderSeed, e.HeaderPoint)
}

// join adds what another folder of the same peer holds. The states of a folder
// of its own are more: where both have one of a point, it is theirs.
func (s *Set) join(part *Set) {
	s.Others = append(s.Others, part.Others...)
	s.Warnings = append(s.Warnings, part.Warnings...)
	s.Conflicts = append(s.Conflicts, part.Conflicts...)
	own := s.Entries
	s.Entries = part.Entries
	for _, e := range own {
		if _, taken := slices.BinarySearchFunc(s.Entries, e, (*Entry).compare); !taken {
			s.insert(e)
		}
	}
}

// Merge adds what another place holds of the same peer: games keep copies of what
// other peers sent them. Two states of one point are a conflict unless they are
// equal.
func (s *Set) Merge(other *Set) {
	s.Others = append(s.Others, other.Others...)
	s.Warnings = append(s.Warnings, other.Warnings...)
	s.Conflicts = append(s.Conflicts, other.Conflicts...)
	s.Copies += other.Copies
	for _, e := range other.Entries {
		i, taken := slices.BinarySearchFunc(s.Entries, e, (*Entry).compare)
		if !taken {
			s.Entries = slices.Insert(s.Entries, i, e)
			continue
		}
		kept := s.Entries[i]
		s.believe(kept)
		s.believe(e)
		switch {
		case kept.root == e.root:
			s.Copies++
		case e.root.IsZero():
			s.Warn(e.Path(), "%s: left out for %s: it cannot be read", e.Path(), kept.Path())
		case kept.root.IsZero():
			s.Warn(kept.Path(), "%s: left out for %s: it cannot be read", kept.Path(), e.Path())
			s.Entries[i] = e
		default:
			s.conflict(e.Path(), "%s and %s: two states of %s at state point %s; the latter was used", e.Path(), kept.Path(), e.Peer, e.Point)
		}
	}
}

// Warn adds to the warnings that a file was left out.
func (s *Set) Warn(path, format string, args ...any) {
	s.Warnings = append(s.Warnings, files.Note{Path: path, Text: fmt.Sprintf(format, args...)})
}

func (s *Set) conflict(path, format string, args ...any) {
	s.Conflicts = append(s.Conflicts, files.Note{Path: path, Text: fmt.Sprintf(format, args...)})
}

// compareEntries orders entries by seed, point and name.
func compareEntries(a, b *Entry) int {
	return cmp.Or(a.compare(b), cmp.Compare(a.Base, b.Base))
}

// order sorts the entries and keeps one for each seed and point. Where two
// names claim the same, their headers are read.
func (s *Set) order() {
	if s.ascend() {
		return
	}
	slices.SortFunc(s.Entries, compareEntries)
	var doubtful []*Entry
	kept := s.Entries[:0]
	for i, e := range s.Entries {
		if i > 0 && s.Entries[i-1].compare(e) == 0 || i+1 < len(s.Entries) && e.compare(s.Entries[i+1]) == 0 {
			doubtful = append(doubtful, e)
			continue
		}
		kept = append(kept, e)
	}
	s.Entries = kept
	for _, e := range doubtful {
		s.believe(e)
		s.insert(e)
	}
}

// ascend reports whether the entries ascend, no two of them of the same point.
func (s *Set) ascend() bool {
	for i := 1; i < len(s.Entries); i++ {
		if s.Entries[i-1].compare(s.Entries[i]) >= 0 {
			return false
		}
	}
	return true
}

// believe gives e the seed and point of its header. A file that cannot be read
// keeps those of its name.
func (s *Set) believe(e *Entry) {
	if e.checked {
		return
	}
	e.checked = true
	state, err := e.Open()
	if state != nil {
		e.root = state.Info().Root
	}
	var misnamed *MisnamedError
	if errors.As(err, &misnamed) {
		s.Warn(e.Path(), "%v", misnamed)
		e.Seed, e.Point = misnamed.HeaderSeed, misnamed.HeaderPoint
	}
	if state != nil {
		state.Close()
	}
}

// insert adds an entry whose header has been read. An entry that is there
// already and has only its name to show is looked at first: it may have to
// move.
func (s *Set) insert(e *Entry) {
	if s.session != nil && e.Seed != *s.session {
		s.stale(e)
		return
	}
	i, taken := slices.BinarySearchFunc(s.Entries, e, (*Entry).compare)
	if taken && !s.Entries[i].checked {
		other := s.Entries[i]
		s.Entries = slices.Delete(s.Entries, i, i+1)
		s.believe(other)
		s.insert(other)
		i, taken = slices.BinarySearchFunc(s.Entries, e, (*Entry).compare)
	}
	if taken && s.Entries[i].root == e.root {
		s.Warn(e.Path(), "%s: another file for state point %s of seed %016x, left out for %s", e.Path(), e.Point, e.Seed, s.Entries[i].Base)
		return
	}
	if taken {
		s.conflict(e.Path(), "%s and %s: two states of state point %s of seed %016x; the latter was used", e.Path(), s.Entries[i].Base, e.Point, e.Seed)
		return
	}
	s.Entries = slices.Insert(s.Entries, i, e)
}

// Recheck moves an entry to the seed and point that its header has, and
// whatever has only its name to show out of its way.
func (s *Set) Recheck(e *Entry) {
	if s.rechecks++; s.rechecks > trustedNames {
		s.CheckAll()
		return
	}
	s.Entries = slices.DeleteFunc(s.Entries, func(other *Entry) bool { return other == e })
	e.checked = false
	s.believe(e)
	s.insert(e)
}

// Session narrows the set to one seed and warns of every file of another, now
// and whenever a header turns out to have another.
func (s *Set) Session(seed uint64) {
	s.session = &seed
	kept := s.Entries[:0]
	for _, e := range s.Entries {
		if e.Seed != seed {
			s.stale(e)
			continue
		}
		kept = append(kept, e)
	}
	s.Entries = kept
}

func (s *Set) stale(e *Entry) {
	s.Warn(e.Path(), "%s: stale: of seed %016x, the session is %016x", e.Path(), e.Seed, *s.session)
}

// CheckAll reads the headers of all entries that have only their names to show
// and moves those that are misnamed.
func (s *Set) CheckAll() {
	all := s.Entries
	for _, e := range all {
		s.believe(e)
	}
	s.Entries = nil
	for _, e := range all {
		if s.session != nil && e.Seed != *s.session {
			s.stale(e)
		} else {
			s.Entries = append(s.Entries, e)
		}
	}
	s.order()
}

// trustedNames is how many misnamed files a set may have before all of its
// headers are read.
const trustedNames = 8

// Has reports whether the set has an entry of the peer, seed and point of another.
func (s *Set) Has(e *Entry) bool {
	_, taken := slices.BinarySearchFunc(s.Entries, e, (*Entry).compare)
	return taken
}

// At returns the entry at a point, or nil. The set must be of one seed.
func (s *Set) At(p Point) *Entry {
	i, ok := slices.BinarySearchFunc(s.Entries, p, func(e *Entry, p Point) int { return e.Point.Compare(p) })
	if !ok {
		return nil
	}
	return s.Entries[i]
}
