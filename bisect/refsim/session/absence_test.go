package session

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// tickOf returns what a peer logged of a tick, nil if it has none.
func (r *recording) tickOf(peer int, number uint64) *orderlog.Tick {
	i, ok := slices.BinarySearchFunc(r.ticks[peer], number, func(t orderlog.Tick, n uint64) int { return int(t.Number) - int(n) })
	if !ok {
		return nil
	}
	return &r.ticks[peer][i]
}

// kinds returns the kinds of a tick's markers.
func kinds(t *orderlog.Tick) string {
	var list []string
	for i := range t.Markers {
		list = append(list, t.Markers[i].Kind.String())
	}
	return strings.Join(list, " ")
}

// TestAbsence: a peer that is away leaves nothing, and comes back with the state and the
// history of the first peer.
func TestAbsence(t *testing.T) {
	for seed := range uint64(effort.Of(2, 10)) {
		r := record(t, Options{
			Config: refsim.Config{Seed: seed, Entities: 250, Players: 3}, Ticks: 90, Peers: PeerNames(3), SnapshotEvery: 20,
			Absences: []Absence{{Peer: "client", From: 31, Until: 57}, {Peer: "client2", Until: 44}, {Peer: "client", From: 70, Until: 71}},
		})
		if r.truth.Bracket != nil || r.truth.Checksum != nil {
			t.Fatalf("%s", marshal(r.truth))
		}
		for n := range uint64(90) {
			for peer, away := range []bool{false, n >= 31 && n < 57 || n == 70, n < 44} {
				tick := r.tickOf(peer, n)
				if away != (tick == nil) {
					t.Fatalf("peer %d, tick %d: away %t, logged %v", peer, n, away, tick)
				}
				if tick == nil {
					if r.worlds[peer][n] != nil {
						t.Errorf("peer %d has a snapshot of point %d", peer, n)
					}
					continue
				}
				if host := r.tickOf(0, n); tick.Number != 0 && !bytes.Equal(tick.Hashes[0].Bytes, host.Hashes[0].Bytes) {
					t.Errorf("peer %d, point %d: another sync hash than the host's", peer, n)
				}
				for i := range tick.Orders {
					if p := int(tick.Orders[i].Player); p == 1 && n >= 31 && n < 57 || p == 2 && n < 44 {
						t.Errorf("tick %d: an order of player %d, whose machine is away", n, p)
					}
				}
			}
		}
		for _, c := range []struct {
			peer int
			tick uint64
			want string
		}{
			{0, 31, "leave"}, {2, 57, "reconnect"}, {0, 57, "save reconnect"}, {1, 57, "reconnect load"}, {2, 44, "join load"}, {0, 44, "save join"}, {0, 70, "leave"}, {1, 71, "reconnect load"},
		} {
			if got := kinds(r.tickOf(c.peer, c.tick)); got != c.want {
				t.Errorf("peer %d, tick %d: %q, want %q", c.peer, c.tick, got, c.want)
			}
		}
		if h := r.heads[2]; h.FirstPoint != 44 || h.Epoch != 1 || h.Start.Short() != merkle.Short(r.tickOf(0, 44).Hashes[0].Bytes) {
			t.Errorf("header of a peer that joins: %+v", h)
		}
		// The history of the epoch is the host's, with the loaded point in it.
		if got, host := r.tickOf(1, 57).NewEpoch().History, r.worlds[0][57].History; got != host || host.IsZero() {
			t.Errorf("adopts %s, the host has %s", got, host)
		}
		if got, host := r.worlds[1][90], r.worlds[0][90]; got.History != host.History || got.Epoch != 2 || host.Epoch != 0 {
			t.Errorf("history %s in epoch %d at the end, the host has %s in %d", got.History, got.Epoch, host.History, host.Epoch)
		}
	}
}

// TestBadLoad: a save that lacks a field parts the peer where it loads it.
func TestBadLoad(t *testing.T) {
	for _, from := range []uint64{60, 80} { // while it is away, and in the tick of the load
		f := Fault{Fault: refsim.Fault{Name: "save-omits-field", Place: "Movement", From: from}}
		r := record(t, Options{Config: refsim.Config{Seed: 3, Entities: 250}, Ticks: 120, Faults: []Fault{f}, Absences: []Absence{{Peer: "client", From: 50, Until: 80}}})
		truth := r.truth
		if truth.LoadedAt == nil || *truth.LoadedAt != 80 || *truth.Bracket.Good != 50 || truth.Bracket.Bad != 80 || *truth.InitialState || truth.System != nil ||
			truth.Peer != "client" || truth.Fault != "save-omits-field" || *truth.Component != "Fatigue" {
			t.Errorf("%s", marshal(truth))
		}
		for i, same := range []bool{false, false, true} { // sync, state, history
			if a, b := r.tickOf(0, 80).Hashes[i], r.tickOf(1, 80).Hashes[i]; bytes.Equal(a.Bytes, b.Bytes) != same || a.Kind != b.Kind {
				t.Errorf("%s hash of the loaded point: %x and %x", a.Kind, a.Bytes, b.Bytes)
			}
		}
	}
}

// TestHealedByLoading: a peer's mistakes from before it was away are gone when it loads.
func TestHealedByLoading(t *testing.T) {
	f := Fault{Fault: refsim.Fault{Name: "bit-flip", Place: "Movement", From: 20}}
	r := record(t, Options{Config: refsim.Config{Seed: 5, Entities: 250}, Ticks: 120, Faults: []Fault{f}, Absences: []Absence{{Peer: "client", From: 50, Until: 80}}})
	if b := r.truth.Bracket; b == nil || b.Bad != 21 || r.truth.HealedAt == nil || *r.truth.HealedAt != 80 {
		t.Errorf("%s", marshal(r.truth))
	}
}

func TestAbsencesThatCannotBe(t *testing.T) {
	for want, list := range map[string][]Absence{
		"no such peer":                       {{Peer: "nobody", From: 1, Until: 2}},
		"the first peer is always there":     {{Peer: "host", From: 1, Until: 2}},
		"that is no time":                    {{Peer: "client", From: 5, Until: 5}},
		"the session has 50 ticks":           {{Peer: "client", From: 5, Until: 50}},
		"it is away in ticks 5 to 9 already": {{Peer: "client", From: 5, Until: 10}, {Peer: "client", From: 10, Until: 12}},
	} {
		_, err := Record(Options{Config: refsim.Config{Entities: 250}, Ticks: 50, Absences: list}, Sink{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, s := range []string{"", "client", "client@5", "@5+3", "client@0+3", "client@5+0", "client@x+3", "client@5+-1", "client@9223372036854775808+1"} {
		if a, err := ParseRejoin(s); err == nil {
			t.Errorf("%q: %+v", s, a)
		}
	}
	for _, s := range []string{"", "client", "@5", "client@0", "client@5+3"} {
		if a, err := ParseJoin(s); err == nil {
			t.Errorf("%q: %+v", s, a)
		}
	}
	if a, err := ParseRejoin("client@9223372036854775807+9223372036854775807"); err != nil || a.Until < a.From {
		t.Errorf("%+v, %v", a, err)
	}
}
