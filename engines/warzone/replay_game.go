// Package warzone is the recipe by which Warzone 2100 plays its recordings again.
//
// The game needs no screen for it (--headless), and plays about thirty times as fast as it was played. It compares the
// recorded checksums of each tick with the ones that it computes, prints which differ, and dumps its state at the first
// two ticks with a difference. So a copy of the recording with a wrong checksum at a tick makes it dump its state
// there, and a wrong one after the last tick makes it print that it got there. Its results are left as a recording of
// one more slot, with that slot's dumps.
package warzone

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// Game returns the recipe.
func Game() *engine.Replayer {
	return &engine.Replayer{
		Name: "warzone2100", Title: "Warzone 2100",
		Formats:  []string{"warzone-replay"},
		Programs: []string{"warzone2100", "/usr/games/warzone2100", "/usr/local/bin/warzone2100"},
		Options: []engine.Option{
			{Name: modsOption, Help: "folder with the mods (.wz files) that a recording names"},
			{Name: mapsOption, Help: "folder with the maps (.wz files) that a recording names and does not hold"},
		},
		Dumps: true, Recipe: 1,
		Check: check, Prepare: prepare,
	}
}

// says matches the output of warzone2100 --version: "Warzone 2100 - Version: 4.3.3, Built: 2023-01-12". It ends with
// status 1.
var says = lazyregexp.New(`Warzone 2100 - Version: (\S[^,]{0,98}), Built:`)

func check(ctx context.Context, p *engine.Program, rec *engine.Recording) error {
	said, err := p.Ask(ctx, "--version")
	if err != nil {
		return &engine.Refusal{Why: err.Error()}
	}
	m := says.FindStringSubmatch(said)
	if m == nil {
		last := strings.TrimSpace(said)
		last = last[strings.LastIndexByte(last, '\n')+1:]
		return &engine.Refusal{Why: fmt.Sprintf("%s --version does not print a version of Warzone 2100: %.100q", filepath.Base(p.Path), last)}
	}
	p.Version = m[1]
	if _, err := contentFiles(p.Options[modsOption], mods(rec)); err != nil {
		return &engine.Refusal{Why: "mods: " + err.Error()}
	}
	switch build := rec.Header.Build; {
	case build == "":
		return &engine.Refusal{Why: "it does not name the version that recorded it, and " + filepath.Base(p.Path) + " is " + p.Version, Version: true}
	case build != p.Version:
		return &engine.Refusal{Why: fmt.Sprintf("it was recorded with %.100s, and %s is %s", build, filepath.Base(p.Path), p.Version), Version: true}
	}
	return nil
}
