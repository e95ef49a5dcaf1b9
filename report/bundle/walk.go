package bundle

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/snapshot"
)

// folder is a folder as it was walked.
type folder struct {
	path    string
	real    string // path without links, empty in an archive
	lost    bool   // a state in it cannot be read
	set     *snapshot.Set
	files   []*File
	folders []*folder
	walked  []*walked // itself, and folders of an engine's in it
}

// walked is a folder with its listed files and its peer.
type walked struct {
	path  string
	place *place // nil next to the peers' folders
}

// root is what was found at one of the paths.
type root struct {
	file   *File   // or nil
	folder *folder // or nil
	lost   files.Notes
}

// add takes a path that was given.
func (s *Session) add(path string) error {
	stat, err := s.tree.Stat(path)
	if err != nil {
		return err
	}
	if !stat.IsDir() {
		f := s.file(path)
		f.given = true
		s.roots = append(s.roots, &root{file: f})
		return nil
	}
	s.visited = append(s.visited, s.tree.Real(path))
	f, err := s.walk(path, int(limits.Folders.Max()))
	if err != nil {
		return err
	}
	s.roots = append(s.roots, &root{folder: f, lost: s.lost})
	s.lost = nil
	return nil
}

// file returns the file at a path, which is recognised the first time.
func (s *Session) file(path string) *File {
	if f := s.byPath[path]; f != nil {
		return f
	}
	f := s.recognise(path)
	s.byPath[path] = f
	s.files = append(s.files, f)
	return f
}

// walk looks at the content of a folder, and of the folders below it.
func (s *Session) walk(path string, deeper int) (*folder, error) {
	set, names, err := snapshot.ReadFolder(s.tree, path, formats.SnapshotsOf(s.list))
	if err != nil {
		return nil, err
	}
	f := &folder{path: path, set: set, real: s.tree.Real(path), lost: len(set.Lost) > 0}
	w := &walked{path: path}
	s.walked = append(s.walked, w)
	f.walked = append(f.walked, w)
	for _, entry := range set.Entries {
		if dir := filepath.Dir(entry.Path()); dir != path && !slices.ContainsFunc(f.walked, func(w *walked) bool { return w.path == dir }) {
			part := &walked{path: dir} // the engine's own folder of states
			s.walked, f.walked = append(s.walked, part), append(f.walked, part)
		}
	}
	for _, other := range set.Others {
		if limits.Files.Over(int64(len(s.files)) + 1) {
			return nil, limits.Files.Reached(s.what(), 0)
		}
		f.files = append(f.files, s.file(other))
	}
	for _, note := range set.Lost {
		if i := slices.Index(set.Others, note.Path); i < 0 || f.files[i].isState() { // else it may have another format
			s.lost = append(s.lost, note)
		}
	}
	set.Others = nil
	for _, name := range names {
		at := filepath.Join(path, name)
		if deeper == 0 {
			s.lose(at, "%s: lies too deep, and was not looked into; name it, or: %v", at, limits.Folders.Reached("", 0))
			continue
		}
		left := deeper - 1
		if real := s.tree.Real(at); f.real != "" && real != "" && real != filepath.Join(f.real, name) {
			if within(real, s.visited) {
				continue // a link to a folder that is walked anyway
			}
			left = 0 // if a link leads outside, only the folder itself
		}
		below, err := s.walk(at, left)
		if err != nil {
			s.lose(at, "%v", err)
			continue
		}
		f.folders = append(f.folders, below)
	}
	return f, nil
}

// within reports whether a path is one of some, below one, or above one.
func within(path string, roots []string) bool {
	const slash = string(filepath.Separator)
	return slices.ContainsFunc(roots, func(root string) bool {
		return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, slash)+slash) || strings.HasPrefix(root, strings.TrimSuffix(path, slash)+slash)
	})
}

// ofOnePeer reports whether a folder itself has what one peer leaves.
func (f *folder) ofOnePeer() bool {
	return slices.ContainsFunc(f.set.Entries, func(e *snapshot.Entry) bool { return e.Peer == "" }) ||
		slices.ContainsFunc(f.files, (*File).ofOnePeer)
}

// holds reports whether there is evidence in a folder or below it.
func (f *folder) holds() bool {
	return len(f.set.Entries)+len(f.set.Warnings) > 0 || f.lost || slices.ContainsFunc(f.files, func(f *File) bool { return f.isEvidence() || f.lost() != "" }) || slices.ContainsFunc(f.folders, (*folder).holds)
}

// settle assigns a given folder to its peer or peers. Folders of several sessions are an error.
func (s *Session) settle(f *folder) error {
	below := s.below(f)
	switch {
	case len(below) == 0, f.ofOnePeer() && len(below) == 1, len(f.set.ByPeer()) > 1:
		p := s.take(f) // with the states of several peers in it, it is the session's folder
		p.shared = !f.ofOnePeer()
		return nil
	}
	list := s.sessions(f)
	if len(list) > 1 {
		return fmt.Errorf("%s: the folders of several sessions: %s; give one of them", f.path, strings.Join(list, ", "))
	}
	peers := map[*folder]bool{}
	for _, p := range s.apart(f, below, list) {
		peers[p] = true
	}
	s.beside(f, peers)
	return nil
}

// apart leaves out a folder of a session, such as a backup, if the folders of two or more peers are next to it, and
// reports that. It returns the peers that are left.
func (s *Session) apart(f *folder, peers []*folder, sessions []string) []*folder {
	in := map[*folder]bool{}
	for _, sub := range f.folders {
		in[sub] = true
	}
	beside := lists.Where(peers, func(p *folder) bool { return in[p] })
	if len(beside) < 2 || len(sessions) == 0 {
		return peers
	}
	i := slices.IndexFunc(f.folders, func(sub *folder) bool { return sub.path == sessions[0] })
	if i >= 0 {
		more := f.folders[i]
		f.folders = slices.Delete(f.folders, i, i+1)
		if more.completes(beside) {
			return beside
		}
	}
	s.lose(sessions[0], "%s: holds evidence too, and was not looked into; name it", sessions[0])
	return beside
}

// completes gives peers the states in the folders of the same names below a folder, such as logs/host next to host. It
// reports whether each of these is the only one with states of its peer, and nothing else is in the folder.
func (f *folder) completes(peers []*folder) bool {
	name := strings.ToLower(filepath.Base(f.path))
	older := strings.Contains(name, "back") || strings.Contains(name, "old") || strings.Contains(name, "prev")
	if older || len(f.set.Entries) > 0 || slices.ContainsFunc(f.files, (*File).isEvidence) || len(f.folders) != len(peers) {
		return false
	}
	var own []*folder // of each folder below, the peer
	for _, sub := range f.folders {
		i := slices.IndexFunc(peers, func(p *folder) bool { return filepath.Base(p.path) == filepath.Base(sub.path) })
		if i < 0 || peers[i].hasStates() || !sub.hasStates() || slices.ContainsFunc(sub.files, (*File).isEvidence) {
			return false
		}
		own = append(own, peers[i])
	}
	for i, sub := range f.folders {
		own[i].folders = append(own[i].folders, sub)
	}
	return true
}

// hasStates reports whether there are states in a folder or below it.
func (f *folder) hasStates() bool {
	return len(f.set.Entries) > 0 || slices.ContainsFunc(f.folders, (*folder).hasStates)
}

// ofMatch finds a word for a match, or a date, in the name of a folder.
var ofMatch = lazyregexp.New(`(?i)(^|[^a-z])(match|game|session|round|run|replay|lobby|room|test|try|attempt|seed)s?([^a-z]|$)|\d{4}-?\d\d-?\d\d`)

// sessions returns the folders below one that each contain several peers' folders, or the states of several peers and the name
// of a match.
func (s *Session) sessions(f *folder) (paths []string) {
	var few []string // with files that name several peers; games also keep other peers' files
	for _, sub := range f.folders {
		switch {
		case sub.ofOnePeer():
		case len(s.from(f, sub)) > 1:
			paths = append(paths, sub.path)
		case len(sub.set.ByPeer()) > 1:
			few = append(few, sub.path)
		}
	}
	if len(paths) > 0 || len(few) > 1 && !slices.ContainsFunc(few, func(path string) bool { return !ofMatch.MatchString(filepath.Base(path)) }) {
		paths = append(paths, few...)
	}
	if len(paths) == 1 {
		for _, sub := range f.folders {
			if sub.path == paths[0] {
				if deeper := s.sessions(sub); len(deeper) > 1 {
					return deeper
				}
			}
		}
	}
	return paths
}

// below returns the folders of peers below one.
func (s *Session) below(f *folder) (peers []*folder) {
	for _, sub := range f.folders {
		peers = append(peers, s.from(f, sub)...)
	}
	return peers
}

// from returns a folder in f itself if it is one peer's, else the peers' folders below it.
func (s *Session) from(f, sub *folder) []*folder {
	deeper := s.below(sub)
	switch {
	case sub.ofOnePeer(),
		len(deeper) > 1 && sub.sorted() && slices.ContainsFunc(f.folders, func(other *folder) bool { return other != sub && other.like(sub) && other.sorted() }),
		len(deeper) > 1 && s.samePeer(deeper), // with its states in one folder, and its logs in another
		len(deeper) == 0 && (sub.holds() || len(sub.files) > 0):
		return []*folder{sub}
	}
	return deeper
}

// like reports whether folders of the same names are in a folder and in another one.
func (f *folder) like(other *folder) bool {
	return slices.EqualFunc(f.folders, other.folders, func(a, b *folder) bool { return filepath.Base(a.path) == filepath.Base(b.path) })
}

// sorted reports whether each folder in a folder has other kinds of files than the rest: Ann/logs and Ann/states belong to
// one peer if there are Bob/logs and Bob/states.
func (f *folder) sorted() bool {
	in := map[string]*folder{} // the folder with a kind of files
	for _, sub := range f.folders {
		for _, kind := range sub.kinds() {
			if at := in[kind]; at != nil && at != sub {
				return false
			}
			in[kind] = sub
		}
	}
	return true
}

// kinds lists the ends of the names of all files in a folder and below it.
func (f *folder) kinds() (list []string) {
	list = lists.Map(f.set.Entries, func(e *snapshot.Entry) string { return filepath.Ext(compression.PlainName(e.Path())) })
	list = append(list, lists.Map(f.files, func(file *File) string { return file.ext() })...)
	for _, sub := range f.folders {
		list = append(list, sub.kinds()...)
	}
	return list
}

// samePeer reports whether folders contain different files of one peer, which the files of each folder name: no two of
// them have states, or order logs.
func (s *Session) samePeer(folders []*folder) bool {
	states, logs, name := 0, 0, ""
	for _, f := range folders {
		if len(f.set.Entries) > 0 {
			states++
		}
		logs += lists.Count(f.files, func(file *File) bool { return file.isOwnLog() })
		told := s.nameOf(f)
		if told == "" || name != "" && told != name {
			return false
		}
		name = told
	}
	return states <= 1 && logs <= 1
}

// nameOf returns the peer that the files of a folder name, empty if they name none.
func (s *Session) nameOf(f *folder) string {
	if len(f.set.Entries) > 0 {
		return nameIn(f.set.Entries[0])
	}
	for _, file := range f.files {
		if file.isOwnLog() {
			if name := s.logPeer(file); name != "" {
				return name
			}
		}
	}
	return ""
}

// beside makes places of the peers' folders; all other files are loose.
func (s *Session) beside(f *folder, peers map[*folder]bool) {
	if len(f.set.Entries)+len(f.set.Warnings)+len(f.set.Conflicts) > 0 {
		p := &place{path: f.path, set: f.set, stray: f.ofOnePeer()}
		s.places = append(s.places, p)
		s.trace(p)
	}
	for _, file := range f.files {
		s.loosen(file)
	}
	for _, sub := range f.folders {
		if peers[sub] {
			s.take(sub)
		} else {
			s.beside(sub, peers)
		}
	}
}

// loosen makes a place of a file.
func (s *Session) loosen(f *File) {
	s.places = append(s.places, &place{path: f.Path, files: []*File{f}})
}

// take makes a place of a folder and of all below it.
func (s *Session) take(f *folder) *place {
	p := &place{path: f.path, set: f.set}
	s.gather(p, f)
	s.places = append(s.places, p)
	s.trace(p)
	return p
}

// trace finds the states of a place with files that are also traces or order logs.
func (s *Session) trace(p *place) {
	for _, e := range p.set.Entries {
		if f := s.formatOf(e.Format.Name); f == nil || f.Trace == nil && f.Log == nil {
			continue
		}
		if path := filepath.Join(e.Dir, e.Base); s.byPath[path] == nil {
			p.traced = append(p.traced, s.file(path))
		}
	}
}

// gather adds the files of a folder to a place. States below it are another folder's, such as older ones, and are not
// mixed with the place's.
func (s *Session) gather(p *place, f *folder) {
	for _, w := range f.walked {
		w.place = p
	}
	for _, file := range f.files {
		file.place = p
		p.files = append(p.files, file)
	}
	for _, sub := range f.folders {
		if len(sub.set.Entries) > 0 && len(p.set.Entries) > 0 || sub.hasLog() && slices.ContainsFunc(p.files, (*File).isOwnLog) {
			s.lose(sub.path, "%s: holds evidence too, and was not looked into; name it", sub.path)
			continue
		}
		if len(sub.set.Entries) > 0 {
			p.set = sub.set
			p.set.Path = p.path
		}
		s.gather(p, sub)
	}
}

// hasLog reports whether a folder itself has one of our order logs.
func (f *folder) hasLog() bool { return slices.ContainsFunc(f.files, (*File).isOwnLog) }

// own reports whether the place has what one peer leaves.
func (p *place) own() bool {
	return p.set != nil && len(p.set.Entries) > 0 || slices.ContainsFunc(p.files, (*File).ofOnePeer)
}
