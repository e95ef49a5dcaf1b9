package sdk_test

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/snapshot"
)

// peerLanguages are the languages that have a flight recorder, with the command of a peer that does what testdata/peer.c does.
// The game in C is the truth for all of them.
var peerLanguages = []struct {
	name    string
	command func(t *testing.T) []string
}{
	{"C", peerC},
	{"C#", peerCSharp},
	{"Rust", peerRust},
	{"Python", peerPython},
	{"TypeScript", peerTypeScript},
}

func peerC(t *testing.T) []string {
	return []string{buildOnce(t, []string{"cc", "-std=gnu99", "-Wall", "-Wextra", "-Werror", "-Ic", effort.Of("-O0", "-O1")}, "testdata/peer.c")}
}

func peerCSharp(t *testing.T) []string {
	needTool(t, "mcs")
	needTool(t, "mono")
	exe, err := peerProgramCSharp()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"mono", exe}
}

var peerProgramCSharp = sync.OnceValues(func() (string, error) {
	exe := filepath.Join(built, "peer.exe")
	out, err := exec.Command("mcs", "-langversion:7", "-warn:4", "-warnaserror", "-out:"+exe, csharpSDK, "csharp/DesynctoolFlight.cs", "testdata/Peer.cs").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("mcs: %w\n%s", err, out)
	}
	return exe, err
})

func peerTypeScript(t *testing.T) []string {
	needTool(t, "node")
	program, err := peerProgramTypeScript()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"node", program}
}

var peerProgramTypeScript = sync.OnceValues(func() (string, error) {
	path := filepath.Join(built, "peer.mjs")
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{"testdata/peer.ts"}, Bundle: true, Format: api.FormatESModule, Platform: api.PlatformNode, Target: api.ES2022, LogLevel: api.LogLevelSilent,
		Outfile: path, Write: true,
	})
	if len(result.Errors)+len(result.Warnings) > 0 {
		return "", fmt.Errorf("testdata/peer.ts: %v %v", result.Errors, result.Warnings)
	}
	return path, nil
})

// planted is the mistake that is made in a peer after a system of a tick. Kind 0 is none.
type planted struct {
	tick         uint64
	system, kind int
}

const plantedKinds = 9 // testdata/peer.c has them

// A peerProgram is a peer in any language, which is told what to do in lines.
type peerProgram struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr strings.Builder
	ticks  int
	status string
	report string
}

func startPeer(t *testing.T, command []string, count, self int, seed uint64, plant planted, marked, rollback bool) *peerProgram {
	t.Helper()
	bit := map[bool]int{true: 1}
	args := strings.Fields(fmt.Sprint(count, self, seed, plant.tick, plant.system, plant.kind, bit[marked], bit[rollback]))
	return startProgram(t, append(slices.Clone(command), args...))
}

func startProgram(t *testing.T, command []string) *peerProgram {
	t.Helper()
	p := &peerProgram{cmd: exec.CommandContext(t.Context(), command[0], command[1:]...)}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in, p.out, p.cmd.Stderr = in, bufio.NewReaderSize(out, 1<<16), &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *peerProgram) tell(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		_ = p.cmd.Wait()
		t.Fatalf("%s: %v\n%s", line, err, p.stderr.String())
	}
}

func (p *peerProgram) ask(t *testing.T, line string) string {
	t.Helper()
	p.tell(t, line)
	answer, err := p.out.ReadString('\n')
	if err != nil {
		_ = p.cmd.Wait()
		t.Fatalf("%.200s: %v, %v\n%s", line, err, p.cmd.ProcessState, p.stderr.String())
	}
	return strings.TrimRight(answer, "\r\n")
}

func (p *peerProgram) ends(t *testing.T) {
	t.Helper()
	p.in.Close()
	if err := p.cmd.Wait(); err != nil || p.stderr.Len() > 0 {
		t.Errorf("%v: %v\n%s", p.cmd.Args, err, p.stderr.String())
	}
}

// state is the state that the game has now.
func (p *peerProgram) state(t *testing.T) *snapshot.World { return decoded(t, p.ask(t, "snap")) }

func decoded(t *testing.T, text string) *snapshot.World {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
	w, err := snapshot.Decode(b, "state")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// A peerNetwork carries packets between peers in a time of its own; it loses, doubles, delays and reorders them.
type peerNetwork struct {
	peers       []*peerProgram
	random      *rand.Rand
	now         int
	loss, delay int // in 1000; ms
	air         []flyingPacket
	rollback    bool
	old         bool     // peers do not know part 8 of a question
	relay       anyRelay // peer 0, if there is one: the others are numbered from 1 on
}

type flyingPacket struct {
	at, from, to int
	packet       string
}

// advances 25 ms: each peer plays a tick in most of two such times, at most three before the others, until a tick.
func (n *peerNetwork) advances(t *testing.T, until int) {
	t.Helper()
	n.now += 25
	slowest := n.peers[0].ticks
	for _, p := range n.peers {
		slowest = min(slowest, p.ticks)
	}
	for i, p := range n.peers {
		if p.ticks < until && p.ticks <= slowest+2 && n.random.IntN(2) == 0 {
			if n.rollback && n.random.IntN(3) == 0 {
				p.ask(t, fmt.Sprint("guess ", 1+n.random.IntN(5)))
			}
			p.ask(t, "play")
			p.ticks++
		}
		words := strings.Fields(p.ask(t, fmt.Sprint("send ", n.now)))
		p.status = words[0]
		for _, word := range words[1:] {
			to, packet, _ := strings.Cut(word, ":")
			number, err := strconv.Atoi(to)
			if err != nil || number == i+n.first() || number < 0 || number >= len(n.peers)+n.first() || len(packet) > 2000 {
				t.Fatalf("peer %d sends %d bytes to %q", i, len(packet)/2, to)
			}
			n.carry(i+n.first(), number, packet)
		}
	}
	for n.relay != nil {
		to, packet := n.relay.Send(uint64(n.now))
		if packet == nil {
			break
		}
		n.carry(0, to, hex.EncodeToString(n.asked(packet)))
	}
	n.air = slices.DeleteFunc(n.air, func(f flyingPacket) bool {
		if f.at <= n.now {
			if f.to < n.first() {
				packet, _ := hex.DecodeString(f.packet)
				n.relay.Receive(f.from, packet)
			} else {
				n.peers[f.to-n.first()].tell(t, fmt.Sprint("receive ", f.from, " ", f.packet))
			}
		}
		return f.at <= n.now
	})
}

// carry has a packet arrive later, once, twice or never.
func (n *peerNetwork) carry(from, to int, packet string) {
	for copies := 1 + n.random.IntN(50)/49; copies > 0; copies-- {
		if n.random.IntN(1000) >= n.loss {
			n.air = append(n.air, flyingPacket{n.now + n.delay/2 + n.random.IntN(n.delay+1), from, to, packet})
		}
	}
}

// first is the number of the first peer that plays.
func (n *peerNetwork) first() int {
	if n.relay != nil {
		return 1
	}
	return 0
}

func (n *peerNetwork) all(status string) bool {
	return !slices.ContainsFunc(n.peers, func(p *peerProgram) bool { return p.status != status })
}

// statuses of a recorder, as all languages number them.
const flightWatching, flightFound = "0", "2"

// peerSession plays a session of peers in some languages, with a relay in a language or without. All end with the same report, which is
// compared with the truth.
func peerSession(t *testing.T, seed uint64, names []string, relayed string) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 31))
	plant := planted{uint64(20 + random.IntN(60)), random.IntN(5), 1 + int(seed)%plantedKinds}
	marked := random.IntN(2) == 0
	n := &peerNetwork{random: random, loss: []int{0, 20, 150, 300}[random.IntN(4)], delay: []int{0, 60, 300}[random.IntN(3)], rollback: random.IntN(2) == 0}
	want := truthOf(t, peerC(t), seed, plant)
	if want.system == "" {
		return // the mistake changes nothing
	}
	if relayed != "" {
		n.relay = relayOf(t, relayed, seed, len(names)+1)
	}
	wrong, all := uint64(0), uint64(1)<<len(names)-1
	for wrong == 0 || wrong == all {
		wrong = random.Uint64N(all)
	}
	for i, name := range names {
		of := plant
		if wrong>>i&1 == 0 {
			of.kind = 0
		}
		n.peers = append(n.peers, startPeer(t, peerCommand(t, name), len(names)+n.first(), i+n.first(), seed, of, marked, n.rollback))
	}
	t.Logf("seed %d: %v, wrong %b, %+v, marked %v, %+v", seed, names, wrong, plant, marked, want.system)
	for !n.all(flightFound) && n.now < 200_000 {
		n.advances(t, int(want.tick)+100)
	}
	if !n.all(flightFound) {
		t.Fatalf("not all have a report")
	}
	for i, p := range n.peers {
		p.report = p.ask(t, "report")
		if p.report != n.peers[0].report || p.ask(t, "text") != n.peers[0].ask(t, "text") {
			t.Fatalf("%s has another report than %s", names[i], names[0])
		}
	}
	if n.relay != nil && (hex.EncodeToString(n.relay.Report()) != n.peers[0].report || hex.EncodeToString([]byte(n.relay.Text())) != n.peers[0].ask(t, "text")) {
		t.Fatalf("the relay has another report than the peers:\n%s", n.relay.Text())
	}
	if n.relay != nil && !strings.Contains(n.relay.Text(), "\nFound by peer0;") {
		t.Fatalf("the relay has not asked:\n%s", n.relay.Text())
	}
	r := n.peers[0].reportOf(t)
	want.holds(t, r, wrong<<n.first(), all<<n.first())
	if n.relay != nil {
		n.relay.Resume()
	}
	n.heals(t, want, wrong, r.flags&4 == 0)
	for _, p := range n.peers {
		p.ends(t)
	}
	if c, ok := n.relay.(relayInC); ok {
		c.p.ends(t)
	}
}

// heals has all peers load the state of one of them. They stay in sync then.
func (n *peerNetwork) heals(t *testing.T, want truth, wrong uint64, whole bool) {
	t.Helper()
	of := n.random.IntN(len(n.peers))
	for i, p := range n.peers {
		answer := p.ask(t, fmt.Sprint("load ", of+n.first()))
		state, ok := strings.CutPrefix(answer, "- ")
		if !ok && !whole {
			return // and that is known before
		}
		if !ok {
			t.Fatalf("peer %d cannot load the state of %d: %s", i, of, answer)
		}
		if flightRootOf(decoded(t, state)) != flightRootOf(want.ends[wrong>>of&1]) {
			t.Fatalf("peer %d has loaded another state than that of %d", i, of)
		}
		p.ticks = int(want.tick) + 1
	}
	n.air = nil
	until := int(want.tick) + 40
	for n.peers[0].ticks < until || n.peers[len(n.peers)-1].ticks < until {
		n.advances(t, until)
	}
	if !n.all(flightWatching) {
		t.Error("they do not stay in sync after a load")
	}
}

func peerCommand(t *testing.T, name string) []string {
	t.Helper()
	for _, l := range peerLanguages {
		if l.name == name {
			return l.command(t)
		}
	}
	t.Fatalf("there is no peer in %s", name)
	return nil
}

// TestPeers: peers of one language, and of several, find the same planted mistake and have the same report. By default all
// are in C.
func TestPeers(t *testing.T) {
	for seed := range effort.Of(9, 30) {
		names := make([]string, 2+seed%3)
		for i := range names {
			names[i] = "C"
			if effort.Asked("DESYNCTOOL_SDK_TESTS") {
				names[i] = peerLanguages[(seed+i)%len(peerLanguages)].name
			}
		}
		t.Run(fmt.Sprint(seed, names), func(t *testing.T) { peerSession(t, uint64(seed), names, "") })
	}
}

// TestPeersInSync: without a mistake no peer starts an exchange.
func TestPeersInSync(t *testing.T) {
	names := []string{"C", "C"}
	if effort.Asked("DESYNCTOOL_SDK_TESTS") {
		for _, l := range peerLanguages[1:] {
			names = append(names[:len(names):len(names)], l.name)
		}
	}
	names = names[:min(len(names), 4)]
	n := &peerNetwork{random: rand.New(rand.NewPCG(1, 2)), loss: 100, delay: 200, rollback: true}
	for i, name := range names {
		n.peers = append(n.peers, startPeer(t, peerCommand(t, name), len(names), i, 5, planted{}, i%2 == 0, true))
	}
	until := effort.Of(200, 2000)
	for slices.ContainsFunc(n.peers, func(p *peerProgram) bool { return p.ticks < until }) {
		if n.advances(t, until); !n.all(flightWatching) {
			t.Fatalf("after %d ms a peer asks: there is no difference", n.now)
		}
	}
	want := n.peers[0].ask(t, "snap")
	for _, p := range n.peers {
		if p != n.peers[0] && p.ask(t, "snap") != want {
			t.Error("the games differ")
		}
		p.ends(t)
	}
}
