package sdk_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/relay"
)

func relayOf(t *testing.T, seed uint64, count int) *relay.Relay {
	t.Helper()
	o := relay.Options{Seed: seed}
	for i := range count {
		o.Peers = append(o.Peers, fmt.Sprint("peer", i))
	}
	r, err := relay.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRelay: a relay that has no game finds the planted mistake, and all peers have its report. By default the peers are
// in C.
func TestRelay(t *testing.T) {
	for seed := range effort.Of(6, 12) {
		names := make([]string, 2+seed%2)
		for i := range names {
			names[i] = "C"
			if effort.Asked("DESYNCTOOL_SDK_TESTS") {
				names[i] = peerLanguages[(seed+i)%len(peerLanguages)].name
			}
		}
		t.Run(fmt.Sprint(seed, names), func(t *testing.T) { peerSession(t, uint64(seed), names, true) })
	}
}

// asked is a packet of the relay as older peers take it: they do not know part 8 of a question.
func (n *peerNetwork) asked(packet []byte) []byte {
	if !n.old || packet[3] != 3 {
		return packet
	}
	b := append([]byte(nil), packet[:len(packet)-4]...)
	for i := range int(b[20]) {
		if what := &b[22+31*i]; *what == 8 {
			*what = 200
		}
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// TestRelayOldPeers: of peers that cannot name their columns the relay has numbers, and the values.
func TestRelayOldPeers(t *testing.T) {
	n := &peerNetwork{random: rand.New(rand.NewPCG(1, 2)), loss: 100, delay: 60, old: true, relay: relayOf(t, 1, 3)}
	for i := range 2 {
		plant := planted{30, 1, 2} // one point of health more
		if i > 0 {
			plant.kind = 0
		}
		n.peers = append(n.peers, startPeer(t, peerC(t), 3, i+1, 1, plant, false, false))
	}
	for !n.all(flightFound) && n.now < 100_000 {
		n.advances(t, 130)
	}
	for _, p := range n.peers {
		if text := p.ask(t, "text"); text != hex.EncodeToString([]byte(n.relay.Text())) {
			t.Errorf("a peer has another report than the relay: %s", text)
		}
		p.ends(t)
	}
	text := n.relay.Text()
	if !strings.HasPrefix(text, "peer1 and peer2 have different states since tick 30, system Movement: table 1 column.") || !strings.Contains(text, "\nFound by peer0;") {
		t.Errorf("%s", text)
	}
}
