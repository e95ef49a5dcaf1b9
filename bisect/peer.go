package bisect

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/orderlog/frame"
	"github.com/desynctool/desynctool/orderlog/packed"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Peer is what one peer left behind.
type Peer struct {
	Name string // by content, else by path; Run makes names distinct
	Path string

	set   *snapshot.Set
	log   *orderlog.Log // nil if there is none
	heads map[*snapshot.Entry]head
	lost  []string
	notes []string

	beside  []string // files in folders beside those of the peers
	folders []string // that were not looked into

	points []uint64                // of which the log has a sync hash, ascending
	syncs  map[uint64]merkle.Short // the sync hashes of these points
	told   string                  // the name that a header or log gives
	loose  bool                    // it is a file that was given by itself

	// ownSums says that the recorded hashes are a checksum of the game's own, not
	// roots.
	ownSums bool
}

// Snapshots returns the peer's snapshots.
func (p *Peer) Snapshots() *snapshot.Set { return p.set }

// Log returns the peer's order log, nil if it left none.
func (p *Peer) Log() *orderlog.Log { return p.log }

// head is the head of a snapshot, or why it could not be read.
type head struct {
	info *snapshot.Info
	err  error
}

// Others returns the files of the peers that are no snapshots, and those beside
// their folders.
func Others(peers []*Peer) (files []string) {
	for _, p := range peers {
		files = append(files, p.set.Others...)
		files = append(files, p.beside...)
	}
	return files
}

// Trouble returns what is wrong with the evidence of some peers.
func Trouble(peers []*Peer) (list []string) {
	for _, p := range peers {
		list = append(list, p.set.Warnings...)
		list = append(list, p.lost...)
	}
	return list
}

// Unlooked returns the folders below those of the peers that were not looked into.
func Unlooked(peers []*Peer) (folders []string) {
	for _, p := range peers {
		folders = append(folders, p.folders...)
	}
	return folders
}

// Gather returns the peers below paths: one for each folder or file, or, for a
// folder that holds neither snapshots nor an order log, one for each of its
// folders that does. Where files name their peer, there is one for each instead.
// Files that are given by themselves belong to the peer that they name, as long as
// that has no other of the same state point. Formats are tried in order.
func Gather(tree files.Tree, paths []string, formats []snapshot.Format) ([]*Peer, error) {
	found := make([][]*Peer, len(paths))
	errs := make([]error, len(paths))
	var wait sync.WaitGroup
	for i, path := range paths { // listing large folders is most of the work
		wait.Go(func() { found[i], errs[i] = gather(tree, path, formats) })
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return merge(slices.Concat(found...)), nil
}

// merge joins what several places hold of a peer that its files name.
func merge(all []*Peer) []*Peer {
	var peers []*Peer
	index := map[string]*Peer{}
	for _, p := range all {
		if p.joins(peers) {
			continue
		}
		name := p.set.Peer
		if same := index[name]; name != "" && same != nil {
			same.set.Merge(p.set)
			same.lost = append(same.lost, p.lost...)
			same.beside = append(same.beside, p.beside...)
			same.folders = append(same.folders, p.folders...)
			if same.log == nil {
				same.log = p.log
			}
			continue
		}
		index[name] = p
		peers = append(peers, p)
	}
	for _, p := range peers {
		if n := p.set.Copies; n > 0 {
			p.notes = append(p.notes, fmt.Sprintf("%s: %d file(s) are copies of others and were left out", p.set.Peer, n))
		}
	}
	return peers
}

// joins adds what is in a loose file to the peer that it names, if that is there, and
// has no such file yet.
func (p *Peer) joins(peers []*Peer) bool {
	if !p.loose || p.told == "" {
		return false
	}
	for _, q := range peers {
		if !q.loose || q.told != p.told || q.log != nil && p.log != nil {
			continue
		}
		if slices.ContainsFunc(p.set.Entries, func(e *snapshot.Entry) bool { return q.set.Has(e) }) {
			continue
		}
		q.set.Merge(p.set)
		maps.Copy(q.heads, p.heads)
		if p.log != nil {
			q.log = p.log
		}
		q.lost = append(q.lost, p.lost...)
		return true
	}
	return false
}

// looseLog returns the peer whose order log a file is, nil if it is none.
func looseLog(tree files.Tree, path string) *Peer {
	if stat, err := tree.Stat(path); err != nil || !stat.Mode().IsRegular() {
		return nil
	}
	p := &Peer{Path: path, loose: true, set: &snapshot.Set{Path: path, Others: []string{path}}, heads: map[*snapshot.Entry]head{}}
	if err := p.findLog(tree); err != nil || p.log == nil {
		return nil
	}
	return p
}

func gather(tree files.Tree, path string, formats []snapshot.Format) ([]*Peer, error) {
	if p := looseLog(tree, path); p != nil {
		return []*Peer{p}, nil
	}
	sets, err := snapshot.Find(tree, path, formats)
	if err != nil {
		return nil, err
	}
	if len(sets) == 1 && sets[0].Peer == "" && len(sets[0].Entries) == 1 && sets[0].Entries[0].Path() == filepath.Clean(path) {
		p := &Peer{Path: path, loose: true, set: sets[0], heads: map[*snapshot.Entry]head{}}
		_, _, err := p.head(sets[0].Entries[0])
		return []*Peer{p}, err
	}
	var peers []*Peer
	var beside, lost, folders []string
	for _, set := range sets {
		p := &Peer{Path: set.Path, told: set.Peer, folders: set.Folders, set: set, heads: map[*snapshot.Entry]head{}}
		if err := p.findLog(tree); err != nil {
			return nil, err
		}
		if len(set.Entries) == 0 && p.log == nil {
			if len(sets) > 1 {
				// A folder beside those of the peers.
				beside = append(beside, set.Others...)
				lost = append(lost, set.Warnings...)
				folders = append(folders, set.Folders...)
				continue
			}
			return nil, p.nothing()
		}
		peers = append(peers, p)
	}
	if len(peers) > 0 {
		peers[0].beside = beside
		peers[0].lost = append(peers[0].lost, lost...)
		peers[0].folders = append(folders, peers[0].folders...)
	}
	return peers, nil
}

// nothing says that a path holds no evidence, and what is wrong with what it
// holds instead.
func (p *Peer) nothing() error {
	err := fmt.Errorf("%s: no snapshots and no %s", p.Path, LogName)
	for _, w := range append(p.set.Warnings, p.lost...) {
		err = fmt.Errorf("%w; %s", err, w)
	}
	return err
}

// findLog reads the order log among the files that are no snapshots.
func (p *Peer) findLog(tree files.Tree) error {
	for _, path := range p.set.Others {
		log, err := readLog(tree, path)
		if log == nil && err == nil {
			if filepath.Base(path) == LogName {
				p.lost = append(p.lost, fmt.Sprintf("%s: not an order log", path))
			}
			continue
		}
		if err != nil {
			if log == nil {
				p.lost = append(p.lost, err.Error())
				continue
			}
			var bad *frame.Error
			if !errors.As(err, &bad) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return err
			}
			p.lost = append(p.lost, fmt.Sprintf("%v; its first %d ticks were used", err, len(log.Ticks)))
		}
		if p.log != nil {
			p.set.Warnings = append(p.set.Warnings, fmt.Sprintf("%s: another order log, left out for %s", path, filepath.Base(p.log.Name)))
			continue
		}
		p.log = log
		p.told = log.Header.Peer
	}
	return nil
}

// readLog reads a file that may be an order log, and may be compressed. It
// returns nothing if it is none.
func readLog(tree files.Tree, path string) (*orderlog.Log, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, _, err := packed.Unpack(f, 0)
	if err != nil {
		return nil, nil // a compressed file that is no evidence by its name
	}
	in := bufio.NewReaderSize(content, 1<<16)
	if head, _ := in.Peek(len(orderlog.Magic)); !orderlog.IsLog(head) {
		return nil, nil
	}
	return orderlog.ReadAll(in, path)
}

// headLike is head for a snapshot that may be a copy of another one, whose head is
// known.
func (p *Peer) headLike(e, other *snapshot.Entry, known *snapshot.Info) (info *snapshot.Info, moved bool, err error) {
	if _, ok := p.heads[e]; !ok && known != nil && snapshot.SameBytes(e, other) {
		same := *known
		same.Peer = e.Peer
		p.heads[e] = head{info: &same}
		return &same, false, nil
	}
	return p.head(e)
}

// LogName is the usual name of an order log.
const LogName = "order-log.bin"

// sync returns the sync hash that the peer's log has for a state point: that
// of its last epoch in which there is one.
func (p *Peer) sync(point uint64) (merkle.Short, bool) {
	h, ok := p.syncs[point]
	return h, ok
}

// head reads the head of a snapshot once. A misnamed snapshot moves to the
// point of its header; moved says that the set is another one now.
func (p *Peer) head(e *snapshot.Entry) (info *snapshot.Info, moved bool, err error) {
	if h, ok := p.heads[e]; ok {
		return h.info, false, h.err
	}
	s, err := e.Open()
	var misnamed *snapshot.MisnamedError
	switch {
	case errors.As(err, &misnamed):
		s.Close()
		p.set.Recheck(e)
		return nil, true, err
	case err != nil:
		p.heads[e] = head{err: err}
		return nil, false, err
	}
	defer s.Close()
	kept := *s.Info() // without what else the state holds
	info = &kept
	p.heads[e] = head{info: info}
	if p.told == "" {
		p.told = info.Peer
	}
	return info, false, nil
}

// OtherGameError says that the peers' evidence is of different sessions.
type OtherGameError struct {
	Path string
	Seed uint64 // of the session that the other peers share
}

func (e *OtherGameError) Error() string {
	return fmt.Sprintf("%s: nothing of the session with seed %016x, which the others are of", e.Path, e.Seed)
}

// oneSession finds the session that most of the evidence of two peers or more
// is of and leaves everything else out.
func oneSession(peers []*Peer) error {
	seeds := map[uint64]int{} // how many peers have something of it
	for _, p := range peers {
		own := map[uint64]bool{}
		for i := 0; i < len(p.set.Entries); { // ascending by seed
			seed := p.set.Entries[i].Seed
			own[seed] = true
			if p.set.Entries[len(p.set.Entries)-1].Seed == seed {
				break
			}
			for i < len(p.set.Entries) && p.set.Entries[i].Seed == seed {
				i++
			}
		}
		if p.log != nil {
			own[p.log.Header.Seed] = true
		}
		for seed := range own {
			seeds[seed]++
		}
	}
	weigh := func(seed uint64) (peersOf, files int) {
		if len(seeds) == 1 {
			return seeds[seed], 0
		}
		for _, p := range peers {
			for _, e := range p.set.Entries {
				if e.Seed == seed {
					files++
				}
			}
		}
		return seeds[seed], files
	}
	var best uint64
	bestPeers, bestFiles := -1, -1
	for seed := range seeds {
		n, files := weigh(seed)
		if n > bestPeers || n == bestPeers && (files > bestFiles || files == bestFiles && seed < best) {
			best, bestPeers, bestFiles = seed, n, files
		}
	}
	for _, p := range peers {
		p.set.Session(best)
		if p.log != nil && p.log.Header.Seed != best {
			p.set.Warnings = append(p.set.Warnings, fmt.Sprintf("%s: stale: of seed %016x, the session is %016x", p.log.Name, p.log.Header.Seed, best))
			p.log = nil
		}
		if len(p.set.Entries) == 0 && p.log == nil {
			return &OtherGameError{p.Path, best}
		}
	}
	return nil
}

// name gives every peer a distinct name.
func name(peers []*Peer) {
	told, paths := make([]string, len(peers)), make([]string, len(peers))
	for i, p := range peers {
		told[i], paths[i] = p.told, p.Path
	}
	for i, n := range snapshot.PeerNames(told, paths) {
		peers[i].Name = n
	}
}
