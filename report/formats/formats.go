// Package formats is the one ordered list of the file formats that desynctool
// reads. Files are recognised by content: the first format whose Sniff accepts
// a file's leading bytes has it.
package formats

import (
	"io"

	"github.com/desynctool/desynctool/orderlog"
	openttdlog "github.com/desynctool/desynctool/orderlog/openttd"
	springlog "github.com/desynctool/desynctool/orderlog/spring"
	warzonelog "github.com/desynctool/desynctool/orderlog/warzone"
	widelandslog "github.com/desynctool/desynctool/orderlog/widelands"
	zeroadlog "github.com/desynctool/desynctool/orderlog/zeroad"
	"github.com/desynctool/desynctool/snapshot"
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

// Format is one entry of the list.
type Format struct {
	Name  string   // short, for machines
	Title string   // for people
	Files string   // what such files are usually called
	Gives []string // the evidence in it: "state", "orders", "hashes", …

	// Native is set for the project's own formats, which carry checksums and
	// can be written.
	Native bool

	// Checksummed says that damage to such a file is noticed.
	Checksummed bool

	// Sniff reports whether the leading bytes, at most snapshot.SniffLen, are
	// of the format.
	Sniff func(head []byte) bool

	// Snapshot opens the file as a state, nil if it is none.
	Snapshot *snapshot.Format

	// Trace reads the file as checkpoints or an engine's claims, nil if it holds
	// neither or is a trace of ours.
	Trace *tracediff.Format

	// Log reads the file as an order log, nil if it is none. The name is for
	// errors.
	Log func(r io.Reader, name string) (orderlog.Source, error)
}

// All returns the list.
func All() []Format {
	list := []Format{
		native(state(snapshot.SnapFormat(), "desync_<seed>_<tick>.snap", "state", "history")),
		{
			Name: "order-log", Title: "desynctool order log", Files: "order-log.bin", Gives: []string{"orders", "hashes", "markers"},
			Native: true, Checksummed: true, Sniff: orderlog.IsLog,
			Log: func(r io.Reader, name string) (orderlog.Source, error) { return orderlog.NewReader(r, name) },
		},
		state(openttd.Format(), "dmp_cmds_<seed>_<date>.sav, *.sav", "state"),
		{
			Name: "openttd-log", Title: "OpenTTD log of commands (12, 13, 14 and later)", Files: "commands-out.log",
			Gives: []string{"orders", "hashes", "claims"}, Sniff: openttdlog.IsLog,
			Log: func(r io.Reader, name string) (orderlog.Source, error) { return openttdlog.NewReader(r, name) },
		},
		{
			Name: "0ad-log", Title: "0 A.D. replay", Files: "commands.txt", Gives: []string{"orders", "hashes"}, Sniff: zeroadlog.IsLog,
			Log: func(r io.Reader, name string) (orderlog.Source, error) { return zeroadlog.NewReader(r, name) },
		},
		state(zeroad.Format(), "oos_dump.txt, oos_logs/*.txt", "state"),
	}
	for _, f := range zeroadtrace.Formats() {
		list = append(list, trace(f, "stdout of pyrogenesis -replay", "checkpoints"))
	}
	for _, f := range springtrace.Formats() {
		switch f.Name {
		case "spring-demo":
			demo := trace(f, "*.sdfz", "orders", "hashes", "checkpoints", "claims")
			demo.Log = func(r io.Reader, name string) (orderlog.Source, error) { return springlog.NewReader(r, name) }
			list = append(list, demo)
		default:
			list = append(list, trace(f, "infolog.txt", "claims"))
		}
	}
	list = append(list, state(spring.Format(), "ClientGameState-*.txt, ServerGameState-*.txt", "state"))
	for _, f := range widelandstrace.Formats() {
		switch f.Name {
		case "widelands-replay":
			replay := trace(f, "*.wrpl", "orders", "hashes", "checkpoints")
			replay.Log = func(r io.Reader, name string) (orderlog.Source, error) { return widelandslog.NewReader(r, name) }
			list = append(list, replay)
		case "widelands-sync":
			list = append(list, trace(f, "*.wss, *.wse", "checkpoints", "claims"))
		default:
			list = append(list, trace(f, "stdout.txt", "claims"))
		}
	}
	for _, f := range warzonetrace.Formats() {
		switch f.Name {
		case "warzone-replay":
			replay := trace(f, "*.wzrp", "orders", "hashes", "checkpoints")
			replay.Log = func(r io.Reader, name string) (orderlog.Source, error) { return warzonelog.NewReader(r, name) }
			list = append(list, replay)
		default:
			dump := state(warzone.Format(), "desync<time>_p<slot>.txt", "state", "checkpoints")
			dump.Trace = &f
			list = append(list, dump)
		}
	}
	list = append(list, state(openra.Format(), "syncreport-<UTC>-<client>.log", "state"))
	for _, f := range openrct2.Formats() {
		list = append(list, trace(f, "desync_<UTC>_<tick>.txt", "checkpoints"))
	}
	list = append(list, Format{
		Name: "trace", Title: "desynctool checksum trace", Files: "*.trace", Gives: []string{"checkpoints"},
		Native: true, Checksummed: true,
		Sniff: func(head []byte) bool { return tracediff.Sniff(head) == tracediff.Binary },
	})
	// Their lines may stand in any log.
	for _, f := range loglines.Formats() {
		list = append(list, trace(f, "*.log, *.txt", "claims"))
	}
	return append(list, Format{
		Name: "text-trace", Title: "key=value lines, one checksum a line, or a table of peers", Files: "*.log, *.txt, *.csv",
		Gives: []string{"checkpoints"}, Sniff: func(head []byte) bool { return tracediff.Sniff(head) != tracediff.Unknown },
	})
}

// state returns the entry of a format that holds states.
func state(f snapshot.Format, files string, gives ...string) Format {
	return Format{Name: f.Name, Title: f.Title, Files: files, Gives: gives, Checksummed: f.Checksummed, Sniff: f.Sniff, Snapshot: &f}
}

// trace returns the entry of an engine's format that holds checkpoints or claims.
func trace(f tracediff.Format, files string, gives ...string) Format {
	return Format{Name: f.Name, Title: f.Title, Files: files, Gives: gives, Sniff: f.Sniff, Trace: &f}
}

// native marks a format of our own.
func native(f Format) Format {
	f.Native = true
	return f
}

// Snapshots returns the formats that hold states, in the order of the list.
func Snapshots() []snapshot.Format {
	var out []snapshot.Format
	for _, f := range All() {
		if f.Snapshot != nil {
			out = append(out, *f.Snapshot)
		}
	}
	return out
}

// Recognize returns the format of a file by its leading bytes, nil if it is
// none.
func Recognize(head []byte) *Format {
	for _, f := range All() {
		if f.Sniff(head) {
			return &f
		}
	}
	return nil
}
