package spring

import (
	"bufio"
	"context"
	"crypto/rand"
	_ "embed" // ui.lua
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"

	"github.com/desynctool/desynctool/internal/confine"
)

// Game returns the recipe.
func Game() *engine.Replayer {
	return &engine.Replayer{
		Name: "spring", Title: "Spring", Formats: []string{"spring-demo"}, Programs: []string{"spring-headless", "/usr/games/spring-headless"},
		Options: []engine.Option{{Name: "data", Help: "folders with games and maps, as in SPRING_DATADIR"}},
		Dumps:   true, Recipe: 1, Check: check, Prepare: prepare,
	}
}

// check asks the program for its version, and looks for the game and the map of a demo.
func check(ctx context.Context, p *engine.Program, rec *engine.Recording) error {
	said, err := p.Ask(ctx, "--version")
	if err != nil {
		return err
	}
	_, version, ok := strings.Cut(firstLine(said), " version ")
	if !ok {
		return &engine.Refusal{Why: fmt.Sprintf("%s is not a program of Spring: it does not print its version", filepath.Base(p.Path))}
	}
	p.Version = version
	synced, err := p.Ask(ctx, "--sync-version")
	if err != nil {
		return err
	}
	if sync := firstLine(synced); sync != rec.Header.Build {
		return &engine.Refusal{Why: fmt.Sprintf("it was recorded with %s, and %s is %s", orUnnamed(rec.Header.Build), filepath.Base(p.Path), orUnnamed(sync)), Version: true}
	}
	in, err := openRecording(rec.File)
	if err != nil {
		return err
	}
	defer in.file.Close()
	dirs, err := dataFolders(p)
	if err != nil {
		return err
	}
	found, err := readArchives(dirs)
	if err != nil {
		return err
	}
	for _, want := range [][2]string{{"game", in.Header.Game}, {"map", in.Header.Map}} {
		kind, name := want[0], want[1]
		if name == "" {
			return &engine.Refusal{Why: "its start script names no " + kind}
		}
		if !found.may(name) {
			return &engine.Refusal{Why: fmt.Sprintf("it needs the %s %q, which is in none of the folders with data: %s (data=FOLDER names others)", kind, name, strings.Join(dirs, ", "))}
		}
	}
	return nil
}

// firstLine returns the first line that the program itself means to print: the library that reads its flags
// adds lines in brackets.
func firstLine(said string) string {
	for line := range strings.Lines(said) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "[") {
			return line
		}
	}
	return ""
}

// orUnnamed names a version that may be empty: builds of distributions have none.
func orUnnamed(version string) string {
	if version == "" {
		return "a build without a version"
	}
	return "version " + version
}

//go:embed ui.lua
var interfaceLua string

// mutatorName is the archive with the interface. The name includes its version, as Spring expects.
const mutatorName = "desynctool witness 1"

// config is the engine's configuration: one thread for work that can use several, a complete log.
const config = "Sound = 0\nWorkerThreadCount = 1\nLogFlushLevel = 0\nLogRepeatLimit = 1000000000\nRotateLogFiles = never\nServerRecordDemos = 0\nDemoFromDemo = 0\n"

// prepare writes a copy of the demo, an archive with the interface, and a configuration.
func prepare(p *engine.Program, rec *engine.Recording, ask engine.Ask, dirs engine.Dirs) (*engine.Plan, error) {
	folders, err := dataFolders(p)
	if err != nil {
		return nil, err
	}
	r := &run{dirs: dirs, data: filepath.Join(dirs.Work, "data"), recording: rec.File, copying: copying{until: math.MaxInt32, mutator: mutatorName}}
	if ask.Until != nil {
		r.until = int64(min(*ask.Until, math.MaxInt32-1))
	}
	in, err := openRecording(rec.File)
	if err != nil {
		return nil, err
	}
	header := in.Header
	in.file.Close()
	if len(header.Players) == 0 {
		return nil, &engine.Refusal{Why: "its start script has no player"}
	}
	r.player = math.MaxUint32
	for n := range header.Players {
		r.player = min(r.player, n)
	}
	// A probe that cannot be guessed: other text in the log cannot be taken for the engine's lines.
	var probe [4]byte
	rand.Read(probe[:])
	r.probe = binary.LittleEndian.Uint32(probe[:])
	played, settings := filepath.Join(dirs.Work, "played.sdfz"), filepath.Join(dirs.Work, "springrc")
	if r.last, err = r.write(rec.File, played); err != nil {
		return nil, &engine.Refusal{Why: err.Error()}
	}
	r.after = slices.Contains(ask.Dump, uint64(r.last+1))
	if err := writeInterface(filepath.Join(r.data, "games", "desynctool.sdd"), folders, header.Game, ask.Dump); err != nil {
		return nil, err
	}
	if err := os.WriteFile(settings, []byte(config), 0o644); err != nil {
		return nil, err
	}
	return &engine.Plan{
		Command: confine.Command{
			Args: []string{p.Path, "--isolation", "--isolation-dir=" + r.data, "--write-dir=" + r.data, "--config=" + settings, "--nocolor", "--name=replay", played},
			Dir:  dirs.Work,
			Env:  append(confine.Minimal(dirs.Home), "SPRING_DATADIR="+strings.Join(folders, string(os.PathListSeparator))), Reads: folders,
		},
		Tick: func(line string) (uint64, bool) {
			n, _, ok := r.computed(line)
			return n, ok
		},
		Over:    r.over,
		Collect: r.collect,
	}, nil
}

// writeInterface writes the archive that the game loads over its own.
func writeInterface(dir string, folders []string, game string, dump []uint64) error {
	var frames strings.Builder
	for _, n := range dump {
		fmt.Fprintf(&frames, "%d, ", n)
	}
	files := map[string]string{
		"modinfo.lua":           `return {name = "desynctool witness", version = "1", modtype = 0}`,
		"luaui.lua":             interfaceLua,
		"desynctool_frames.lua": "return {" + frames.String() + "}",
	}
	found, err := readArchives(folders)
	if err != nil {
		return err
	}
	if text := found.file(game, "luaui.lua"); text != nil {
		files["desynctool_ui.lua"] = string(text)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// run is one run of the engine.
type run struct {
	copying
	dirs      engine.Dirs
	data      string // where the engine writes
	recording string
	last      int64 // the last frame of the copy
	after     bool  // whether the state after it is wanted

	digests digests
}

// computed parses the line with the engine's checksum of a frame.
func (r *run) computed(line string) (number uint64, sum uint32, ok bool) {
	at := strings.Index(line, "[DESYNC WARNING] checksum ")
	if at < 0 {
		return 0, 0, false
	}
	e, ok := ParseSyncError([]byte(strings.TrimRight(line[at:], "\r\n")))
	return e.Frame, e.Correct, ok && e.Replay && e.Got == r.probe && int64(e.Frame) <= r.last
}

// over reports whether all has been computed and written that is wanted, or that the game plays with other
// data.
func (r *run) over(line string) bool {
	if r.digests.read(line); r.digests.wrong != "" {
		return true
	}
	if r.after { // the state after the last frame is written at the start of the next one
		return strings.Contains(line, fmt.Sprintf("[desynctool] state of frame %d ", r.last+1))
	}
	n, _, ok := r.computed(line)
	return ok && int64(n) == r.last
}

// digests are the checksums of game and map, as the log of the engine has them:
//
//	… sender="replay" string="[PreGame::GameDataReceived][map-checksums]
//		server=85f5…
//		client=85f5…
//
// The server's are the recorded ones, zeros if they were not known.
type digests struct {
	of, server string
	wrong      string // why they are not the recorded ones
}

// read takes a line of the log.
func (d *digests) read(line string) {
	line = strings.TrimRight(line, "\r\n")
	rest, tabbed := strings.CutPrefix(line, "\t")
	switch {
	case strings.HasSuffix(line, "[map-checksums]"):
		d.of, d.server = "map", ""
	case strings.HasSuffix(line, "[mod-checksums]"):
		d.of, d.server = "game", ""
	case d.of != "" && tabbed && strings.HasPrefix(rest, "server="):
		d.server = strings.TrimPrefix(rest, "server=")
	case d.of != "" && tabbed && strings.HasPrefix(rest, "client="):
		client := strings.TrimSuffix(strings.TrimPrefix(rest, "client="), `"`)
		if strings.Trim(d.server, "0") != "" && client != d.server {
			d.wrong = fmt.Sprintf("the %s here is not the one that was recorded, though it has its name: its checksum is %.16s…, recorded %.16s…", d.of, client, d.server)
		}
		d.of = ""
	default:
		d.of = ""
	}
}

// collect leaves a demo with the checksums that were computed, and the states that were dumped.
func (r *run) collect(ended *confine.Ended) error {
	printed, err := os.Open(r.dirs.Log)
	if err != nil {
		return err
	}
	defer printed.Close()
	sums := map[uint64]uint32{}
	end := uint64(0)
	var why string
	var seen digests
	in := bufio.NewReaderSize(printed, 64<<10)
	for {
		line, err := in.ReadString('\n')
		if n, sum, ok := r.computed(line); ok {
			sums[n] = sum
			end = max(end, n)
		}
		if _, said, ok := strings.Cut(line, "[ExitSpringProcess] errorMsg="); ok {
			why = strings.TrimSpace(said)
		}
		seen.read(line)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	switch failed := engine.Ended(ended); {
	case seen.wrong != "":
		return &engine.Refusal{Why: seen.wrong}
	case why != "":
		return &engine.Failure{Why: "it ended at once", Said: why}
	case failed != nil:
		return failed
	case len(sums) == 0:
		return &engine.Failure{Why: "it computed no frame", Said: lastLine(ended.Tail)}
	}
	if err := r.writeComputed(filepath.Join(r.dirs.Out, "demo.sdfz"), sums, int64(end)); err != nil {
		return err
	}
	return r.keepStates()
}

func lastLine(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

// writeComputed writes the recording again, with the checksums that were computed instead of the recorded ones, up to
// the last computed frame. They belong to a player who watches, "replay".
func (r *run) writeComputed(path string, sums map[uint64]uint32, end int64) error {
	in, err := openRecording(r.recording)
	if err != nil {
		return err
	}
	defer in.file.Close()
	player := uint32(0)
	for n := range in.Header.Players {
		player = max(player, n+1)
	}
	if player >= 250 {
		player = r.player
	}
	script, err := inGame(in.Header.Script, fmt.Sprintf("[player%d]\n{\nname=replay;\nspectator=1;\n}", player))
	if err != nil {
		return err
	}
	w, err := create(path, in.header, script)
	if err != nil {
		return err
	}
	w.chunk([]byte{MsgSetPlayerNum, byte(player)})
	for {
		m, err := in.Next()
		if err != nil || m.Frame > end {
			break // data that cannot be read was not played either
		}
		w.time = float32(max(m.Frame, 0)) / 30
		switch m.Type {
		case MsgSyncResponse, MsgSystem, MsgSetPlayerNum, MsgPathChecksum, msgLog:
			continue
		}
		w.chunk(m.Body)
		if m.Type == MsgKeyFrame || m.Type == MsgNewFrame {
			if sum, ok := sums[uint64(m.Frame)]; ok {
				w.chunk(response(player, m.Frame, sum))
			}
		}
	}
	return w.close()
}

// keepStates moves the states into the folder for evidence. Those that scripts of the game left come first, since peers
// leave the same: with them ours are left out.
func (r *run) keepStates() error {
	entries, err := os.ReadDir(r.data)
	if err != nil {
		return err
	}
	var theirs []string
	for _, e := range entries {
		if e.Type().IsRegular() && e.Name() != stateFile && isState(filepath.Join(r.data, e.Name())) {
			theirs = append(theirs, e.Name())
		}
	}
	slices.Sort(theirs)
	if len(theirs) == 0 {
		if err := os.Rename(filepath.Join(r.data, stateFile), filepath.Join(r.dirs.Out, "GameState-replay.txt")); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	}
	for i, name := range theirs {
		to := "GameState.txt"
		if i > 0 {
			to = fmt.Sprintf("GameState-%d.txt", i+1)
		}
		if err := os.Rename(filepath.Join(r.data, name), filepath.Join(r.dirs.Out, to)); err != nil {
			return err
		}
	}
	return nil
}

// stateFile is where the interface writes states.
const stateFile = "desynctool-state.txt"
