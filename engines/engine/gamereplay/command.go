package gamereplay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/confine"
)

// commandName is the name of a game that a command is.
const commandName = "run"

// Command returns the witness run:COMMAND: any program that replays an order log and leaves files. Its words may
// contain {log}, a file, {out}, an empty folder for its output, {until} and {dump}, the last tick and the state points
// that are wanted, with commas, {seed}, and names of the log's header: {build}, {mods}, {map}. A word with {until} or
// {dump} is left out where all is played, or nothing is dumped. Its output counts too, if it is in a format that is
// read.
//
// The words are arguments: text from a log never becomes a separate word or, at a word's beginning, an option.
func Command(words []string) (*engine.Replayer, *engine.Program, error) {
	if len(words) == 0 {
		return nil, nil, errors.New("no command")
	}
	has := func(name string) bool {
		return slices.ContainsFunc(words[1:], func(w string) bool { return strings.Contains(w, "{"+name+"}") })
	}
	if strings.Contains(words[0], "{") {
		return nil, nil, fmt.Errorf("the program %s: it is not taken from a log", words[0])
	}
	if !has("log") {
		return nil, nil, errors.New("no {log} among its words, the file that is to be replayed")
	}
	g := &engine.Replayer{
		Name: commandName, Title: filepath.Base(words[0]), Dumps: has("dump"),
		Prepare: func(p *engine.Program, rec *engine.Recording, ask engine.Ask, dirs engine.Dirs) (*engine.Plan, error) {
			args, err := fill(words[1:], rec, ask, dirs)
			if err != nil {
				return nil, err
			}
			here, err := os.Getwd() // the words are the user's, and may be paths
			if err != nil {
				return nil, err
			}
			return &engine.Plan{
				Command: confine.Command{Args: append([]string{p.Path}, args...), Dir: here, Env: confine.Minimal(dirs.Home)},
				Tick:    printedTick,
			}, nil
		},
	}
	p := &engine.Program{Path: words[0], Options: map[string]string{}}
	for i, w := range words[1:] {
		p.Options[strconv.Itoa(i)] = w
	}
	return g, p, nil
}

// fill puts what is known into the words of a command.
func fill(words []string, rec *engine.Recording, ask engine.Ask, dirs engine.Dirs) ([]string, error) {
	var out []string
	for _, word := range words {
		if strings.Contains(word, "{until}") && ask.Until == nil || strings.Contains(word, "{dump}") && len(ask.Dump) == 0 {
			continue
		}
		filled, err := fillWord(word, rec, ask, dirs)
		if err != nil {
			return nil, err
		}
		out = append(out, filled)
	}
	return out, nil
}

func fillWord(word string, rec *engine.Recording, ask engine.Ask, dirs engine.Dirs) (string, error) {
	var b strings.Builder
	for rest := word; rest != ""; {
		before, after, ok := strings.Cut(rest, "{")
		b.WriteString(before)
		name, tail, closed := strings.Cut(after, "}")
		if !ok {
			break
		}
		if !closed || !isName(name) {
			b.WriteString("{")
			rest = after
			continue
		}
		value, own, err := valueOf(name, rec, ask, dirs)
		if err != nil {
			return "", err
		}
		if !own && b.Len() == 0 && (strings.HasPrefix(value, "-") || strings.HasPrefix(value, "/") || strings.HasPrefix(value, "@")) {
			return "", &engine.Refusal{Path: rec.Path, Why: fmt.Sprintf("its %s would be an option or a path: %q", name, value)}
		}
		b.WriteString(value)
		rest = tail
	}
	return b.String(), nil
}

// isName reports whether text in braces is a name. Otherwise the braces belong to the command itself.
func isName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// valueOf returns the value for a name in braces; own reports that it is ours, and not from a log.
func valueOf(name string, rec *engine.Recording, ask engine.Ask, dirs engine.Dirs) (value string, own bool, err error) {
	switch name {
	case "log":
		return rec.File, true, nil
	case "out":
		return dirs.Out, true, nil
	case "until":
		return strconv.FormatUint(*ask.Until, 10), true, nil
	case "dump":
		points := make([]string, len(ask.Dump))
		for i, p := range ask.Dump {
			points[i] = strconv.FormatUint(p, 10)
		}
		return strings.Join(points, ","), true, nil
	case "seed":
		return strconv.FormatUint(rec.Header.Seed, 10), true, nil
	case "build":
		value = rec.Header.Build
	default:
		value = rec.Header.Params[name]
	}
	if value == "" {
		return "", false, &engine.Refusal{Path: rec.Path, Why: fmt.Sprintf("its header does not contain {%s}, which the command wants", name)}
	}
	if strings.ContainsRune(value, 0) {
		return "", false, &engine.Refusal{Path: rec.Path, Why: fmt.Sprintf("its %s has a zero byte", name)}
	}
	return value, false, nil
}

// printedTick returns how far a program is by a line that begins with the word tick, turn or frame and a number.
func printedTick(line string) (uint64, bool) {
	word, rest, ok := strings.Cut(strings.TrimSpace(line), " ")
	if !ok || !slices.Contains([]string{"tick", "turn", "frame"}, strings.ToLower(word)) {
		return 0, false
	}
	digits := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	n, err := strconv.ParseUint(digits, 10, 64)
	return n, err == nil
}
