package bundle

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/document"
)

// Examine reads all evidence of a session to its end and reports its kinds, its problems, what it covers for each peer,
// and what to ask the players for. It compares no states. Progress, if not nil, is called with the files that are read.
func Examine(s *Session, progress func(done, total int64)) (*document.Checkup, error) {
	d := &doctor{s: s, tree: s.tree}
	found := s.everything()
	for i, at := range found {
		x := d.examine(at)
		if x.format != nil || len(x.Trouble) > 0 || len(x.Covers) > 0 || at.ownLog {
			d.files = append(d.files, x)
		}
		if progress != nil {
			progress(int64(i+1), int64(len(found)))
		}
	}
	if len(d.files) == 0 {
		return nil, s.alone("evidence of 0 peers")
	}
	d.assign()
	d.gameLogs()
	d.session()
	d.copies()
	d.cover()
	d.compareFacts()
	d.judge()
	return &d.checkup, nil
}

// everything lists all files, those included that their names make states, and states that
// were left out for others.
func (s *Session) everything() (list []*File) {
	seen := map[*File]bool{}
	for _, p := range s.places {
		if f := p.loose(); f != nil {
			list = append(list, f)
			seen[f] = true
		}
	}
	for _, w := range s.walked {
		names, err := s.tree.Names(w.path)
		if err != nil {
			continue
		}
		slices.Sort(names)
		for _, name := range names {
			path := filepath.Join(w.path, name)
			if s.match != nil && !s.match.has(path) {
				continue
			}
			if stat, err := s.tree.Stat(path); name[0] == '.' || err == nil && stat.IsDir() {
				continue
			}
			f := s.byPath[path]
			if f == nil {
				f = s.recognise(path)
				f.place = w.place
			}
			if w.place != nil || f.place == nil && !seen[f] {
				list = append(list, f)
			}
		}
	}
	return list
}

// doctor is a checkup in the making.
type doctor struct {
	s     *Session
	tree  *archive.Tree
	files []*examined
	peers []*patient

	checkup  document.Checkup
	logFacts []document.Fact // of games' own logs
	needs    []need
}

// patient is one peer.
type patient struct {
	document.CheckedPeer
	files   []*examined
	points  map[uint64]bool
	first   bool // it has something of the start
	systems bool
}

// gameLogs reads the games' own logs, and finds the peer of each. A peer counts even if it left only such logs.
func (d *doctor) gameLogs() {
	names := map[string]string{}
	for _, p := range d.peers {
		names[p.Path] = p.Name
	}
	logs := d.s.GameLogs(names, d.s.parted)
	d.checkup.GameLogs, d.checkup.Lost, d.logFacts = logs.Compared, append(d.checkup.Lost, logs.Lost...), logs.Facts
	few := len(d.peers) < 2
	for _, found := range logs.Peers {
		i := slices.IndexFunc(d.peers, func(p *patient) bool { return p.Name == found.Name })
		if i < 0 {
			if !few {
				continue
			}
			i = len(d.peers)
			d.peers = append(d.peers, &patient{CheckedPeer: document.CheckedPeer{Name: found.Name, Path: found.Path}, points: map[uint64]bool{}})
		}
		d.peers[i].Logs = found.Files
	}
	lists.SortStable(d.peers, func(a, b *patient) int { return cmp.Compare(a.Name, b.Name) })
}

func (d *doctor) lose(format string, args ...any) {
	d.checkup.Lost = append(d.checkup.Lost, fmt.Sprintf(format, args...))
}
