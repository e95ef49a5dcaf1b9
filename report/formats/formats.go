// Package formats is the one ordered list of the file formats that desynctool
// reads. Files are recognised by content: the first format whose Sniff accepts
// a file's leading bytes has it.
package formats

import (
	"io"

	"github.com/desynctool/desynctool/orderlog"
	openttdlog "github.com/desynctool/desynctool/orderlog/openttd"
	zeroadlog "github.com/desynctool/desynctool/orderlog/zeroad"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/openttd"
	"github.com/desynctool/desynctool/snapshot/zeroad"
	"github.com/desynctool/desynctool/tracediff"
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

	// Log reads the file as an order log, nil if it is none. The name is for
	// errors.
	Log func(r io.Reader, name string) (orderlog.Source, error)
}

// All returns the list.
func All() []Format {
	snap, ottd, zeroad := snapshot.SnapFormat(), openttd.Format(), zeroad.Format()
	return []Format{
		{
			Name: snap.Name, Title: snap.Title, Files: "desync_<seed>_<tick>.snap", Gives: []string{"state", "history"},
			Native: true, Checksummed: true, Sniff: snap.Sniff, Snapshot: &snap,
		},
		{
			Name: "order-log", Title: "desynctool order log", Files: "order-log.bin", Gives: []string{"orders", "hashes", "markers"},
			Native: true, Checksummed: true, Sniff: orderlog.IsLog,
			Log: func(r io.Reader, name string) (orderlog.Source, error) { return orderlog.NewReader(r, name) },
		},
		{
			Name: ottd.Name, Title: ottd.Title, Files: "dmp_cmds_<seed>_<date>.sav, *.sav", Gives: []string{"state"},
			Checksummed: ottd.Checksummed, Sniff: ottd.Sniff, Snapshot: &ottd,
		},
		{
			Name: "openttd-log", Title: "OpenTTD log of commands (12, 13, 14 and later)", Files: "commands-out.log",
			Gives: []string{"orders", "hashes", "claims"}, Sniff: openttdlog.IsLog,
			Log: func(r io.Reader, name string) (orderlog.Source, error) { return openttdlog.NewReader(r, name) },
		},
		{
			Name: "0ad-log", Title: "0 A.D. replay", Files: "commands.txt", Gives: []string{"orders", "hashes"}, Sniff: zeroadlog.IsLog,
			Log: func(r io.Reader, name string) (orderlog.Source, error) { return zeroadlog.NewReader(r, name) },
		},
		{
			Name: zeroad.Name, Title: zeroad.Title, Files: "oos_dump.txt, oos_logs/*.txt", Gives: []string{"state"},
			Checksummed: zeroad.Checksummed, Sniff: zeroad.Sniff, Snapshot: &zeroad,
		},
		{
			Name: "trace", Title: "desynctool checksum trace", Files: "*.trace", Gives: []string{"checkpoints"},
			Native: true, Checksummed: true,
			Sniff: func(head []byte) bool { return tracediff.Sniff(head) == tracediff.Binary },
		},
		{
			Name: "text-trace", Title: "key=value lines, one checksum a line, or a table of peers", Files: "*.log, *.txt, *.csv",
			Gives: []string{"checkpoints"}, Sniff: func(head []byte) bool { return tracediff.Sniff(head) != tracediff.Unknown },
		},
	}
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
