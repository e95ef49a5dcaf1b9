//go:build unix

package main

import (
	"bytes"
	"context"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tools/internal/try"
)

// openttdCase is a session of OpenTTD to play.
type openttdCase struct {
	name   string
	poked  string // process in whose memory a bit is changed: "server", "client" or none
	symbol string // place of the bit
	offset int64
	silent bool // the game does not notice
	alone  bool // only the guilty peer's files are given: the files of both have no difference
	guilty string
	truth  string
}

var openttdCases = []openttdCase{
	{name: "openttd control", truth: "nothing is wrong"},
	{name: "openttd random numbers of the client", poked: "client", symbol: "_random", truth: "the client left no state after it, and its log has no hashes: the replay cannot show it"},
	{name: "openttd random numbers of the server, who is always right", poked: "server", symbol: "_random", guilty: "server", alone: true},
	{name: "openttd interest rate of the client, which it does not notice", poked: "client", symbol: "_economy", offset: 10, silent: true, guilty: "client"},
}

// makeOpenttd plays sessions of OpenTTD: a dedicated server with two companies of a script, and a client who watches.
// openttd-build creates both programs, in the folder given by OPENTTD_BUILD, because Debian's build writes logs that
// nothing can play.
func makeOpenttd(ctx context.Context, dir string, seed uint64) ([]made, error) {
	builds := os.Getenv("OPENTTD_BUILD")
	if builds == "" {
		return nil, fmt.Errorf("%w: OPENTTD_BUILD does not name the folder in which tools/games/openttd-build has built the game", errSkipped)
	}
	var all []made
	for i, c := range openttdCases {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		m, err := c.play(ctx, filepath.Join(builds, "openttd-record"), filepath.Join(dir, fmt.Sprintf("session%d", i)), random)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		m.sim = "openttd:" + filepath.Join(builds, "openttd-replay")
		all = append(all, m)
	}
	return all, nil
}

// planter has the script that plays on the server, and the configuration of both.
//
//go:embed planter
var planter embed.FS

// play plays a session, with the server's files in dir/server and the client's in dir/client.
func (c *openttdCase) play(ctx context.Context, program, dir string, random *rand.Rand) (m made, err error) {
	defer try.Catch(&err)
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	top, remove, err := files.TemporaryFolder("")
	try.Check(err)
	defer func() { err = errors.Join(err, remove()) }()
	l := try.Get(net.Listen("tcp4", "127.0.0.1:0"))
	address := l.Addr().String()
	try.Check(l.Close())
	server := startOpenttd(ctx, program, filepath.Join(top, "server"), "-D"+address, "-g", "-G", strconv.FormatUint(uint64(random.Uint32()), 10))
	defer server.end()
	server.waits(ctx, "new_map: ", 2)
	for range 2 {
		try.Get(io.WriteString(server.console, "start_ai Planter\n"))
		time.Sleep(3 * time.Second)
	}
	client := startOpenttd(ctx, program, filepath.Join(top, "client"), "-n", address, "-p", "", "-v", "null:ticks=1000000000", "-s", "null", "-m", "null")
	defer client.end()
	peers := map[string]*openttdPeer{"server": server, "client": client}
	// The client's first save is at the first day that is a multiple of 32.
	client.waits(ctx, "save: 000a", 1)
	m = made{name: c.name, truth: c.truth, guilty: c.guilty}
	time.Sleep(time.Duration(20+random.IntN(20)) * time.Second)
	if c.poked != "" {
		tick := peers[c.poked].poke(program, c.symbol, c.offset)
		m.tick = &tick
		m.truth = fmt.Sprintf("a bit of %s of the %s was changed at %08x;%02x", c.symbol, c.poked, tick/74, tick%74)
		if c.truth != "" {
			m.truth += "; " + c.truth
		}
		wanted, times := "sync_err: ", 1
		if c.silent {
			wanted, times = "save: 000a", 2
		}
		client.waits(ctx, wanted, times)
	}
	time.Sleep(20 * time.Second)
	for _, name := range []string{"client", "server"} {
		peers[name].end()
		to := filepath.Join(dir, name)
		if !c.alone || name == c.guilty {
			m.paths = append(m.paths, to)
		}
		try.Check(os.MkdirAll(filepath.Dir(to), 0o777))
		try.Check(os.CopyFS(to, os.DirFS(filepath.Join(top, name, "save", "autosave"))))
	}
	return m, nil
}

// openttdPeer is a running game.
type openttdPeer struct {
	dir     string
	cmd     *exec.Cmd
	console io.WriteCloser
}

func startOpenttd(ctx context.Context, program, dir string, args ...string) *openttdPeer {
	for name, folder := range map[string]string{"openttd.cfg": "", "info.nut": "ai/planter", "main.nut": "ai/planter"} {
		save(filepath.Join(dir, filepath.FromSlash(folder), name), try.Get(planter.ReadFile("planter/"+name)))
	}
	out := try.Get(os.Create(filepath.Join(dir, "stdout.txt")))
	defer out.Close()
	p := &openttdPeer{dir: dir}
	p.cmd = exec.CommandContext(ctx, "nice", append([]string{"-n", "15", program, "-c", filepath.Join(dir, "openttd.cfg"), "-d", "desync=3", "-x"}, args...)...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, out, out
	p.console = try.Get(p.cmd.StdinPipe())
	try.Check(p.cmd.Start())
	return p
}

func (p *openttdPeer) end() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		done := make(chan struct{})
		go func() { _ = p.cmd.Wait(); close(done) }()
		select {
		case <-done:
		case <-time.After(5 * time.Second):
			_ = p.cmd.Process.Kill()
			<-done
		}
	}
}

// waits waits until the game has logged a text this many times.
func (p *openttdPeer) waits(ctx context.Context, text string, times int) {
	for {
		b, err := os.ReadFile(filepath.Join(p.dir, "save", "autosave", "commands-out.log"))
		if err != nil && !errors.Is(err, os.ErrNotExist) || bytes.Count(b, []byte(text)) >= times {
			try.Check(err)
			return
		}
		await(ctx, 200*time.Millisecond, fmt.Sprintf("the game did not log %q", text))
	}
}

// poke changes a bit in the game's memory while the game is stopped, and returns the tick.
func (p *openttdPeer) poke(program, symbol string, offset int64) uint64 {
	pid := p.cmd.Process.Pid // nice has become the game
	try.Check(syscall.Kill(pid, syscall.SIGSTOP))
	defer syscall.Kill(pid, syscall.SIGCONT)
	time.Sleep(100 * time.Millisecond)
	out := try.Get(exec.Command("nm", program).Output())
	at := map[string]int64{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 {
			n, err := strconv.ParseInt(f[0], 16, 64)
			if err == nil {
				at[f[2]] = n
			}
		}
	}
	maps := try.Get(os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid)))
	var base int64 // the first is the program
	try.Get(fmt.Sscanf(string(maps), "%x-", &base))
	mem := try.Get(os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0))
	defer mem.Close()
	var date [4]byte
	var fract [2]byte
	var poked [1]byte
	for name, b := range map[string][]byte{"_date": date[:], "_date_fract": fract[:], symbol: poked[:]} {
		if at[name] == 0 {
			panic(try.Failed("%s has no symbol %s", program, name))
		}
		if name == symbol {
			at[name] += offset
		}
		try.Get(mem.ReadAt(b, base+at[name]))
	}
	poked[0] ^= 1
	try.Get(mem.WriteAt(poked[:], base+at[symbol]))
	return uint64(binary.LittleEndian.Uint32(date[:]))*74 + uint64(binary.LittleEndian.Uint16(fract[:]))
}
