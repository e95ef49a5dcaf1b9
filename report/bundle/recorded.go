package bundle

import (
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/engines"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// Recorded is an order log that a game could play again, and its peer.
type Recorded struct {
	Peer  string   // its name, as Logs would call it
	Said  string   // its name as the log has it
	Paths []string // of everything that this peer left
	File  *File
	// Beside are the files in the same folder, including states.
	Beside []*File
}

// Recordings returns the order logs of formats that a game plays, the first of each peer.
func (s *Session) Recordings(plays func(format string) bool) (list []*Recorded) {
	var said, paths []string
	for _, p := range s.places {
		for _, f := range p.files {
			if !f.IsLog() || !plays(f.Format.Name) || f.Err != nil {
				continue
			}
			r := &Recorded{File: f, Paths: []string{p.path}}
			if p.loose() == nil {
				for _, other := range p.files {
					if other != f && filepath.Dir(other.Path) == filepath.Dir(f.Path) {
						r.Beside = append(r.Beside, other)
					}
				}
				r.Beside = append(r.Beside, s.statesBeside(p, f)...)
			}
			if s.match != nil && p.loose() == nil { // of the folder only what is of this match
				r.Paths = nil
				r.Paths = append(r.Paths, lists.Map(p.files, func(own *File) string { return own.Path })...)
			}
			r.Said = s.logPeer(f)
			if own := s.ownStates(p, f); own != nil {
				r.Paths = nil
				r.Paths = append(r.Paths, lists.Map(p.files, func(file *File) string { return file.Path })...)
				for i := range own.Entries {
					r.Paths = append(r.Paths, own.Entries[i].Path())
				}
			}
			list = append(list, r)
			said, paths = append(said, r.Said), append(paths, p.path)
			break
		}
	}
	for i, name := range s.names.peers(said, paths) {
		list[i].Peer = name
	}
	return list
}

// ownStates returns the states of the peer whose order log a place has, nil if there are no other peers' states: games
// send dumps around, so that one peer's folder has all peers' states.
func (s *Session) ownStates(p *place, log *File) *snapshot.Set {
	if p.loose() != nil {
		return nil
	}
	sets := p.set.ByPeer()
	if len(sets) < 2 {
		return nil
	}
	name := s.logPeer(log)
	for _, set := range sets {
		if set.Peer == name {
			return set
		}
	}
	return nil
}

// statesBeside returns the states of a folder that are in the same folder as a file.
func (s *Session) statesBeside(p *place, f *File) (list []*File) {
	for _, e := range p.set.Entries {
		info, err := s.tree.Stat(e.Path())
		if err == nil && filepath.Dir(e.Path()) == filepath.Dir(f.Path) {
			list = append(list, &File{Path: e.Path(), Size: info.Size()})
		}
	}
	return list
}

// CopyTo writes the unpacked content of a file into a folder on the disk, under its own name if that is plain, and
// returns the copy's path. It writes at most limits.File bytes.
func (f *File) CopyTo(tree *archive.Tree, dir string) (string, error) {
	in, err := tree.Open(f.Path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	content, _, err := compression.Unpack(in, limits.File.Max())
	if err != nil {
		return "", fmt.Errorf("%s: %w", f.Path, err)
	}
	if c, ok := content.(io.Closer); ok {
		defer c.Close()
	}
	name := plainName(compression.PlainName(filepath.Base(f.Path)))
	out, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", err
	}
	n, err := io.Copy(out, io.LimitReader(content, limits.File.Max()+1))
	if err == nil && limits.File.Over(n) {
		err = limits.File.Reached(f.Path, n)
	}
	if closed := out.Close(); err == nil {
		err = closed
	}
	return out.Name(), err
}

// plainName returns a name that is not an option or a hidden file, and has only ASCII letters, digits, dots, lines and
// spaces; other characters become underscores.
func plainName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, name)
	if name = strings.TrimLeft(name, "-."); name == "" {
		return "log"
	}
	if len(name) > 128 {
		ext := path.Ext(name)
		name = name[:128-min(len(ext), 16)] + ext[:min(len(ext), 16)]
	}
	return name
}

// TracePeers returns the names of the peers with traces in a file, if there are several.
func (s *Session) TracePeers(f *File) (names []string) {
	for _, t := range s.openTrace(f, TraceOptions{}).foreign {
		if t.Shared {
			names = append(names, t.Name)
		}
	}
	return names
}

// KeepTraces leaves out servers' claims and, from files with the traces of several peers, all traces except one peer's.
// It must be called before anything is read. Files in folders that are shown, as replays are, stay whole. A log with
// the results of every player's machine is compared with its replay for each player separately.
func (s *Session) KeepTraces(peer string) { s.traced = &peer }

// Untraced reports whether traces of peers other than KeepTraces' were left out so far: then the hashes in the log do
// not come only from its peer.
func (s *Session) Untraced() bool { return s.untraced }

// ofOne returns the traces that KeepTraces leaves of a file.
func (s *Session) ofOne(f *File, list []*tracediff.Trace) []*tracediff.Trace {
	if s.traced == nil || s.tree.Shown(f.Path) != "" {
		return list
	}
	all := len(list)
	list = slices.DeleteFunc(list, func(t *tracediff.Trace) bool { return t.Shared && t.Name != *s.traced })
	s.untraced = s.untraced || len(list) < all
	return list
}

// ofReplay names traces of a folder that is shown after the folder: its content was computed by a game, whatever name
// it has. A file can have two sides, the recording and its replay: next to the peer's own files both keep their names;
// next to other replays only the second side is left.
func (s *Session) ofReplay(f *File, list []*tracediff.Trace) []*tracediff.Trace {
	name := s.tree.Shown(f.Path)
	if name == "" {
		return s.ofRecorder(list)
	}
	others := len(s.paths) > 1 && !slices.ContainsFunc(s.paths, func(path string) bool { return s.tree.Shown(path) == "" })
	var out []*tracediff.Trace
	for _, t := range list {
		switch peer := t.Header.Peer; {
		case peer == tracediff.FirstRun && others:
			continue
		case !snapshot.IsRun(peer), others:
			t.Header.Peer, t.Name, t.Shared = name, name, false
		}
		out = append(out, t)
	}
	return out
}

// ofRecorder keeps, next to a replay, only the peer's own trace in a peer's file: it did not compute the traces that
// others sent it.
func (s *Session) ofRecorder(list []*tracediff.Trace) []*tracediff.Trace {
	own := slices.IndexFunc(list, func(t *tracediff.Trace) bool {
		return t.Shared && t.Header.Peer != "" && t.Header.Peer == t.Header.Meta[recordedBy]
	})
	if own < 0 || !s.showsReplay() {
		return list
	}
	return list[own : own+1]
}

// shownPeers are the peers of a folder that is shown: one, of its name, or the two runs of a game's own test.
func (s *Session) shownPeers(place *place) []*Peer {
	list := s.placePeers(place)
	runs := slices.DeleteFunc(slices.Clone(list), func(p *Peer) bool { return !snapshot.IsRun(p.Name) })
	if len(runs) == 2 {
		return runs
	}
	for _, p := range list {
		p.Name = s.tree.Shown(place.path)
	}
	return list[:min(len(list), 1)]
}

// showsReplay reports whether a replay is among what the session was opened with.
func (s *Session) showsReplay() bool {
	return slices.ContainsFunc(s.paths, func(path string) bool { return s.tree.Shown(path) != "" })
}

// Replayer returns the recipe by which the game plays the recordings of the session again, nil if there is none.
func (s *Session) Replayer() *engine.Replayer {
	for _, p := range s.places {
		for _, f := range p.files {
			if !f.IsLog() {
				continue
			}
			if r := engines.ReplayerOf(f.Format.Name); r != nil {
				return r
			}
		}
	}
	return nil
}

// Engine returns the engine that the artifacts come from, nil if it is not known, or if some are in our formats: such a
// game can make anything. A game's artifacts may be next to files that any program writes, such as tables of checksums;
// next to those of a library they show that the game makes more.
func (s *Session) Engine() *engine.Engine {
	var all *engine.Engine
	others := false
	for _, f := range s.formats() {
		e := engines.Of(f.Name)
		switch {
		case f.Native, e != nil && all != nil && e != all:
			return nil
		case e == nil:
			others = true
		default:
			all = e
		}
	}
	if others && all != nil && all.Game == "" {
		return nil
	}
	return all
}

// formats returns the formats of all artifacts.
func (s *Session) formats() (list []*engine.Format) {
	for _, p := range s.places {
		if p.set == nil {
			continue
		}
		for _, e := range p.set.Entries {
			if f := s.formatOf(e.Format.Name); f != nil {
				list = append(list, f)
			}
		}
	}
	for _, f := range s.files {
		if f.Format != nil {
			list = append(list, f.Format)
		}
	}
	return list
}
