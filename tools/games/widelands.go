//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tools/internal/try"
)

// widelandsCase is a session of Widelands to play.
type widelandsCase struct {
	name   string
	poked  int  // 1 for the host, 2 for the client: the acting object of a queued act is changed in its memory
	data   bool // the client has different animals
	guilty string
	truth  string
}

var widelandsCases = []widelandsCase{
	{name: "widelands control", truth: "nothing is wrong"},
	{name: "widelands queued act on the client", poked: 2, guilty: "client 1"},
	{name: "widelands queued act on the host", poked: 1, guilty: "host"},
	{name: "widelands other animals on the client", data: true, guilty: "client 1", truth: "animals breed at another rate on the client"},
}

// makeWidelands plays sessions of Widelands: a host and a client, who has the first player's tribe and does nothing,
// and the game's own player, on a map of 64 by 64. Clicks at known places of a screen of 800 by 600 operate the menus,
// which needs Xvfb and xdotool. Both peers are in a separate network.
func makeWidelands(ctx context.Context, dir string, seed uint64) ([]made, error) {
	var all []made
	for i, c := range widelandsCases {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		m, err := c.play(ctx, filepath.Join(dir, fmt.Sprintf("session%d", i)), random)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// play plays a session, with the host's files in dir/host and the client's in dir/client.
func (c *widelandsCase) play(ctx context.Context, dir string, random *rand.Rand) (m made, err error) {
	defer try.Catch(&err)
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	top, remove, err := files.TemporaryFolder("")
	try.Check(err)
	defer func() { err = errors.Join(err, remove()) }()
	network := startWidelandsNetwork(ctx)
	defer network.Process.Kill()
	var peers [2]*widelandsPeer
	for i, name := range []string{"host", "client"} {
		home := filepath.Join(top, name)
		try.Check(os.Mkdir(home, 0o777))
		if c.data && name == "client" {
			otherAnimals(home, random)
		}
		peers[i] = startWidelands(ctx, network.Process.Pid, home)
		defer peers[i].kill()
	}
	host, client := peers[0], peers[1]
	for _, step := range []struct {
		p    *widelandsPeer
		do   string // keys, or the place of a click
		seen string // expected output
	}{
		{host, "key p", "[LAN] Will broadcast"},
		{client, "key p", "[LAN] Will broadcast"},
		{host, "626 342", "[Host]: starting up"},         // Host a new game
		{host, "626 456", "Initializing economy serial"}, // Change map
		{host, "150 260", "load_map_for_render() for 'Crater'"},
		{host, "694 547", "Map/Save is a directory!"}, // OK
		{client, "130 128", ""},                       // the only game
		{client, "626 236", "SETTING_MAP 'Crater'"},   // Join this game
		{host, "264 152", ""},                         // The second player is
		{host, "340 185", ""},                         // the game
		{host, "694 547", "[NetHost] Stopping networking thread"},
	} {
		step.p.do(ctx, step.do, step.seen)
	}
	for _, p := range peers {
		p.waits(ctx, " game] ")
	}
	for range 7 {
		for _, p := range peers {
			p.x(ctx, "key", "Page_Up")
		}
	}
	m = made{name: c.name, truth: c.truth, guilty: c.guilty}
	after := 150_000 + random.Uint64N(150_000) // ms of game time
	client.reaches(ctx, after)
	switch {
	case c.poked > 0:
		for range 4 { // fewer times than it was made faster: a key may have been lost, and slowest is a pause
			for _, p := range peers {
				p.x(ctx, "key", "Page_Down")
			}
		}
		due, from, to := pokeWidelands(peers[c.poked-1], random)
		m.tick = &due
		m.truth = fmt.Sprintf("of the act due at %d, object %d was made %d", due, from, to)
		host.waits(ctx, "lost synchronization with client")
	case c.data:
		host.waits(ctx, "lost synchronization with client")
	}
	for i, p := range peers {
		to := filepath.Join(dir, []string{"host", "client"}[i])
		m.paths = append(m.paths, to)
		p.leaves(to)
	}
	return m, nil
}

// startWidelandsNetwork starts a process that keeps a separate network open, with a loopback.
func startWidelandsNetwork(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "unshare", "--map-root-user", "--net", "--kill-child", "--fork", "sh", "-c", "ip link set lo up && echo up && exec sleep infinity")
	out := try.Get(cmd.StdoutPipe())
	try.Check(cmd.Start())
	if _, err := out.Read(make([]byte, 3)); err != nil {
		panic(try.Failed("no separate network: %w", err))
	}
	return cmd
}

// widelandsPeer is a game that runs on its own screen.
type widelandsPeer struct {
	home, printed string
	screen, game  *exec.Cmd
	display       string
}

func startWidelands(ctx context.Context, network int, home string) *widelandsPeer {
	p := &widelandsPeer{home: home, printed: filepath.Join(home, "stdout.txt")}
	p.screen = exec.CommandContext(ctx, "Xvfb", "-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp")
	number := try.Get(p.screen.StdoutPipe())
	try.Check(p.screen.Start())
	text := make([]byte, 16)
	n, err := number.Read(text)
	if err != nil {
		panic(try.Failed("no screen: %w", err))
	}
	p.display = ":" + strings.TrimSpace(string(text[:n]))
	out := try.Get(os.Create(p.printed))
	defer out.Close()
	// The process that keeps the network open is a child of the one that was started.
	inside := childOf(network)
	p.game = exec.CommandContext(ctx, "nsenter", "--target", strconv.Itoa(inside), "--user", "--net", "--preserve-credentials",
		"nice", "-n", "10", "/usr/games/widelands", "--homedir="+home, "--nosound", "--xres=800", "--yres=600", "--maxfps=10", "--write_syncstreams=true", "--verbose")
	p.game.Dir, p.game.Stdout, p.game.Stderr = home, out, out
	p.game.Env = append(os.Environ(), "DISPLAY="+p.display, "HOME="+home, "SDL_VIDEODRIVER=x11")
	try.Check(p.game.Start())
	p.waits(ctx, "Initializing economy serial")
	return p
}

// childOf returns the only child of a process.
func childOf(pid int) int {
	b := try.Get(os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)))
	return try.Get(strconv.Atoi(strings.TrimSpace(string(b))))
}

func (p *widelandsPeer) kill() {
	for _, cmd := range []*exec.Cmd{p.game, p.screen} {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	}
}

// x presses keys or buttons with xdotool.
func (p *widelandsPeer) x(ctx context.Context, words ...string) {
	cmd := exec.CommandContext(ctx, "xdotool", words...)
	cmd.Env = append(os.Environ(), "DISPLAY="+p.display)
	out, err := cmd.CombinedOutput()
	if err != nil {
		panic(try.Failed("xdotool %s: %w: %s", strings.Join(words, " "), err, out))
	}
}

// do presses keys or clicks, until the game has printed a text more often than before.
func (p *widelandsPeer) do(ctx context.Context, what, seen string) {
	words := strings.Fields(what)
	if words[0] != "key" {
		words = []string{"mousemove", words[0], words[1], "sleep", "0.5", "click", "1"}
	}
	before := p.count(seen)
	for tries := 0; ; tries++ {
		p.x(ctx, words...)
		for range 10 {
			time.Sleep(500 * time.Millisecond)
			if p.count(seen) > before || seen == "" {
				return
			}
		}
		if tries == 5 || ctx.Err() != nil {
			panic(try.Failed("after %s the game did not print %q", what, seen))
		}
	}
}

func (p *widelandsPeer) count(text string) int {
	return bytes.Count(try.Get(os.ReadFile(p.printed)), []byte(text))
}

// waits waits until the game has printed a text.
func (p *widelandsPeer) waits(ctx context.Context, text string) {
	for p.count(text) == 0 {
		await(ctx, 200*time.Millisecond, fmt.Sprintf("the game did not print %q", text))
	}
}

var widelandsTime = regexp.MustCompile(`(?m)^\[(\d\d):(\d\d):(\d\d)\.(\d{3}) game\]`)

// now returns the latest game time in the output, in ms.
func (p *widelandsPeer) now() uint64 {
	b := try.Get(os.ReadFile(p.printed))
	found := widelandsTime.FindAllSubmatch(b, -1)
	if len(found) == 0 {
		return 0
	}
	var n [4]uint64
	for i, text := range found[len(found)-1][1:] {
		n[i], _ = strconv.ParseUint(string(text), 10, 64)
	}
	return ((n[0]*60+n[1])*60+n[2])*1000 + n[3]
}

// reaches waits until a game time.
func (p *widelandsPeer) reaches(ctx context.Context, ms uint64) {
	for {
		now := p.now()
		if now >= ms || p.count("DESYNC") > 0 {
			return
		}
		await(ctx, 200*time.Millisecond, fmt.Sprintf("the game is at %d ms", now))
	}
}

// leaves ends a game and moves its replay and the files next to it.
func (p *widelandsPeer) leaves(to string) {
	try.Check(p.game.Process.Signal(syscall.SIGTERM))
	ended := make(chan struct{})
	go func() { p.game.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(20 * time.Second): // after a desync it may wait for a person
		_ = p.game.Process.Kill()
		<-ended
	}
	try.Check(os.MkdirAll(filepath.Dir(to), 0o777))
	try.Check(os.CopyFS(to, os.DirFS(filepath.Join(p.home, "replays"))))
	save(filepath.Join(to, "stdout.txt"), try.Get(os.ReadFile(p.printed)))
}

var animalRate = regexp.MustCompile(`reproduction_rate = \d+`)

// otherAnimals writes units into a peer's home that replace the game's units.
func otherAnimals(home string, random *rand.Rand) {
	const data = "/usr/share/games/widelands/data"
	list := try.Get(filepath.Glob(data + "/world/critters/*/*.lua"))
	changed := 0
	for _, file := range list {
		b := try.Get(os.ReadFile(file))
		if !animalRate.Match(b) {
			continue
		}
		changed++
		b = animalRate.ReplaceAll(b, fmt.Appendf(nil, "reproduction_rate = %d", 1+random.IntN(20)))
		to := filepath.Join(home, strings.TrimPrefix(file, data))
		save(to, b)
	}
	if changed == 0 {
		panic(try.Failed("no animals below %s", data))
	}
}
