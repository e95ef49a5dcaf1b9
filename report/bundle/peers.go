package bundle

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/parallel"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/snapshot"
)

// LogName is the usual name of an order log.
const LogName = "order-log.bin"

// Peer is what one peer left: states, one of our order logs, and other files.
type Peer struct {
	Name   string // from its files, empty if they do not name it
	Path   string // of its folder or file
	States *snapshot.Set
	Log    *File // its order log in our format, nil if it left none
	Files  []*File
	Lost   []string // its files or parts that could not be used
	Notes  []string

	loose bool // it is a file by itself
}

// Peers returns the peers that left a state or one of our order logs, in the order of the paths.
func (s *Session) Peers() []*Peer {
	if s.found {
		return s.peers
	}
	s.found = true
	var stray []*Peer
	for _, p := range s.places {
		switch f := p.loose(); {
		case f != nil:
			s.adopt(s.loosePeers(f))
		case p.stray:
			stray = append(stray, strayPeers(p)...)
		case s.tree.Shown(p.path) != "":
			s.peers = append(s.peers, s.shownPeers(p)...)
		default:
			s.adopt(s.placePeers(p))
		}
	}
	for _, p := range s.peers {
		if len(stray) > 0 && p.Name == "" && len(p.States.Entries) > 0 {
			p.Name = nameIn(p.States.Entries[0])
		}
	}
	for _, p := range stray {
		if !p.joins(s.peers) {
			path := p.States.Entries[0].Path()
			s.warnings = append(s.warnings, files.Note{Path: path, Text: path + ": left out, since it is next to the peers' folders and not in one"})
		}
	}
	if len(s.peers) < 2 {
		s.scatter()
	}
	for _, p := range s.peers {
		if n := p.States.Copies; n > 0 {
			p.Notes = append(p.Notes, fmt.Sprintf("%s: left out as copies of others: %s", p.States.Peer, prose.Count(n, "file", "files")))
		}
	}
	return s.peers
}

// LeaveStates leaves out the states of a peer.
func (s *Session) LeaveStates(p *Peer) {
	if p.States.Entries = nil; p.Log == nil {
		s.peers = slices.DeleteFunc(s.peers, func(q *Peer) bool { return q == p })
	}
}

// PeerNames returns a distinct name for each of Peers.
func (s *Session) PeerNames() []string {
	var said, paths []string
	for _, p := range s.Peers() {
		said, paths = append(said, p.Name), append(paths, p.Path)
	}
	return s.names.peers(said, paths)
}

// maxScattered is how many states in folders are examined for their peers, at most.
const maxScattered = 4096

// scatter treats the files in a folder as several peers' files, if their content shows that: each is loose then.
func (s *Session) scatter() {
	t := Session{tree: s.tree, names: s.names, list: s.list}
	states := 0
	for _, p := range s.places {
		if p.loose() != nil {
			return
		}
		states += len(p.set.Entries)
	}
	if states > maxScattered {
		return
	}
	for _, f := range s.everything() {
		if f.Format != nil && f.Format.Native {
			t.adopt(t.loosePeers(f))
		}
	}
	if len(t.peers) > 1 {
		s.peers = t.peers
	}
}

// adopt adds peers, and joins several places of one peer that the files name.
func (s *Session) adopt(list []*Peer) {
	for _, p := range list {
		if p.loose && p.joins(s.peers) {
			continue
		}
		i := -1
		if p.States.Peer != "" {
			i = slices.IndexFunc(s.peers, func(q *Peer) bool { return q.States.Peer == p.States.Peer })
		}
		if i < 0 {
			s.peers = append(s.peers, p)
			continue
		}
		same := s.peers[i]
		same.States.Merge(p.States)
		same.Lost, same.Files = append(same.Lost, p.Lost...), append(same.Files, p.Files...)
		if same.Log == nil {
			same.Log = p.Log
		}
	}
}

// joins adds the content of a loose file to the peer that it names, if that peer exists and has nothing for the same
// state point yet.
func (p *Peer) joins(peers []*Peer) bool {
	if p.Name == "" {
		return false
	}
	for _, q := range peers {
		if q.Name != p.Name || q.Log != nil && p.Log != nil || !q.loose && p.Log != nil {
			continue
		}
		if slices.ContainsFunc(p.States.Entries, func(e *snapshot.Entry) bool { return q.States.Has(e) }) {
			continue
		}
		q.States.Merge(p.States)
		if p.Log != nil {
			q.Log = p.Log
		}
		q.Files, q.Lost = append(q.Files, p.Files...), append(q.Lost, p.Lost...)
		return true
	}
	return false
}

// loosePeers returns the peers of a loose file, if it is a state or one of our order logs.
func (s *Session) loosePeers(f *File) []*Peer {
	switch {
	case f.Format == nil:
		return nil
	case f.Format.Native && f.IsLog():
		p := &Peer{Path: f.Path, loose: true, States: &snapshot.Set{Path: f.Path}, Files: []*File{f}}
		if s.takeLog(p, f); p.Log == nil {
			s.losePeer(p)
			return nil
		}
		return []*Peer{p}
	case f.Format.Snapshot == nil:
		return nil
	}
	sets, err := snapshot.FindFile(s.tree, f.Path, formats.SnapshotsOf(s.list))
	if err != nil {
		s.lose(f.Path, "%v", err)
		return nil
	}
	var list []*Peer
	for i, set := range sets {
		p := &Peer{Name: set.Peer, Path: f.Path, States: set}
		if i == 0 && f.Format.Trace != nil {
			p.Files = []*File{f}
		}
		if len(sets) == 1 && set.Peer == "" && len(set.Entries) == 1 {
			p.loose, p.Name = true, nameIn(set.Entries[0])
		}
		list = append(list, p)
	}
	return list
}

// nameIn returns the peer that the head of a state names.
func nameIn(e *snapshot.Entry) string {
	if e.Format.Anonymous {
		return e.Peer
	}
	state, err := e.Open()
	if state == nil {
		return ""
	}
	defer state.Close()
	if err != nil {
		return ""
	}
	return state.Info().Peer
}

// strayPeers takes every state of a place by itself.
func strayPeers(p *place) (list []*Peer) {
	for _, e := range p.set.Entries {
		name := e.Peer
		if name == "" {
			name = nameIn(e)
		}
		list = append(list, &Peer{Name: name, Path: e.Path(), States: &snapshot.Set{Path: e.Path(), Entries: []*snapshot.Entry{e}}})
	}
	return list
}

// placePeers returns the peers of the states and the order log in a folder.
func (s *Session) placePeers(place *place) []*Peer {
	var list []*Peer
	for i, set := range place.set.ByPeer() {
		p := &Peer{Name: set.Peer, Path: place.path, States: set}
		if i == 0 {
			p.Files = place.files
			for _, f := range place.files {
				s.takeLog(p, f)
			}
		}
		if len(set.Entries) == 0 && p.Log == nil && !slices.ContainsFunc(place.files, (*File).isChain) {
			s.lost = append(s.lost, set.Warnings...)
			s.losePeer(p)
			continue
		}
		list = append(list, p)
	}
	return list
}

// losePeer keeps the lost files of a peer that left nothing else.
func (s *Session) losePeer(p *Peer) {
	for _, text := range p.Lost {
		s.lose(p.Path, "%s", text)
	}
}

// takeLog makes a file the peer's order log, if it is in our format.
func (s *Session) takeLog(p *Peer, f *File) {
	if f.Format == nil || !f.Format.Native || !f.IsLog() {
		if filepath.Base(f.Path) == LogName && !f.pairs {
			p.Lost = append(p.Lost, f.Path+": not an order log")
		}
		return
	}
	source, closer, err := openLog(s.tree, f, nil)
	if err != nil {
		p.Lost = append(p.Lost, err.Error())
		return
	}
	defer closer.Close()
	if p.Log != nil {
		p.States.Warn(f.Path, "%s: another order log, left out for %s", f.Path, filepath.Base(p.Log.Path))
		return
	}
	p.Log = f
	if name := source.Header().Peer; p.Name == "" {
		p.Name = name
	}
}

// Compared returns the peers as a bisection takes them. The order logs are read to their ends, except those for which
// hashes has an entry, by path.
func (s *Session) Compared(hashes map[string]*bisect.Log) ([]*bisect.Peer, error) {
	var list []*bisect.Peer
	var wait parallel.Group
	peers := s.Peers()
	named := s.names.compared(peers)
	errs := make([]error, len(peers))
	for i, p := range peers {
		b := &bisect.Peer{Name: named[i], Path: p.Path, Snapshots: p.States, Lost: slices.Clone(p.Lost), Notes: slices.Clone(p.Notes)}
		list = append(list, b)
		if p.Log == nil {
			s.signedHashes(b, p)
			continue
		}
		if known := hashes[p.Log.Path]; known != nil {
			b.Log = known
			continue
		}
		wait.Go(func() { errs[i] = s.readLog(b, p.Log) })
	}
	wait.Wait()
	return list, errors.Join(errs...)
}

// readLog reads what a peer's order log contains about the peer.
func (s *Session) readLog(p *bisect.Peer, f *File) error {
	source, closer, err := openLog(s.tree, f, nil)
	if err != nil {
		return err
	}
	defer closer.Close()
	log, err := bisect.ReadLog(source)
	if err != nil && !damaged(err) {
		return err
	}
	if err != nil {
		p.Lost = append(p.Lost, fmt.Sprintf("%v; its first %d ticks were used", err, log.Ticks))
	}
	p.Log = log
	s.CompleteLog(log, f)
	return nil
}

// CompleteLog adds the name to a log that was read, and the function that reads it whole.
func (s *Session) CompleteLog(log *bisect.Log, f *File) {
	log.Name = f.Path
	log.Open = func() (*orderlog.Log, error) {
		whole, err := readWhole(s.tree, f)
		if whole != nil && damaged(err) {
			err = nil
		}
		return whole, err
	}
}

// damaged reports whether an error means that a log breaks off, or is corrupt from some record on.
func damaged(err error) bool {
	return errors.As(err, new(*frame.Error)) || errors.Is(err, io.ErrUnexpectedEOF)
}
