package zeroad

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/confine"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
)

const (
	logName   = "commands.txt"
	dumpsName = "oos_logs"
	testName  = "serializationtest"
)

// hashWidth is how many bytes a hash of the engine has.
const hashWidth = 16

// run is one replay.
type run struct {
	start *start
	ask   engine.Ask
	dirs  engine.Dirs
	turn  atomic.Uint64 // that the game plays
}

func prepare(p *engine.Program, rec *engine.Recording, ask engine.Ask, dirs engine.Dirs) (*engine.Plan, error) {
	s, err := startOf(rec)
	if err != nil {
		return nil, err
	}
	if ask.Mode != engine.Plain && s.MapType == "random" {
		return nil, &engine.Refusal{Path: rec.Path, Why: "its map is a random one, and 0 A.D. tests how it saves and loads only on scenarios and skirmishes"}
	}
	in, err := installedBy(p)
	if err != nil {
		return nil, err
	}
	if err := in.link(s, dirs.Home); err != nil {
		return nil, err
	}
	r := &run{start: s, ask: ask, dirs: dirs}
	last, err := r.copyLog(rec.File)
	if err != nil {
		return nil, err
	}
	args := []string{p.Path, "-replay=" + filepath.Join(dirs.Work, logName), "-hashtest-full=true", "-hashtest-quick=true"}
	for _, m := range s.Mods { // games before 0.0.26 do not take them from the start line
		args = append(args, "-mod="+m.name)
	}
	switch ask.Mode {
	case engine.Serialize:
		args = append(args, "-serializationtest")
	case engine.Rejoin:
		turn, err := joins(p, last)
		if err != nil {
			return nil, err
		}
		args = append(args, "-rejointest="+strconv.FormatUint(turn, 10))
	}
	if len(ask.Dump) > 0 {
		args = append(args, "-ooslog")
	}
	return &engine.Plan{
		Command: confine.Command{Args: args, Dir: dirs.Work, Env: environment(dirs.Home), Reads: []string{filepath.Dir(in.data), in.user}},
		Tick:    r.tick,
		Over:    failed,
		Poll:    r.poll,
		Collect: r.collect,
	}, nil
}

// link makes the mods of the game that a user has installed known to a game with another home folder. The user's other
// changes, the mod user, are not.
func (in *installed) link(s *start, home string) error {
	mods := filepath.Join(home, ".local", "share", "0ad", "mods")
	if err := os.MkdirAll(mods, 0o777); err != nil {
		return err
	}
	linked := map[string]bool{}
	for _, m := range s.Mods {
		dir, users := in.folder(m.name)
		if !users || linked[m.name] {
			continue
		}
		linked[m.name] = true
		if err := os.Symlink(dir, filepath.Join(mods, m.name)); err != nil {
			return err
		}
	}
	return nil
}

// environment is the environment of a game without a screen. PATH is empty: when something fails, the engine starts
// programs that show it to a person, and debuggers.
func environment(home string) []string {
	env := slices.DeleteFunc(confine.Minimal(home), func(v string) bool { return strings.HasPrefix(v, "PATH=") })
	return append(env, "PATH="+filepath.Join(home, "none"))
}

// joins returns the turn at which a second simulation joins. The engine has one in a run.
func joins(p *engine.Program, last uint64) (uint64, error) {
	turn := last / 2
	if given, ok := p.Options[optRejoin]; ok {
		var err error
		if turn, err = strconv.ParseUint(given, 10, 31); err != nil {
			return 0, fmt.Errorf("%s=%s: expected the number of a turn", optRejoin, prose.Name(given))
		}
	}
	if turn > last {
		return 0, fmt.Errorf("nobody can join at turn %d, the last one that is played is %d", turn, last)
	}
	return turn, nil
}

// asked is a recording as the engine gets it: up to the last turn that is wanted, and with a full hash of
// each turn.
type asked struct {
	orderlog.Source
	until  *uint64
	hashes []orderlog.Observed
	last   uint64 // the last turn that was read
}

// Next returns the next turn that was played to its end.
func (s *asked) Next() (orderlog.Record, error) {
	rec, err := s.Source.Next()
	if errors.Is(err, frame.ErrTorn) {
		err = io.EOF // as a peer leaves it that was ended
	}
	if err != nil || rec.Kind != orderlog.TickRecord {
		return rec, err
	}
	if rec.TailCut || s.until != nil && rec.Tick.Number > *s.until {
		return orderlog.Record{}, io.EOF
	}
	tick := *rec.Tick
	s.last = tick.Number
	full := func(o orderlog.Observed) bool { return o.Kind == Kind && o.Coverage == orderlog.Full }
	if !slices.ContainsFunc(tick.Hashes, full) {
		s.hashes = append(append(s.hashes[:0], tick.Hashes...), orderlog.Observed{
			Point: tick.Number + 1, Kind: Kind, Coverage: orderlog.Full, Bytes: make([]byte, hashWidth),
		})
		tick.Hashes = s.hashes
	}
	rec.Tick = &tick
	return rec, nil
}

// read opens a recording as the engine gets it.
func (r *run) read(file string) (*asked, io.Closer, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	src, err := NewReader(bufio.NewReader(f), logName)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return &asked{Source: src, until: r.ask.Until}, f, nil
}

// copyLog writes the recording as the engine gets it, and returns the last turn.
func (r *run) copyLog(file string) (last uint64, err error) {
	src, from, err := r.read(file)
	if err != nil {
		return 0, err
	}
	defer from.Close()
	err = engine.WriteFile(filepath.Join(r.dirs.Work, logName), func(w io.Writer) error { return Write(w, src) })
	return src.last, err
}

// tick returns how far the game is by a line that it prints.
func (r *run) tick(line string) (uint64, bool) {
	turn, ok := ParseTurn([]byte(line))
	if ok {
		r.turn.Store(turn)
	}
	return turn, ok
}

// failed reports whether a line shows that something has failed in the engine. The engine then asks whether to
// continue, and waits; without an answer it waits for a debugger. The message that it cannot write its log of this, as
// in replays of 0.0.26, comes before and is ignored.
func failed(line string) bool {
	return strings.Contains(line, "Assertion failed: ") || strings.HasPrefix(line, "Location: ") && !strings.Contains(line, "(debug_WriteCrashlog)")
}

// poll removes unwanted dumps, which the engine writes each turn, while it runs.
func (r *run) poll() (tick uint64, over bool) {
	r.sweep()
	return r.turn.Load(), false
}

// written are the folders where the engine may leave folders of a name: replays of 0.0.26 use the working folder.
func (r *run) written(name string) []string {
	var found []string
	for _, top := range []string{r.dirs.Work, filepath.Join(r.dirs.Home, ".config", "0ad", "logs")} {
		dirs, _ := filepath.Glob(filepath.Join(engine.GlobOf(filepath.Join(top, name)), "*"))
		found = append(found, dirs...)
	}
	lists.SortStable(found, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
	return found
}

// sweep removes the dumps that are not wanted.
func (r *run) sweep() {
	for _, dir := range r.written(dumpsName) {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if !r.wanted(e.Name()) {
				os.Remove(filepath.Join(dir, e.Name()))
			}
		}
	}
}

// wanted reports whether a dump is: 00024.txt is the state after turn 24, point 25.
func (r *run) wanted(name string) bool {
	digits, ok := strings.CutSuffix(name, ".txt")
	if !ok {
		return false
	}
	label, err := strconv.ParseUint(digits, 10, 64)
	return err == nil && slices.Contains(r.ask.Dump, label+1)
}
