package formats

import (
	"io"

	"github.com/desynctool/desynctool/orderlog"
	openttdlog "github.com/desynctool/desynctool/orderlog/openttd"
	springlog "github.com/desynctool/desynctool/orderlog/spring"
	warzonelog "github.com/desynctool/desynctool/orderlog/warzone"
	widelandslog "github.com/desynctool/desynctool/orderlog/widelands"
	zeroadlog "github.com/desynctool/desynctool/orderlog/zeroad"
	"github.com/desynctool/desynctool/snapshot/openra"
	"github.com/desynctool/desynctool/snapshot/openttd"
	"github.com/desynctool/desynctool/snapshot/spring"
	"github.com/desynctool/desynctool/snapshot/warzone"
	"github.com/desynctool/desynctool/snapshot/zeroad"
	"github.com/desynctool/desynctool/tracediff"
	"github.com/desynctool/desynctool/tracediff/loglines"
	"github.com/desynctool/desynctool/tracediff/openrct2"
	springtrace "github.com/desynctool/desynctool/tracediff/spring"
	warzonetrace "github.com/desynctool/desynctool/tracediff/warzone"
	widelandstrace "github.com/desynctool/desynctool/tracediff/widelands"
	zeroadtrace "github.com/desynctool/desynctool/tracediff/zeroad"
)

// of gives a list of formats their game.
func of(game string, list ...Format) []Format {
	for i := range list {
		list[i].Game = game
	}
	return list
}

func openTTD() []Format {
	save := state(openttd.Format(), "dmp_cmds_<seed>_<date>.sav, *.sav", "state")
	save.Extensions = []string{".sav"}
	return of("OpenTTD", save, Format{
		Name: "openttd-log", Title: "OpenTTD log of commands (12, 13, 14 and later)", Files: "commands-out.log",
		Gives: []string{"orders", "hashes", "claims"}, Sniff: openttdlog.IsLog, Lines: openttdlog.IsLog, Alone: true,
		Log: func(r io.Reader, name string) (orderlog.Source, error) { return openttdlog.NewReader(r, name) },
	})
}

func zeroAD() []Format {
	dump := state(zeroad.Format(), "oos_dump.txt, oos_logs/*.txt", "state")
	dump.Lines = zeroad.IsExcerpt
	list := []Format{{
		Name: "0ad-log", Title: "0 A.D. replay", Files: "commands.txt", Gives: []string{"orders", "hashes"}, Sniff: zeroadlog.IsLog,
		Log:    func(r io.Reader, name string) (orderlog.Source, error) { return zeroadlog.NewReader(r, name) },
		Writer: zeroADWriter(),
	}, dump}
	for _, f := range zeroadtrace.Formats() {
		list = append(list, trace(f, "stdout of pyrogenesis -replay", "checkpoints"))
	}
	return of("0 A.D.", list...)
}

func springEngine() []Format {
	var list []Format
	for _, f := range springtrace.Formats() {
		if f.Name != "spring-demo" {
			log := trace(f, "infolog.txt", "claims")
			log.Alone = true
			list = append(list, log)
			continue
		}
		demo := trace(f, "*.sdfz", "orders", "hashes", "checkpoints", "claims")
		demo.Extensions = []string{".sdfz"}
		demo.Log = func(r io.Reader, name string) (orderlog.Source, error) { return springlog.NewReader(r, name) }
		list = append(list, demo)
	}
	return of("Spring", append(list, state(spring.Format(), "ClientGameState-*.txt, ServerGameState-*.txt", "state"))...)
}

func widelands() []Format {
	var list []Format
	for _, f := range widelandstrace.Formats() {
		switch f.Name {
		case "widelands-replay":
			replay := trace(f, "*.wrpl", "orders", "hashes", "checkpoints")
			replay.Extensions = []string{".wrpl"}
			replay.Log = func(r io.Reader, name string) (orderlog.Source, error) { return widelandslog.NewReader(r, name) }
			list = append(list, replay)
		case "widelands-sync":
			stream := trace(f, "*.wss, *.wse", "checkpoints", "claims")
			stream.Extensions = []string{".wss", ".wse"}
			list = append(list, stream)
		default:
			log := trace(f, "stdout.txt", "claims")
			log.Alone = true
			list = append(list, log)
		}
	}
	return of("Widelands", list...)
}

func warzone2100() []Format {
	var list []Format
	for _, f := range warzonetrace.Formats() {
		if f.Name == "warzone-replay" {
			replay := trace(f, "*.wzrp", "orders", "hashes", "checkpoints")
			replay.Extensions = []string{".wzrp"}
			replay.Log = func(r io.Reader, name string) (orderlog.Source, error) { return warzonelog.NewReader(r, name) }
			list = append(list, replay)
			continue
		}
		dump := state(warzone.Format(), "desync<time>_p<slot>.txt", "state", "checkpoints")
		dump.Trace, dump.Lines = &f, warzonelog.IsPart
		list = append(list, dump)
	}
	return of("Warzone 2100", list...)
}

func openRA() []Format {
	report := state(openra.Format(), "syncreport-<UTC>-<client>.log", "state")
	report.Lines = openra.IsExcerpt
	return of("OpenRA", report)
}

func openRCT2() []Format {
	var list []Format
	for _, f := range openrct2.Formats() {
		list = append(list, trace(f, "desync_<UTC>_<tick>.txt", "checkpoints"))
	}
	return of("OpenRCT2", list...)
}

// messageGames are the games by the formats of their messages. Libraries that many games use
// have none.
var messageGames = map[string]string{"faf-log": "Supreme Commander", "stratagus-log": "Stratagus", "warzone-log": "Warzone 2100"}

func messages() []Format {
	var list []Format
	for _, f := range loglines.Formats() {
		one := trace(f, "*.log, *.txt", "claims")
		one.Game = messageGames[f.Name]
		list = append(list, one)
	}
	return list
}

// AnyLog returns the format of a log of any program: the engines' messages anywhere in it.
func AnyLog() *tracediff.Format { return &tracediff.Format{Claims: loglines.Scan} }
