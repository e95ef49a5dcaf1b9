// Package widelands reads what Widelands leaves of a network game as traces: sync
// streams, in which each entry is a checkpoint, and replays, in which each hash is
// one. What the game printed about a desync is read as claims.
//
// Ticks are ms of game time. docs/formats/widelands.md has the mapping.
package widelands

import (
	"io"

	"github.com/desynctool/desynctool/orderlog/widelands"
	"github.com/desynctool/desynctool/tracediff"
)

const engine = "Widelands"

// unit is what ticks count.
const unit = "ms"

// Formats returns the formats of Widelands in the order in which they are to be
// tried.
func Formats() []tracediff.Format {
	return []tracediff.Format{
		{
			Name: "widelands-replay", Title: "Widelands replay (.wrpl)",
			Sniff: widelands.IsReplay,
			Read: func(r io.Reader, name string, _ int) (tracediff.Source, error) {
				return newHashes(r, name)
			},
			Check: checkReplay,
		},
		{
			Name: "widelands-log", Title: "Widelands log (stdout)",
			Sniff:  isLog,
			Claims: logClaims,
		},
		{
			Name: "widelands-sync", Title: "Widelands sync stream (.wss, .wse)",
			Sniff: widelands.IsStream,
			Read: func(r io.Reader, name string, _ int) (tracediff.Source, error) {
				return newEntries(r, name)
			},
			Claims: streamClaims,
		},
	}
}
