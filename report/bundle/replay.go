package bundle

import (
	"fmt"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/snapshot"
)

// Replayable are the files of one peer that can be replayed.
type Replayable struct {
	Log *orderlog.Log
	// Snapshots are the peer's, nil if only a log was given.
	Snapshots *snapshot.Set
	Trace     string   // path of the peer's trace, empty if there is none
	Lost      []string // the parts of the log that could not be read
	Warnings  []string
}

// OpenReplay reads the order log at path, or the one in a folder of one peer, and finds the snapshots next to it. A log
// that is torn is replayed as far as it goes.
func OpenReplay(tree *archive.Tree, path string) (*Replayable, error) {
	s, err := Open(tree, []string{path})
	if err != nil {
		return nil, err
	}
	return s.Replayable()
}

// Replayable is OpenReplay for the only peer of a session.
func (s *Session) Replayable() (*Replayable, error) {
	if err := s.Unknown(); err != nil {
		return nil, err
	}
	tree, path := s.tree, s.what()
	peers := s.Peers()
	if len(peers) == 0 {
		for _, f := range s.files {
			if !f.isOwnLog() {
				continue
			}
			if _, _, err := openLog(tree, f, nil); err != nil {
				return nil, err // why no peer is known
			}
		}
		return nil, s.Alone()
	}
	if len(peers) != 1 {
		return nil, fmt.Errorf("%s: the evidence of %d peers, expected the folder of one", path, len(peers))
	}
	p, r := peers[0], &Replayable{}
	if p.Log == nil {
		return nil, fmt.Errorf("%s: no %s in it with orders to replay", path, LogName)
	}
	if !p.loose {
		r.Snapshots = p.States
		r.Trace = traceAmong(p.Files)
	}
	log, err := readWhole(tree, p.Log)
	if log == nil || err != nil && !damaged(err) {
		return nil, err
	}
	if err != nil {
		r.Lost = append(r.Lost, fmt.Sprintf("%v; its first %d ticks are replayed", err, len(log.Ticks)))
	}
	r.Log = log
	if r.Snapshots != nil {
		r.Snapshots.Session(log.Header.Seed)
		r.Warnings = append(r.Warnings, r.Snapshots.Warnings.Texts()...)
	}
	return r, nil
}

// traceAmong returns the path of our trace among the files of a peer, empty if there is none.
func traceAmong(files []*File) (trace string) {
	for _, f := range files {
		if f.ownTrace() {
			trace = f.Path
		}
	}
	return trace
}

// OwnTrace is a trace in our format that a peer left.
type OwnTrace struct {
	Path  string // of the peer's folder, or of the trace if it is loose
	Trace string
}

// OwnTraces returns the traces in our format, one for each peer.
func (s *Session) OwnTraces() (list []OwnTrace) {
	for _, p := range s.places {
		if trace := traceAmong(p.files); trace != "" {
			list = append(list, OwnTrace{p.path, trace})
		}
	}
	return list
}

// TraceOf opens the trace in our format that a peer left, nil if there is none.
func (s *Session) TraceOf(p *Peer) (bisect.Traced, error) {
	if trace := traceAmong(p.Files); trace != "" {
		return formats.OpenTraced(s.tree, trace)
	}
	return nil, nil
}
