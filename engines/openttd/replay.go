package openttd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/confine"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/snapshot"
)

// Game returns the recipe.
func Game() *engine.Replayer {
	return &engine.Replayer{
		Name:     "openttd",
		Build:    "the game has to be built with command replay, also to record (docs/games/openttd.md)",
		Title:    "OpenTTD",
		Formats:  []string{"openttd-log"},
		Programs: []string{"openttd", "/usr/games/openttd"},
		Check:    check,
		Prepare:  prepare,
	}
}

// Places in the home folder with files that the game reads and writes.
const (
	configFile = "openttd.cfg"
	replayFile = "save/commands.log"
	autosave   = "save/autosave"
	ownLog     = autosave + "/commands-out.log"
	startFile  = "start.sav"
)

// config makes the game start nothing by itself, and contact no server.
const config = `[gui]
autosave = off
[network]
server_name = replay
server_game_type = local
server_advertise = false
min_active_clients = 0
pause_on_join = false
`

func prepare(p *engine.Program, rec *engine.Recording, ask engine.Ask, dirs engine.Dirs) (*engine.Plan, error) {
	r, err := readRecorded(rec)
	if err != nil {
		return nil, err
	}
	if ask.Until != nil {
		r.cut(*ask.Until)
	}
	r.last = max(r.last, r.start)
	if len(r.lines) == 0 {
		return nil, &engine.Refusal{Why: "no command follows its save " + r.name}
	}
	if err := os.MkdirAll(filepath.Join(dirs.Home, filepath.FromSlash(autosave)), 0o777); err != nil {
		return nil, err
	}
	save, err := os.ReadFile(r.save)
	if err != nil {
		return nil, err
	}
	for name, b := range map[string][]byte{configFile: []byte(config), startFile: save, replayFile: []byte(r.text())} {
		if err := os.WriteFile(filepath.Join(dirs.Home, filepath.FromSlash(name)), b, 0o666); err != nil {
			return nil, err
		}
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	w := &watched{file: filepath.Join(dirs.Home, filepath.FromSlash(ownLog)), last: r.last}
	return &engine.Plan{
		Command: confine.Command{
			Args: []string{p.Path, fmt.Sprintf("-D127.0.0.1:%d", port), "-c", filepath.Join(dirs.Home, configFile), "-d", "desync=3", "-x", "-g", filepath.Join(dirs.Home, startFile)},
			Dir:  dirs.Work, Env: confine.Minimal(dirs.Home),
		},
		Poll:    w.poll,
		Collect: func(ended *confine.Ended) error { return collect(ended, r, dirs) },
	}, nil
}

// freePort returns an unused loopback port, for systems on which the game does not have a separate network.
func freePort() (int, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

var version = lazyregexp.New(`(?m)^OpenTTD (\S+)\r?$`)

// reading is a text that a program has if it can replay commands.
const reading = "Cannot open commands.log"

func check(ctx context.Context, p *engine.Program, rec *engine.Recording) error {
	said, err := p.Ask(ctx, "-h")
	if err != nil {
		return err
	}
	m := version.FindStringSubmatch(said)
	if m == nil {
		return &engine.Refusal{Why: fmt.Sprintf("%s -h does not name OpenTTD", filepath.Base(p.Path))}
	}
	p.Version = m[1]
	can, err := contains(p.Path, reading)
	if err != nil {
		return err
	}
	if !can {
		return &engine.Refusal{Why: fmt.Sprintf("%s %s is built without command replay (DEBUG_DUMP_COMMANDS, docs/games.md)", filepath.Base(p.Path), p.Version)}
	}
	r, err := readRecorded(rec)
	if err != nil {
		return err
	}
	return r.played(p)
}

// contains reports whether a file has a text in it.
func contains(path, text string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	b := make([]byte, 1<<20)
	kept := 0
	for {
		n, err := f.Read(b[kept:])
		n += kept
		if bytes.Contains(b[:n], []byte(text)) {
			return true, nil
		}
		if err == io.EOF {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		kept = copy(b, b[max(0, n-len(text)):n])
	}
}

// played returns why a program cannot load the save that a log continues from.
func (r *recorded) played(p *engine.Program) error {
	f, err := os.Open(r.save)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	w, err := Read(f, info.Size(), r.name)
	var malformed *Error
	if errors.As(err, &malformed) {
		return &engine.Refusal{Why: fmt.Sprintf("its save is not read: %v", err)}
	}
	if err != nil {
		return err
	}
	if t := w.Table(snapshot.Archetype, "NGRF"); t != nil && t.Rows() > 0 {
		return &engine.Refusal{Why: fmt.Sprintf("it was played with %d NewGRFs; logs with NewGRFs are not played", t.Rows())}
	}
	if build := w.Meta["build"]; build != "" && build != p.Version {
		return &engine.Refusal{Why: fmt.Sprintf("it was recorded with %s, and %s is %s", build, filepath.Base(p.Path), p.Version), Version: true}
	}
	return nil
}

// watched is the log that the game writes while it plays.
type watched struct {
	file string
	read int64
	tick uint64
	tail string // of a line that is not whole yet
	last uint64 // the last tick that is wanted
	over bool   // it has read all of the log that it plays
	idle int    // how often nothing was new since then
}

// patience is how many polls may show nothing new after the end of the log: a game that is paused by then stays paused.
const patience = 10

// poll reads what the game has written since, see gamereplay.Plan.Poll.
func (w *watched) poll() (tick uint64, over bool) {
	f, err := os.Open(w.file)
	if err != nil {
		return 0, false // it is not there yet
	}
	defer f.Close()
	b, err := io.ReadAll(io.NewSectionReader(f, w.read, 4<<20))
	w.read += int64(len(b))
	if err != nil {
		return w.tick, false
	}
	lines := strings.Split(w.tail+string(b), "\n")
	w.tail = lines[len(lines)-1]
	if len(w.tail) > lineLen {
		w.tail = ""
	}
	before := w.tick
	for _, text := range lines[:len(lines)-1] {
		l := replayParse(text)
		if l.word == "sync" {
			w.tick = max(w.tick, l.tick)
		}
		w.over = w.over || l.text == ending
	}
	if w.over && w.tick == before {
		w.idle++
	}
	return w.tick, w.over && (w.tick > w.last || w.idle > patience)
}
