package verdicts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/tools/internal/try"
)

// View is the part of a session's artifacts that is left.
type View string

// Views, in order of decreasing evidence.
const (
	Complete     View = "complete"
	ArchetypesOf View = "traces of archetypes"
	SystemsOf    View = "traces of systems"
	Untracked    View = "no traces"
	Unlogged     View = "no order logs"
	BracketOnly  View = "regular snapshots alone"
	OnePeer      View = "one peer alone"
	Claimed      View = "claims alone"
)

// Views returns all views.
func Views() []View {
	return []View{Complete, ArchetypesOf, SystemsOf, Untracked, Unlogged, BracketOnly, OnePeer, Claimed}
}

// claimedTick is a library's log line that both peers may write, as in testdata/loglines.
const claimedTick = "2026-03-02T18:04:13.874002Z  INFO game: Event: DesyncDetected { frame: %d, local_checksum: %d, remote_checksum: %d, addr: 127.0.0.1:7001 }\n"

// trace returns the finest trace in the view.
func (v View) trace() session.TraceLevel {
	switch v {
	case ArchetypesOf:
		return session.TraceArchetype
	case SystemsOf:
		return session.TraceSystem
	}
	return session.TraceColumn
}

// show creates a folder below dir for each peer, with the artifacts of a recording that the view leaves, and returns
// these folders.
func (v View) show(r *session.Recording, dir string) (dirs []string) {
	for i := range r.Peers {
		p := &r.Peers[i]
		if v == OnePeer && i != 1 {
			continue
		}
		to := filepath.Join(dir, p.Name)
		try.Check(os.MkdirAll(to, 0o777))
		dirs = append(dirs, to)
		if v == Claimed {
			try.Check(os.WriteFile(filepath.Join(to, "game.log"), claimOf(r, i), 0o666))
			continue
		}
		entries := try.Get(os.ReadDir(p.Dir))
		for _, e := range entries {
			from := filepath.Join(p.Dir, e.Name())
			if v.keeps(r, p, from) {
				try.Check(os.Link(from, filepath.Join(to, e.Name())))
			}
		}
	}
	return dirs
}

// keeps reports whether a view contains a file of a peer.
func (v View) keeps(r *session.Recording, p *session.Recorded, file string) bool {
	trace := strings.HasSuffix(file, ".trace")
	switch {
	case strings.HasSuffix(file, ".json"):
		return false
	case v == Untracked:
		return !trace
	case v == Unlogged:
		return file != p.Log
	case v == BracketOnly:
		first := r.Truth.Bracket != nil && r.Truth.Bracket.Bad > 0 && file == p.At(r.Truth.Bracket.Bad)
		return !trace && file != p.Log && !first
	}
	return true
}

// claimOf returns a peer's log with only the game's message about the desync.
func claimOf(r *session.Recording, peer int) []byte {
	tick := uint64(0)
	if r.Truth.Bracket != nil {
		tick = r.Truth.Bracket.Bad
	}
	sums := [2]uint64{tick*2654435761 + 1, tick*2246822519 + 2}
	return fmt.Appendf(nil, claimedTick, tick, sums[peer%2], sums[(peer+1)%2])
}
