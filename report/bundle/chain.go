package bundle

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// verifyFolder checks each file of a folder by itself, and compares what each peer's files state about the same moment.
func verifyFolder(s *Session) (out snapshot.Verification, errs error) {
	for _, f := range s.everything() {
		if f.Err != nil {
			errs = errors.Join(errs, f.Err)
			continue
		}
		if f.isChain() {
			list, err := s.VerifySigned(f)
			out, errs = append(out, list...), errors.Join(errs, err)
			continue
		}
		if what := f.expected(s.game); f.Format == nil && what != "" {
			errs = errors.Join(errs, fmt.Errorf("%s: corrupt at offset 0: by its name it is %s, its content has no known format", f.Path, what))
		}
		if f.Format == nil || !f.Format.Native && !f.pairs {
			continue
		}
		if f.Format.Snapshot == nil && f.Format.Log == nil && f.Format.Name != "trace" {
			continue
		}
		v, err := formats.Verify(s.tree, f.Path, snapshot.Expected{})
		if err != nil {
			errs = errors.Join(errs, err)
			continue
		}
		out = append(out, v)
	}
	for _, p := range s.Peers() {
		if p.Log == nil {
			continue
		}
		v, err := s.verifyPeer(p)
		if err != nil && !damaged(err) { // the log's own check has reported that it is damaged
			errs = errors.Join(errs, err)
			continue
		}
		out = append(out, v)
	}
	if len(out) == 0 && errs == nil {
		return nil, &AloneError{Paths: s.paths, Found: s.holdings(), Have: "nothing in the folder is a snapshot, an order log, a trace or a chain of signatures of desynctool " +
			"with hashes to check; engines' files are checked one by one", Lost: s.Lost()}
	}
	return out, errs
}

// chain is what a peer's order log states about the peer's states, while it is read.
type chain struct {
	epoch uint32
	// history is h of the point at, if known: it follows from the hash before it.
	history merkle.Hash
	at      uint64
	known   bool

	syncs     map[moment]merkle.Short
	states    map[moment]merkle.Hash
	histories map[moment]merkle.Hash

	linked, compared int
	wrong            []error
}

// moment is a state point in an epoch.
type moment struct {
	epoch uint32
	point uint64
}

func (c *chain) fail(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Errorf(format, args...))
}

// verifyPeer compares a peer's history hashes with the sync hashes that they are a chain of, its state hashes with its
// sync hashes, its snapshots with both, and epochs with the markers that begin them.
func (s *Session) verifyPeer(p *Peer) (snapshot.Verified, error) {
	v := snapshot.Verified{Path: p.Path, What: "session"}
	source, closer, err := openLog(s.tree, p.Log, nil)
	if err != nil {
		return v, err
	}
	defer closer.Close()
	c := &chain{syncs: map[moment]merkle.Short{}, states: map[moment]merkle.Hash{}, histories: map[moment]merkle.Hash{}}
	err = c.read(source)
	for _, e := range p.States.Entries {
		if info, err := e.Info(); err == nil && e.Point.Phase == "" {
			c.snapshot(e.Path(), info)
		}
	}
	v.Note = fmt.Sprintf("%d history hashes follow from the sync hashes before them, %d more hashes of one moment agree", c.linked, c.compared)
	v.Err = errors.Join(c.wrong...)
	return v, err
}

// read follows a log to its end.
func (c *chain) read(source orderlog.Source) error {
	h := source.Header()
	own := uint32(max(slices.Index(h.Peers, h.Peer), 0))
	c.epoch = h.Epoch
	if h.FirstPoint == 0 && h.Epoch == 0 && !h.Start.IsZero() {
		c.history, c.at, c.known = sha256.Sum256(h.Start[:]), 0, true
		c.states[moment{0, 0}] = h.Start
	}
	for {
		rec, err := source.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var marker *orderlog.Marker
		list := rec.Observed
		if rec.Kind == orderlog.TickRecord && rec.Tick != nil {
			list = rec.Tick.Hashes
			marker = rec.Tick.NewEpoch()
		}
		if rec.Epoch != c.epoch {
			if marker == nil {
				c.fail("epoch %d begins without a marker", rec.Epoch)
			}
			c.epoch, c.known = rec.Epoch, false
			if marker != nil && !marker.History.IsZero() {
				c.history, c.at, c.known = marker.History, marker.Point, true
			}
		}
		c.hashes(list, own)
	}
}

// hashes takes the hashes of one record: sync hashes first, since the others follow from them.
func (c *chain) hashes(list []orderlog.Observed, own uint32) {
	for i := range list {
		if o := &list[i]; o.Peer == own && o.Kind == orderlog.SyncHash && o.Coverage == orderlog.Full && len(o.Bytes) == merkle.ShortSize {
			c.sync(o.Point, merkle.Short(o.Bytes))
		}
	}
	for i := range list {
		o := &list[i]
		if o.Peer != own || o.Coverage != orderlog.Full || len(o.Bytes) != merkle.HashSize {
			continue
		}
		at, hash := moment{c.epoch, o.Point}, merkle.Hash(o.Bytes)
		switch o.Kind {
		case orderlog.StateHash:
			c.states[at] = hash
			if sync, ok := c.syncs[at]; ok {
				if c.compared++; sync != hash.Short() {
					c.fail("state point %d: the state hash is %s, the sync hash %s", o.Point, hash.Short(), sync)
				}
			}
		case orderlog.HistoryHash:
			c.histories[at] = hash
			if c.known && c.at == o.Point {
				if c.linked++; c.history != hash {
					c.fail("state point %d: the history hash is %s, the chain of sync hashes gives %s", o.Point, hash.Short(), c.history.Short())
				}
			}
			c.history, c.at, c.known = hash, o.Point, true // later hashes are compared with the recorded one
		}
	}
}

// sync takes a sync hash, which the history of its point is made of.
func (c *chain) sync(point uint64, hash merkle.Short) {
	c.syncs[moment{c.epoch, point}] = hash
	switch {
	case !c.known || point == c.at:
	case point == c.at+1:
		c.history, c.at = merkle.NextHistory(c.history, hash), point
	default:
		c.known = false // the chain has a hole
	}
}

// snapshot compares a snapshot's head with the log's record of its point.
func (c *chain) snapshot(path string, info *snapshot.Info) {
	at := moment{info.Epoch, info.Point.Tick}
	if sync, ok := c.syncs[at]; ok {
		if c.compared++; sync != info.Root.Short() {
			c.fail("%s: the root is %s, the log's sync hash of that point %s", path, info.Root.Short(), sync)
		}
	}
	if state, ok := c.states[at]; ok {
		if c.compared++; state != info.Root {
			c.fail("%s: the root is %s, the log's state hash of that point %s", path, info.Root.Short(), state.Short())
		}
	}
	if history, ok := c.histories[at]; ok && !info.History.IsZero() {
		if c.compared++; history != info.History {
			c.fail("%s: the history hash is %s, the log's of that point %s", path, info.History.Short(), history.Short())
		}
	}
}
