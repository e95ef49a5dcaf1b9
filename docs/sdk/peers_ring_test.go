package sdk_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// peerPairs has f try each language with C on the other side, with a variable in the environment of both. By default only C
// is tried.
func peerPairs(t *testing.T, variable string, f func(t *testing.T, commands [2][]string)) {
	t.Helper()
	needTool(t, "env")
	for _, l := range peerLanguages {
		if l.name != "C" && !effort.Asked("DESYNCTOOL_SDK_TESTS") {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			set := []string{"env", variable}
			own, other := append(set, l.command(t)...), append(set[:2:2], peerC(t)...)
			f(t, [2][]string{own, other})
			if l.name != "C" {
				f(t, [2][]string{other, own})
			}
		})
	}
}

// finds plays until both peers have the same report, the second one with the mistake.
func (n *peerNetwork) finds(t *testing.T, until int) *flightReport {
	t.Helper()
	for !n.all(flightFound) && n.now < 200_000 {
		n.advances(t, until)
	}
	if !n.all(flightFound) {
		t.Fatal("not all have a report")
	}
	if n.peers[0].ask(t, "report") != n.peers[1].ask(t, "report") || n.peers[0].ask(t, "text") != n.peers[1].ask(t, "text") {
		t.Fatal("the peers have other reports")
	}
	return n.peers[0].reportOf(t)
}

// TestPeersSmallRing: a ring that holds few of the ticks is as good, with rollbacks and marked tables too.
func TestPeersSmallRing(t *testing.T) {
	peerPairs(t, "PEER_BUDGET=1048576", func(t *testing.T, commands [2][]string) {
		for seed := uint64(2); seed < effort.Of[uint64](4, 6); seed++ {
			plant := planted{800 + seed, 3, int(seed)}
			want := truthOf(t, peerC(t), seed, plant)
			n := &peerNetwork{random: rand.New(rand.NewPCG(seed, 9)), loss: 1000, delay: 100, rollback: seed%2 == 0}
			for i, command := range commands {
				of := plant
				of.kind *= i
				n.peers = append(n.peers, startPeer(t, command, 2, i, seed, of, seed%3 == 0, n.rollback))
			}
			for want.system != "" && n.peers[0].ticks < int(want.tick)+200 { // the ring begins again in these ticks
				n.advances(t, int(want.tick)+200)
			}
			if n.loss = 50; want.system != "" {
				want.holds(t, n.finds(t, int(want.tick)+260), 2, 3)
				n.heals(t, want, 2, n.peers[0].reportOf(t).flags&4 == 0)
			}
			for _, p := range n.peers {
				p.ends(t)
			}
		}
	})
}

// TestPeersLost: peers that do not reach each other for longer than a ring lasts report the first state that both keep.
func TestPeersLost(t *testing.T) {
	peerPairs(t, "PEER_BUDGET=1048576", func(t *testing.T, commands [2][]string) {
		const seed = 4
		plant := planted{20, 3, 8} // a value that stays wrong
		n := &peerNetwork{random: rand.New(rand.NewPCG(3, 9)), loss: 1000}
		for i, command := range commands {
			of := plant
			of.kind *= i
			n.peers = append(n.peers, startPeer(t, command, 2, i, seed, of, false, false))
		}
		for n.peers[0].ticks < 900 || n.peers[1].ticks < 900 {
			n.advances(t, 900)
		}
		n.loss = 0
		r := n.finds(t, 1000)
		t.Logf("%d ticks are kept", n.peers[0].ticks-int(r.point))
		if r.flags&1 == 0 || r.point < 100 {
			t.Fatalf("flags %d, point %d", r.flags, r.point)
		}
		want := truth{lost: true, tick: r.point - 1}
		for i := range 2 {
			of := plant
			of.kind *= i
			game := startPeer(t, peerC(t), 0, 0, seed, of, false, false)
			for range r.point {
				game.ask(t, "play")
			}
			want.ends[i] = game.state(t)
			game.ends(t)
		}
		want.holds(t, r, 2, 3)
		for _, p := range n.peers {
			p.ends(t)
		}
	})
}

// TestPeersTexts: a text of which one language keeps more than another does not differ for that.
func TestPeersTexts(t *testing.T) {
	peerPairs(t, "PEER_UNSIZED=1", func(t *testing.T, commands [2][]string) {
		for seed := range effort.Of[uint64](4, 8) {
			plant := planted{30, 4, 9}
			want := truthOf(t, peerC(t), seed, plant)
			if want.system == "" {
				continue
			}
			n := &peerNetwork{random: rand.New(rand.NewPCG(seed, 9))}
			for i, command := range commands {
				of := plant
				of.kind *= i
				n.peers = append(n.peers, startPeer(t, command, 2, i, seed, of, false, false))
			}
			want.holds(t, n.finds(t, 200), 2, 3)
			for _, p := range n.peers {
				p.ends(t)
			}
			if t.Failed() {
				t.Fatal(fmt.Sprint("seed ", seed))
			}
		}
	})
}
