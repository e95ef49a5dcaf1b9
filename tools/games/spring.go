//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/desynctool/desynctool/tools/internal/try"
)

// springCase is a session of Spring to play.
type springCase struct {
	name    string
	players []string
	host    string // a player who hosts, or empty for a dedicated server
	poked   []string
	field   string // of the unit that is changed
	change  func(float32) float32
	truth   string // after the numbers
	every   int    // number of frames between two states that the game's script writes
}

var springCases = []springCase{
	{name: "control", players: []string{"Alice", "Bob", "Carol"}, truth: "nothing is wrong", every: 15},
	{
		name: "health of a unit on one of three", players: []string{"Alice", "Bob", "Carol"}, poked: []string{"Bob"},
		field: "health", change: func(v float32) float32 { return v - 100.5 }, truth: "the checksum does not cover it", every: 1,
	},
	{
		name: "position of a unit on one of three", players: []string{"Alice", "Bob", "Carol"}, poked: []string{"Carol"},
		field: "pos.x", change: nextFloat, every: 1,
	},
	{
		name: "velocity of a unit on the client of two", players: []string{"Alice", "Bob"}, host: "Alice", poked: []string{"Bob"},
		field: "speed.z", change: func(v float32) float32 { return v + 0.25 }, every: 1,
	},
	{
		name: "position of a unit on the host, who is always right", players: []string{"Alice", "Bob"}, host: "Alice", poked: []string{"Alice"},
		field: "pos.x", change: nextFloat, truth: "the engine accuses Bob, who is right", every: 15,
	},
	{
		name: "position of a unit on two of three", players: []string{"Alice", "Bob", "Carol"}, poked: []string{"Bob", "Carol"},
		field: "pos.x", change: nextFloat, truth: "the majority is wrong", every: 15,
	},
}

func nextFloat(v float32) float32 { return math.Nextafter32(v, math.MaxFloat32) }

// makeSpring plays sessions of Spring: headless clients, and a dedicated server or a host who plays. A client waits at
// the start of a frame while a value in its memory is changed.
func makeSpring(ctx context.Context, dir string, seed uint64) (all []made, err error) {
	defer try.Catch(&err)
	data := filepath.Join(dir, "data")
	writeSpringData(data)
	for i, c := range springCases {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		m, err := c.play(ctx, filepath.Join(dir, fmt.Sprintf("session%d", i)), data, random)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		all = append(all, m)
	}
	return all, nil
}

// springConfig is the configuration of every instance.
const springConfig = "RotateLogFiles = never\nSound = 0\nWorkerThreadCount = 1\nLogFlushLevel = 0\nServerRecordDemos = 1\n"

// springInstance is a running client or server.
type springInstance struct {
	name, dir string
	cmd       *exec.Cmd
	done      chan error
}

func (c *springCase) play(ctx context.Context, dir, data string, random *rand.Rand) (m made, err error) {
	defer try.Catch(&err)
	ctx, stop := context.WithTimeoutCause(ctx, 5*time.Minute, errors.New("the session took more than 5 minutes"))
	defer stop()
	port := freePort()
	frame := 300 + random.IntN(900)
	options := map[string]int{"speed": 8, "lastframe": frame + 500, "dumpperiod": c.every, "pokeframe": frame, "pokeunit": random.IntN(16)}
	for i, name := range c.players {
		if slices.Contains(c.poked, name) {
			options["pokeplayers"] |= 1 << i
		}
	}
	var running []*springInstance
	defer func() {
		for _, one := range running {
			one.cmd.Process.Kill()
			<-one.done
		}
	}()
	start := func(program, name, me string) *springInstance {
		one := &springInstance{name: name, dir: filepath.Join(dir, "run", name), done: make(chan error, 1)}
		host := c.host
		if host == "" && me == "" {
			host = me
		} else if host == "" {
			host = "server"
		}
		script, config := filepath.Join(one.dir, "script.txt"), filepath.Join(one.dir, "config")
		for path, text := range map[string]string{script: springScript(port, c.players, host, me, options), config: springConfig} {
			save(path, []byte(text))
		}
		one.cmd = exec.CommandContext(ctx, "nice", "-n", "10", program, "--isolation", "--isolation-dir="+one.dir, "--config="+config, "--nocolor", script)
		one.cmd.Env = append(os.Environ(), "HOME="+one.dir, "SPRING_WRITEDIR="+one.dir, "SPRING_DATADIR="+data+":/usr/share/games/spring")
		one.cmd.Dir = one.dir
		try.Check(one.cmd.Start())
		go func() { one.done <- one.cmd.Wait(); close(one.done) }()
		running = append(running, one)
		return one
	}
	if c.host == "" {
		start("/usr/games/spring-dedicated", "server", "")
	}
	clients := map[string]*springInstance{}
	for _, name := range c.players {
		one := start("/usr/games/spring-headless", name, name)
		clients[name] = one
		if name == c.host {
			time.Sleep(time.Second) // until it listens
		}
	}
	m = made{name: c.name, sim: "spring data=" + data, truth: c.truth}
	for _, name := range c.poked {
		one := clients[name]
		p := awaitPoke(ctx, one.dir)
		before, after := p.memory(one.cmd.Process.Pid, c.field, c.change)
		donePoke(one.dir)
		said := fmt.Sprintf("%s: %s of unit %d from %v to %v in frame %d", name, c.field, p.unit, before, after, frame)
		if m.truth != "" {
			said += "; " + m.truth
		}
		m.truth, m.guilty = said, strings.Join(c.poked, ", ")
		tick := uint64(frame)
		m.tick = &tick
	}
	for _, one := range clients {
		select {
		case <-one.done:
		case <-ctx.Done():
			return made{}, fmt.Errorf("%s did not end: %w", one.name, context.Cause(ctx))
		}
	}
	for _, one := range running {
		if one.name == "server" {
			select {
			case <-one.done:
			case <-time.After(10 * time.Second):
				one.cmd.Process.Signal(os.Interrupt)
				<-one.done
			}
		}
		left := filepath.Join(dir, "left", one.name)
		one.keep(left)
	}
	m.paths = []string{filepath.Join(dir, "left")}
	return m, nil
}

// keep copies the files that an instance left.
func (one *springInstance) keep(dir string) {
	for to, pattern := range map[string]string{"infolog.txt": "infolog.txt", "GameState.txt": "GameState.txt", "demo.sdfz": "demos/*.sdfz", "server-demo.sdfz": "demos-server/*.sdfz"} {
		list := try.Get(filepath.Glob(filepath.Join(one.dir, filepath.FromSlash(pattern))))
		for _, from := range list {
			save(filepath.Join(dir, to), try.Get(os.ReadFile(from)))
		}
	}
}

// freePort returns an unused UDP port.
func freePort() int {
	c := try.Get(net.ListenPacket("udp", "127.0.0.1:0"))
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).Port
}
