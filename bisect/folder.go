package bisect

import (
	"fmt"
	"io"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// OpenFolder returns the evidence that one peer left in a folder of the disk: its snapshots, and its order log,
// whatever the files' names. Folders in it are not searched. Formats are the snapshots' formats, tried in order; none
// means snapshot.SnapFormat alone; package engines has the formats of other games, as Format.Snapshot. Files that are
// neither are in Snapshots.Others.
//
// A damaged log is used up to the damage, which Lost names. It is an error if the folder has no snapshot and no log, or
// two logs.
func OpenFolder(path string, formats ...snapshot.Format) (*Peer, error) {
	if len(formats) == 0 {
		formats = []snapshot.Format{snapshot.SnapFormat()}
	}
	set, _, err := snapshot.ReadFolder(snapshot.Disk, path, formats)
	if err != nil {
		return nil, err
	}
	p := &Peer{Name: set.Peer, Path: path, Snapshots: set}
	for _, other := range set.Others {
		isLog, err := isLog(other)
		if err != nil {
			return nil, err
		}
		if !isLog {
			continue
		}
		if p.Log != nil {
			return nil, fmt.Errorf("%s: two order logs, %s and %s; a peer has one", path, p.Log.Name, other)
		}
		if err := p.openLog(other); err != nil {
			return nil, err
		}
	}
	if len(set.Entries) == 0 && p.Log == nil {
		return nil, fmt.Errorf("%s: no snapshots and no order log", path)
	}
	return p, nil
}

// isLog reports whether a file begins as an order log does.
func isLog(path string) (bool, error) {
	f, err := snapshot.Disk.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, len(orderlog.Magic))
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false, err
	}
	return orderlog.IsLog(head[:n]), nil
}

// openLog reads the peer's log.
func (p *Peer) openLog(path string) error {
	r, err := orderlog.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	log, err := ReadLog(r)
	if err != nil {
		p.Lost = append(p.Lost, fmt.Sprintf("%v; its first %d ticks are used", err, log.Ticks))
	}
	log.Name = path
	log.Open = func() (*orderlog.Log, error) {
		whole, err := orderlog.ReadFile(path)
		if whole == nil {
			return nil, err
		}
		return whole, nil // as far as it goes
	}
	p.Log = log
	if p.Name == "" {
		p.Name = log.Header.Peer
	}
	return nil
}
