// Package gamereplay has games play their own recordings again.
//
// An [engine.Replayer] describes how one game is started without a person, and where it leaves what it computes. A
// [Witness] is a game as a command line names it, with a program, options and limits. [Witness.Play] has the game play
// an [engine.Recording], and returns the folder with the files that the game left. They are recognised like all
// evidence, and compared with the peer's files like the files of any two peers; nothing here compares.
//
//	recording → Check → Prepare → confine.Run → Collect → folder → evidence
//
// A recording never chooses what runs: programs and options come from the command line alone, names
// in a recording are arguments and never paths or options, and no shell is started. The program runs
// within limits, without the network, see package confine.
package gamereplay

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/confine"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/internal/resultcache"
	"github.com/desynctool/desynctool/tracediff"
)

// Limits of one run of a game, unless a Witness has others.
const (
	DefaultTime   = time.Hour
	DefaultDisk   = 4 << 30
	DefaultMemory = 8 << 30
	askTime       = 20 * time.Second // for the output of a program about itself
	longRun       = 10               // seconds
)

// Witness is a game as a command line names it.
type Witness struct {
	Game *engine.Replayer
	Spec string // as it was given
	// Program is its program and options. Play sets Version.
	Program engine.Program

	Time   time.Duration // how long one run may take, 0 for DefaultTime
	Disk   int64         // how many bytes it may write, 0 for DefaultDisk
	Memory int64         // how much memory it may take, 0 for DefaultMemory
	// Private are folders that it may not read, besides the user's home.
	Private []string
	// Reads reports whether a file is in a format that is read, by its name and its leading bytes, which are unpacked.
	// Nil takes every file for evidence.
	Reads func(name string, head []byte) bool
	// Force plays recordings of other versions too.
	Force bool
	// Cache keeps what replays left, nil for none.
	Cache *resultcache.Cache

	// Say, if not nil, is called before a run that takes long, with the expected time.
	Say func(text string)

	mu      sync.Mutex
	checked map[string]error // by Recording.File
	said    []string         // warnings, each once
	forced  []string         // recordings of other versions
}

// Replay is what a game left that played a recording.
type Replay struct {
	*engine.Recording
	Ask    engine.Ask
	Folder string // with the files
	// Key is what a replay depends on: equal keys mean the same run, among all that are kept.
	Key resultcache.Key

	close func() error
}

// Close removes the folder, unless it is kept.
func (r *Replay) Close() error { return r.close() }

// Check returns why a recording cannot be played, see Game.Check: a *Refusal. It asks once for each.
func (w *Witness) Check(ctx context.Context, rec *engine.Recording) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err, ok := w.checked[rec.File]; ok {
		return err
	}
	err := w.check(ctx, rec)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if w.checked == nil {
		w.checked = map[string]error{}
	}
	w.checked[rec.File] = err
	return err
}

func (w *Witness) check(ctx context.Context, rec *engine.Recording) error {
	if !w.Game.Plays(rec.Format) {
		return &engine.Refusal{Path: rec.Path, Why: fmt.Sprintf("a recording of format %s, which %s does not play", rec.Format, w.Game.Title)}
	}
	if w.Game.Check == nil {
		return nil
	}
	w.Program.Ask = w.ask
	err := w.Game.Check(ctx, &w.Program, rec)
	var refused *engine.Refusal
	if errors.As(err, &refused) {
		if refused.Path == "" {
			refused.Path = rec.Path
		}
		if refused.Version && w.Force {
			w.forced = append(w.forced, prose.Path(refused.Path)+": "+refused.Why)
			return nil
		}
	}
	return err
}

// warn keeps a warning, once.
func (w *Witness) warn(text string) {
	if !slices.Contains(w.said, text) {
		w.said = append(w.said, text)
	}
}

// Forced lists the recordings of another version that were played all the same, since Force is set: a line each.
func (w *Witness) Forced() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.forced)
}

// Warnings returns what is odd about the replays so far: the restrictions of the game that the system lacked.
func (w *Witness) Warnings() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.said)
}

// ask runs the program for its output about itself.
func (w *Witness) ask(ctx context.Context, args ...string) (string, error) {
	home, remove, err := files.TemporaryFolder("")
	if err != nil {
		return "", err
	}
	defer remove()
	var out strings.Builder
	c := confine.Command{
		Args: append([]string{w.Program.Path}, args...), Dir: home, Env: confine.Minimal(home), Writes: []string{home},
		Time: askTime, Disk: 64 << 20, Memory: w.memory(),
		Line: func(line string) {
			if out.Len() < 64<<10 {
				out.WriteString(line + "\n")
			}
		},
	}
	w.bound(&c)
	ended, err := confine.Run(ctx, c)
	if err != nil {
		return "", err
	}
	if ended.Why != "" || ended.Signal != "" {
		return out.String(), fmt.Errorf("%s %s: %w", w.Program.Path, strings.Join(args, " "), engine.Ended(ended))
	}
	return out.String(), nil
}

func (w *Witness) memory() int64 {
	if w.Memory == 0 {
		return DefaultMemory
	}
	return w.Memory
}

// Play has the game play a recording, and returns what it left. The caller closes it. Errors are a
// *Refusal, a *Failure, or the cause of ctx.
func (w *Witness) Play(ctx context.Context, rec *engine.Recording, ask engine.Ask) (*Replay, error) {
	rec, err := rec.Absolute()
	if err != nil {
		return nil, err
	}
	if err := w.Check(ctx, rec); err != nil {
		return nil, err
	}
	if !w.Game.Can(ask.Mode) {
		return nil, &engine.Refusal{Path: rec.Path, Why: fmt.Sprintf("%s has no replay in the mode %s", w.Game.Title, ask.Mode)}
	}
	if !w.Game.Dumps {
		ask.Dump = nil
	}
	r := &Replay{Recording: rec, Ask: ask}
	program := w.program()
	if r.Key, err = w.key(program, rec, ask); err != nil {
		return nil, err
	}
	play := func(dir string) error { return w.run(ctx, program, rec, ask, dir) }
	if w.Cache == nil {
		dir, remove, err := files.TemporaryFolder("")
		if err != nil {
			return nil, err
		}
		r.Folder, r.close = dir, remove
		if err := play(dir); err != nil {
			return nil, errors.Join(err, r.Close())
		}
		return r, nil
	}
	r.close = func() error { w.Cache.Release(r.Key); return nil }
	if folder, ok := w.Cache.Get(r.Key); ok {
		r.Folder = folder
		return r, nil
	}
	r.Folder, err = w.Cache.Put(r.Key, play)
	return r, err
}

// program returns the program as the last check found it; recordings may be checked while others are played.
func (w *Witness) program() *engine.Program {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.Program
	return &p
}

// key is everything that a replay depends on: the recipe, the program and the files that its words name, the recording
// and the files next to it, and the request.
func (w *Witness) key(program *engine.Program, rec *engine.Recording, ask engine.Ask) (key resultcache.Key, err error) {
	parts := []string{"replay", w.Game.Name, strconv.Itoa(w.Game.Recipe), program.Version}
	file := func(path string) {
		var of resultcache.Key
		if of, err = resultcache.OfFile(path); err == nil {
			parts = append(parts, of.String())
		}
	}
	for _, word := range append([]string{program.Path}, program.Words()...) {
		parts = append(parts, word)
		_, value, _ := strings.Cut(word, "=")
		for _, path := range []string{word, value} {
			if stat, failed := os.Stat(path); failed == nil && stat.Mode().IsRegular() && err == nil {
				file(path)
			}
		}
	}
	for _, path := range append([]string{rec.File}, rec.Beside...) {
		if parts = append(parts, filepath.Base(path)); err == nil {
			file(path)
		}
	}
	until := "end"
	if ask.Until != nil {
		until = strconv.FormatUint(*ask.Until, 10)
	}
	return resultcache.Of(append(parts, until, fmt.Sprint(ask.Dump), string(ask.Mode), strconv.Itoa(ask.Run))...), err
}

// run has the game play a recording, and leaves what it computed in a folder.
func (w *Witness) run(ctx context.Context, program *engine.Program, rec *engine.Recording, ask engine.Ask, out string) (err error) {
	top, remove, err := files.TemporaryFolder("")
	if err != nil {
		return err
	}
	defer remove()
	dirs := engine.Dirs{Home: filepath.Join(top, "home"), Work: filepath.Join(top, "work"), Out: out, Log: filepath.Join(top, "work", "printed.log")}
	for _, dir := range []string{dirs.Home, dirs.Work} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			return err
		}
	}
	defer func() {
		var f *engine.Failure
		var r *engine.Refusal
		if errors.As(err, &f) && f.Path == "" {
			f.Title, f.Path = w.Game.Title, rec.Path
		}
		w.hint(err)
		if errors.As(err, &r) && r.Path == "" {
			r.Path = rec.Path
		}
	}()
	plan, err := w.Game.Prepare(program, rec, ask, dirs)
	if err != nil {
		return err
	}
	if w.Say != nil && plan.Seconds > longRun {
		w.Say(fmt.Sprintf("%s plays %s again, which takes about %s", w.Game.Title, prose.Path(rec.Path), time.Duration(plan.Seconds*float64(time.Second)).Round(time.Second)))
	}
	ended, err := w.watch(ctx, plan, rec, ask, dirs)
	for err == nil && plan.Next != nil {
		next, again := plan.Next(ended)
		if err = again; err != nil || next == nil {
			break
		}
		plan = next
		ended, err = w.watch(ctx, plan, rec, ask, dirs)
	}
	if err != nil {
		return err
	}
	if plan.Collect != nil {
		err = plan.Collect(ended)
	} else {
		err = w.keepPrinted(ended, dirs)
	}
	if err != nil {
		return err
	}
	found, err := w.recognised(out)
	if err == nil && !found {
		err = &engine.Failure{Why: "it left nothing of a format that is read", Said: engine.LastLine(ended.Tail)}
	}
	return err
}

// watch runs the program until the replay has ended.
func (w *Witness) watch(ctx context.Context, plan *engine.Plan, rec *engine.Recording, ask engine.Ask, dirs engine.Dirs) (*confine.Ended, error) {
	printed, err := os.Create(dirs.Log)
	if err != nil {
		return nil, err
	}
	defer printed.Close()
	until := rec.Last
	if ask.Until != nil {
		until = min(until, *ask.Until)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var mu sync.Mutex
	over := false
	at := func(tick uint64) {
		if rec.Progress != nil {
			rec.Progress(min(tick, until), until)
		}
	}
	end := func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
		stop()
	}
	c := plan.Command
	c.Writes = append(c.Writes, dirs.Home, dirs.Work, dirs.Out)
	w.bound(&c)
	c.Reads = append(c.Reads, filepath.Dir(rec.File))
	c.Time, c.Disk, c.Memory, c.Log = w.Time, w.Disk, w.memory(), printed
	c.Time = cmp.Or(c.Time, DefaultTime)
	c.Disk = cmp.Or(c.Disk, DefaultDisk)
	c.Line = func(line string) {
		if plan.Tick != nil {
			if tick, ok := plan.Tick(line); ok {
				at(tick)
			}
		}
		if plan.Over != nil && plan.Over(line) {
			end()
		}
	}
	if plan.Display {
		display, err := confine.Display(ctx)
		if err != nil {
			return nil, err
		}
		defer display.Close()
		c.Env = append(c.Env, display.Env...)
	}
	var wait sync.WaitGroup
	defer wait.Wait()
	defer stop()
	if plan.Poll != nil {
		wait.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-time.After(500 * time.Millisecond):
				}
				tick, done := plan.Poll()
				at(tick)
				if done {
					end()
				}
			}
		})
	}
	ended, err := confine.Run(ctx, c)
	mu.Lock()
	defer mu.Unlock()
	if err != nil {
		return nil, err
	}
	if over {
		ended.Code, ended.Signal, ended.Why = 0, "", ""
	} else if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(ended.Confined) > 0 {
		w.warn(fmt.Sprintf("%s ran without every bound: the system does not restrict %s", w.Game.Title, strings.Join(ended.Confined, ", ")))
	}
	return ended, nil
}

// keepPrinted keeps the output of a program next to the files that it wrote, if the output is in a format that is read.
// Programs use status 1 to report that something differs.
func (w *Witness) keepPrinted(ended *confine.Ended, dirs engine.Dirs) error {
	if err := engine.Ended(ended); err != nil && ended.Code != 1 {
		return err
	}
	const name = "stdout.log"
	if ok, err := w.recognise(dirs.Log, name); err != nil || !ok {
		return err
	}
	if _, err := os.Lstat(filepath.Join(dirs.Out, name)); err == nil {
		return nil
	}
	return os.Rename(dirs.Log, filepath.Join(dirs.Out, name))
}

// recognised reports whether a folder has a file of a format that is read.
func (w *Witness) recognised(dir string) (found bool, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if found, err = w.recognise(path, d.Name()); found {
			return fs.SkipAll
		}
		return err
	})
	return found, err
}

// recognise reports whether a file, under a name, is in a format that is read.
func (w *Witness) recognise(path, name string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	content, _, err := compression.Unpack(bufio.NewReaderSize(f, tracediff.SniffLen), 0)
	if err != nil {
		return false, nil // damaged from its first bytes on
	}
	if c, ok := content.(io.Closer); ok {
		defer c.Close()
	}
	head := make([]byte, tracediff.SniffLen)
	n, _ := io.ReadFull(content, head) // fewer in short files
	if head = head[:n]; n == 0 {
		return false, nil
	}
	return w.Reads == nil || w.Reads(name, head), nil
}
