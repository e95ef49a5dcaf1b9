package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/orderlog/frame"
	"github.com/desynctool/desynctool/orderlog/packed"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Set is the snapshots of one peer, by seed and state point. Which points there
// are is read off the files' names; headers are read when a file is opened.
type Set struct {
	Path     string   // the folder or file
	Entries  []*Entry // ascending by seed, then point, one for each
	Others   []string // paths of the folder's files that are no snapshots
	Warnings []string // files left out, and why

	// Conflicts are files for the same state point that hold different states,
	// so that the peer's state there is not known.
	Conflicts []string

	session  *uint64 // the only seed that Entries may have, nil before Session
	rechecks int
}

// Entry is one snapshot of a Set.
type Entry struct {
	Dir    string
	Base   string // name of the file in Dir
	Seed   uint64
	Point  Point
	Format *Format

	checked bool        // seed and point are those of the header
	root    merkle.Hash // if checked
}

// Path returns the path of the file.
func (e *Entry) Path() string { return e.Dir + string(filepath.Separator) + e.Base }

func (e *Entry) compare(f *Entry) int {
	if e.Seed != f.Seed {
		return cmp.Compare(e.Seed, f.Seed)
	}
	return e.Point.Compare(f.Point)
}

// Open opens the snapshot. If its header has another seed or point than its
// name, the error is a *MisnamedError and the State is open all the same.
func (e *Entry) Open() (State, error) {
	s, err := OpenPath(e.Path(), e.Format)
	if err != nil {
		return nil, err
	}
	if info := s.Info(); info.Seed != e.Seed || !info.Point.Same(e.Point) {
		return s, &MisnamedError{e.Path(), e.Seed, e.Point, info.Seed, info.Point}
	}
	return s, nil
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

// OpenPath opens a state in a file of that format. Closing it closes the file.
func OpenPath(path string, format *Format) (State, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	if f, err = unpackFile(f); err != nil {
		return nil, err
	}
	stat, err := regular(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	s, err := format.Open(f, stat.Size(), path)
	if err != nil {
		f.Close()
		return nil, err
	}
	if _, ok := s.(*File); ok {
		return s, nil
	}
	return &closing{s, f}, nil
}

// A compressed file may expand to freeUnpacked bytes, and beyond that
// maxUnpackRatio times. Real states expand up to 25 times; whatever expands
// further can be unpacked beforehand.
const (
	freeUnpacked   = 16 << 20
	maxUnpackRatio = 64
)

// unpackFile returns f, or if it is compressed its content in a temporary file
// that is gone when it is closed. It closes f if it does not return it.
func unpackFile(f *os.File) (*os.File, error) {
	head := make([]byte, SniffLen)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		f.Close()
		return nil, err
	}
	if packed.Packing(head[:n]) == "" {
		return f, nil
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	content, _, err := packed.Unpack(f, freeUnpacked+maxUnpackRatio*stat.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	temporary, err := os.CreateTemp("", "desynctool-*")
	if err != nil {
		return nil, err
	}
	os.Remove(temporary.Name()) // its content stays until it is closed
	_, err = io.Copy(temporary, content)
	if c, ok := content.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	if err != nil {
		temporary.Close()
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return temporary, nil
}

// openRegular opens a file that can be read at any offset. It does not wait
// for the other end of a pipe.
func openRegular(path string) (*os.File, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !stat.Mode().IsRegular() && !stat.IsDir() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	return os.Open(path)
}

// regular returns the properties of an open file that is a regular one.
func regular(f *os.File) (os.FileInfo, error) {
	stat, err := f.Stat()
	if err == nil && !stat.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", f.Name())
	}
	return stat, err
}

// closing is a State that closes the file it came from.
type closing struct {
	State
	file io.Closer
}

func (c *closing) Close() error { return errors.Join(c.State.Close(), c.file.Close()) }

// Recognize returns the format of the file at path by its leading bytes, nil
// if it is none of formats.
func Recognize(path string, formats []Format) (*Format, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, _, err := packed.Unpack(f, freeUnpacked)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if c, ok := content.(io.Closer); ok {
		defer c.Close()
	}
	head := make([]byte, SniffLen)
	n, err := io.ReadFull(content, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for i := range formats {
		if formats[i].Sniff(head[:n]) {
			return &formats[i], nil
		}
	}
	return nil, nil
}

// OpenAny opens a state in a file whose format is told by its leading bytes.
func OpenAny(path string, formats []Format) (State, error) {
	format, err := Recognize(path, formats)
	if err != nil {
		return nil, err
	}
	if format == nil {
		names := make([]string, len(formats))
		for i := range formats {
			names[i] = formats[i].Name
		}
		msg := fmt.Sprintf("not a snapshot of a known format (%s)", strings.Join(names, ", "))
		if stat, err := os.Stat(path); err == nil && stat.Size() == 0 {
			msg = "empty file, expected a snapshot"
		}
		return nil, &frame.Error{Name: path, Msg: msg, Err: frame.ErrUnrecognized}
	}
	return OpenPath(path, format)
}

// Find returns the snapshots below a path: one Set for a folder that holds
// snapshots or a file that is one; for a folder that holds none itself, one Set
// for it, if it has files, and for each of its folders that has. Formats are
// tried in order.
func Find(path string, formats []Format) ([]*Set, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !stat.IsDir() {
		return findFile(path, formats)
	}
	set, folders, err := ReadDir(path, formats)
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		if !slices.Contains(partFolders, folder) {
			continue
		}
		part, _, err := ReadDir(filepath.Join(path, folder), formats)
		if err != nil {
			return nil, err
		}
		set.join(part)
	}
	if len(set.Entries) > 0 {
		return []*Set{set}, nil
	}
	var sets []*Set
	if len(set.Others) > 0 {
		sets = append(sets, set)
	}
	for _, folder := range folders {
		sub, subFolders, err := ReadDir(filepath.Join(path, folder), formats)
		if err != nil {
			return nil, err
		}
		for _, name := range subFolders {
			if slices.Contains(partFolders, name) {
				part, _, err := ReadDir(filepath.Join(path, folder, name), formats)
				if err != nil {
					return nil, err
				}
				sub.join(part)
			}
		}
		if len(sub.Entries) > 0 || len(sub.Others) > 0 {
			sets = append(sets, sub)
		}
	}
	if len(sets) == 0 {
		return []*Set{set}, nil
	}
	return sets, nil
}

func findFile(path string, formats []Format) ([]*Set, error) {
	s, err := OpenAny(path, formats)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	format, err := Recognize(path, formats)
	if err != nil {
		return nil, err
	}
	info := s.Info()
	dir, base := filepath.Split(filepath.Clean(path))
	return []*Set{{Path: path, Entries: []*Entry{{filepath.Clean(dir), base, info.Seed, info.Point, format, true, info.Root}}}}, nil
}

// partFolders are folders in which an engine keeps a peer's states beside its
// other files.
var partFolders = []string{"oos_logs", "ooslog"}

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

// ReadDir returns the snapshots in a folder, and the names of the folders in it.
//
// Names select: a file whose name is of a format's pattern is not opened. Any
// other file is looked at, and if it is a snapshot its header is read and a
// warning says so. Names that begin with a dot are skipped.
func ReadDir(path string, formats []Format) (*Set, []string, error) {
	names, err := list(path)
	if err != nil {
		return nil, nil, err
	}
	set := &Set{Path: path}
	path = filepath.Clean(path)
	var folders, strangers []string
	arena := make([]Entry, 0, len(names)) // pointers into it stay valid: it never grows
	for _, base := range names {
		if base[0] == '.' {
			continue
		}
		if e, ok := named(path, base, formats); ok {
			if e.Format != nil {
				arena = append(arena, e)
			}
			continue
		}
		stat, err := os.Stat(filepath.Join(path, base))
		switch {
		case err != nil:
			set.warn("%v", err)
		case stat.IsDir():
			folders = append(folders, base)
		case !stat.Mode().IsRegular():
			set.warn("%s: not a regular file", filepath.Join(path, base))
		default:
			strangers = append(strangers, base)
		}
	}
	set.Entries = sorted(arena, len(strangers))
	slices.Sort(folders)
	slices.Sort(strangers)
	for _, base := range strangers {
		set.stranger(path, base, formats)
	}
	set.order()
	return set, folders, nil
}

func (s *Set) warn(format string, args ...any) {
	s.Warnings = append(s.Warnings, fmt.Sprintf(format, args...))
}

// sorted returns pointers to entries, by tick and then as they come, with room
// for some more. Entries of one tick are rare, and order sorts them out.
func sorted(entries []Entry, room int) []*Entry {
	type place struct {
		tick uint64
		i    int32
	}
	places := make([]place, len(entries))
	for i := range entries {
		places[i] = place{entries[i].Point.Tick, int32(i)}
	}
	slices.SortFunc(places, func(a, b place) int {
		if a.tick != b.tick {
			return cmp.Compare(a.tick, b.tick)
		}
		return int(a.i - b.i)
	})
	out := make([]*Entry, len(entries), len(entries)+room)
	for i, p := range places {
		out[i] = &entries[p.i]
	}
	return out
}

// list returns the names in a folder, in no order.
func list(path string) ([]string, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Readdirnames(-1)
}

// compareEntries orders entries by seed, point and name.
func compareEntries(a, b *Entry) int {
	if c := a.compare(b); c != 0 {
		return c
	}
	return cmp.Compare(a.Base, b.Base)
}

// named returns the entry that a file's name announces, one without a format
// if the file is no evidence.
func named(dir, base string, formats []Format) (Entry, bool) {
	plain := base
	switch filepath.Ext(base) {
	case ".gz", ".xz", ".zst":
		plain = strings.TrimSuffix(base, filepath.Ext(base))
	}
	for i := range formats {
		if formats[i].ParseName == nil {
			continue
		}
		if n, ok := formats[i].ParseName(plain); ok && n.NoEvidence {
			return Entry{}, true
		} else if ok {
			return Entry{Dir: dir, Base: base, Seed: n.Seed, Point: n.Point, Format: &formats[i]}, true
		}
	}
	return Entry{}, false
}

// stranger looks at a file whose name says nothing.
func (s *Set) stranger(dir, base string, formats []Format) {
	path := filepath.Join(dir, base)
	format, err := Recognize(path, formats)
	if err != nil {
		s.warn("%v", err)
		return
	}
	if format == nil {
		s.Others = append(s.Others, path)
		return
	}
	state, err := OpenPath(path, format)
	if err != nil {
		s.warn("%v", err)
		return
	}
	defer state.Close()
	info := state.Info()
	if format.Usual == nil || !format.Usual(base) {
		s.warn("%s: its name says nothing, its content is state point %s of seed %016x", path, info.Point, info.Seed)
	}
	s.Entries = append(s.Entries, &Entry{dir, base, info.Seed, info.Point, format, true, info.Root})
}

// order sorts the entries and keeps one for each seed and point. Where two
// names claim the same, their headers are read.
func (s *Set) order() {
	if !slices.IsSortedFunc(s.Entries, compareEntries) {
		slices.SortFunc(s.Entries, compareEntries)
	}
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
		s.warn("%v", misnamed)
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
		s.warn("%s: another file for state point %s of seed %016x, left out for %s", e.Path(), e.Point, e.Seed, s.Entries[i].Base)
		return
	}
	if taken {
		s.Conflicts = append(s.Conflicts, fmt.Sprintf("%s and %s: two states of state point %s of seed %016x; the latter was used", e.Path(), s.Entries[i].Base, e.Point, e.Seed))
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
	s.warn("%s: stale: of seed %016x, the session is %016x", e.Path(), e.Seed, *s.session)
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

// At returns the entry at a point, or nil. The set must be of one seed.
func (s *Set) At(p Point) *Entry {
	i, ok := slices.BinarySearchFunc(s.Entries, p, func(e *Entry, p Point) int { return e.Point.Compare(p) })
	if !ok {
		return nil
	}
	return s.Entries[i]
}
