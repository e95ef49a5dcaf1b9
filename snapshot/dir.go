package snapshot

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/lists"
)

// Disk is the file system of this machine, for functions that take a tree of files.
const Disk = files.Disk

// Find returns the snapshots below a path. A file that is a snapshot, or a folder that contains some, gives one Set. A
// folder without snapshots gives one Set for each of its folders that has any, and one for itself if it has files. If
// files name their peer, there is one Set for each peer instead. Formats are tried in order.
func Find(tree files.Tree, path string, formats []Format) ([]*Set, error) {
	stat, err := tree.Stat(path)
	if err != nil {
		return nil, err
	}
	if !stat.IsDir() {
		return FindFile(tree, path, formats)
	}
	set, folders, err := ReadFolder(tree, path, formats)
	if err != nil {
		return nil, err
	}
	if len(set.Entries) > 0 {
		set.Folders = below(path, folders)
		return set.ByPeer(), nil
	}
	var sets []*Set
	if len(set.Others) > 0 {
		sets = append(sets, set)
	}
	for _, folder := range folders {
		sub, deeper, err := ReadFolder(tree, filepath.Join(path, folder), formats)
		if err != nil {
			return nil, err
		}
		sub.Folders = below(sub.Path, deeper)
		if len(sub.Entries)+len(sub.Others)+len(sub.Warnings)+len(deeper) > 0 {
			sets = append(sets, sub.ByPeer()...)
		}
	}
	if len(sets) == 0 {
		return []*Set{set}, nil
	}
	return sets, nil
}

// below returns the paths of the folders in dir.
func below(dir string, folders []string) []string {
	return lists.Map(folders, func(f string) string { return filepath.Join(dir, f) })
}

// ReadFolder is ReadDir for the folder of a peer. Some engines keep states in a separate folder next to the peer's
// other files. The set includes those states, and the returned names do not include that folder.
func ReadFolder(tree files.Tree, path string, formats []Format) (*Set, []string, error) {
	set, folders, err := ReadDir(tree, path, formats)
	if err != nil {
		return nil, nil, err
	}
	var rest []string
	for _, folder := range folders {
		if !slices.ContainsFunc(formats, func(f Format) bool { return slices.Contains(f.Folders, folder) }) {
			rest = append(rest, folder)
			continue
		}
		part, _, err := ReadDir(tree, filepath.Join(path, folder), formats)
		if err != nil {
			return nil, nil, err
		}
		set.join(part)
	}
	return set, rest, nil
}

// FindFile returns the states in a file, one Set for each peer that the file names. A file of no known format is an
// error.
func FindFile(tree files.Tree, path string, formats []Format) ([]*Set, error) {
	format, err := recognized(tree, path, formats)
	if err != nil {
		return nil, err
	}
	dir, base := filepath.Split(filepath.Clean(path))
	dir = filepath.Clean(dir)
	set := &Set{Path: path}
	if format.Parts != nil {
		parts, err := openParts(tree, path, format)
		if err != nil {
			return nil, err
		}
		set.addParts(dir, base, parts)
		set.order()
		return set.ByPeer(), nil
	}
	s, err := OpenPath(tree, path, format)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	e := openedEntry(tree, dir, base, format, s.Info())
	if format.ParseName != nil {
		if n, ok := format.ParseName(compression.PlainName(base)); ok {
			e.Peer = n.Peer
		}
	}
	set.Peer = e.Peer
	e.kept.keep(s)
	set.Entries = []*Entry{e}
	return []*Set{set}, nil
}

// openedEntry returns an entry for a file after its header was read.
func openedEntry(tree files.Tree, dir, base string, format *Format, info *Info) *Entry {
	e := &Entry{
		Tree: tree, Dir: dir, Base: base, Seed: info.Seed, Point: info.Point, Format: format,
		checked: true, root: info.Root, kept: newKeeping(format),
	}
	if format.NamesPeer {
		e.Peer = info.Peer
	}
	return e
}

// partPeers handles files that contain several states each. If the files overlap, it treats each file as a separate
// peer, named after the file, because one peer has only one state for each tick.
func (s *Set) partPeers() {
	type span struct{ first, last Point }
	spans := map[string]span{}
	var files []string
	for _, e := range s.Entries {
		if e.part == nil || e.Peer != "" {
			continue
		}
		x, ok := spans[e.Base]
		if !ok {
			files = append(files, e.Base)
			x = span{e.Point, e.Point}
		}
		if e.Point.Compare(x.first) < 0 {
			x.first = e.Point
		}
		if e.Point.Compare(x.last) > 0 {
			x.last = e.Point
		}
		spans[e.Base] = x
	}
	overlap := false
	for i, a := range files {
		for _, b := range files[:i] {
			overlap = overlap || spans[a].first.Compare(spans[b].last) <= 0 && spans[b].first.Compare(spans[a].last) <= 0
		}
	}
	for _, e := range s.Entries {
		if overlap && e.part != nil && e.Peer == "" {
			e.Peer = e.Base
		}
	}
}

// addParts adds the states of a file with several.
func (s *Set) addParts(dir, base string, parts *partFile) {
	s.Entries = slices.Grow(s.Entries, len(parts.parts))
	entries := make([]Entry, len(parts.parts))
	for i := range parts.parts {
		part := &parts.parts[i]
		entries[i] = Entry{
			Tree: parts.tree, Dir: dir, Base: base, Peer: part.Peer, Seed: part.Seed, Point: part.Point, Format: parts.format, parts: parts, part: part,
			kept: newKeeping(parts.format),
		}
		s.Entries = append(s.Entries, &entries[i])
	}
}

// ByPeer splits a set by the peers that its files name. The first set gets the files that are not states.
func (s *Set) ByPeer() []*Set {
	var out []*Set
	for begin := 0; begin < len(s.Entries); {
		end := begin + 1
		for end < len(s.Entries) && s.Entries[end].Peer == s.Entries[begin].Peer {
			end++
		}
		one := &Set{Path: s.Path, Peer: s.Entries[begin].Peer, Entries: s.Entries[begin:end:end]}
		if begin == 0 {
			one.Others, one.Warnings, one.Conflicts, one.Folders = s.Others, s.Warnings, s.Conflicts, s.Folders
		}
		out = append(out, one)
		begin = end
	}
	if len(out) == 0 {
		return []*Set{s}
	}
	return out
}

// ReadDir returns the snapshots in a folder, and the names of the folders in it.
//
// Names select: a file is not opened if its name matches a format's pattern. Any other file is examined; if it is a
// snapshot, its header is read and a warning reports it. Names that begin with a dot are skipped.
func ReadDir(tree files.Tree, path string, formats []Format) (*Set, []string, error) {
	names, err := tree.Names(path)
	if err != nil {
		return nil, nil, err
	}
	set := &Set{Path: path}
	path = filepath.Clean(path)
	var folders, strangers []string
	arena := make([]Entry, 0, len(names)) // never grows, so pointers into it stay valid
	for _, base := range names {
		if base[0] == '.' {
			continue
		}
		if n, format, ok := named(base, formats); ok {
			if !n.NoEvidence {
				arena = append(arena, Entry{Tree: tree, Dir: path, Base: base, Peer: n.Peer, Seed: n.Seed, Point: n.Point, Format: format, kept: newKeeping(format)})
			}
			continue
		}
		stat, err := tree.Stat(filepath.Join(path, base))
		switch {
		case err != nil:
			set.Warn(filepath.Join(path, base), "%v", err)
		case stat.IsDir():
			folders = append(folders, base)
		case !stat.Mode().IsRegular():
			set.Warn(filepath.Join(path, base), "%s: not a regular file", filepath.Join(path, base))
		default:
			strangers = append(strangers, base)
		}
	}
	set.Entries = sorted(arena, len(strangers))
	slices.Sort(folders)
	slices.Sort(strangers)
	for _, base := range strangers {
		set.stranger(tree, path, base, formats, len(strangers) <= maxKeptFiles)
	}
	if len(strangers) > 0 { // only the content shows that a file contains several states
		set.partPeers()
	}
	set.order()
	return set, folders, nil
}

// sorted returns pointers to entries by tick, with room for more. Entries with the same tick are rare and keep their
// order; Set.order sorts them.
func sorted(entries []Entry, room int) []*Entry {
	places := make([]place, len(entries))
	for i := range entries {
		places[i] = place{entries[i].Point.Tick, int32(i)}
	}
	sortPlaces(places)
	out := make([]*Entry, len(entries), len(entries)+room)
	for i, p := range places {
		out[i] = &entries[p.i]
	}
	return out
}

// place is an entry's tick and index.
type place struct {
	tick uint64
	i    int32
}

// sortPlaces is a stable radix sort by tick. It pays because the names in the folder of a long session are in the order
// of their hashes.
func sortPlaces(places []place) {
	const bits, few = 11, 256
	if len(places) < few {
		lists.SortStable(places, func(a, b place) int { return cmp.Compare(a.tick, b.tick) })
		return
	}
	vary := uint64(0)
	for _, p := range places {
		vary |= p.tick ^ places[0].tick
	}
	from, to := places, make([]place, len(places))
	for shift := 0; vary>>shift != 0; shift += bits {
		var at [1 << bits]int32
		digit := func(p place) int { return int(p.tick >> shift & (1<<bits - 1)) }
		for _, p := range from {
			at[digit(p)]++
		}
		sum := int32(0)
		for d, n := range at {
			at[d], sum = sum, sum+n
		}
		for _, p := range from {
			d := digit(p)
			to[at[d]] = p
			at[d]++
		}
		from, to = to, from
	}
	copy(places, from)
}

// named returns the data in a file's name, and the format with the matching pattern.
func named(base string, formats []Format) (FileName, *Format, bool) {
	plain := compression.PlainName(base)
	for i := range formats {
		if formats[i].ParseName == nil {
			continue
		}
		if n, ok := formats[i].ParseName(plain); ok {
			return n, &formats[i], true
		}
	}
	return FileName{}, nil, false
}

// stranger examines a file with a name that matches no format. few is true if the folder has few such files.
func (s *Set) stranger(tree files.Tree, dir, base string, formats []Format, few bool) {
	path := filepath.Join(dir, base)
	format, err := Recognize(tree, path, formats)
	if err != nil { // it may be anything
		s.Lost, s.Others = append(s.Lost, files.Note{Path: path, Text: err.Error()}), append(s.Others, path)
		return
	}
	if format == nil {
		s.Others = append(s.Others, path)
		return
	}
	if format.Parts != nil {
		parts, err := openParts(tree, path, format)
		if err != nil {
			s.Lost = append(s.Lost, files.Note{Path: path, Text: err.Error()})
			return
		}
		s.addParts(dir, base, parts)
		return
	}
	state, err := OpenPath(tree, path, format)
	if err != nil {
		s.Lost = append(s.Lost, files.Note{Path: path, Text: err.Error()})
		if errors.Is(err, frame.ErrLacking) { // a message in place of a state
			s.Others = append(s.Others, path)
		}
		return
	}
	defer state.Close()
	info := state.Info()
	if format.Usual == nil || !format.Usual(base) {
		point := "state point " + info.Point.String()
		if !info.Point.Known() {
			point = "the state of " + info.Point.String()
		}
		s.Warn(path, "%s: recognized by its content, not by its name: %s", path, point)
	}
	e := openedEntry(tree, dir, base, format, info)
	if few {
		e.kept.keep(state)
	}
	s.Entries = append(s.Entries, e)
}
