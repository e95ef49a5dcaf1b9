//go:build unix

package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/desynctool/desynctool/engines/warzone"
	"github.com/desynctool/desynctool/internal/confine"
	"github.com/desynctool/desynctool/tools/internal/try"
)

const warzoneProgram = "/usr/games/warzone2100"

// warzoneCase is a session of Warzone 2100 to play.
type warzoneCase struct {
	name, truth string
	poked       string // host or client; empty for none
	player      int    // player whose power is changed
	by          int64  // amount, in 1/2³²
	script      string // rules that both have
	random      bool
}

var warzoneCases = []warzoneCase{
	{name: "control", truth: "nothing is wrong"},
	{name: "power on the client", truth: "1 of power more for player 1 on the client", poked: "client", player: 1, by: 1 << 32},
	{name: "power on the host", truth: "the least power less for player 1 on the host", poked: "host", player: 1, by: -1},
	{name: "power of the other player on the client", truth: "1/16 of power more for player 0 on the client", poked: "client", player: 0, by: 1 << 28},
	{
		name: "an additional random number in a script", truth: "rules of a mod give random power on both", random: true,
		script: "namespace(\"luck_\");\nfunction luck_eventGameInit() { setTimer(\"luck_turn\", 5000); }\n" +
			"function luck_turn() { setPower(1000 + Math.floor(Math.random() * 1000), 0); }\n",
	},
}

// warzoneSlots are the peers' names in the files.
var warzoneSlots = map[string]string{"host": "slot 0", "client": "slot 1"}

// makeWarzone plays sessions of Warzone 2100: a host without a screen, and a client with an invisible one, because it
// must press the button Ready. Both are in one network namespace.
func makeWarzone(ctx context.Context, dir string, seed uint64) ([]made, error) {
	var all []made
	for i := range warzoneCases {
		c := &warzoneCases[i]
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		var m made
		var err error
		for range 3 { // a lobby that does not lead to a game is not a session
			m, err = c.play(ctx, filepath.Join(dir, fmt.Sprintf("session%d", i)), random)
			if err == nil || !errors.Is(err, errWarzoneLobby) {
				break
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// warzoneLobby is the configuration of the host's game: two humans, and two AIs that the host plays.
const warzoneLobby = `{"locked":{"power":true,"alliances":true,"teams":true,"difficulty":true,"ai":true,"scavengers":true,"position":true,"bases":true},
"challenge":{"map":"Sk-Rush","maxPlayers":4,"scavengers":1,"alliances":0,"powerLevel":2,"bases":1,"name":"session","techLevel":1,"spectatorHost":false,"openSpectatorSlots":0},
"player_0":{"team":0},"player_1":{"team":1},"player_2":{"team":2,"ai":"nexus.js","difficulty":"Medium"},"player_3":{"team":3,"ai":"nexus.js","difficulty":"Medium"}}
`

var errWarzoneLobby = errors.New("the game did not begin")

// warzonePeer is a running instance.
type warzonePeer struct {
	dir, config string
	cmd         *exec.Cmd
	done        chan error
}

func (c *warzoneCase) play(ctx context.Context, dir string, random *rand.Rand) (m made, err error) {
	defer try.Catch(&err)
	ctx, stop := context.WithTimeoutCause(ctx, 6*time.Minute, errors.New("the session took more than 6 minutes"))
	defer stop()
	try.Check(os.RemoveAll(dir))
	net := exec.CommandContext(ctx, "unshare", "--user", "--map-root-user", "--net", "sh", "-c", "ip link set lo up && echo up && exec sleep 1000")
	said := try.Get(net.StdoutPipe())
	try.Check(net.Start())
	defer func() {
		net.Process.Kill()
		net.Wait()
	}()
	if up := make([]byte, 3); true {
		if _, err := io.ReadFull(said, up); err != nil {
			return m, fmt.Errorf("a network namespace: %w", err)
		}
	}
	display, closeScreen := warzoneScreen(ctx)
	defer closeScreen()
	var running []*warzonePeer
	defer func() {
		for _, p := range running {
			p.cmd.Process.Kill()
			<-p.done
		}
	}()
	start := func(name string, args ...string) *warzonePeer {
		p := &warzonePeer{dir: filepath.Join(dir, name), done: make(chan error, 1)}
		p.config = filepath.Join(p.dir, "config")
		save(filepath.Join(p.config, "autohost", "game.json"), []byte(warzoneLobby))
		if c.script != "" {
			writeWarzoneMod(filepath.Join(p.config, "mods", "4.3.3", "multiplay"), c.script)
			args = append(args, "--mod_mp=luck.wz")
		}
		out := try.Get(os.Create(filepath.Join(p.dir, "printed.log")))
		defer out.Close()
		in := []string{"--preserve-credentials", "--user", "--net", "--target", fmt.Sprint(net.Process.Pid), "nice", "-n", "10", warzoneProgram, "--nosound", "--configdir=" + p.config}
		p.cmd = exec.CommandContext(ctx, "nsenter", append(in, args...)...)
		p.cmd.Env = append(confine.Minimal(p.dir), display)
		p.cmd.Stdout, p.cmd.Stderr = out, out
		try.Check(p.cmd.Start())
		go func() { p.done <- p.cmd.Wait(); close(p.done) }()
		running = append(running, p)
		return p
	}
	host := start("host", "--headless", "--autohost=game.json", "--startplayers=2")
	sleep(ctx, 6*time.Second)
	client := start("client", "--window", "--resolution=640x480", "--noshadows", "--join=127.0.0.1")
	try.Check(host.await(ctx, time.Minute, "Player has joined"))
	try.Check(ready(ctx, client, display))
	for _, p := range running {
		try.Check(p.await(ctx, time.Minute, "Started writing replay file"))
	}
	sleep(ctx, time.Duration(8000+random.IntN(8000))*time.Millisecond)
	m = made{name: c.name, truth: c.truth, random: c.random}
	if c.poked != "" {
		p := map[string]*warzonePeer{"host": host, "client": client}[c.poked]
		p.pokePower(c.player, c.by)
		m.guilty = warzoneSlots[c.poked]
	}
	// A busy machine plays slower than in real time.
	for end := time.Now().Add(2 * time.Minute); c.poked != "" || c.random; {
		dumps := try.Get(filepath.Glob(filepath.Join(host.config, "logs", "desync*_p*.txt")))
		sleep(ctx, time.Second)
		if len(dumps) >= 4 || time.Now().After(end) { // both have dumped twice
			break
		}
	}
	sleep(ctx, 15*time.Second)
	for _, p := range []*warzonePeer{client, host} { // it writes its recording when it is asked to end
		p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-ctx.Done():
			return m, context.Cause(ctx)
		}
	}
	for _, p := range running {
		left := p.left(filepath.Join(dir, "files", filepath.Base(p.dir)))
		m.paths = append(m.paths, left)
	}
	if c.script != "" {
		m.sim = "warzone2100 mods=" + filepath.Join(host.config, "mods", "4.3.3", "multiplay")
	}
	if c.poked != "" {
		m.tick = firstWarzoneDump(m.paths)
	}
	return m, err
}

// warzoneScreen starts an X server with a screen as large as the game's window, and returns DISPLAY=…. It uses a number
// that is probably unused: with -displayfd, servers in two network namespaces use the same number.
func warzoneScreen(ctx context.Context) (display string, end func()) {
	number := 1000 + rand.IntN(9000)
	cmd := exec.CommandContext(ctx, "Xvfb", fmt.Sprintf(":%d", number), "-nolisten", "tcp", "-noreset", "-screen", "0", "640x480x24")
	try.Check(cmd.Start())
	end = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	return fmt.Sprintf("DISPLAY=:%d", number), end
}

// await waits until a peer has printed a text.
func (p *warzonePeer) await(ctx context.Context, long time.Duration, text string) error {
	for end := time.Now().Add(long); time.Now().Before(end); {
		b, err := os.ReadFile(filepath.Join(p.dir, "printed.log"))
		if err != nil || bytes.Contains(b, []byte(text)) {
			return err
		}
		sleep(ctx, 300*time.Millisecond)
	}
	return fmt.Errorf("%w: %s does not print %q", errWarzoneLobby, filepath.Base(p.dir), text)
}

// ready presses the client's button until the game begins. The button's position is known for a window of 640 by 480.
func ready(ctx context.Context, client *warzonePeer, display string) error {
	last := errWarzoneLobby
	for range 6 {
		sleep(ctx, 7*time.Second)
		cmd := exec.CommandContext(ctx, "xdotool", "mousemove", "590", "88", "sleep", "0.5", "click", "1")
		cmd.Env = append(os.Environ(), display)
		if out, err := cmd.CombinedOutput(); err != nil {
			last = fmt.Errorf("%w: xdotool: %w: %s", errWarzoneLobby, err, out)
			continue // there is no window yet
		}
		if err := client.await(ctx, 20*time.Second, "[gameLoad:"); !errors.Is(err, errWarzoneLobby) {
			return err
		}
	}
	return last
}

// left copies a peer's files: its recording and dumps.
func (p *warzonePeer) left(dir string) string {
	for _, pattern := range []string{"replay/multiplay/*.wzrp", "logs/desync*.txt"} {
		list := try.Get(filepath.Glob(filepath.Join(p.config, pattern)))
		if strings.HasSuffix(pattern, "wzrp") && len(list) != 1 {
			panic(try.Failed("%s left %d recordings", filepath.Base(p.dir), len(list)))
		}
		for _, file := range list {
			save(filepath.Join(dir, filepath.Base(file)), try.Get(os.ReadFile(file)))
		}
	}
	return dir
}

// firstWarzoneDump returns the tick before the first dump. According to the game, the peers diverged in that tick.
func firstWarzoneDump(dirs []string) *uint64 {
	var times []uint32
	for _, dir := range dirs {
		list := try.Get(os.ReadDir(dir))
		for _, e := range list {
			if name, ok := warzone.ParseDumpName(e.Name()); ok {
				times = append(times, name.Time)
			}
		}
	}
	if len(times) == 0 {
		panic(try.Failed("the game did not notice that the peers diverged"))
	}
	n := uint64(slices.Min(times)/warzone.TickLength) - 1
	return &n
}

// writeWarzoneMod writes a mod with one script of rules.
func writeWarzoneMod(dir, script string) {
	try.Check(os.MkdirAll(dir, 0o755))
	out := try.Get(os.Create(filepath.Join(dir, "luck.wz")))
	z := zip.NewWriter(out)
	w, err := z.Create("multiplay/script/mods/init.js")
	if err == nil {
		_, err = io.WriteString(w, script)
	}
	try.Check(errors.Join(err, z.Close(), out.Close()))
}
