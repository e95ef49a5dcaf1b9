package widelands

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/confine"
	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// played is the name of the replay that the game is given. The game looks for the state that it begins
// with under the same name.
const played = "replay.wrpl"

// speed is how much faster than real time the game plays, if the machine can.
const speed = 100

// Game returns the recipe.
func Game() *engine.Replayer {
	return &engine.Replayer{
		Name:     "widelands",
		Title:    "Widelands",
		Formats:  []string{"widelands-replay"},
		Programs: []string{"widelands", "/usr/games/widelands"},
		Check:    check,
		Prepare:  prepare,
	}
}

// script is that sets the speed. Files of this name declare units, in folders of any name; the game runs each when it
// makes a game, and again when it loads one. The first time there is nothing yet that has a speed.
const script = `desynctool_loads = (desynctool_loads or 0) + 1
if desynctool_loads == 2 then
   wl.Game().desired_speed = %d
   desynctool_loads = nil
end
`

func prepare(p *engine.Program, rec *engine.Recording, ask engine.Ask, dirs engine.Dirs) (*engine.Plan, error) {
	start, err := startOf(rec)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dirs.Work, played)
	asked, err := copyReplay(rec.File, file, ask.Until)
	if err != nil {
		return nil, err
	}
	if err := engine.CopyFile(file+savedGame, start); err != nil {
		return nil, err
	}
	units := filepath.Join(dirs.Home, "world", "desynctool")
	if err := os.MkdirAll(units, 0o777); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(units, "register.lua"), fmt.Appendf(nil, script, speed*1000), 0o666); err != nil {
		return nil, err
	}
	return &engine.Plan{
		Command: confine.Command{
			Args: []string{p.Path, "--homedir=" + dirs.Home, "--nosound", "--xres=640", "--yres=480", "--maxfps=10", "--verbose", "--replay=" + file},
			Dir:  dirs.Work, Env: append(confine.Minimal(dirs.Home), "SDL_VIDEODRIVER=x11"),
		},
		Display: true,
		Tick:    reached,
		Over:    over,
		Collect: func(ended *confine.Ended) error { return collect(ended, rec, asked, dirs) },
	}, nil
}

// stamped matches a line that was printed at a time of the game.
var stamped = lazyregexp.New(`^\[(\d+):(\d\d):(\d\d)\.(\d{3}) game\] `)

// reached returns the time of the game at which it printed a line, in ms.
func reached(line string) (uint64, bool) {
	m := stamped.FindStringSubmatch(line)
	if m == nil {
		return 0, false
	}
	ms := uint64(0)
	for i, unit := range []uint64{3600_000, 60_000, 1000, 1} {
		n, err := strconv.ParseUint(m[1+i], 10, 32)
		if err != nil {
			return 0, false
		}
		ms += n * unit
	}
	return ms, true
}

// over reports whether a line is the last one that the game prints about a replay.
func over(line string) bool {
	return theirs.MatchString(line) || ending.MatchString(line) || closed.MatchString(line) || broken.MatchString(line)
}

func check(ctx context.Context, p *engine.Program, rec *engine.Recording) error {
	start, err := startOf(rec)
	if err != nil {
		return err
	}
	saved, err := readSaved(start, rec.Path+savedGame)
	if err != nil {
		return err
	}
	said, err := p.Ask(ctx, "--version")
	if err != nil {
		return err
	}
	m := version.FindStringSubmatch(said)
	if m == nil {
		return &engine.Refusal{Why: fmt.Sprintf("%s --version does not name Widelands", filepath.Base(p.Path))}
	}
	p.Version = m[1]
	if len(saved.addons) > 0 {
		return &engine.Refusal{Why: fmt.Sprintf("it was played with the add-on %q; replays with add-ons are not played", saved.addons[0])}
	}
	if saved.version != p.Version {
		return &engine.Refusal{Why: fmt.Sprintf("it was recorded with %s, and %s is %s", saved.version, filepath.Base(p.Path), p.Version), Version: true}
	}
	return nil
}

// version matches the game's line with its release or commit, and the kind of build.
var version = lazyregexp.New(`(?m)^This is Widelands version (.+) \S+\r?$`)
