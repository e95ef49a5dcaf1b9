package warzone

import (
	"path/filepath"

	"github.com/desynctool/desynctool/internal/file/compression"

	"github.com/desynctool/desynctool/tracediff"
)

// Formats returns the formats of this package, in the order in which they are to
// be tried.
func Formats() []tracediff.Format {
	return []tracediff.Format{
		{
			Name:  "warzone-replay",
			Title: "Warzone 2100 recording (*.wzrp)",
			Sniff: IsReplay,
			Peers: replayPeers,
			Read:  readReplay,
		},
		{
			Name:   "warzone-dump",
			Title:  "Warzone 2100 sync dump (desync<time>_p<slot>.txt)",
			Sniff:  IsDump,
			Verify: verifyDump,
			Read:   readDump,
		},
	}
}

// dumpPeer returns the peer of a dump from the file's name.
func dumpPeer(path string) string {
	if n, ok := ParseDumpName(compression.PlainName(filepath.Base(path))); ok {
		return SlotName(n.Slot)
	}
	return ""
}
