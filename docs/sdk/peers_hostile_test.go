package sdk_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// hostilePackets makes packets of those that were seen: mutated, of other content, or of any bytes. All but the last ones have
// a checksum that is right.
type hostilePackets struct {
	random *rand.Rand
	seen   [][]byte
	asked  []byte // a question to this peer
	// reports allows whole reports, which end the exchange.
	reports bool
}

func (h *hostilePackets) next() []byte {
	r := h.random
	b := append([]byte(nil), h.seen[r.IntN(len(h.seen))]...)
	b = b[:len(b)-4]
	switch kind := r.IntN(10); {
	case kind < 6:
		for range 1 + r.IntN(5) {
			b[3+r.IntN(len(b)-3)] = byte([]int{r.IntN(256), r.IntN(3), 255}[r.IntN(3)])
		}
		if r.IntN(6) == 0 {
			b = b[:20+r.IntN(len(b)-19)]
		}
		copy(b[4:16], h.seen[0][4:16]) // seed and schema
	case kind == 6:
		b = h.question(b[:16])
	case kind == 7 && h.reports:
		b = h.report(b[:16])
	case kind >= 7 && kind < 9 && h.asked != nil:
		b = h.answer()
	case kind < 9:
		b = append(b[:20], make([]byte, r.IntN(900))...)
		b[3] = byte(1 + r.IntN(7))
		for i := 20; i < len(b); i++ {
			b[i] = byte([]int{r.IntN(4), r.IntN(256)}[r.IntN(4)/3])
		}
	default:
		b = make([]byte, r.IntN(1200))
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		return b
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// answer is an answer to a part of the last question, with any content.
func (h *hostilePackets) answer() []byte {
	r := h.random
	b := append([]byte(nil), h.asked[:20]...)
	b[3] = 4
	b = append(b, byte(r.IntN(1+int(h.asked[20]))), byte([]int{0, 0, 0, r.IntN(256)}[r.IntN(4)]))
	for range r.IntN(900) {
		b = append(b, byte([]int{0, r.IntN(4), r.IntN(256)}[r.IntN(3)]))
	}
	return b
}

// question is a question that can be answered.
func (h *hostilePackets) question(head []byte) []byte {
	r := h.random
	head[3] = 3
	parts := 1 + r.IntN(31)
	b := append(binary.LittleEndian.AppendUint32(head, r.Uint32()), byte(parts))
	for i := range parts {
		b = append(b, byte(i), byte(1+r.IntN(8)), byte([]int{0, r.IntN(12)}[r.IntN(2)]))
		b = binary.LittleEndian.AppendUint16(b, []uint16{0xffff, uint16(r.IntN(6))}[r.IntN(2)])
		b = binary.LittleEndian.AppendUint16(b, uint16(r.IntN(1<<16)))
		b = binary.LittleEndian.AppendUint32(b, uint32(r.IntN(6)))
		b = binary.LittleEndian.AppendUint32(b, uint32(r.IntN(20)))
		b = binary.LittleEndian.AppendUint64(b, uint64(r.IntN(60)))
		b = binary.LittleEndian.AppendUint64(b, []uint64{0, 1, r.Uint64()}[r.IntN(3)])
	}
	return b
}

// report is a report that can be read, and contains what must not reach a terminal.
func (h *hostilePackets) report(head []byte) []byte {
	r := h.random
	text := func(b []byte) []byte {
		s := []string{"", "Unit", "\x1b[31m", "a\nb", "\xff\x00%s"}[r.IntN(5)]
		return append(append(b, byte(len(s))), s...)
	}
	groups := r.IntN(5)
	b := append([]byte("DFR\x01"), byte(r.IntN(8)))
	b = binary.LittleEndian.AppendUint64(b, 1)
	b = binary.LittleEndian.AppendUint64(b, uint64(r.IntN(60)))
	b = text(binary.LittleEndian.AppendUint16(b, uint16(r.IntN(6))))
	b = append(binary.LittleEndian.AppendUint64(b, uint64(r.IntN(8))), byte(groups))
	for range groups {
		b = binary.LittleEndian.AppendUint64(b, uint64(1+r.IntN(7)))
		b = append(b, make([]byte, 24)...)
	}
	columns := r.IntN(4)
	b = append(append(b, make([]byte, 8)...), byte(columns))
	for range columns {
		b = text(text(text(b)))
		rows := r.IntN(3)
		b = append(b, byte(r.IntN(18)), 1, 2, 3, 4, byte(r.IntN(4)), byte(r.IntN(3)), 0, 0, 0, byte(rows), 0, 0, 0)
		for range rows {
			b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, r.Uint64()), uint64(r.IntN(2)))
			for range groups {
				state := r.IntN(4)
				if b = append(b, byte(state)); state == 1 || state == 2 {
					b = text(b)
				}
				if state == 2 {
					b = append(b, make([]byte, 12)...)
				}
			}
		}
	}
	head[3] = 5
	packet := binary.LittleEndian.AppendUint32(head, r.Uint32())
	packet = binary.LittleEndian.AppendUint16(packet, 0)
	return append(binary.LittleEndian.AppendUint32(packet, uint32(len(b))), b...)
}

// resident is the memory that a program has, in bytes; 0 if that is not known.
func resident(pid int) int {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(status)
	if err != nil || m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n << 10
}

// TestPeersHostile: packets of any content end no peer, cost no memory, and are not answered without end. One of three peers
// sends them, the first, which the others let ask, or the last, which is asked. One is in the language that is tried.
// All languages end with the same report.
func TestPeersHostile(t *testing.T) {
	ends := map[int]string{} // by seed, in C
	for _, l := range peerLanguages {
		if l.name != "C" && !effort.Asked("DESYNCTOOL_SDK_TESTS") {
			continue
		}
		t.Run(l.name, func(t *testing.T) {
			for _, seed := range effort.Of([]int{0, 1}, []int{0, 1, 2, 12}) { // in 12 answers have a row twice
				end := hostileSession(t, l.command(t), uint64(seed))
				if l.name == "C" {
					ends[seed] = end
				} else if end != ends[seed] {
					t.Errorf("seed %d: it ends with %s\nin C with %s", seed, end, ends[seed])
				}
			}
		})
	}
}

func hostileSession(t *testing.T, command []string, seed uint64) string {
	t.Helper()
	h := &hostilePackets{random: rand.New(rand.NewPCG(seed, 5))}
	plant := planted{tick: 40, system: 3, kind: 2 + int(seed)%8}
	if seed%4 == 3 {
		plant.kind = 0
	}
	tried, honest, liar := 1, 2, 0
	if seed%2 == 0 {
		tried, honest, liar = 0, 1, 2
	}
	peers := make([]*peerProgram, 3)
	peers[tried], peers[honest] = startPeer(t, command, 3, tried, seed, planted{}, false, false), startPeer(t, peerC(t), 3, honest, seed, plant, false, false)
	sent, before := 0, 0
	for round := range 120 {
		for i, p := range peers {
			if p == nil {
				continue
			}
			p.ask(t, "play")
			words := strings.Fields(p.ask(t, fmt.Sprint("send ", round*50)))
			p.status = words[0]
			for _, word := range words[1:] {
				to, packet, _ := strings.Cut(word, ":")
				b, err := hex.DecodeString(packet)
				if err != nil || len(b) < 24 || len(b) > 1000 {
					t.Fatalf("%v: %s", err, word)
				}
				if len(h.seen) < 200 {
					h.seen = append(h.seen, b)
				}
				if number, _ := strconv.Atoi(to); number != liar {
					peers[number].tell(t, fmt.Sprint("receive ", i, " ", packet))
				} else if i == tried {
					if sent += len(b); b[3] == 3 {
						h.asked = b
					}
				}
			}
			if round == 60 && runtime.GOOS == "linux" && i == tried {
				before = resident(p.cmd.Process.Pid)
			}
		}
		h.reports = round > 100
		for range 40 {
			if len(h.seen) > 0 {
				peers[tried].tell(t, fmt.Sprintf("receive %d %x", liar, h.next()))
			}
		}
	}
	text, err := hex.DecodeString(peers[tried].ask(t, "text"))
	if err != nil || regexp.MustCompile(`[^ -~\n]`).Match(text) {
		t.Errorf("the text is not escaped: %q", text)
	}
	t.Logf("seed %d: %s after %d packets, %d bytes to the hostile peer", seed, peers[tried].status, 120*40, sent)
	if sent > 700_000 {
		t.Errorf("%d bytes go to the hostile peer", sent)
	}
	if now := resident(peers[tried].cmd.Process.Pid); now > before+32<<20 {
		t.Errorf("it grew from %d to %d bytes", before, now)
	}
	for _, p := range []*peerProgram{peers[tried], peers[honest]} {
		p.state(t)
		p.ends(t)
	}
	return fmt.Sprintf("%s, %d bytes sent, %s", peers[tried].status, sent, text)
}

// TestPeersFiles: what a peer in any language leaves is enough for a verdict on all peers.
func TestPeersFiles(t *testing.T) {
	for _, l := range peerLanguages {
		if !effort.Asked("DESYNCTOOL_SDK_TESTS") {
			t.Skip("the recorder in C has a test of its own")
		}
		t.Run(l.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "left")
			n := &peerNetwork{random: rand.New(rand.NewPCG(3, 4)), delay: 60}
			const seed = 3
			plant := planted{tick: 30, system: 3, kind: 2}
			for i, name := range []string{l.name, "C", "C"} {
				plant.kind = 2 * (i % 2)
				n.peers = append(n.peers, startPeer(t, peerCommand(t, name), 3, i, seed, plant, false, false))
			}
			for !n.all(flightFound) && n.now < 100_000 {
				n.advances(t, 100)
			}
			if err := n.peers[0].ask(t, "files "+dir); err != "" {
				t.Fatal(err)
			}
			text, _ := hex.DecodeString(n.peers[0].ask(t, "text"))
			if !strings.HasPrefix(string(text), "peer0 and peer2 against peer1 have different states since tick 30, ") {
				t.Errorf("%s", text)
			}
			row := regexp.MustCompile(`(?m)^  #(\d+) (\d+) on peer0 and peer2, (\d+) on peer1$`).FindStringSubmatch(string(text))
			if row == nil {
				t.Fatalf("%s", text)
			}
			verdict := run(t, 1, "triage", dir)
			wants(t, verdict, "diverged in tick 30, in Combat", row[1], row[2], row[3], "= inputs         equal", "peer0 = peer2 ≠ peer1")
			if strings.Contains(verdict, "contradiction") {
				t.Error(verdict)
			}
			for _, p := range n.peers {
				p.ends(t)
			}
		})
	}
}
