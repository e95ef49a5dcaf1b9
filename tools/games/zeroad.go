//go:build unix

package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/desynctool/desynctool/tools/internal/try"
)

// Paths of the game in Debian.
const (
	zeroadProgram = "/usr/games/pyrogenesis"
	zeroadPublic  = "/usr/share/games/0ad/mods/public/public.zip"
)

// zeroadCase is a session of 0 A.D.: a host and a client without screens, on the scenario Combat Demo, in which
// soldiers of two players fight from the beginning.
type zeroadCase struct {
	name, truth, guilty string
	random              bool
	// mods returns files of mods that both peers have and name in their recordings. host and client return files that
	// only one peer has changed, which no recording names. The maps are keyed by path below the folder of mods.
	mods, host, client func(r *rand.Rand) map[string]string
	// meddle is called while the game runs. It may be nil.
	meddle func(s *zeroadSession, ctx context.Context)
	// lost is a text in the host's message that the client never receives, empty if it receives all.
	lost string
}

var zeroadCases = []zeroadCase{
	{name: "control, one order", truth: "nothing is wrong", host: zeroadWalk},
	{
		name: "health of a soldier in the client's memory", truth: "a value in the client's memory was changed", guilty: "client",
		meddle: (*zeroadSession).pokeClient,
	},
	{
		name: "another template on the client", truth: "a template of spearmen differs on the client", guilty: "client",
		client: zeroadTemplate,
	},
	{
		name: "another template on the host", truth: "a template of spearmen differs on the host", guilty: "host",
		host: zeroadTemplate,
	},
	{
		name: "counter that is not saved, the client joins again", truth: "a mod's script counts hits in a variable that is not saved; the client that joined again counts from 0",
		guilty: "client", mods: zeroadCounter, meddle: (*zeroadSession).joinAgain,
	},
	{
		name: "wall clock in a script", truth: "a mod's script takes the time of day; neither peer is to blame", random: true,
		mods: zeroadClock,
	},
	{
		name: "order that the client never got", truth: "a message with an order was lost; both carry out the orders that they have",
		host: zeroadWalk, lost: "walk",
	},
}

// makeZeroad plays sessions of 0 A.D., each in a separate network. It must run as root to create networks. The game
// refuses to run as root, so it runs as nobody.
func makeZeroad(ctx context.Context, dir string, seed uint64) (list []made, err error) {
	for i, c := range zeroadCases {
		folder := filepath.Join(dir, fmt.Sprintf("zeroad%d", i))
		var m *made
		for range 3 { // a busy machine may be too slow for the engine's network
			if m, err = c.play(ctx, folder, rand.New(rand.NewPCG(seed, uint64(i)))); err == nil || ctx.Err() != nil {
				break
			}
		}
		if err != nil {
			return list, fmt.Errorf("%s: %w", c.name, err)
		}
		list = append(list, *m)
	}
	return list, nil
}

// zeroadSession is a running session.
type zeroadSession struct {
	c            *zeroadCase
	dir          string
	r            *rand.Rand
	mods         []string // names of the mods of both
	host, client *zeroadPeer
	seed         uint32
}

func (c *zeroadCase) play(ctx context.Context, dir string, r *rand.Rand) (m *made, err error) {
	defer try.Catch(&err)
	try.Check(os.RemoveAll(dir))
	s := &zeroadSession{c: c, dir: dir, r: r, seed: r.Uint32() >> 1}
	s.write()
	done := make(chan error)
	go func() {
		// It is never unlocked, so that the thread with the other network ends with this goroutine.
		runtime.LockOSThread()
		done <- s.run(ctx)
	}()
	if err := <-done; err != nil {
		return nil, err
	}
	return s.made(), nil
}

// write writes the files that both peers have.
func (s *zeroadSession) write() {
	files := func(f func(*rand.Rand) map[string]string) map[string]string {
		if f == nil {
			return nil
		}
		return f(s.r)
	}
	mods, host, client := files(s.c.mods), files(s.c.host), files(s.c.client)
	for name := range mods {
		mod, _, _ := strings.Cut(name, "/")
		if !slices.Contains(s.mods, mod) {
			s.mods = append(s.mods, mod)
		}
	}
	for _, p := range []struct {
		peer **zeroadPeer
		name string
		own  map[string]string
	}{{&s.host, "host", host}, {&s.client, "client", client}} {
		*p.peer = &zeroadPeer{name: p.name, dir: filepath.Join(s.dir, "run", p.name)}
		top := filepath.Join((*p.peer).dir, "data", "0ad", "mods")
		for _, list := range []map[string]string{mods, p.own} {
			zeroadTree(top, list)
		}
	}
	zeroadTree(filepath.Join(s.dir, "mods"), mods)
	try.Check(filepath.WalkDir(filepath.Join(s.dir, "run"), func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, zeroadUser, zeroadUser))
	}))
}

func zeroadTree(top string, files map[string]string) {
	for name, text := range files {
		save(filepath.Join(top, filepath.FromSlash(name)), []byte(text))
	}
	try.Check(os.MkdirAll(top, 0o755))
}

// zeroadAfterwards is how many turns are played after the game has noticed the desync.
const zeroadAfterwards = 30

// run plays the session, on a separate thread.
func (s *zeroadSession) run(ctx context.Context) (err error) {
	defer try.Catch(&err)
	if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
		return fmt.Errorf("a separate network: %w", err)
	}
	if out, err := exec.CommandContext(ctx, "ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		return fmt.Errorf("ip link: %w: %s", err, out)
	}
	defer s.host.end()
	defer s.client.end()
	args := s.common()
	s.host.start(ctx, append(args, "-autostart=scenarios/combat_demo", fmt.Sprint("-autostart-seed=", s.seed), "-autostart-victory=endless", "-autostart-host", "-autostart-host-players=2", "-autostart-playername=Host"))
	address := "127.0.0.1"
	if s.c.lost != "" {
		address = zeroadProxy(ctx, []byte(s.c.lost))
	}
	sleep(ctx, 2*time.Second)
	s.client.start(ctx, append(args, "-autostart-client="+address, "-autostart-playername=Client"))
	s.until(ctx, 5, s.host, s.client)
	if s.c.meddle != nil {
		s.c.meddle(s, ctx)
	}
	last := uint64(120)
	if s.c.guilty != "" || s.c.random || s.c.lost != "" {
		s.noticed(ctx)
		last = s.host.turn() + zeroadAfterwards
	}
	s.until(ctx, last, s.host, s.client)
	return nil
}

func (s *zeroadSession) common() []string {
	args := []string{"-mod=public"}
	for _, m := range s.mods {
		args = append(args, "-mod="+m)
	}
	return append(args, "-autostart-nonvisual", "-ooslog")
}

// zeroadPatience is how long to wait without progress.
const zeroadPatience = 90 * time.Second

// until waits until peers have played a turn.
func (s *zeroadSession) until(ctx context.Context, turn uint64, peers ...*zeroadPeer) {
	s.wait(ctx, fmt.Sprintf("turn %d was not reached", turn), func() bool {
		return !slices.ContainsFunc(peers, func(p *zeroadPeer) bool { return p.turn() < turn })
	})
}

// noticed waits until both peers have reported that they are out of sync.
func (s *zeroadSession) noticed(ctx context.Context) {
	s.wait(ctx, "the game noticed nothing", func() bool {
		for _, p := range []*zeroadPeer{s.host, s.client} {
			if _, err := os.Stat(p.dump()); err != nil {
				return false
			}
		}
		return true
	})
}

func (s *zeroadSession) wait(ctx context.Context, what string, done func() bool) {
	for end := time.Now().Add(zeroadPatience); !done(); {
		if time.Now().After(end) {
			panic(try.Failed("%s: the host is at turn %d, the client at turn %d", what, s.host.turn(), s.client.turn()))
		}
		sleep(ctx, 20*time.Millisecond)
	}
}

// zeroadUser is the user (nobody) and the group that run the game.
const zeroadUser = 65534

// zeroadPeer is one of the two programs.
type zeroadPeer struct {
	name, dir string
	cmd       *exec.Cmd
	ended     chan struct{}
	joined    uint64 // the turn at which it joined
}

func (p *zeroadPeer) start(ctx context.Context, args []string) {
	out := try.Get(os.Create(p.printed()))
	defer out.Close()
	p.cmd = exec.CommandContext(ctx, zeroadProgram, args...)
	p.cmd.Dir = p.dir
	p.cmd.Env = []string{"HOME=" + p.dir, "XDG_DATA_HOME=" + p.dir + "/data", "XDG_CONFIG_HOME=" + p.dir + "/config", "XDG_CACHE_HOME=" + p.dir + "/cache", "LANG=C.UTF-8", "PATH=/none"}
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: zeroadUser, Gid: zeroadUser}, Pdeathsig: syscall.SIGKILL}
	try.Check(p.cmd.Start())
	p.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		cmd.Wait()
		close(ended)
	}(p.cmd, p.ended)
}

func (p *zeroadPeer) signal(sig syscall.Signal) { p.cmd.Process.Signal(sig) }

func (p *zeroadPeer) end() {
	if p.cmd == nil {
		return
	}
	p.cmd.Process.Kill()
	<-p.ended
}

func (p *zeroadPeer) printed() string { return filepath.Join(p.dir, "printed.txt") }
func (p *zeroadPeer) dump() string {
	return filepath.Join(p.dir, "config", "0ad", "logs", "oos_dump.txt")
}

// turn returns the last turn in the peer's output.
func (p *zeroadPeer) turn() (last uint64) {
	text, _ := os.ReadFile(p.printed())
	at := bytes.LastIndex(text, []byte("\nTurn "))
	if at >= 0 {
		fmt.Sscanf(string(text[at+1:]), "Turn %d", &last)
	}
	return last
}

// newest returns the last file that matches a pattern below its folder.
func (p *zeroadPeer) newest(pattern string) string {
	found, err := filepath.Glob(filepath.Join(p.dir, pattern))
	if err != nil || len(found) == 0 {
		panic(try.Failed("the %s has left no %s", p.name, pattern))
	}
	return slices.Max(found)
}

// states returns the hash of the whole state after each turn. The engine writes these hashes next to the game's files.
func (p *zeroadPeer) states() map[uint64]string {
	any := p.newest("config/0ad/logs/oos_logs/*/*.txt")
	found, err := filepath.Glob(filepath.Join(filepath.Dir(any), "*.txt"))
	out := map[uint64]string{}
	for _, file := range found {
		label, err := strconv.ParseUint(strings.TrimSuffix(filepath.Base(file), ".txt"), 10, 64)
		if err != nil {
			continue
		}
		head := make([]byte, 64)
		f := try.Get(os.Open(file))
		n, _ := io.ReadFull(f, head)
		f.Close()
		if hash, _, ok := strings.Cut(string(head[:n]), "\n"); ok {
			out[p.joined+label] = hash
		}
	}
	try.Check(err)
	return out
}

// made keeps the files that players would send, and determines the turn in which the states diverged.
func (s *zeroadSession) made() *made {
	m := &made{name: s.c.name, truth: s.c.truth, guilty: s.c.guilty, random: s.c.random}
	var states [2]map[uint64]string
	for i, p := range []*zeroadPeer{s.host, s.client} {
		log := p.newest("data/0ad/replays/*/*/commands.txt")
		to := filepath.Join(s.dir, p.name)
		save(filepath.Join(to, filepath.Base(log)), try.Get(os.ReadFile(log)))
		if dump, err := os.ReadFile(p.dump()); !errors.Is(err, os.ErrNotExist) {
			try.Check(err)
			save(filepath.Join(to, filepath.Base(p.dump())), dump)
		}
		m.paths = append(m.paths, to)
		states[i] = p.states()
	}
	common := 0
	for turn, hash := range states[0] {
		other, ok := states[1][turn]
		if !ok {
			continue
		}
		if common++; hash != other && (m.tick == nil || turn < *m.tick) {
			m.tick = &turn
		}
	}
	if common == 0 || (m.tick != nil) != (s.c.guilty != "" || s.c.random || s.c.lost != "") {
		panic(try.Failed("of %d states of both, the first that differs is %v: that is not what was to happen", common, m.tick))
	}
	if len(s.mods) > 0 {
		m.sim = "0ad mods=" + filepath.Join(s.dir, "mods")
	}
	m.unplayed = s.client.joined > 0
	try.Check(os.RemoveAll(filepath.Join(s.dir, "run")))
	return m
}

// zeroadModJSON is the description of a mod.
func zeroadModJSON(name, version string) string {
	text, _ := json.Marshal(map[string]any{"name": name, "version": version, "label": name, "description": name, "dependencies": []string{"0ad=0.0.26"}})
	return string(text)
}

// zeroadHits wraps the function with which hits reduce health.
const zeroadHits = `%s
{
	const reduce = Health.prototype.Reduce;
	Health.prototype.Reduce = function(amount)
	{
		return reduce.call(this, amount * (%s));
	};
}
`

func zeroadCounter(r *rand.Rand) map[string]string {
	script := fmt.Sprintf(zeroadHits, "var g_Hits = 0;", fmt.Sprintf("++g_Hits %% %d ? 1 : %.2f", 5+r.IntN(4), 1.05+r.Float64()/4))
	return map[string]string{"counter/mod.json": zeroadModJSON("counter", "1.2.0"), "counter/simulation/components/HealthCounter.js": script}
}

func zeroadClock(r *rand.Rand) map[string]string {
	script := fmt.Sprintf(zeroadHits, "", fmt.Sprintf("1 + Date.now() %% %d / 1000", 11+r.IntN(20)))
	return map[string]string{"clock/mod.json": zeroadModJSON("clock", "0.3.1"), "clock/simulation/components/HealthClock.js": script}
}

// zeroadTemplate is a template of spearmen with one changed number.
func zeroadTemplate(r *rand.Rand) map[string]string {
	const name = "simulation/templates/template_unit_infantry_melee_spearman.xml"
	text := zeroadFile(name)
	change := [][2]string{
		{"<Hack>3</Hack>", fmt.Sprintf("<Hack>%.2f</Hack>", 3.1+r.Float64())},
		{"<Pierce>2.5</Pierce>", fmt.Sprintf("<Pierce>%.2f</Pierce>", 2.6+r.Float64())},
	}[r.IntN(2)]
	return map[string]string{"user/" + name: strings.Replace(text, change[0], change[1], 1)}
}

// zeroadFile returns a file of the game.
func zeroadFile(name string) string {
	z := try.Get(zip.OpenReader(zeroadPublic))
	defer z.Close()
	f := try.Get(z.Open(name))
	defer f.Close()
	return string(try.Get(io.ReadAll(f)))
}

// zeroadWalk is a script in which a peer gives its soldiers an order at some turn, as a person would. It counts turns
// outside the state.
func zeroadWalk(r *rand.Rand) map[string]string {
	return map[string]string{"user/simulation/components/TimerWalk.js": fmt.Sprintf(`var g_WalkTurns = 0;
{
	const update = Timer.prototype.OnUpdate;
	Timer.prototype.OnUpdate = function(msg)
	{
		update.call(this, msg);
		if (++g_WalkTurns != %d)
			return;
		const range = Engine.QueryInterface(SYSTEM_ENTITY, IID_RangeManager);
		const units = [1, 2].map(p => range.GetEntitiesByPlayer(p)).flat().filter(e => Engine.QueryInterface(e, IID_UnitAI)).slice(0, %d);
		Engine.QueryInterface(SYSTEM_ENTITY, IID_CommandQueue).PostNetworkCommand({ "type": "walk", "entities": units, "x": %.1f, "z": %.1f, "queued": false, "pushFront": false });
	};
}
`, 30+r.IntN(20), 40+r.IntN(20), 80+100*r.Float64(), 80+100*r.Float64())}
}
