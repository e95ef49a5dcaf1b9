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

// Set contains the snapshots of one peer, by seed and state point. The points come from the files' names; headers are
// read when a file is opened.
type Set struct {
	Path     string      // the folder or file
	Peer     string      // the peer, if the files' names or contents name it
	Entries  []*Entry    // ascending by seed, then point; one for each point
	Others   []string    // paths of files in the folder that are not snapshots
	Warnings files.Notes // files that were left out, with the reasons
	Lost     files.Notes // states that cannot be read, which ReadFolder recognized by their content
	Folders  []string    // paths of folders in it that were not searched

	// Conflicts are files for the same state point with different states. The peer's state at that point is not known.
	Conflicts files.Notes

	// Copies counts files that were left out because another file has the same state.
	Copies int

	session  *uint64 // the only seed allowed in Entries; nil before Session is called
	rechecks int
}

// Entry is one snapshot of a Set.
type Entry struct {
	Tree   files.Tree // tree that contains Dir
	Dir    string
	Base   string // name of the file in Dir
	Peer   string // the peer, if the name or the file names it
	Seed   uint64
	Point  Point
	Format *Format

	checked bool        // seed and point are taken from the header
	root    merkle.Hash // set if checked

	// parts and part are set if the file contains several states.
	parts *partFile
	part  *Part

	state State // set for a state in memory, nil for a file
	info  *Info // nil until it was read

	kept *keeping // nil if the format need not be read whole

	content *content // nil until Check has read it
	bytes   *stored  // nil until Undamaged has read it
}

// Path returns the path of the file, or FILE@TICK for one of several states in a file.
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

// Open opens the snapshot. If its header has another seed or point than its name, the error is a *MisnamedError and the
// State is open nevertheless.
func (e *Entry) Open() (State, error) { return e.openLike(nil) }

// openLike opens the snapshot. If other is in memory, digests of equal data are taken from it.
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

// likeOf lets a state that was just opened reuse the digests of e, if e is in memory.
func (e *Entry) likeOf(s State) {
	if e == nil || e.kept == nil {
		return
	}
	if h := heldOf(s); h != nil {
		h.like = e.kept.Load()
	}
}

// MisnamedError reports that a file's name contradicts its header. The header is right.
type MisnamedError struct {
	Path  string
	Seed  uint64 // from the name
	Point Point

	HeaderSeed  uint64
	HeaderPoint Point
}

func (e *MisnamedError) Error() string {
	return fmt.Sprintf("%s: the name has seed %016x, state point %s; the header has seed %016x, state point %s",
		e.Path, e.Seed, e.Point, e.HeaderSeed, e.HeaderPoint)
}

// join adds the states from another folder of the same peer. If both have a state for a point, it keeps the state from
// the folder that is only for states.
func (s *Set) join(part *Set) {
	s.Others = append(s.Others, part.Others...)
	s.Warnings = append(s.Warnings, part.Warnings...)
	s.Conflicts = append(s.Conflicts, part.Conflicts...)
	s.Lost = append(s.Lost, part.Lost...)
	own := s.Entries
	s.Entries = part.Entries
	for _, e := range own {
		if _, taken := slices.BinarySearchFunc(s.Entries, e, (*Entry).compare); !taken {
			s.insert(e)
		}
	}
}

// Merge adds states of the same peer from another place, because games keep copies of states that other peers sent. Two
// states for one point are a conflict unless they are equal.
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

// Warn adds a warning that a file was left out.
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

// order sorts the entries and keeps one for each seed and point. If two names have the same seed and point, the headers
// are read.
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

// ascend reports whether the entries ascend and have different points.
func (s *Set) ascend() bool {
	for i := 1; i < len(s.Entries); i++ {
		if s.Entries[i-1].compare(s.Entries[i]) >= 0 {
			return false
		}
	}
	return true
}

// believe sets e's seed and point from its header. If the file cannot be read, the values from the name stay.
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

// insert adds an entry after its header was read. If an existing entry at that point is only known by its name, its
// header is read first, and it may move.
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

// Recheck moves an entry to the seed and point in its header. Entries at that place that are only known by their names
// may move too.
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

// Session limits the set to one seed. It adds a warning for every file of another seed, now and whenever a header shows
// another seed later.
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

// CheckAll reads the headers of all entries that are only known by their names, and moves misnamed ones.
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

// trustedNames is how many misnamed files a set may have before all headers are read.
const trustedNames = 8

// Has reports whether the set has an entry with the same peer, seed and point as e.
func (s *Set) Has(e *Entry) bool {
	_, taken := slices.BinarySearchFunc(s.Entries, e, (*Entry).compare)
	return taken
}

// At returns the entry at a point, or nil. The set must contain only one seed.
func (s *Set) At(p Point) *Entry {
	i, ok := slices.BinarySearchFunc(s.Entries, p, func(e *Entry, p Point) int { return e.Point.Compare(p) })
	if !ok {
		return nil
	}
	return s.Entries[i]
}
