package warzone_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/engines/warzone"
)

const replaySession = "../../testdata/warzone2100/player_power_3peer"

const (
	replayHostFile  = "host_p0/20261120_085851_multiplay_p0.wzrp"
	replayGammaFile = "gamma_p1/20261120_085852_multiplay_p1.wzrp"
)

// TestMain runs the game if the test binary has the name of a stand-in.
func TestMain(m *testing.M) {
	if kind, ok := strings.CutPrefix(filepath.Base(os.Args[0]), "wz-"); ok {
		os.Exit(standIn(kind))
	}
	os.Exit(m.Run())
}

// program makes a stand-in, and returns its path.
func program(t *testing.T, kind string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := filepath.Abs(replaySession)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "session"), []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "wz-"+kind)
	if err := os.Symlink(self, path); err != nil {
		t.Skip(err)
	}
	return path
}

// standIn does what the game does with a recording of the real session in testdata, by the rules of
// docs/formats/warzone2100.md: it prints what the game prints, and dumps what it dumps. What it computes is what
// slot 0 recorded and dumped in the session, but where what it reads in a tick is not what was read there.
func standIn(kind string) int {
	version := "4.3.3"
	if kind == "other" {
		version = "4.4.0"
	}
	if slices.Contains(os.Args, "--version") {
		fmt.Printf("info    |18:58:43: [urlSelectSSLBackend:1322] cURL has no available thread-safe SSL backends to configure\n")
		if kind != "mute" {
			fmt.Printf("Warzone 2100 - Version: %s, Built: 2023-01-12\n", version)
		}
		return 1
	}
	option := func(name string) string {
		for _, a := range os.Args[1:] {
			if v, ok := strings.CutPrefix(a, "--"+name+"="); ok {
				return v
			}
		}
		return ""
	}
	config := option("configdir")
	file := filepath.Join(config, "replay", filepath.FromSlash(option("loadreplay")))
	if !slices.Contains(os.Args, "--headless") {
		fmt.Println("no screen")
		return 1
	}
	fmt.Printf("info    |18:58:43: [NETreplayLoadStart:388] Started reading replay file %q.\n", file)
	switch kind {
	case "silent":
		return 0
	case "refuses":
		fmt.Println(`error   |18:58:43: [NETreplayLoadStart:300] Could not load replay file x: bad header`)
		select {}
	}
	data, err := os.ReadFile(filepath.Join(filepath.Dir(os.Args[0]), "session"))
	if err != nil {
		panic(err)
	}
	g := &game{kind: kind, config: config, session: string(data)}
	g.play(file)
	select {} // it goes on running
}

// game is a stand-in that plays.
type game struct {
	kind, config, session string

	truth   map[uint32]uint16            // CRCs of slot 0 in the session
	read    map[uint32][]warzone.Message // GAME_TIMEs by the tick that reads them, in the session
	crcs    map[uint32]uint32
	texts   map[uint32]string
	cleared map[uint32]bool
	extra   uint32
	dumps   int
}

func (g *game) play(file string) {
	g.truth, g.read = map[uint32]uint16{}, map[uint32][]warzone.Message{}
	g.crcs, g.texts, g.cleared = map[uint32]uint32{}, map[uint32]string{}, map[uint32]bool{}
	was := g.queues(filepath.Join(g.session, filepath.FromSlash(replayHostFile)))
	for _, m := range was[0] {
		if t, ok := m.GameTime(); ok && m.Type == warzone.TimeMessage {
			g.truth[t.CheckTime] = t.CRC
		}
	}
	run(was, func(time uint32, read []warzone.Message) { g.read[time+100] = read })
	g.begin(2, nil)
	g.begin(102, nil)
	run(g.queues(file), func(time uint32, read []warzone.Message) {
		for _, m := range read {
			g.check(m)
		}
		if g.kind == "crash" && time > 20000 {
			fmt.Println("error   |18:58:45: [debug:1] Assert in Warzone")
			os.Exit(3)
		}
		g.begin(time+100, read)
	})
}

// queues reads the GAME_TIME messages of a recording, by queue.
func (g *game) queues(file string) map[uint8][]warzone.Message {
	f, err := os.Open(file)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	r, err := warzone.NewReplay(bufio.NewReader(f), file)
	if err != nil {
		panic(err)
	}
	list := map[uint8][]warzone.Message{}
	for {
		m, err := r.Next()
		if err == io.EOF {
			return list
		}
		if err != nil {
			fmt.Println("error   |18:58:43: [NETloadReplay:700] Unable to load replay: The replay file is incomplete or corrupted.")
			select {}
		}
		if m.Type == warzone.TimeMessage {
			c := *m
			c.Payload, c.Offset = slices.Clone(m.Payload), 0
			list[m.Queue] = append(list[m.Queue], c)
		}
	}
}

// run reads queues as the game does, and calls f with what is read at the end of each update.
func run(queues map[uint8][]warzone.Message, f func(time uint32, read []warzone.Message)) {
	until := map[uint8]uint32{}
	for q := range queues {
		until[q] = 2
	}
	for time := uint32(2); ; time += 100 {
		var read []warzone.Message
		stuck := false
		for _, q := range slices.Sorted(maps.Keys(queues)) {
			for time > until[q] && len(queues[q]) > 0 {
				m := queues[q][0]
				queues[q] = queues[q][1:]
				t, _ := m.GameTime()
				until[q] = t.CheckTime + t.Latency*100
				read = append(read, m)
			}
			stuck = stuck || time > until[q]
		}
		f(time, read)
		if stuck {
			return
		}
	}
}

func line(m warzone.Message) string {
	t, _ := m.GameTime()
	return fmt.Sprintf("[recvPlayerGameTime] GAME_GAME_TIME p%d;lat%d,ct%d,crc%04X,wlat%d", m.Queue, t.Latency, t.CheckTime, t.CRC, t.WantedLatency)
}

// begin computes the CRC of a tick, in which messages were read.
func (g *game) begin(time uint32, read []warzone.Message) {
	same := slices.EqualFunc(read, g.read[time], func(a, b warzone.Message) bool { return line(a) == line(b) })
	crc := uint32(g.truth[time])
	if !same || g.kind == "random" && time > 26000 {
		crc ^= 0x5A5A
	}
	text, err := os.ReadFile(filepath.Join(g.session, "host_p0", fmt.Sprintf("desync%d_p0.txt", time)))
	if err == nil {
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		var out []string
		done := false
		for _, l := range lines[1 : len(lines)-1] {
			if !strings.HasPrefix(l, "[recvPlayerGameTime]") {
				out = append(out, l)
			} else if !done {
				done = true
				for _, m := range read {
					out = append(out, line(m))
				}
			}
		}
		edge := func(word string) string {
			return fmt.Sprintf("===== %s gameTime=%d, %d entries, CRC 0x%08X =====\n", word, time, len(out), crc)
		}
		body := func() []byte { return []byte(edge("BEGIN") + strings.Join(out, "\n") + "\n" + edge("END")) }
		d, err := warzone.NewDump(bytes.NewReader(body()), "x")
		for err == nil {
			_, err = d.Next()
		}
		crc = d.Sum()
		g.texts[time] = string(body())
	}
	g.crcs[time] = crc
	delete(g.crcs, time-1200)
}

// check compares the content of a message.
func (g *game) check(m warzone.Message) {
	t, _ := m.GameTime()
	if t.CheckTime == 0 {
		fmt.Println("error   |18:58:45: [checkDebugSync:5160] Huh? We aren't done yet...")
		return
	}
	crc, have := g.crcs[t.CheckTime]
	if have && (!g.cleared[t.CheckTime] || g.extra == t.CheckTime) && uint16(crc) == t.CRC {
		return
	}
	if have && !g.cleared[t.CheckTime] {
		g.cleared[t.CheckTime], g.extra = true, t.CheckTime
		if g.dumps++; g.dumps <= 2 {
			text := g.texts[t.CheckTime]
			if text == "" {
				text = fmt.Sprintf("===== BEGIN gameTime=%d, 1 entries, CRC 0x%08X =====\n[BT] of a stand-in\n===== END gameTime=%[1]d, 1 entries, CRC 0x%08[2]X =====\n", t.CheckTime, crc)
			}
			os.Mkdir(filepath.Join(g.config, "logs"), 0o777)
			name := filepath.Join(g.config, "logs", fmt.Sprintf("desync%d_p23.txt", t.CheckTime))
			if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
				panic(err)
			}
			fmt.Printf("error   |18:58:45: [dumpDebugSync:5101] Dumped spectator 23's sync error at gameTime %d to file: %s\n", t.CheckTime, name)
		}
	} else {
		fmt.Printf("net     |18:58:45: [checkDebugSync:5178] Couldn't check gameTime: %d\n", t.CheckTime)
	}
	fmt.Printf("error   |18:58:45: [recvPlayerGameTime:474] Found CRC error when receiving GAME_GAME_TIME for player: %d (checkTime: %d, checkCrc: %d)\n",
		m.Queue, t.CheckTime, t.CRC)
}
