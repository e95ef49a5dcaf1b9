package survey

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
)

// maxBelow is how many folders of a path are searched for a page.
const maxBelow = 64

// Described is a tree with a given page.
type Described interface {
	files.Tree
	// Description returns the page, nil if none was given.
	Description() *description.Description
}

// Page returns the page that describes the files at some paths: the page that was given with the tree, else the nearest
// in the folder of a path, a folder in it, or a folder above. It returns nil if there is none. Two that differ are an
// error.
func Page(tree files.Tree, paths []string) (*description.Description, error) {
	if t, ok := tree.(Described); ok {
		if d := t.Description(); d != nil {
			return d, nil
		}
	}
	found, text, err := find(tree, paths)
	if found == "" || err != nil {
		return nil, err
	}
	return description.Parse(text, found)
}

// Path returns the path of the page that describes the files at some paths, and reads only its bytes; empty if there is
// none.
func Path(tree files.Tree, paths []string) (string, error) {
	found, _, err := find(tree, paths)
	return found, err
}

// Read reads a page on the disk.
func Read(path string) (*description.Description, error) {
	text, err := readPage(files.Disk, path)
	if err != nil {
		return nil, err
	}
	return description.Parse(text, path)
}

// find returns the path of the page, and its content.
func find(tree files.Tree, paths []string) (found string, first []byte, err error) {
	for _, path := range paths {
		at, text, err := nearest(tree, filepath.Clean(path))
		switch {
		case err != nil:
			return "", nil, err
		case at == "" || found == at:
		case found == "":
			found, first = at, text
		case !bytes.Equal(first, text):
			return "", nil, fmt.Errorf("%s and %s differ; give the right one by --game", found, at)
		}
	}
	return found, first, nil
}

// beside reports whether a page is in one of the folders, or next to one of the files.
func beside(page string, paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool {
		path = filepath.Clean(path)
		dir := filepath.Dir(page)
		return dir == filepath.Dir(path) || dir == path || filepath.Dir(dir) == path
	})
}

// nearest returns the nearest page to a path, and its content; an empty path if there is none.
func nearest(tree files.Tree, path string) (at string, text []byte, err error) {
	for _, dir := range around(tree, path) {
		at := filepath.Join(dir, description.Base)
		if stat, err := tree.Stat(at); err != nil || !stat.Mode().IsRegular() {
			continue
		}
		text, err := readPage(tree, at)
		return at, text, err
	}
	return "", nil, nil
}

// around returns the folders in which the page for a path may be, the nearest first.
func around(tree files.Tree, path string) (dirs []string) {
	dir := path
	stat, err := tree.Stat(path)
	if err != nil {
		return nil
	}
	if !stat.IsDir() {
		dir = filepath.Dir(path)
	}
	dirs = append(dirs, dir)
	if stat.IsDir() {
		names, _ := tree.Names(path)
		slices.Sort(names)
		for _, name := range names[:min(len(names), maxBelow)] {
			below := filepath.Join(path, name)
			if stat, err := tree.Stat(below); err == nil && stat.IsDir() {
				dirs = append(dirs, below)
			}
		}
	}
	full, err := filepath.Abs(dir)
	for err == nil && full != filepath.Dir(full) {
		full = filepath.Dir(full)
		dirs = append(dirs, full)
	}
	return dirs
}

// readPage reads a page, and a byte more than one may have.
func readPage(tree files.Tree, path string) ([]byte, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, description.MaxLen+1))
	return text, errors.Join(err, f.Close())
}

// title returns a title that names the game, or one for a game that is not described.
func (g *group) title(text string) string {
	if g.page == nil {
		return text
	}
	return g.page.Title() + ": " + strings.TrimSuffix(text, " of any game")
}

// kindOf returns what the page has for a file: description.Undescribed without a page.
func (s *Survey) kindOf(path string) description.Kind {
	if s.page == nil {
		return description.Undescribed
	}
	return s.page.KindOf(path)
}

// may reports whether a group may be of a kind: it is described so, or no globs choose the files of the kind.
func (g *group) may(kind description.Kind) bool {
	return g.kind == kind || g.kind == description.Undescribed && (g.page == nil || !g.page.Chooses(kind))
}

// described returns formats with the name of the game that the page names.
func (s *Survey) described(list []engine.Format) []engine.Format {
	if s.page == nil {
		return list
	}
	if s.page.Chooses(description.Other) {
		list = append(list, engine.Format{
			Name: "other", Title: "no evidence", Files: "*", Sniff: func([]byte) bool { return false },
			Paths: func(path string) bool { return s.kindOf(path) == description.Other },
		})
	}
	for i := range list {
		f := &list[i]
		f.Game, f.Described, f.Page = s.page.Title(), true, true
		if f.Snapshot != nil {
			f.Snapshot.Described = true
		}
	}
	return list
}

// hints are what the page has for states.
func (s *Survey) hints() *states.Hints {
	d := s.page
	if d == nil {
		return nil
	}
	out := &states.Hints{Tick: d.Tick, Peer: d.Peer, RNG: d.RNG, Noise: d.Noise, Cache: d.Cache}
	for _, t := range d.Tables {
		out.Tables = append(out.Tables, states.Table{Path: t.Path, Key: t.Key, Label: t.Label, Position: t.Position})
	}
	return out
}

// missing notes the paths of the page that are in none of the states that were read.
func (s *Survey) missing() {
	for _, path := range s.Missing() {
		s.notes = append(s.notes, fmt.Sprintf("%s: no state that was looked at has %s", s.page.File, prose.Name(path)))
	}
}

// inName returns the text that the first pattern of the page that fits a name finds in it, and where; false if none
// does, or it does not have that part.
func inName(d *description.Description, base, part string) (text string, at [2]int, ok bool) {
	if d == nil {
		return "", at, false
	}
	for _, p := range d.Name {
		match := p.FindStringSubmatchIndex(base)
		if match == nil {
			continue
		}
		i := p.SubexpIndex(part)
		if i < 0 || match[2*i] < 0 {
			return "", at, false
		}
		at = [2]int{match[2*i], match[2*i+1]}
		return base[at[0]:at[1]], at, true
	}
	return "", at, false
}

// named returns what a described name has instead of the tick and the peer of a state, as far as the content is not
// described.
func (g *group) named(w *snapshot.World, base string) {
	if g.page == nil || len(g.page.Name) == 0 {
		return
	}
	if n, ok := g.tickOf(base); ok && (g.page.Tick == "" || !w.Point.Known()) {
		w.Point = snapshot.Point{Tick: n}
	}
	if peer := g.peerOf(base); peer != "" && (g.page.Peer == "" || w.Peer == "") {
		w.Peer = peer
	}
}
