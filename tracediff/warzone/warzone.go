// Package warzone reads the recordings and the sync dumps of Warzone 2100 as
// traces.
//
// A recording, *.wzrp, holds what every peer sent of its state: a trace for each
// slot, with one checksum a tick. A dump, desync25702_p1.txt, is what one peer
// computed in one tick, line by line: each line is a checkpoint, whose values are
// those of the game.
package warzone

import (
	"path/filepath"

	"github.com/desynctool/desynctool/orderlog/packed"
	engine "github.com/desynctool/desynctool/orderlog/warzone"
	"github.com/desynctool/desynctool/tracediff"
)

// Formats returns the formats of this package, in the order in which they are to
// be tried.
func Formats() []tracediff.Format {
	return []tracediff.Format{
		{
			Name:  "warzone-replay",
			Title: "Warzone 2100 recording (*.wzrp)",
			Sniff: engine.IsReplay,
			Peers: replayPeers,
			Read:  readReplay,
		},
		{
			Name:   "warzone-dump",
			Title:  "Warzone 2100 sync dump (desync<time>_p<slot>.txt)",
			Sniff:  engine.IsDump,
			Verify: verifyDump,
			Read:   readDump,
		},
	}
}

// dumpPeer returns whose dump a file's name says that it is.
func dumpPeer(path string) string {
	if n, ok := engine.ParseDumpName(packed.PlainName(filepath.Base(path))); ok {
		return engine.SlotName(n.Slot)
	}
	return ""
}
