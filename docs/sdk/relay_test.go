package sdk_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/relay"
)

// An anyRelay is a relay in some language.
type anyRelay interface {
	Receive(from int, packet []byte)
	Send(milliseconds uint64) (to int, packet []byte)
	Report() []byte
	Text() string
	Resume()
}

// relayInC is testdata/relay.c.
type relayInC struct {
	t *testing.T
	p *peerProgram
}

func (c relayInC) Receive(from int, packet []byte) {
	c.p.tell(c.t, fmt.Sprintf("receive %d %x", from, packet))
}

func (c relayInC) Send(now uint64) (int, []byte) {
	to, packet, found := strings.Cut(c.p.ask(c.t, fmt.Sprint("send ", now)), ":")
	if !found {
		return 0, nil
	}
	number, err := strconv.Atoi(to)
	if err != nil {
		c.t.Fatal(err)
	}
	return number, c.bytes(packet)
}

func (c relayInC) bytes(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		c.t.Fatal(err)
	}
	return b
}

func (c relayInC) Report() []byte { return c.bytes(c.p.ask(c.t, "report")) }
func (c relayInC) Text() string   { return string(c.bytes(c.p.ask(c.t, "text"))) }
func (c relayInC) Resume()        { c.p.ask(c.t, "resume") }

func relayOf(t *testing.T, language string, seed uint64, count int) anyRelay {
	t.Helper()
	if language == "C" {
		compiler := append([]string{"cc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-Ic"}, effort.Of([]string{"-O0"}, []string{"-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"})...)
		program := buildOnce(t, compiler, "testdata/relay.c")
		return relayInC{t, startProgram(t, []string{program, strconv.Itoa(count), fmt.Sprint(seed)})}
	}
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

// TestRelay: a relay that has no game, in Go and in C, finds the planted mistake, and all peers have its report. By default
// the peers are in C.
func TestRelay(t *testing.T) {
	for seed := range effort.Of(6, 12) {
		names := make([]string, 2+seed%2)
		for i := range names {
			names[i] = "C"
			if effort.Asked("DESYNCTOOL_SDK_TESTS") {
				names[i] = peerLanguages[(seed+i)%len(peerLanguages)].name
			}
		}
		in := []string{"Go", "C"}[seed/2%2]
		t.Run(fmt.Sprint(seed, in, names), func(t *testing.T) { peerSession(t, uint64(seed), names, in) })
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
	for _, in := range []string{"Go", "C"} {
		t.Run(in, func(t *testing.T) { oldPeers(t, in) })
	}
}

func oldPeers(t *testing.T, in string) {
	n := &peerNetwork{random: rand.New(rand.NewPCG(1, 2)), loss: 100, delay: 60, old: true, relay: relayOf(t, in, 1, 3)}
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

// TestRelayHostile: packets of any content do no harm, and get a bounded number of bytes.
func TestRelayHostile(t *testing.T) {
	for _, in := range []string{"Go", "C"} {
		t.Run(in, func(t *testing.T) {
			for seed := range effort.Of(1, 10) {
				hostileRelay(t, in, uint64(seed))
			}
		})
	}
}

func hostileRelay(t *testing.T, in string, seed uint64) {
	r := relayOf(t, in, 1, 4)
	random := rand.New(rand.NewPCG(seed, 4))
	beat := binary.LittleEndian.AppendUint64([]byte("DF\x01\x01"), 1)
	beat = append(beat, make([]byte, 8+16+4)...)
	h := &hostilePackets{random: random, seen: [][]byte{beat}, reports: seed%2 > 0}
	asked, sent, now, questions := [4][]byte{}, [4]int{}, 0, 0
	for i := range effort.Of(2000, 10_000) {
		from := 1 + random.IntN(3)
		h.asked = asked[from]
		if packet := h.next(); len(packet) <= 1000 {
			r.Receive(from, packet)
		}
		if random.IntN(8) == 0 {
			now += random.IntN(100)
			for to, packet := r.Send(uint64(now)); packet != nil; to, packet = r.Send(uint64(now)) {
				if to < 1 || to > 3 || len(packet) > 1000 {
					t.Fatalf("%d bytes are sent to peer %d", len(packet), to)
				}
				if sent[to] += len(packet); packet[3] == 3 {
					asked[to] = packet
					questions++
				}
				h.seen = append(h.seen[:min(len(h.seen), 100)], packet)
			}
		}
		if i%1000 == 999 {
			r.Resume()
			sent = [4]int{}
		}
		if slices.Max(sent[:]) > 2<<20 {
			t.Fatalf("%v bytes are sent", sent)
		}
	}
	if questions == 0 && !h.reports {
		t.Error("no peer was asked")
	}
	for _, c := range r.Text() {
		if c < ' ' && c != '\n' || c > 126 {
			t.Fatalf("%q is not escaped", r.Text())
		}
	}
	if c, ok := r.(relayInC); ok {
		c.p.ends(t)
	}
}
