// Package bundle identifies the artifacts below some paths: their kinds, their peers and their matches.
//
// A [Session] walks every folder once and recognises every file once, by its name or its first bytes. The meaning of a
// folder is decided here, for all commands:
//
//   - A folder with the files of one peer in it, a state, an order log, a trace, belongs to that peer, with everything
//     below it.
//   - A folder without any contains peers' folders, one for each peer, at any depth up to limits.Folders. Files next to
//     these belong to the peers that they name: a table of all peers' checksums, a relay's log, the copy of another
//     peer's dump.
//   - If both are true for the given folder, the folders are the peers, and the files next to them are loose.
//   - A loose file, as one that is given itself, belongs to the peer that it names, else it counts as a separate peer.
package bundle

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/bundle/gamelog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/survey"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

type snapshotFormat = snapshot.Format

// Session is the evidence below some paths.
type Session struct {
	survey *survey.Survey
	tree   *archive.Tree
	paths  []string
	names  *naming // how peers are called, nil for the names in their files
	list   []engine.Format
	// gameLog is what the game's logs have, as a page describes it; nil if none does.
	gameLog *engine.Log
	// tables are in states in ordinary notations.
	tables []document.Identified

	places  []*place
	files   []*File // all, in the order of the paths and their names
	byPath  map[string]*File
	walked  []*walked
	visited []string // folders that were given, without links
	stdin   bool     // - is among the paths
	game    string   // the game of the artifacts
	roots   []*root  // the findings at each of the paths
	match   *Match   // the only match that these files belong to, nil if these are all files

	testLogs []*tracediff.ClaimLog // of self-tests that failed, once looked for
	tested   bool

	traced   *string // the peer that KeepTraces keeps the traces of, nil for all
	untraced bool    // others were left out

	parted gamelog.Split // that games' own logs were last read with

	digests  map[string][sha256.Size]byte
	peers    []*Peer // once found
	found    bool
	lost     files.Notes
	warnings files.Notes
}

// place is a folder with the files of one peer, or of several peers that the files name, or a loose file.
type place struct {
	path  string
	set   *snapshot.Set // states, nil for a loose file; Others are empty, since files has them
	files []*File
	// traced are states in files that are also traces.
	traced []*File
	// shared reports that it is the only folder and no file in it comes from one peer: the files belong to the peers
	// that they name.
	shared bool
	// stray reports that the states are next to the folders of peers.
	stray bool
}

// loose returns the only file of a place that is not a folder, else nil.
func (p *place) loose() *File {
	if p.set == nil {
		return p.files[0]
	}
	return nil
}

// Open walks some paths: files, folders, archives, or files and folders in archives. The path - is stdin. A path that
// does not exist, or is given twice, is an error; Lost lists the files below the paths that cannot be used. The caller
// closes the tree after the last use of the session.
func Open(tree *archive.Tree, paths []string) (*Session, error) {
	s, err := look(tree, paths, nil, nil)
	if err != nil {
		return nil, err
	}
	return s, s.arrange()
}

// look walks the paths and recognises the files, by a survey of them unless it is nil. It does not assign the folders to
// peers yet.
func look(tree *archive.Tree, paths []string, names *naming, found *survey.Survey) (*Session, error) {
	if err := distinct(tree, paths); err != nil {
		return nil, err
	}
	if found == nil {
		layTicks(tree, paths)
	}
	s, err := newSession(tree, paths, names, found)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if _, err := tree.Stat(path); path == archive.Stdin && err != nil {
			s.stdin = true // which the tree does not hold
			continue
		}
		if err := s.add(filepath.Clean(path)); err != nil {
			return nil, err
		}
	}
	s.single()
	if post := s.post(); found == nil && post != nil && s.tree.Peel(post.Path) {
		return look(tree, paths, names, nil)
	}
	if !s.nothing() || s.tabled() {
		return s, nil
	}
	if s.stdin {
		s.tell()
		return s, nil
	}
	if found == nil && !slices.ContainsFunc(s.roots, func(r *root) bool { return r.folder != nil && r.folder.holds() }) && s.peel() {
		return look(tree, paths, names, nil)
	}
	s.quoted()
	s.tell()
	return s, nil
}

// post returns the only evidence if it is a text that people wrote: it may have the logs of several machines.
func (s *Session) post() *File {
	files := lists.Where(s.files, func(f *File) bool { return f.isEvidence() || f.hasTrace(s.tree) })
	states := slices.ContainsFunc(s.roots, func(r *root) bool { return r.folder != nil && r.folder.hasStates() })
	if states || len(files) != 1 || files[0].given || !slices.Contains(documents, strings.ToLower(files[0].ext())) {
		return nil
	}
	return files[0]
}

// nothing reports whether none of the files is evidence.
func (s *Session) nothing() bool {
	return !slices.ContainsFunc(s.files, func(f *File) bool { return f.isEvidence() || f.isReport() || f.hasTrace(s.tree) })
}

// tabled takes tables of checksums as evidence whatever they are called. It reports whether there are several.
func (s *Session) tabled() bool {
	tables := lists.Where(s.files, func(f *File) bool { return f.columns && !f.given && !f.isEvidence() })
	if len(tables) < 2 {
		return false
	}
	for _, f := range tables {
		f.table = true
	}
	return true
}

// mostPeeled is how many texts are looked at for evidence in other text.
const mostPeeled = 256

// peel looks for evidence in texts that are none as a whole: a table of checksums in the middle of a report.
func (s *Session) peel() (any bool) {
	texts := lists.Where(s.files, func(f *File) bool { return f.text && !f.given })
	for _, f := range texts[:min(len(texts), mostPeeled)] {
		any = s.tree.Peel(f.Path) || any
	}
	return any
}

// quoted lets messages that people quote count in every text, if none of the files is evidence.
func (s *Session) quoted() {
	for _, f := range s.files {
		if f.text && !f.single {
			f.single, f.scanned = true, f.scanned && !f.quotes
		}
	}
}

// aboutFolders are beginnings of the names of texts about the folder that they are in.
var aboutFolders = []string{"readme", "changelog", "license", "contributing"}

// tell reads the texts as people's words about a desync, if nothing else is in any of the files.
func (s *Session) tell() {
	texts := lists.Where(s.files, func(f *File) bool {
		ext := strings.ToLower(f.ext())
		base := strings.ToLower(filepath.Base(f.Path))
		about := slices.ContainsFunc(aboutFolders, func(name string) bool { return strings.HasPrefix(base, name) })
		return f.text && !about && f.speaks() && (!slices.Contains(written, ext) || slices.Contains(documents, ext))
	})
	if len(texts) > mostPeeled || slices.ContainsFunc(s.files, func(f *File) bool { return f.hasTrace(s.tree) }) {
		return
	}
	for _, f := range texts {
		if log, err := formats.ReadTold(s.tree, f.Path); err == nil && len(log.Claims) > 0 {
			f.claims, f.scanned = log, true
		}
	}
}

// single marks the only text among the files, not counting texts that people write next to them.
func (s *Session) single() {
	texts := lists.Where(s.files, func(f *File) bool { return f.text && !slices.Contains(written, strings.ToLower(f.ext())) })
	if len(texts) == 1 {
		texts[0].single = true
	}
}

func newSession(tree *archive.Tree, paths []string, names *naming, found *survey.Survey) (_ *Session, err error) {
	if found == nil {
		if found, err = survey.For(tree, paths); err != nil {
			return nil, err
		}
	}
	s := &Session{tree: tree, survey: found, paths: paths, names: names, list: names.formats(found.Formats()), byPath: map[string]*File{}, digests: map[string][sha256.Size]byte{}}
	if page := found.Page(); page != nil {
		s.gameLog = page.Log
	}
	for _, t := range found.Tables() {
		if t.HasRows() {
			s.tables = append(s.tables, document.Identified{Table: t.Label, Key: t.Key, By: string(t.Why)})
		}
	}
	for _, note := range found.Notes() {
		s.warnings = append(s.warnings, files.Note{Text: note})
	}
	for _, note := range found.Lost() {
		s.lose("", "%s", note)
	}
	return s, nil
}

// arrange assigns the found folders to peers.
func (s *Session) arrange() error {
	for _, r := range s.roots {
		s.lost = append(s.lost, r.lost...)
		if r.file != nil {
			s.loosen(r.file)
		} else if err := s.settle(r.folder); err != nil {
			return err
		}
	}
	s.bound()
	s.oneWitness()
	return s.oneGame()
}

// maxPlaces is how many folders and loose files of peers are compared. All pairs of peers are compared, so the cost
// grows with the square of their number; no game has so many.
const maxPlaces = 256

// bound leaves out the places beyond maxPlaces, and reports that.
func (s *Session) bound() {
	own, first := 0, ""
	s.places = slices.DeleteFunc(s.places, func(p *place) bool {
		if f := p.loose(); f != nil && !f.isEvidence() && !f.ofOnePeer() || f == nil && !p.own() {
			return false
		}
		if own++; own == maxPlaces+1 {
			first = p.path
		}
		return own > maxPlaces
	})
	if own > maxPlaces {
		s.lose("", "%s: %d more folders and files that hold evidence were not compared, from %s on: at most %d are; give fewer", s.what(), own-maxPlaces, first, maxPlaces)
	}
}

// OpenPaths is Open with a new tree, which Close closes.
func OpenPaths(paths ...string) (*Session, error) {
	tree, err := archive.Open(paths, archive.Options{Known: formats.Pasted()})
	if err != nil {
		return nil, err
	}
	s, err := Open(tree, paths)
	if err != nil {
		return nil, errors.Join(tree.Explain(err), tree.Close())
	}
	return s, nil
}

// Close closes the tree.
func (s *Session) Close() error { return s.tree.Close() }

// distinct returns an error if a file or folder is given twice.
func distinct(tree files.Tree, paths []string) error {
	var stats []fs.FileInfo
	for i, path := range paths {
		if path == "-" {
			if slices.Contains(paths[:i], path) {
				return errors.New("stdin is given twice")
			}
			stats = append(stats, nil)
			continue
		}
		stat, err := tree.Stat(path)
		if err != nil {
			return err
		}
		for k, other := range stats {
			if other != nil && os.SameFile(stat, other) && (stat.IsDir() || stat.Mode().IsRegular()) {
				return givenTwice(paths[k], paths[i])
			}
		}
		stats = append(stats, stat)
	}
	return nil
}

func givenTwice(a, b string) error { return fmt.Errorf("%s and %s are the same: given twice", a, b) }

// Tree returns where the files are read from.
func (s *Session) Tree() *archive.Tree { return s.tree }

// KnownBy returns how the formats of the evidence are known, for document.Session.
func (s *Session) KnownBy() (list []string) {
	seen := map[string]bool{}
	for _, f := range s.files {
		switch {
		case f.isEvidence() && f.Format.Page, f.Format == nil && f.claims != nil && f.claims.Dialect.Engine != "":
			seen[document.KnownByPage] = true
		case f.isEvidence() && f.Format.Paths != nil, f.Format == nil && f.claims != nil:
			seen[document.KnownByItself] = true
		case f.isEvidence(), f.ownTrace(), f.table:
			seen[document.KnownByBytes] = true
		}
	}
	for _, p := range s.places {
		if p.set == nil {
			continue
		}
		for _, e := range p.set.Entries {
			switch {
			case e.Format.Described:
				seen[document.KnownByPage] = true
			case e.Format.Paths != nil:
				seen[document.KnownByItself] = true
			default:
				seen[document.KnownByBytes] = true
			}
		}
	}
	return lists.Where([]string{document.KnownByBytes, document.KnownByPage, document.KnownByItself}, func(by string) bool { return seen[by] })
}

// LikelyNoise returns the columns that alone differ in states in ordinary notations, in each of several, by component and
// field; nil if anything else differs there, or a value of an entity.
func (s *Session) LikelyNoise() []string {
	list, compared := s.survey.Noise()
	if !compared || slices.ContainsFunc(list, survey.NoisyColumn.OfEntity) {
		return nil
	}
	return lists.Map(list, func(x survey.NoisyColumn) string { return x.Component + "." + x.Field })
}

// OnlyNoise reports whether nothing but values that are probably noise differ in states in ordinary notations, in each of several,
// be they of entities or not.
func (s *Session) OnlyNoise() bool {
	_, compared := s.survey.Noise()
	return compared
}

// Tables returns the tables of states in ordinary notations, and how their rows are identified.
func (s *Session) Tables() []document.Identified { return s.tables }

// Lost lists what could not be used: entries of archives, files that cannot be read, folders that were not looked into.
func (s *Session) Lost() []string { return slices.Concat(s.lost, s.mine(s.tree.Lost())).Texts() }

// Warnings lists what is odd but harmless.
func (s *Session) Warnings() []string {
	return slices.Concat(s.warnings, s.mine(s.tree.Warnings())).Texts()
}

// mine returns the notes that may be about the session's match.
func (s *Session) mine(notes files.Notes) files.Notes {
	if s.match == nil {
		return notes
	}
	return slices.DeleteFunc(slices.Clone(notes), func(n files.Note) bool { return s.match.all.ofAnother(n.Path, s.match) })
}

func (s *Session) lose(path, format string, args ...any) {
	s.lost = append(s.lost, files.Note{Path: path, Text: fmt.Sprintf(format, args...)})
}

// Paths returns the paths that the session was opened with.
func (s *Session) Paths() []string { return s.paths }

// what names the paths for an error.
func (s *Session) what() string { return strings.Join(s.paths, ", ") }
