package compare

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/gamereplay"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/snapshot"
)

// How many state points a replay is asked to dump: points before the split, in the bracket and after it, at which the
// peer left a state; and points in each round between two replays that diverge.
const (
	dumpsBefore = 2
	dumpsWithin = 32
	dumpsAfter  = 2
	dumpsRound  = 16
	maxRounds   = 8
)

// maxPlayed is how many recordings of a session are played again.
const maxPlayed = 16

// maxBeside is how many files next to a recording are given to the game, and maxBesideBytes how large they may be.
const (
	maxBeside      = 4096
	maxBesideBytes = 1 << 30
)

// player has a game play the recordings of a session.
type player struct {
	w    Witness
	s    *bundle.Session
	tree *archive.Tree
	list []*recording
	lost []string

	open   []*gamereplay.Replay // that are closed at the end
	remove func() error         // the copies

	mu       sync.Mutex
	progress func(done, total int64)
	done     map[*recording]uint64
}

// recording is a recording of a peer, and the result of playing it.
type recording struct {
	*bundle.Recorded
	copy   *engine.Recording
	replay *gamereplay.Replay // nil if it could not be played
	name   string             // of the replay, as a peer
	in     *recording         // another peer's recording, if it contains what this peer's machine computed; else nil
	pair   *bisect.Result     // the comparison of the peer with it, nil if nothing was compared
	why    string             // nothing was
}

// newPlayer copies the recordings of a session out of it, with the files next to them that their games need.
func newPlayer(s *bundle.Session, w Witness, logs []*readLog, progress func(what string, done, total int64)) (*player, error) {
	p := &player{w: w, s: s, tree: s.Tree(), done: map[*recording]uint64{}}
	dir, remove, err := files.TemporaryFolder("")
	if err != nil {
		return nil, err
	}
	p.remove = remove
	found := s.Recordings(w.Game.Plays)
	if len(found) > maxPlayed {
		p.lost = append(p.lost, fmt.Sprintf("%d recordings were not played again: at most %d are", len(found)-maxPlayed, maxPlayed))
		found = found[:maxPlayed]
	}
	for i, rec := range found {
		r := &recording{Recorded: rec, name: "replay of " + rec.Peer + "'s log"}
		if err := p.copyOut(r, filepath.Join(dir, fmt.Sprint(i)), logs); err != nil {
			p.lost = append(p.lost, fmt.Sprintf("%s was not played again: %v", prose.Path(rec.File.Path), err))
			continue
		}
		p.list = append(p.list, r)
	}
	if progress != nil {
		p.progress = func(done, total int64) { progress("playing again", done, total) }
	}
	return p, nil
}

// heard returns the peers that left no recording, but have checksums in the recordings of others, as all players have
// in some games. Each is compared with the replay of the first recording that has them.
func (p *player) heard() (list []*recording) {
	known := map[string]bool{}
	for _, r := range p.list {
		known[r.Said] = true
	}
	for _, r := range p.list {
		for _, name := range p.s.TracePeers(r.File) {
			if !known[name] {
				known[name] = true
				list = append(list, &recording{Recorded: &bundle.Recorded{Peer: name, Said: name, Paths: []string{r.File.Path}, File: r.File}, name: r.name, in: r})
			}
		}
	}
	return list
}

// copyOut copies a recording, and the files next to it, to the disk.
func (p *player) copyOut(r *recording, dir string, logs []*readLog) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	file, err := r.File.CopyTo(p.tree, dir)
	if err != nil {
		return err
	}
	r.copy = &engine.Recording{Peer: r.Peer, Path: r.File.Path, File: file, Format: r.File.Format.Name}
	r.copy.Progress = func(done, _ uint64) { p.advance(r, done) }
	for _, log := range logs {
		if log.file == r.File {
			r.copy.Header, r.copy.Last = log.header, log.span.Last
		}
	}
	var size int64
	for i, f := range r.Beside {
		if size += f.Size; i == maxBeside || size > maxBesideBytes {
			break
		}
		if beside, err := f.CopyTo(p.tree, dir); err == nil {
			r.copy.Beside = append(r.copy.Beside, beside)
		}
	}
	return nil
}

// Close removes what the replays left, unless it is kept.
func (p *player) Close() error {
	if p == nil {
		return nil
	}
	errs := lists.Map(p.open, func(r *gamereplay.Replay) error { return r.Close() })
	return errors.Join(append(errs, p.remove())...)
}

// advance adds up the progress of replays that run side by side.
func (p *player) advance(r *recording, done uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.progress == nil {
		return
	}
	p.done[r] = done
	var sum, total uint64
	for _, r := range p.list {
		if r.in == nil {
			total += r.copy.Last
		}
	}
	for _, n := range p.done {
		sum += n
	}
	p.progress(int64(min(sum, total)), int64(total))
}

// asked is one replay to make.
type asked struct {
	of     *recording
	by     *gamereplay.Witness
	ask    engine.Ask
	replay *gamereplay.Replay
	err    error
}

// play makes replays, side by side as cores allow.
func (p *player) play(list []*asked) {
	room := make(chan struct{}, max(runtime.NumCPU(), 1))
	if p.w.Game.RealTime { // they wait most of the time
		room = make(chan struct{}, 2*max(runtime.NumCPU(), 1))
	}
	var wait sync.WaitGroup
	for _, a := range list {
		wait.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			a.replay, a.err = a.by.Play(p.w.Context, a.of.copy, a.ask)
		})
	}
	wait.Wait()
	for _, a := range list {
		if a.err == nil {
			p.open = append(p.open, a.replay)
		}
	}
}

// all plays every recording once, up to where the peers had diverged. It dumps states of the points around it at which
// the peer left states, or a peer whose recording is not played.
func (p *player) all(b *bisect.Bracket) {
	var list []*asked
	others := p.unplayed()
	for _, r := range p.list {
		if r.in == nil {
			list = append(list, p.askAround(r, b, others...))
		}
	}
	p.make(list)
}

// unplayed returns the peers that left states and no recording that can be played.
func (p *player) unplayed() []*bundle.Peer {
	return slices.DeleteFunc(slices.Clone(p.s.Peers()), func(of *bundle.Peer) bool {
		return of.States == nil || slices.ContainsFunc(p.list, func(r *recording) bool {
			return r.in == nil && slices.Contains(r.Paths, of.Path) && p.w.Check(p.w.Context, r.copy) == nil
		})
	})
}

// askAround asks for a replay up to the end of a bracket, with states of the points around it at which the peer, or one of
// others, left some; without a bracket for all of it.
func (p *player) askAround(r *recording, b *bisect.Bracket, others ...*bundle.Peer) *asked {
	a := &asked{of: r, by: p.w.Witness}
	a.ask.Dump = dumpsAround(setAt(p.s, r.Paths), b)
	for _, of := range others {
		a.ask.Dump = append(a.ask.Dump, dumpsAround(of.States, b)...)
	}
	slices.Sort(a.ask.Dump)
	a.ask.Dump = slices.Compact(a.ask.Dump)
	if b != nil {
		until := b.Bad.Tick
		if n := len(a.ask.Dump); n > 0 {
			until = max(until, a.ask.Dump[n-1])
		}
		a.ask.Until = &until
	}
	return a
}

// make makes replays and keeps the last one of each recording.
func (p *player) make(list []*asked) {
	p.play(list)
	for _, a := range list {
		if a.err != nil {
			p.fail(a.err)
			continue
		}
		a.of.replay = a.replay
	}
	for _, r := range p.list {
		if r.in != nil {
			r.replay = r.in.replay
		}
	}
}

// nearest plays every recording if its peer has no other peer to be compared with, and compares the peer with the
// replay: first by the contents of the recording itself, then with states around where that departs, or of all points
// if it does not.
func (p *player) nearest() {
	var list, dumped []*asked
	list = append(list, lists.Map(p.list, func(r *recording) *asked { return &asked{of: r, by: p.w.Witness} })...)
	p.make(list)
	p.hold()
	for _, r := range p.list {
		if r.replay == nil || !p.w.Game.Dumps {
			continue
		}
		var b *bisect.Bracket
		if r.pair != nil {
			b = r.pair.Bracket
		}
		if a := p.askAround(r, b); len(a.ask.Dump) > 0 {
			dumped = append(dumped, a)
		}
	}
	if len(dumped) > 0 {
		p.make(dumped)
		p.hold()
	}
}

// fail keeps why a recording was not played.
func (p *player) fail(err error) {
	if text := err.Error(); !slices.Contains(p.lost, text) {
		p.lost = append(p.lost, text)
	}
}

// dumpsAround returns the state points near a bracket at which a peer left states; without a bracket, all up to a
// number.
func dumpsAround(set *snapshot.Set, b *bisect.Bracket) (points []uint64) {
	if set == nil {
		return nil
	}
	var before, within, after []uint64
	for _, e := range set.Entries {
		at := e.Point.Tick
		switch {
		case b != nil && b.Good != nil && at <= b.Good.Tick:
			before = append(before, at)
		case b == nil || at <= b.Bad.Tick:
			within = append(within, at)
		default:
			after = append(after, at)
		}
	}
	before = before[max(0, len(before)-dumpsBefore):]
	within = within[max(0, len(within)-dumpsWithin):]
	after = after[:min(len(after), dumpsAfter)]
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(before, within, after))))
}
