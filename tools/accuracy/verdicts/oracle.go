package verdicts

import (
	"bytes"
	"os"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/tools/internal/try"
)

// held records which questions a session's artifacts can answer at all.
type held struct {
	kind, tick, system, archetype, component, guilty bool
}

// shows reports whether there is a difference in the recorded artifacts that were not removed. If the game's checksums
// do not cover the difference, only snapshots show it.
func (s Session) shows(r *session.Recording) bool {
	if c := r.Truth.Checksum; c != nil && c.Kind == string(bisect.BlindChecksum) && s.Lack == NoStates {
		return false
	}
	return r.Truth.Bracket != nil || r.Truth.Checksum != nil
}

// states are the archetypes and components that differ between the states of two peers at the end of the first tick
// that differs. It is empty if these states do not exist.
type states struct {
	archetypes []string
	components map[string][]string // by archetype
}

// holds determines what a recording without its removed artifacts can show. differ describes the states of the
// divergent tick, which exist or can be computed. If no trace shows the first archetype, these states do if they differ
// in only one.
func (s Session) holds(r *session.Recording, differ states) held {
	t := r.Truth
	logs := s.Lack != LogsGone
	h := held{kind: logs || t.Checksum == nil, guilty: logs && !s.network()}
	if t.Checksum != nil { // nothing recorded covers the states
		if h.kind && t.Checksum.Kind == string(bisect.ChecksumOnly) {
			h.kind = contradicted(r)
		}
		return h
	}
	initial := *t.InitialState || t.LoadedAt != nil // there is no divergent tick
	if t.LoadedAt != nil && !logs {
		return h // nothing shows that a peer loaded
	}
	h.tick = !initial && (logs || s.Trace != session.TraceNone || left(r, *t.Bracket.Good) && left(r, t.Bracket.Bad))
	h.system = t.System != nil && s.Trace != session.TraceNone
	h.archetype = h.system && s.Trace != session.TraceSystem
	h.component = h.archetype && s.Trace == session.TraceColumn
	if h.component {
		return h
	}
	if !h.tick && !initial {
		return h
	}
	h.archetype = h.archetype || len(differ.archetypes) == 1 || *t.InitialState && len(differ.archetypes) > 0
	// For an archetype in a trace, the states show the component if it differs in only one.
	h.component = *t.Archetype == "" && h.archetype || h.archetype && len(differ.components[*t.Archetype]) == 1
	return h
}

// showsTick reports whether there are states of both sides right after the divergent tick.
func (s Session) showsTick(r *session.Recording) bool {
	if r.Truth.Bracket == nil {
		return false
	}
	return left(r, r.Truth.Bracket.Bad)
}

// left reports whether both sides left a state of a point.
func left(r *session.Recording, point uint64) bool {
	for i := range r.Peers[:2] {
		if _, err := os.Stat(r.Peers[i].At(point)); err != nil {
			return false
		}
	}
	return true
}

// contradicted reports whether two peers left snapshots of a state point at which their recorded hashes differ. Without
// such a point, nothing shows that the states were equal there.
func contradicted(r *session.Recording) bool {
	var hashes [2]map[uint64]merkle.Short
	for i := range hashes {
		log := try.Get(orderlog.ReadFile(r.Peers[i].Log))
		_, hashes[i], _ = bisect.Recorded(log)
	}
	for i, point := range r.Peers[0].Points {
		if _, err := os.Stat(r.Peers[0].Snapshots[i]); err == nil && hashes[0][point] != hashes[1][point] {
			return true
		}
	}
	return false
}

// differing compares the columns of two peers' snapshots at the end of the first tick that differs, byte by byte. If
// one side lacks an entity, the entity differs in all components.
func differing(r *session.Recording) (s states) {
	if r.Truth.Bracket == nil {
		return s
	}
	var worlds []*snapshot.World
	for i := range r.Peers[:2] {
		path := r.Peers[i].At(r.Truth.Bracket.Bad)
		if path == "" {
			return s
		}
		f, err := snapshot.OpenFile(path)
		if err != nil {
			return s // it was removed
		}
		w, err := snapshot.Load(f)
		f.Close()
		try.Check(err)
		worlds = append(worlds, w)
	}
	a, b := worlds[0], worlds[1]
	s.components = map[string][]string{}
	if !bytes.Equal(a.RNG, b.RNG) {
		s.archetypes = append(s.archetypes, "")
	}
	for i := range a.Tables {
		x, y := &a.Tables[i], &b.Tables[i]
		if x.Class != snapshot.Archetype {
			continue
		}
		sameKeys := slices.Equal(x.Keys.A, y.Keys.A) && slices.Equal(x.Keys.B, y.Keys.B)
		for k := range x.Columns {
			c, d := &x.Columns[k], &y.Columns[k]
			same := sameKeys && bytes.Equal(c.Data, d.Data) && slices.Equal(c.Ends, d.Ends) && slices.Equal(c.Present, d.Present)
			if !same && !slices.Contains(s.components[x.Label], c.Component) {
				s.components[x.Label] = append(s.components[x.Label], c.Component)
			}
		}
		if len(s.components[x.Label]) > 0 || !sameKeys {
			s.archetypes = append(s.archetypes, x.Label)
		}
	}
	return s
}
