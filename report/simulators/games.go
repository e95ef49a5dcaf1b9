package simulators

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/engines"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/gamereplay"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/internal/shellwords"
	"github.com/desynctool/desynctool/report/formats"
)

// Games returns the recipes of games that play their own recordings again, by their names.
func Games() []*engine.Replayer {
	var list []*engine.Replayer
	for _, e := range engines.All() {
		if e.Replayer != nil {
			list = append(list, e.Replayer)
		}
	}
	return list
}

// GamesHelp describes for the help of commands how to name a game that plays its recordings again.
func GamesHelp() string {
	names := lists.Map(Games(), func(g *engine.Replayer) string { return g.Name })
	return `SIM is also a game that plays its own recordings again, as one more peer:
` + strings.Join(names, ", ") + `, each with :PATH of its program and
words NAME=VALUE, or run:COMMAND, any program that replays a log and leaves files in
formats that are read. Its words may have {log}, {out}, an empty folder, {until} and {dump},
state points, {seed}, {build}, {mods} and other keys of the log's header.
docs/games.md has what each can do. Games run without the network, and within limits; of
your home they read only their own folder and what --sim names (also reads=FOLDER).`
}

// Witness returns the game that a specification names, nil if it names none: run:COMMAND, or the name of
// a recipe, perhaps with :PATH of the program, and words NAME=VALUE.
func Witness(spec string) (*gamereplay.Witness, error) {
	kind, rest, _ := strings.Cut(spec, ":")
	if kind == "run" {
		words, err := Words(rest)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", spec, err)
		}
		game, program, err := gamereplay.Command(words)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", spec, err)
		}
		if program.Path, err = programAt(program.Path); err != nil {
			return nil, fmt.Errorf("%q: %w", spec, err)
		}
		return &gamereplay.Witness{Game: game, Spec: spec, Program: *program, Reads: formats.Known, Private: desks()}, nil
	}
	name, _, _ := strings.Cut(kind, " ")
	for _, game := range Games() {
		if game.Name == name {
			return recipe(game, spec)
		}
	}
	return nil, nil
}

// recipe returns a game with the program and the options that a specification names.
func recipe(game *engine.Replayer, spec string) (*gamereplay.Witness, error) {
	words, err := shellwords.Split(spec)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", spec, err)
	}
	w := &gamereplay.Witness{Game: game, Spec: spec, Reads: formats.Known, Private: desks()}
	w.Program.Options = map[string]string{}
	for _, word := range words[1:] {
		name, value, ok := strings.Cut(word, "=")
		known := func(o engine.Option) bool { return o.Name == name }
		if !ok || name != gamereplay.Reads && !slices.ContainsFunc(game.Options, known) {
			return nil, fmt.Errorf("%q: %q is no option of %s, expected %s", spec, word, game.Name, options(game, name))
		}
		if _, twice := w.Program.Options[name]; twice {
			return nil, fmt.Errorf("%q: %s is given twice", spec, name)
		}
		w.Program.Options[name] = value
	}
	if _, path, ok := strings.Cut(words[0], ":"); ok {
		if w.Program.Path, err = programAt(path); err != nil {
			return nil, fmt.Errorf("%q: %w", spec, err)
		}
		return w, nil
	}
	for _, name := range game.Programs {
		if path, err := exec.LookPath(name); err == nil {
			w.Program.Path = path
			return w, nil
		}
	}
	return nil, fmt.Errorf("%q: %s is not here: none of %s was found; name its program, %s:PATH", spec, game.Title, strings.Join(game.Programs, ", "), game.Name)
}

// desks are the folders of this user's stores of reports, which contain the key of pseudonyms: see desynctool desk.
func desks() (list []string) {
	for _, dir := range []string{os.Getenv("DESYNCTOOL_DESK"), "desk"} {
		if _, err := os.Stat(filepath.Join(dir, "desk.sqlite")); dir != "" && err == nil {
			list = append(list, dir)
		}
	}
	return list
}

// programAt returns the path of a program that the command line names.
func programAt(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return filepath.Abs(path)
	}
	return "", fmt.Errorf("no program %s", prose.Path(name))
}

// options lists the options of a game for an error.
func options(game *engine.Replayer, name string) string {
	if len(game.Options) == 0 {
		return "none"
	}
	var names, list []string
	for _, o := range game.Options {
		names, list = append(names, o.Name), append(list, o.Name+"=VALUE ("+o.Help+")")
	}
	return strings.Join(list, ", ") + prose.DidYouMean(name, names)
}

// orGame names the games for an error, and the value of --sim that is nearest to a word.
func orGame(kind string) string {
	known := []string{"builtin", "exec", "exec+unix", "exec+tcp", "wasm", "run"}
	list := "a game: run:COMMAND"
	for _, g := range Games() {
		known = append(known, g.Name)
		list += ", " + g.Name
	}
	return " or " + list + prose.DidYouMean(kind, known)
}
