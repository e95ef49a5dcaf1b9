package widelands

import (
	"io"

	"github.com/desynctool/desynctool/tracediff"
)

const title = "Widelands"

// unit is the unit of ticks.
const unit = "ms"

// Formats returns the formats of Widelands in the order in which they are to be
// tried.
func Formats() []tracediff.Format {
	return []tracediff.Format{
		{
			Name: "widelands-replay", Title: "Widelands replay (.wrpl)",
			Sniff: IsReplay,
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
			Sniff: IsStream,
			Read: func(r io.Reader, name string, _ int) (tracediff.Source, error) {
				return newEntries(r, name)
			},
			Claims: streamClaims,
		},
	}
}
