package formats

import (
	"io"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/engines"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/orderlog/files"
	godotlog "github.com/desynctool/desynctool/orderlog/godot"
	springlog "github.com/desynctool/desynctool/orderlog/spring"
	warzonelog "github.com/desynctool/desynctool/orderlog/warzone"
	widelandslog "github.com/desynctool/desynctool/orderlog/widelands"
	zeroadlog "github.com/desynctool/desynctool/orderlog/zeroad"
	"github.com/desynctool/desynctool/snapshot/ggpo"
	"github.com/desynctool/desynctool/snapshot/godot"
	"github.com/desynctool/desynctool/snapshot/openra"

	"github.com/desynctool/desynctool/snapshot/spring"
	"github.com/desynctool/desynctool/snapshot/warzone"
	"github.com/desynctool/desynctool/snapshot/zeroad"
	"github.com/desynctool/desynctool/tracediff"
	"github.com/desynctool/desynctool/tracediff/beaverbuddies"
	"github.com/desynctool/desynctool/tracediff/bevyggrs"
	"github.com/desynctool/desynctool/tracediff/factorio"
	"github.com/desynctool/desynctool/tracediff/generals"
	ggpotrace "github.com/desynctool/desynctool/tracediff/ggpo"
	godottrace "github.com/desynctool/desynctool/tracediff/godot"
	"github.com/desynctool/desynctool/tracediff/loglines"
	"github.com/desynctool/desynctool/tracediff/openclonk"
	"github.com/desynctool/desynctool/tracediff/openrct2"

	"github.com/desynctool/desynctool/tracediff/rimworld"
	springtrace "github.com/desynctool/desynctool/tracediff/spring"
	"github.com/desynctool/desynctool/tracediff/stratagus"
	warzonetrace "github.com/desynctool/desynctool/tracediff/warzone"
	widelandstrace "github.com/desynctool/desynctool/tracediff/widelands"
	zeroadtrace "github.com/desynctool/desynctool/tracediff/zeroad"
)

// of gives a list of formats their game.
func of(game string, list ...engine.Format) []engine.Format {
	for i := range list {
		list[i].Game = game
	}
	return list
}

// ofEngines returns the formats of the engines, with their games.
func ofEngines() []engine.Format {
	var list []engine.Format
	for _, e := range engines.All() {
		list = append(list, of(e.Game, slices.Clone(e.Formats)...)...)
	}
	return list
}

func zeroAD() []engine.Format {
	dump := engine.State(zeroad.Format(), "oos_dump.txt, oos_logs/*.txt, serializationtest/*/debug.*", "state")
	dump.SelfTest, dump.Lines = zeroadtrace.ReadTest, zeroad.IsExcerpt
	list := []engine.Format{{
		Name: "0ad-log", Title: "0 A.D. replay", Files: "commands.txt", Gives: []string{"orders", "hashes"}, Sniff: zeroadlog.IsLog,
		Log:    func(r io.Reader, name string) (orderlog.Source, error) { return zeroadlog.NewReader(r, name) },
		Writer: zeroADWriter(), Replayer: "0ad",
	}, dump}
	for _, f := range zeroadtrace.Formats() {
		list = append(list, engine.Trace(f, "stdout of pyrogenesis -replay", "checkpoints"))
	}
	return of("0 A.D.", list...)
}

func springEngine() []engine.Format {
	var list []engine.Format
	for _, f := range springtrace.Formats() {
		if f.Name != "spring-demo" {
			infolog := engine.Trace(f, "infolog.txt", "claims")
			infolog.Matches, infolog.Alone = infologMatches, true
			list = append(list, infolog)
			continue
		}
		demo := engine.Trace(f, "*.sdfz", "orders", "hashes", "checkpoints", "claims")
		demo.Extensions, demo.Replayer = []string{".sdfz"}, "spring"
		demo.Log = func(r io.Reader, name string) (orderlog.Source, error) { return springlog.NewReader(r, name) }
		list = append(list, demo)
	}
	return of("Spring", append(list, engine.State(spring.Format(), "ClientGameState-*.txt, ServerGameState-*.txt", "state"))...)
}

// infologMatches returns the games of an infolog.
func infologMatches(r io.Reader, name string) (list []engine.MatchPart, err error) {
	games, err := springlog.Games(r, name)
	for _, g := range games {
		id := g.ID
		if strings.Trim(id, "0") == "" {
			id = "" // it was never set
		}
		list = append(list, engine.MatchPart{ID: id, From: g.From, To: g.To, Line: g.Line})
	}
	return list, err
}

func widelands() []engine.Format {
	var list []engine.Format
	for _, f := range widelandstrace.Formats() {
		switch f.Name {
		case "widelands-replay":
			replay := engine.Trace(f, "*.wrpl", "orders", "hashes", "checkpoints")
			replay.Extensions = []string{".wrpl"}
			replay.Replayer = "widelands"
			replay.Log = func(r io.Reader, name string) (orderlog.Source, error) { return widelandslog.NewReader(r, name) }
			list = append(list, replay)
		case "widelands-sync":
			stream := engine.Trace(f, "*.wss, *.wse", "checkpoints", "claims")
			stream.Extensions = []string{".wss", ".wse"}
			list = append(list, stream)
		default:
			log := engine.Trace(f, "stdout.txt", "claims")
			log.Alone = true
			list = append(list, log)
		}
	}
	return of("Widelands", list...)
}

func warzone2100() []engine.Format {
	var list []engine.Format
	for _, f := range warzonetrace.Formats() {
		if f.Name == "warzone-replay" {
			replay := engine.Trace(f, "*.wzrp", "orders", "hashes", "checkpoints")
			replay.Extensions, replay.Replayer = []string{".wzrp"}, "warzone2100"
			replay.Log = func(r io.Reader, name string) (orderlog.Source, error) { return warzonelog.NewReader(r, name) }
			list = append(list, replay)
			continue
		}
		dump := engine.State(warzone.Format(), "desync<time>_p<slot>.txt", "state", "checkpoints")
		dump.Trace, dump.Lines = &f, warzonelog.IsPart
		list = append(list, dump)
	}
	return of("Warzone 2100", list...)
}

func openRA() []engine.Format {
	report := engine.State(openra.Format(), "syncreport-<UTC>-<client>.log", "state")
	report.Lines = openra.IsExcerpt
	return of("OpenRA", report)
}

func openRCT2() []engine.Format {
	var list []engine.Format
	for _, f := range openrct2.Formats() {
		list = append(list, engine.Trace(f, "desync_<UTC>_<tick>.txt", "checkpoints"))
	}
	return of("OpenRCT2", list...)
}

func rimWorld() []engine.Format {
	var list []engine.Format
	for _, f := range rimworld.Formats() {
		list = append(list, engine.Trace(f, "local_traces.txt, host_traces.txt", "checkpoints", "claims"))
	}
	return of("RimWorld", list...)
}

func factorioGame() []engine.Format {
	files := map[string]string{
		factorio.LevelFormat: "level_with_tags_tick_<tick>.dat, level-heuristic-<tick>", factorio.ScriptFormat: "script.dat", factorio.DiffFormat: "*.txt",
	}
	var list []engine.Format
	for _, f := range factorio.Formats() {
		one := engine.Trace(f, files[f.Name], "checkpoints")
		if f.Name == factorio.LevelFormat {
			one.Named = factorio.IsLevel
		}
		list = append(list, one)
	}
	return of("Factorio", list...)
}

func ggpoLibrary() []engine.Format {
	f := engine.State(ggpo.Format(), "synclogs/state-<frame>-{original,replay}.log", "state", "claims")
	claims := ggpotrace.Format()
	f.Trace = &claims
	return []engine.Format{f}
}

func godotRollback() []engine.Format {
	f := engine.State(godot.Format(), "*-peer-<id>.log", "state", "orders", "checkpoints", "claims")
	hashes := godottrace.Format()
	f.Trace = &hashes
	f.Log = func(r io.Reader, name string) (orderlog.Source, error) { return godotlog.NewReader(r, name) }
	return []engine.Format{f}
}

func commandAndConquer() []engine.Format {
	return of("C&C Generals", engine.Trace(generals.Format(), "DebugFrame_<frame>.txt, crcDebug<machine>.txt", "checkpoints"))
}

// messageGames are the games by the formats of their messages. Libraries that many games use
// have none.
var messageGames = map[string]string{
	"faf-log": "Supreme Commander", "stratagus-log": "Stratagus", "warzone-log": "Warzone 2100", "openclonk-log": "OpenClonk",
	"clausewitz-log": "Crusader Kings III", "beaverbuddies-log": "Timberborn", "openttd-console": "OpenTTD", "openra-exception": "OpenRA",
}

// logTraces are the traces in logs of programs that write messages besides.
func logTraces() []engine.Format {
	var list []engine.Format
	add := func(game, claims string, found []tracediff.Format) {
		for _, f := range found {
			f.Claims = loglines.ReadOnly(claims)
			list = append(list, of(game, engine.Trace(f, "*.log, *.txt", "checkpoints", "claims"))...)
		}
	}
	for _, f := range openclonk.Formats() { // its checkpoints are what its claims say
		list = append(list, of("OpenClonk", engine.Trace(f, "*.log, *.txt", "checkpoints"))...)
	}
	add("", "ggrs-log", bevyggrs.Formats())
	add("Stratagus", "stratagus-log", stratagus.Formats())
	add("Timberborn", "beaverbuddies-log", beaverbuddies.Formats())
	return list
}

// Messages are the formats of messages that may stand in any log.
func Messages() []engine.Format { return messages() }

func messages() []engine.Format {
	var list []engine.Format
	for _, f := range loglines.Formats() {
		one := engine.Trace(f, "*.log, *.txt", "claims")
		one.Game = messageGames[f.Name]
		list = append(list, one)
	}
	return list
}

// ReadMessages reads the engines' messages anywhere in a log of any program, once: those of all, and
// by the names of [Messages] what each of these formats has.
func ReadMessages(tree files.Tree, path string, opts tracediff.ReadOptions) (all *tracediff.ClaimLog, each map[string]*tracediff.ClaimLog, err error) {
	all, err = tracediff.ReadClaims(tree, path, &tracediff.Format{Claims: func(r io.Reader, name string) (log *tracediff.ClaimLog, err error) {
		log, each, err = loglines.ScanEach(r, name)
		return log, err
	}}, opts)
	for _, log := range each {
		log.File = path
	}
	return all, each, err
}
