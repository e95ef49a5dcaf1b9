package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/confine"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
)

// Replayer is how one game plays its recordings again.
type Replayer struct {
	Name     string   // as --sim names it: "0ad"
	Title    string   // as reports name it: "0 A.D."
	Formats  []string // of recordings that it plays, by Format.Name; nil for every order log
	Programs []string // names of the program, looked for in PATH and then as paths
	Options  []Option // NAME=VALUE words after the name on the command line
	Dumps    bool     // it can dump states at wanted points
	RealTime bool     // it plays no faster than it was played
	Build    string   // the build that it takes, if neither players nor packages have it: "a build with …"
	Modes    []Mode   // in addition to Plain
	// Recipe is raised when the output of the recipe changes: kept results of another recipe are not used.
	Recipe int

	// Check asks the program for its version, sets p.Version, and returns why it cannot play a recording: a *Refusal.
	// It runs before the game does. If it is nil, nothing is checked.
	Check func(ctx context.Context, p *Program, rec *Recording) error
	// Prepare writes the files that the game needs below dirs, and returns how to run it.
	Prepare func(p *Program, rec *Recording, ask Ask, dirs Dirs) (*Plan, error)
}

// Option is an option of a game on the command line.
type Option struct {
	Name, Help string
}

// Mode is the way in which a game plays a recording.
type Mode string

// Modes.
const (
	Plain     Mode = ""          // once, from its start to its end
	Serialize Mode = "serialize" // the state is saved and loaded while it plays, and both are compared
	Rejoin    Mode = "rejoin"    // a second instance joins, from a later state, and both are compared
)

// Program is a game's program.
type Program struct {
	Path    string            // on the disk
	Options map[string]string // as the command line gives them
	Version string            // as the program reports it, else empty; Check sets it
	// Ask runs the program with some arguments, within limits and for a short time, and returns its output.
	Ask func(ctx context.Context, args ...string) (output string, err error)
}

// Recording is an order log that a peer left, and the other files that the game needs.
type Recording struct {
	Peer string // the peer
	Path string // as reports show it
	File string // a copy on the disk
	// Beside are copies of the peer's other files in the same folder, under their own names if these are plain: games
	// may need the save that a log continues from.
	Beside []string
	Format string // Format.Name
	Header orderlog.Header
	Last   uint64 // the last tick that was recorded
	// Progress, if not nil, is called with the ticks of a run that are done, and all. Runs of one recording may be
	// side by side.
	Progress func(done, total uint64)
}

// Ask are the wishes for a replay. Numbers are ours, as importers give them: ordinals of ticks and state points.
type Ask struct {
	Until *uint64  // the last tick to play, nil for all; a game that cannot stop there plays on
	Dump  []uint64 // state points at which the state is wanted, ascending
	Mode  Mode
	// Run numbers several runs of the same recording, from 0, so that the second one is not taken from the cache.
	Run int
}

// Dirs are folders for one run, empty and not shared. Only these may be written.
type Dirs struct {
	Home string // HOME
	Work string // files that the game needs, and files that are not kept
	Out  string // what becomes evidence
	Log  string // the file with the whole output of the program, once it has ended
}

// Plan is how a game is run.
type Plan struct {
	Command confine.Command // Args, Dir and Env; the caller sets limits and writable paths
	Display bool            // it needs an X server: DISPLAY is added to Env
	// Tick returns how far the game is, from a line of its output. It may be nil.
	Tick func(line string) (tick uint64, ok bool)
	// Over reports whether a line shows that the replay has ended though the game still runs. The game is then ended.
	// It may be nil.
	Over func(line string) bool
	// Poll is the same from files that the game writes; it is called about twice a second. It may be nil.
	Poll func() (tick uint64, over bool)
	// Seconds is about how long it takes, 0 if that is not known; games that play in real time set it.
	Seconds float64
	// Collect moves the game's files into Out, under names that show one peer, and returns why they are not a replay: a
	// *Failure. Nil if the program writes there itself.
	Collect func(ended *confine.Ended) error
	// Next returns how the game is run again for the same replay, after this run has ended; nil if that was all, and
	// Collect is called. It may be nil. A game that dumps few states in one run has several.
	Next func(ended *confine.Ended) (*Plan, error)
}

// Can reports whether the game has a mode.
func (g *Replayer) Can(m Mode) bool {
	return m == Plain || slices.Contains(g.Modes, m)
}

// Plays reports whether the game plays recordings of a format.
func (g *Replayer) Plays(format string) bool {
	return g.Formats == nil || slices.Contains(g.Formats, format)
}

// Refusal is why a recording is not played: nothing was started.
type Refusal struct {
	Path string // of the recording
	Why  string // "it was recorded with 0.0.25, and pyrogenesis is 0.0.26"
	// Version reports whether only the version differs: with --force it is played anyway.
	Version bool
}

func (r *Refusal) Error() string {
	text := prose.Path(r.Path) + ": " + r.Why
	if r.Version {
		text += "; --force plays it all the same"
	}
	return text
}

// ErrFailed is the target of errors.Is for every *Failure.
var ErrFailed = errors.New("the game did not play the recording")

// Failure is why a run of a game is not a replay.
type Failure struct {
	Title string // of the game
	Path  string // of the recording
	Why   string // "it crashed: segmentation fault", "it left nothing that is recognised"
	Said  string // the end of its own log, one line; may be empty
}

func (f *Failure) Error() string {
	text := fmt.Sprintf("%s playing %s: %s", f.Title, prose.Path(f.Path), f.Why)
	if f.Said != "" {
		text += "; it said last: " + prose.Quote(f.Said)
	}
	return text
}

// Is reports that it is ErrFailed.
func (f *Failure) Is(target error) bool { return target == ErrFailed }

// Ended returns why a program's end is not the end of a replay, nil if it exited with status 0. Files of a game that
// ended otherwise are not evidence of its state.
func Ended(e *confine.Ended) error {
	f := &Failure{Said: LastLine(e.Tail)}
	switch {
	case e.Why != "":
		f.Why = "it was ended: it " + e.Why
	case e.Signal != "":
		f.Why = "it crashed: " + e.Signal
	case e.Code != 0:
		f.Why = fmt.Sprintf("it ended with status %d", e.Code)
	default:
		return nil
	}
	return f
}

// LastLine returns the last line that is not blank.
func LastLine(lines []string) string {
	for i := len(lines) - 1; i >= 0; i-- {
		if s := strings.TrimSpace(lines[i]); s != "" {
			return s
		}
	}
	return ""
}

// Words are the options of a program, in order.
func (p *Program) Words() []string {
	list := make([]string, 0, len(p.Options))
	for name, value := range p.Options {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// Absolute returns the recording with absolute paths.
func (rec *Recording) Absolute() (*Recording, error) {
	out := *rec
	out.Beside = slices.Clone(rec.Beside)
	var err error
	if out.File, err = filepath.Abs(rec.File); err != nil {
		return nil, err
	}
	for i, file := range out.Beside {
		if out.Beside[i], err = filepath.Abs(file); err != nil {
			return nil, err
		}
	}
	return &out, nil
}
