package formats

import (
	"io"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/orderlog/files"

	"github.com/desynctool/desynctool/tracediff"
	"github.com/desynctool/desynctool/tracediff/loglines"
)

// messageGames are the games by the formats of their messages. Libraries that many games use
// have none.
var messageGames = map[string]string{
	"faf-log": "Supreme Commander", "stratagus-log": "Stratagus", "warzone-log": "Warzone 2100", "openclonk-log": "OpenClonk",
	"clausewitz-log": "Crusader Kings III", "beaverbuddies-log": "Timberborn", "openttd-console": "OpenTTD", "openra-exception": "OpenRA",
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
