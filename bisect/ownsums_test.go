package bisect

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// twoPeers writes logs with these hashes and snapshots of these states, at the points
// at which there are any.
func twoPeers(t *testing.T, syncs [2][]merkle.Short, states [2]map[uint64]state) []string {
	t.Helper()
	dir := t.TempDir()
	var dirs []string
	for i, name := range []string{"host", "client"} {
		dirs = append(dirs, filepath.Join(dir, name))
		writeSyncs(t, dirs[i], name, syncs[i])
		for tick, s := range states[i] {
			write(t, dirs[i], tick, s, "")
		}
	}
	return dirs
}

// TestRecordedHashesBesideStates: the combined result of recorded hashes and states.
func TestRecordedHashesBesideStates(t *testing.T) {
	own := func(list ...byte) (out []merkle.Short) { // checksums of the game's own
		for _, b := range list {
			out = append(out, merkle.Short{b, b})
		}
		return out
	}
	// The states of points 0, 2, 4, 6 have these values; the roots of value 1 are
	// recorded at all points but for the last, where the value is 2.
	same := map[uint64]state{0: {1, 1, 0}, 2: {1, 2, 0}, 4: {1, 3, 0}, 6: {2, 4, 0}}
	tainted := map[uint64]state{0: {1, 1, 0}, 2: {1, 2, 0}, 4: {1, 8, 0}, 6: {2, 9, 0}}
	other := map[uint64]state{0: {1, 1, 0}, 2: {1, 2, 0}, 4: {7, 3, 0}, 6: {7, 4, 0}}
	healed := map[uint64]state{0: {1, 1, 0}, 2: {1, 2, 0}, 4: {7, 3, 0}, 6: {2, 4, 0}}
	one, two := rootAtPoint(t, state{1, 0, 0}, 0), rootAtPoint(t, state{2, 0, 0}, 0)
	roots := []merkle.Short{one, one, one, one, one, one, two}
	wrong := []merkle.Short{one, one, one, {3}, {4}, {5}, two}
	for _, c := range []struct {
		what   string
		syncs  [2][]merkle.Short
		states [2]map[uint64]state
		span   string
		kind   Kind
		note   string
		sums   string
	}{
		{"roots", [2][]merkle.Short{roots, roots}, [2]map[uint64]state{same, same}, "in sync", "", "", ""},
		{"a wrong checksum", [2][]merkle.Short{roots, wrong}, [2]map[uint64]state{same, tainted}, "in sync", ChecksumOnly, "equal at all 4 state points", "2 3 [[host] [client]]"},
		{"a wrong checksum, the histories of the states", [2][]merkle.Short{roots, wrong}, [2]map[uint64]state{same, same}, "in sync", ChecksumOnly, "the log has sync hash 04", "2 3 [[host] [client]]"},
		{"own checksums, in sync", [2][]merkle.Short{own(1, 2, 3, 4, 5, 6, 7), own(1, 2, 3, 4, 5, 6, 7)}, [2]map[uint64]state{same, same}, "in sync", "", "a checksum of the game's own", ""},
		{"only own checksums differ", [2][]merkle.Short{own(1, 2, 3, 4, 5, 6, 7), own(1, 2, 3, 4, 9, 9, 9)}, [2]map[uint64]state{same, same}, "in sync", ChecksumOnly, "a checksum of the game's own", "3 4 [[host] [client]]"},
		{"a blind checksum", [2][]merkle.Short{own(1, 2, 3, 4, 5, 6, 7), own(1, 2, 3, 4, 5, 6, 7)}, [2]map[uint64]state{same, other}, "(2,4]", BlindChecksum, "every recorded sync hash agrees, up to state point 6", ""},
		{"a blind checksum, states that heal", [2][]merkle.Short{own(1, 2, 3, 4, 5, 6, 7), own(1, 2, 3, 4, 5, 6, 7)}, [2]map[uint64]state{same, healed}, "(2,4]", BlindChecksum, "it does not cover what differs", ""},
		{"own checksums that end before", [2][]merkle.Short{own(1, 2, 3), own(1, 2, 3)}, [2]map[uint64]state{same, other}, "(2,4]", StateDiffers, "end with state point 2, before they could show it", ""},
		{"own checksums that show it late", [2][]merkle.Short{own(1, 2, 3, 4, 5, 6, 7), own(1, 2, 3, 4, 5, 9, 9)}, [2]map[uint64]state{same, other}, "(2,4]", StateDiffers, "from state point 5 on: they do not cover what differs first", ""},
	} {
		r := run1(t, twoPeers(t, c.syncs, c.states), Options{})
		if span(r) != c.span || r.Kind != c.kind || r.Diverged() != (c.kind != "") || len(r.Contradictions) > 0 {
			t.Errorf("%s: %s, kind %q, contradictions %q", c.what, span(r), r.Kind, r.Contradictions)
		}
		if !strings.Contains(strings.Join(r.Notes, "\n"), c.note) {
			t.Errorf("%s: notes %q", c.what, r.Notes)
		}
		sums := ""
		if m := r.Sums; m != nil {
			sums = fmt.Sprint(*m.Good, m.Bad, m.Groups)
		}
		if sums != c.sums {
			t.Errorf("%s: recorded hashes part %q, want %q", c.what, sums, c.sums)
		}
	}
}

// TestWrongChecksumBeforeStatesPart: a checksum that is wrong first is not all, if states
// differ later that no history shows.
func TestWrongChecksumBeforeStatesPart(t *testing.T) {
	one := rootAtPoint(t, state{1, 0, 0}, 0)
	host := []merkle.Short{one, one, one, one, one, one, rootAtPoint(t, state{2, 0, 0}, 6)}
	client := []merkle.Short{one, one, one, {3}, {4}, {5}, rootAtPoint(t, state{7, 0, 0}, 6)}
	states := [2]map[uint64]state{
		{0: {1, 1, 0}, 2: {1, 2, 0}, 4: {1, 3, 0}, 6: {2, 4, 0}},
		{0: {1, 1, 0}, 2: {1, 2, 0}, 4: {1, 3, 0}, 6: {7, 4, 0}},
	}
	r := run1(t, twoPeers(t, [2][]merkle.Short{host, client}, states), Options{})
	if r.Kind != StateDiffers || r.Bracket == nil || len(r.Contradictions) == 0 {
		t.Errorf("%s, kind %q, contradictions %q", span(r), r.Kind, r.Contradictions)
	}
}

// TestTrialByRoots: a replay of a log with the game's checksum is compared with the snapshots, and a peer did not go
// wrong if only its checksum is wrong.
func TestTrialByRoots(t *testing.T) {
	healthy, wrong := countingSim("", 0, 5), countingSim("wrong", 17, 5)
	for _, c := range []struct {
		sim, in *Sim // the peer's, and the replay's
		own     bool // its log has the game's checksum
		departs bool
		point   uint64
		notes   int
		means   string
	}{
		{healthy, healthy, true, false, 0, 1, "are what the orders give"},
		{wrong, healthy, true, true, 20, 1, "p departs from what its own orders give"},
		{healthy, healthy, false, true, 10, 0, "its checksum is wrong, or of another kind"},
		{healthy, countingSim("", 0, 6), true, true, 0, 0, "the state at the start is not what the log's header gives"},
	} {
		log := countingLog(t, c.sim)
		dir := t.TempDir()
		s, _ := c.sim.Start(nil)
		for _, point := range []uint64{0, 10, 20, 30} {
			for s.Point() < point {
				_ = s.Step(log.Ticks[s.Point()].Orders)
			}
			if err := snapshot.WriteFile(filepath.Join(dir, snapshot.Name(testSeed, point)), worldOf(s), snapshot.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		sets, err := snapshot.Find(files.Disk, dir, []snapshot.Format{snapshot.SnapFormat()})
		if err != nil {
			t.Fatal(err)
		}
		for i := range log.Ticks {
			if c.own || i >= 10 {
				log.Ticks[i].Hashes = []orderlog.Observed{{Point: uint64(i), Kind: orderlog.SyncHash, Bytes: []byte{1, 2, 3, 4, 5, 6, 7, byte(i)}}}
			}
		}
		trial := try(t, log, c.in, TrialOptions{Mode: Plain, Snapshots: sets[0]})
		if trial.Departed() != c.departs || c.departs && trial.First.Point != c.point || !strings.Contains(trial.Means, c.means) || len(trial.Notes) != c.notes {
			t.Errorf("%+v, want %d, %s", trial, c.point, c.means)
		}
	}
}
