//go:build unix

// Command witness checks the recipes of games with the games themselves. It plays real sessions, changes something in
// one of their processes, and prints desynctool's verdicts without and with the game as a witness, as in docs/games.md:
//
//	go run ./tools/games -games 0ad,spring -seed 7
//
// It exits with status 1 if a verdict is wrong. .ci/games installs the games first.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/desynctool/desynctool/tools/internal/try"
)

// made is a session that was really played, with the truth about it.
type made struct {
	name   string   // "late damage on the client"
	paths  []string // input of triage
	truth  string   // in one line
	guilty string   // the wrong peers as named in the files, separated by ", "; empty if none or unknowable
	random bool     // the game itself is not deterministic here: two replays of one log differ
	tick   *uint64  // the divergent tick as desynctool numbers it, if known
	// unplayed means that a recording cannot be played, because its peer joined later.
	unplayed bool
	sim      string // value of --sim, if it is not just the game's name
}

// game is a game that its recipe is checked with.
type game struct {
	name  string // of the recipe
	make  func(ctx context.Context, dir string, seed uint64) ([]made, error)
	cases []made // in testdata
}

// errSkipped reports that no session can be made on this machine.
var errSkipped = errors.New("skipped")

func main() {
	wrong, err := run()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case wrong > 0:
		fmt.Fprintf(os.Stderr, "%d verdicts are wrong\n", wrong)
		os.Exit(1)
	}
}

func run() (wrong int, err error) {
	defer try.Catch(&err)
	only := flag.String("games", "", "games, by comma; all without it")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the sessions that are played")
	keep := flag.String("keep", "", "a folder to keep the sessions in")
	tool := flag.String("tool", "", "a build of desynctool; this one without it")
	recorded := flag.Bool("recorded", false, "only the cases of testdata, nothing new is played")
	flag.Parse()
	dir := *keep
	if dir == "" {
		dir = try.Get(os.MkdirTemp("", "witness-"))
		defer os.RemoveAll(dir)
	}
	dir = try.Get(filepath.Abs(dir))
	if *tool == "" {
		*tool = filepath.Join(dir, "desynctool")
		if out, err := exec.Command("go", "build", "-o", *tool, "./cmd/desynctool").CombinedOutput(); err != nil {
			return 0, fmt.Errorf("go build: %w: %s", err, out)
		}
	}
	fmt.Printf("seed %d\n\n", *seed)
	fmt.Println("| Game | Case | Truth | Without | With the game | Seconds |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, g := range games {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), g.name) {
			continue
		}
		list := g.cases
		if g.make != nil && !*recorded {
			fresh, err := g.make(context.Background(), filepath.Join(dir, g.name), *seed)
			if errors.Is(err, errSkipped) {
				fmt.Fprintf(os.Stderr, "%s: %v\n", g.name, err)
				continue
			}
			if err != nil {
				return wrong, fmt.Errorf("%s: %w", g.name, err)
			}
			list = slices.Concat(list, fresh)
		}
		for i := range list {
			ok, err := judge(*tool, g.name, &list[i])
			if err != nil {
				return wrong, fmt.Errorf("%s: %s: %w", g.name, list[i].name, err)
			}
			if !ok {
				wrong++
			}
		}
	}
	return wrong, nil
}

// save writes a file, and the folders above it.
func save(path string, content []byte) {
	try.Check(os.MkdirAll(filepath.Dir(path), 0o755))
	try.Check(os.WriteFile(path, content, 0o644))
}

// sleep waits for a time.
func sleep(ctx context.Context, d time.Duration) { await(ctx, d, "the session was not over") }

// await is sleep, with the error if the session ends meanwhile.
func await(ctx context.Context, d time.Duration, missing string) {
	select {
	case <-ctx.Done():
		panic(try.Failed("%s: %w", missing, context.Cause(ctx)))
	case <-time.After(d):
	}
}

// triaged is the part of the tool's output that is judged.
type triaged struct {
	Status  string   `json:"status"`
	Verdict []string `json:"verdict"`
	First   *struct {
		Tick  *uint64  `json:"tick"`
		Wrong []string `json:"wrong"`
	} `json:"first_divergence"`
	Witness *struct {
		Game   string          `json:"game"`
		Differ json.RawMessage `json:"differ"`
		Failed []string        `json:"failed"`
	} `json:"witness"`
}

// wrong returns the peers that the tool names.
func (t *triaged) wrong() []string {
	if t.First == nil {
		return nil
	}
	return t.First.Wrong
}

// differs reports whether two replays of the same orders differ.
func (t *triaged) differs() bool {
	return t.Witness != nil && len(t.Witness.Differ) > 0 && string(t.Witness.Differ) != "null"
}

// judge triages a session without and with the game, and prints a row. It reports whether all of the output is true.
func judge(tool, game string, m *made) (ok bool, err error) {
	defer try.Catch(&err)
	sim := m.sim
	if sim == "" {
		sim = game
	}
	without, _ := triage(tool, m.paths)
	with, took := triage(tool, m.paths, "--sim", sim, "--no-cache")
	ok = m.right(with)
	said := with.says()
	if !ok {
		said = "**wrong**: " + said
	}
	fmt.Printf("| %s | %s | %s | %s | %s | %.0f |\n", game, m.name, m.truth, without.says(), said, took.Seconds())
	return ok, nil
}

// right reports whether the tool's output about a session is true. If a peer is wrong, the output must name it.
func (m *made) right(t *triaged) bool {
	switch {
	case t.Witness == nil || len(t.Witness.Failed) > 0 != m.unplayed:
		return false
	case m.random:
		return t.differs() && len(t.wrong()) == 0
	case t.differs():
		return false
	case m.guilty == "":
		return len(t.wrong()) == 0
	case !slices.Equal(t.wrong(), strings.Split(m.guilty, ", ")):
		return false
	}
	return m.tick == nil || t.First.Tick == nil || *t.First.Tick == *m.tick
}

// says returns a verdict in a few words.
func (t *triaged) says() string {
	var parts []string
	parts = append(parts, t.Status)
	if t.First != nil && t.First.Tick != nil {
		parts = append(parts, fmt.Sprintf("tick %d", *t.First.Tick))
	}
	switch wrong := t.wrong(); {
	case len(wrong) > 0:
		parts = append(parts, strings.Join(wrong, ", ")+" is wrong")
	case t.differs():
		parts = append(parts, "the game does not do the same twice")
	case t.Status == "diverged":
		parts = append(parts, "who is wrong is not known")
	}
	if t.Witness != nil {
		parts = append(parts, t.Witness.Failed...)
	}
	return strings.Join(parts, ", ")
}

// triage runs the tool.
func triage(tool string, paths []string, args ...string) (*triaged, time.Duration) {
	begun := time.Now()
	cmd := exec.Command(tool, slices.Concat([]string{"triage"}, paths, args, []string{"--format", "json"})...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || len(out) == 0) {
		panic(try.Failed("%s: %w", strings.Join(cmd.Args, " "), err))
	}
	t := &triaged{}
	try.Check(json.Unmarshal(out, t))
	return t, time.Since(begun)
}
