package verdicts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/extsim"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/tools/internal/try"
)

// Game is a game that can play sessions with mistakes.
type Game interface {
	Name() string
	// Mistakes returns the possible mistakes with their places, in rounds: the first place of each mistake, then the
	// second of each that has one, and so on.
	Mistakes() []string
	// Play plays a session into a folder that must not exist.
	Play(s Session, dir string) (*session.Recording, error)
	// Sim returns the correct build, or, with a fault, the build of the peer with the mistake. A fault outside the code
	// does not change the build.
	Sim(fault string) (*bisect.Sim, error)
}

// rounds sorts places of mistakes in the order of Game.Mistakes.
func rounds(names []string, places map[string][]string) (list []string) {
	for round := range 8 {
		for _, name := range names {
			if round < len(places[name]) {
				list = append(list, name+"/"+places[name][round])
			}
		}
	}
	return list
}

// Reference is the reference sim.
type Reference struct {
	// Names selects the names of everything in it (refsim.Config). Other names make it another game.
	Names uint64
}

// Name implements Game.
func (g Reference) Name() string {
	if g.Names != 0 {
		return fmt.Sprintf("refsim with names %d", g.Names)
	}
	return "refsim"
}

// Mistakes implements Game.
func (Reference) Mistakes() []string {
	places := map[string][]string{}
	var names []string
	for _, kind := range refsim.Faults() {
		names, places[kind.Name] = append(names, kind.Name), kind.Places
	}
	return rounds(names, places)
}

// Sim implements Game.
func (Reference) Sim(fault string) (*bisect.Sim, error) {
	if fault == "" || strings.HasPrefix(fault, "order-") || strings.HasPrefix(fault, "bit-flip") {
		return refsim.Simulator(), nil
	}
	return refsim.ParseSimulator("builtin:fault=" + fault)
}

// Play implements Game.
func (g Reference) Play(s Session, dir string) (*session.Recording, error) {
	o := session.Options{
		Config: refsim.Config{Seed: s.Seed, Entities: s.Entities}, Ticks: s.ticks(), SnapshotEvery: snapshotEvery,
		Peers: []string{"host", "client"},
	}
	if o.Config.Names = g.Names; s.Shuffled {
		o.Config.Names = s.Seed + 1
	}
	for i := 2; i < s.Peers; i++ {
		o.Peers = append(o.Peers, fmt.Sprintf("client%d", i))
	}
	if s.Fault != "" {
		f, err := session.ParseFault(s.Fault + ":" + s.guilty())
		if err != nil {
			return nil, err
		}
		o.Faults = []session.Fault{f}
	}
	return session.RecordTo(dir, o, s.Trace)
}

// Program is a game in a separate program: one of the examples of docs/sdk. It plays with "record DIR", replays with
// "serve", and lists its mistakes with "faults".
type Program struct {
	name     string
	command  []string
	mistakes []string
	ticks    uint64 // length of its sessions, 0 for Ticks
}

// NewProgram gets the list of possible mistakes from a command.
func NewProgram(name string, command ...string) (p *Program, err error) {
	defer try.Catch(&err)
	p = &Program{name: name, command: command}
	out := p.run("faults")
	places := map[string][]string{}
	var names []string
	for line := range strings.Lines(out) {
		if parts := strings.Split(strings.TrimSpace(line), "\t"); len(parts) >= 2 {
			names, places[parts[0]] = append(names, parts[0]), strings.Split(parts[1], ",")
		}
	}
	if p.mistakes = rounds(names, places); len(p.mistakes) == 0 {
		return nil, fmt.Errorf("%s knows no mistakes", name)
	}
	return p, nil
}

func (p *Program) run(args ...string) string {
	out, err := exec.Command(p.command[0], append(slices.Clone(p.command[1:]), args...)...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		panic(try.Failed("%s %s: %w: %s", p.name, strings.Join(args, " "), err, failed.Stderr))
	}
	try.Check(err)
	return string(out)
}

// Name implements Game.
func (p *Program) Name() string { return p.name }

// Mistakes implements Game.
func (p *Program) Mistakes() []string { return slices.Clone(p.mistakes) }

// Sim implements Game.
func (p *Program) Sim(fault string) (*bisect.Sim, error) {
	argv := append(slices.Clone(p.command), "serve")
	if fault != "" {
		argv = append(argv, "--fault", fault)
	}
	return extsim.New(context.Background(), strings.Join(argv, " "), argv, extsim.Options{})
}

// Play implements Game.
func (p *Program) Play(s Session, dir string) (r *session.Recording, err error) {
	defer try.Catch(&err)
	try.Check(os.MkdirAll(filepath.Dir(dir), 0o755))
	args := []string{"record", dir, "--seed", fmt.Sprint(s.Seed), "--ticks", fmt.Sprint(s.ticks()), "--snapshot-every", fmt.Sprint(snapshotEvery), "--trace", string(s.Trace)}
	if s.Fault != "" {
		args = append(args, "--fault", s.Fault+":"+s.guilty())
	}
	p.run(args...)
	return recording(dir), nil
}

// recording reads the files that a program left.
func recording(dir string) *session.Recording {
	r := &session.Recording{Truth: &session.Truth{}}
	text := try.Get(os.ReadFile(filepath.Join(dir, session.TruthName)))
	if err := json.Unmarshal(text, r.Truth); err != nil {
		panic(try.Failed("%s: %w", session.TruthName, err))
	}
	loads := struct{ Load bool }{} // the peer diverged by loading
	if err := json.Unmarshal(text, &loads); err != nil {
		panic(try.Failed("%s: %w", session.TruthName, err))
	}
	if loads.Load && r.Truth.Bracket != nil && r.Truth.LoadedAt == nil {
		r.Truth.LoadedAt = &r.Truth.Bracket.Bad
	}
	entries := try.Get(os.ReadDir(dir))
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		peer := session.Recorded{Name: e.Name(), Dir: filepath.Join(dir, e.Name())}
		peerFiles(&peer)
		r.Peers = append(r.Peers, peer)
	}
	first := "host"
	if !slices.ContainsFunc(r.Peers, func(p session.Recorded) bool { return p.Name == first }) { // anybody may be the host
		first = r.Peers[slices.IndexFunc(r.Peers, func(p session.Recorded) bool { return p.Name != r.Truth.Peer })].Name
	}
	order := []string{first, r.Truth.Peer, "client"}
	lists.SortStable(r.Peers, func(a, b session.Recorded) int { return rankOf(order, a.Name) - rankOf(order, b.Name) })
	return r
}

// rankOf returns the place of a peer in a list, and the list's length for a peer that is not in it.
func rankOf(order []string, peer string) int {
	if i := slices.Index(order, peer); i >= 0 {
		return i
	}
	return len(order)
}

// peerFiles finds the files of a peer.
func peerFiles(p *session.Recorded) {
	p.Log = filepath.Join(p.Dir, session.LogName)
	files := try.Get(filepath.Glob(filepath.Join(p.Dir, "desync_*.snap")))
	for _, file := range files { // sorted names are in the order of their points
		tick := strings.TrimSuffix(file[strings.LastIndex(file, "_")+1:], ".snap")
		point, err := strconv.ParseUint(tick, 10, 64)
		if err != nil {
			panic(try.Failed("%s: %w", file, err))
		}
		p.Snapshots, p.Points = append(p.Snapshots, file), append(p.Points, point)
	}
}

// Compile compiles a game to a folder: an example of docs/sdk (arena, in C, or trade, in C#), tugs, in Rust, or moles, in
// TypeScript for Node. root is the root of the repository. The error names the missing program, or contains its output.
// Flags are for the compiler of tugs, in place of -O, which takes longer to compile than some short sessions take to play.
func Compile(root, name, dir string, flags ...string) (g Game, err error) {
	defer try.Catch(&err)
	out, in := filepath.Join(dir, name), filepath.Join(root, "docs", "sdk")
	switch name {
	case "arena":
		compile("cc", "-std=c99", "-O2", "-pthread", "-o", out, filepath.Join(in, "c", "arena.c"))
		return NewProgram(name, out)
	case "trade":
		out += ".exe"
		compile("mcs", "-out:"+out, filepath.Join(in, "csharp", "Trade.cs"), filepath.Join(in, "csharp", "Desynctool.cs"))
		return NewProgram(name, "mono", out)
	case "tugs":
		source := filepath.Join(root, "tools", "accuracy", "games", name, name+".rs")
		if flags == nil {
			flags = []string{"-O"}
		}
		compile("rustc", append(flags, "--edition", "2021", "-o", out, source)...)
		return NewProgram(name, out)
	case "moles":
		out += ".mjs"
		bundled(filepath.Join(root, "tools", "accuracy", "games", name, name+".ts"), out)
		p, err := NewProgram(name, "node", out)
		if err == nil {
			p.ticks = 80 // it plays some hundred ticks a second
		}
		return p, err
	}
	return nil, fmt.Errorf("no game %q: arena, trade, tugs, moles", name)
}

// bundled takes the types out of a program in TypeScript, and writes it into one file for Node.
func bundled(source, out string) {
	try.Get(exec.LookPath("node"))
	result := api.Build(api.BuildOptions{
		EntryPoints: []string{source}, Bundle: true, Format: api.FormatESModule, Platform: api.PlatformNode, Target: api.ES2022, LogLevel: api.LogLevelSilent,
	})
	if len(result.Errors) > 0 || len(result.OutputFiles) != 1 {
		panic(try.Failed("%s: %v", source, result.Errors))
	}
	try.Check(os.WriteFile(out, result.OutputFiles[0].Contents, 0o666))
}

func compile(name string, args ...string) {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		panic(try.Failed("%s: %w: %s", name, err, out))
	}
}
