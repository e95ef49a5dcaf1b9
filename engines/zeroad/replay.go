package zeroad

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/prose"
)

// Options on the command line.
const (
	optMods   = "mods"
	optData   = "data"
	optRejoin = "rejoin"
)

// Game returns the recipe.
func Game() *engine.Replayer {
	return &engine.Replayer{
		Name:     "0ad",
		Title:    "0 A.D.",
		Formats:  []string{"0ad-log"},
		Programs: []string{"pyrogenesis", "0ad", "/usr/games/pyrogenesis", "/usr/lib/0ad/pyrogenesis", "/opt/0ad/usr/bin/pyrogenesis"},
		Options: []engine.Option{
			{Name: optMods, Help: "the folder with the mods that you have installed, ~/.local/share/0ad/mods by itself"},
			{Name: optData, Help: "the folder with the game's own mods, public among them, where it is not found by itself"},
			{Name: optRejoin, Help: "the turn at which a second simulation joins, for --from-each-snapshot; else half way"},
		},
		Dumps:   true,
		Modes:   []engine.Mode{engine.Serialize, engine.Rejoin},
		Recipe:  1,
		Check:   check,
		Prepare: prepare,
	}
}

// start has the facts in a start line that are needed here.
type start struct {
	Map     string
	MapType string `json:"mapType"`
	Mods    mods
	Engine  string `json:"engine_version"`
}

// mod is a mod as a start line names it.
type mod struct {
	name    string // of its folder
	version string // empty if the line does not contain it
}

// mods are lists of objects, of pairs of name and version in games before 0.0.26.
type mods []mod

func (m *mods) UnmarshalJSON(b []byte) error {
	var items []json.RawMessage
	if err := json.Unmarshal(b, &items); err != nil {
		return err
	}
	for _, item := range items {
		var object struct{ Mod, Version string }
		var pair []string
		switch {
		case json.Unmarshal(item, &object) == nil:
			*m = append(*m, mod{object.Mod, object.Version})
		case json.Unmarshal(item, &pair) == nil && len(pair) > 0:
			*m = append(*m, mod{name: pair[0]})
			if len(pair) > 1 {
				(*m)[len(*m)-1].version = pair[1]
			}
		default:
			return fmt.Errorf("a mod is neither an object nor a pair")
		}
	}
	return nil
}

// own are the mods that each installation has in addition: the engine's own, and its user's changes, which other
// machines do not know.
var own = []string{"mod", "user"}

func startOf(rec *engine.Recording) (*start, error) {
	s := &start{}
	if err := json.Unmarshal([]byte(rec.Header.Params[ParamStart]), s); err != nil {
		return nil, &engine.Refusal{Path: rec.Path, Why: fmt.Sprintf("its start line: %v", err)}
	}
	s.Mods = slices.DeleteFunc(s.Mods, func(m mod) bool { return slices.Contains(own, m.name) })
	for _, m := range s.Mods {
		if !replayPlain(m.name) {
			return nil, &engine.Refusal{Path: rec.Path, Why: fmt.Sprintf("its start line has a mod %s, which is not the name of a folder", prose.Quote(m.name))}
		}
	}
	if !strings.HasPrefix(s.Map, "maps/") || !slices.ContainsFunc(strings.Split(s.Map, "/")[1:], func(p string) bool { return p != "" }) || !allPlain(s.Map) {
		return nil, &engine.Refusal{Path: rec.Path, Why: fmt.Sprintf("its start line has the map %s, expected one below maps/", prose.Quote(s.Map))}
	}
	return s, nil
}

// plain reports whether a name is a plain file or folder name, and not a path to another one.
func replayPlain(name string) bool {
	return name != "" && len(name) <= 255 && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, "/\\:\x00\r\n")
}

func allPlain(path string) bool {
	return !slices.ContainsFunc(strings.Split(path, "/"), func(p string) bool { return !replayPlain(p) })
}

// check returns why a recording cannot be played: it does not begin at the start, another version recorded it, mods or
// the map are not there.
func check(ctx context.Context, p *engine.Program, rec *engine.Recording) error {
	if first := rec.Header.FirstPoint; first != 0 {
		return &engine.Refusal{Path: rec.Path, Why: fmt.Sprintf("it begins at turn %d: this peer joined then, and the state that it was sent is not in it; a recording of a peer that played from the start is needed", first)}
	}
	s, err := startOf(rec)
	if err != nil {
		return err
	}
	said, err := p.Ask(ctx, "-version")
	if err != nil {
		return err
	}
	if p.Version, err = version(said); err != nil {
		return &engine.Refusal{Path: rec.Path, Why: err.Error()}
	}
	in, err := installedBy(p)
	if err != nil {
		return &engine.Refusal{Path: rec.Path, Why: err.Error()}
	}
	if err := in.has(s); err != nil {
		return &engine.Refusal{Path: rec.Path, Why: err.Error()}
	}
	if s.Engine != "" && s.Engine != p.Version {
		return &engine.Refusal{Path: rec.Path, Why: fmt.Sprintf("it was recorded with 0 A.D. %s, and %s is %s", prose.Name(s.Engine), filepath.Base(p.Path), prose.Name(p.Version)), Version: true}
	}
	if err := in.sameVersions(s); err != nil {
		return &engine.Refusal{Path: rec.Path, Why: err.Error(), Version: true}
	}
	return nil
}

// version returns the text after "Pyrogenesis" in the program's version output.
func version(said string) (string, error) {
	for line := range strings.Lines(said) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "Pyrogenesis "); ok && v != "" {
			return v, nil
		}
	}
	first, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	return "", fmt.Errorf("the program does not print its version when it is started with -version, it prints %s", prose.Quote(first))
}
