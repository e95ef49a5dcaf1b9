package formats

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/orderlog/frame"
	"github.com/desynctool/desynctool/orderlog/packed"
	"github.com/desynctool/desynctool/snapshot"
)

// Peer is what one peer left in files.
type Peer struct {
	bisect.Peer

	beside  []string // files in folders beside those of the peers
	folders []string // that were not looked into
	loose   bool     // it is a file that was given by itself
}

// others returns the files of the peers that are not snapshots, and those beside
// their folders.
func others(peers []*Peer) (files []string) {
	for _, p := range peers {
		files = append(files, p.Snapshots.Others...)
		files = append(files, p.beside...)
	}
	return files
}

// trouble returns what is wrong with the evidence of some peers.
func trouble(peers []*Peer) (list []string) {
	for _, p := range peers {
		list = append(list, p.Snapshots.Warnings...)
		list = append(list, p.Lost...)
	}
	return list
}

// leftOut returns the folders below those of the peers that were not looked into.
func leftOut(peers []*Peer) (folders []string) {
	for _, p := range peers {
		folders = append(folders, p.folders...)
	}
	return folders
}

// run bisects, and gives the peers the names that the result has for them, and the
// snapshots as they turned out to be.
func run(peers []*Peer, opts bisect.Options) (*bisect.Result, error) {
	r, err := bisect.Run(plain(peers), opts)
	if err != nil {
		return nil, err
	}
	for i, p := range peers {
		p.Name, p.Snapshots = r.Peers[i].Name, r.Peers[i].States
	}
	return r, nil
}

func plain(peers []*Peer) []*bisect.Peer {
	list := make([]*bisect.Peer, len(peers))
	for i, p := range peers {
		list[i] = &p.Peer
	}
	return list
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

// FirstDifferent returns the snapshots of two peers at the first common state point
// that differs, see [bisect.FirstDifferent].
func FirstDifferent(a, b *Peer) (paths [2]string, warnings, lost []string, err error) {
	return bisect.FirstDifferent(&a.Peer, &b.Peer)
}

// Nearest returns the snapshots of two peers of one state point, as near to a
// given one as there are, from the folders of files a and b. It returns nil if
// there is no such pair.
func Nearest(tree files.Tree, a, b string, at snapshot.Point, formats []snapshot.Format) *[2]string {
	var sets [2]*snapshot.Set
	for i, path := range []string{a, b} {
		found, err := snapshot.Find(tree, filepath.Dir(path), formats)
		if err != nil || len(found) != 1 {
			return nil
		}
		sets[i] = found[0]
	}
	if sets[0].Path == sets[1].Path {
		return nil
	}
	pair := bisect.Nearest(sets[0], sets[1], at)
	if pair == nil {
		return nil
	}
	return &[2]string{pair[0].Path(), pair[1].Path()}
}

// merge joins what several places hold of a peer that its files name.
func merge(all []*Peer) []*Peer {
	var peers []*Peer
	index := map[string]*Peer{}
	for _, p := range all {
		if p.joins(peers) {
			continue
		}
		name := p.Snapshots.Peer
		if same := index[name]; name != "" && same != nil {
			same.Snapshots.Merge(p.Snapshots)
			same.Lost = append(same.Lost, p.Lost...)
			same.beside = append(same.beside, p.beside...)
			same.folders = append(same.folders, p.folders...)
			if same.Log == nil {
				same.Log = p.Log
			}
			continue
		}
		index[name] = p
		peers = append(peers, p)
	}
	for _, p := range peers {
		if n := p.Snapshots.Copies; n > 0 {
			p.Notes = append(p.Notes, fmt.Sprintf("%s: %d file(s) are copies of others and were left out", p.Snapshots.Peer, n))
		}
	}
	return peers
}

// joins adds what is in a loose file to the peer that it names, if that is there, and
// has no such file yet.
func (p *Peer) joins(peers []*Peer) bool {
	if !p.loose || p.Name == "" {
		return false
	}
	for _, q := range peers {
		if !q.loose || q.Name != p.Name || q.Log != nil && p.Log != nil {
			continue
		}
		if slices.ContainsFunc(p.Snapshots.Entries, func(e *snapshot.Entry) bool { return q.Snapshots.Has(e) }) {
			continue
		}
		q.Snapshots.Merge(p.Snapshots)
		if p.Log != nil {
			q.Log = p.Log
		}
		q.Lost = append(q.Lost, p.Lost...)
		return true
	}
	return false
}

// looseLog returns the peer whose order log a file is, nil if it is none.
func looseLog(tree files.Tree, path string) *Peer {
	if stat, err := tree.Stat(path); err != nil || !stat.Mode().IsRegular() {
		return nil
	}
	p := &Peer{Peer: bisect.Peer{Path: path, Snapshots: &snapshot.Set{Path: path, Others: []string{path}}}, loose: true}
	if err := p.findLog(tree); err != nil || p.Log == nil {
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
		p := &Peer{Peer: bisect.Peer{Path: path, Snapshots: sets[0]}, loose: true}
		info, err := sets[0].Entries[0].Info()
		if err == nil {
			p.Name = info.Peer
		}
		return []*Peer{p}, err
	}
	var peers []*Peer
	var beside, lost, folders []string
	for _, set := range sets {
		p := &Peer{Peer: bisect.Peer{Name: set.Peer, Path: set.Path, Snapshots: set}, folders: set.Folders}
		if err := p.findLog(tree); err != nil {
			return nil, err
		}
		if len(set.Entries) == 0 && p.Log == nil {
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
		peers[0].Lost = append(peers[0].Lost, lost...)
		peers[0].folders = append(folders, peers[0].folders...)
	}
	return peers, nil
}

// nothing says that a path holds no evidence, and what is wrong with what it
// holds instead.
func (p *Peer) nothing() error {
	err := fmt.Errorf("%s: no snapshots and no %s", p.Path, bisect.LogName)
	for _, w := range append(p.Snapshots.Warnings, p.Lost...) {
		err = fmt.Errorf("%w; %s", err, w)
	}
	return err
}

// findLog reads the order log among the files that are not snapshots.
func (p *Peer) findLog(tree files.Tree) error {
	for _, path := range p.Snapshots.Others {
		log, err := readHashes(tree, path)
		if log == nil && err == nil {
			if filepath.Base(path) == bisect.LogName {
				p.Lost = append(p.Lost, fmt.Sprintf("%s: not an order log", path))
			}
			continue
		}
		if err != nil {
			if log == nil {
				p.Lost = append(p.Lost, err.Error())
				continue
			}
			if !cutOff(err) {
				return err
			}
			p.Lost = append(p.Lost, fmt.Sprintf("%v; its first %d ticks were used", err, log.Ticks))
		}
		if p.Log != nil {
			p.Snapshots.Warnings = append(p.Snapshots.Warnings, fmt.Sprintf("%s: another order log, left out for %s", path, filepath.Base(p.Log.Name)))
			continue
		}
		p.Log = log
		p.Name = log.Header.Peer
	}
	return nil
}

// cutOff reports whether an error says that a file is torn or corrupt.
func cutOff(err error) bool {
	var bad *frame.Error
	return errors.As(err, &bad) || errors.Is(err, io.ErrUnexpectedEOF)
}

// readHashes reads what bisect needs of a file that may be an order log, and may be
// compressed. It returns nothing if it is none.
func readHashes(tree files.Tree, path string) (*bisect.Log, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, _, err := packed.Unpack(f, 0)
	if err != nil {
		return nil, nil // a compressed file that is no evidence by its name
	}
	if c, ok := content.(io.Closer); ok {
		defer c.Close()
	}
	in := bufio.NewReaderSize(content, 1<<16)
	if head, _ := in.Peek(len(orderlog.Magic)); !orderlog.IsLog(head) {
		return nil, nil
	}
	r, err := orderlog.NewReader(in, path)
	if err != nil {
		return nil, err
	}
	log, err := bisect.ReadLog(r)
	log.Name = path
	log.Open = func() (*orderlog.Log, error) {
		whole, err := readLog(tree, path)
		if whole != nil && cutOff(err) {
			err = nil
		}
		return whole, err
	}
	return log, err
}
