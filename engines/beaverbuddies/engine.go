package beaverbuddies

import (
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/tracediff/loglines"
)

// Engine returns BeaverBuddies, the mod for several players of Timberborn.
func Engine() engine.Engine {
	e := engine.Engine{Game: "Timberborn"}
	for _, f := range Formats() {
		f.Claims = loglines.ReadOnly("beaverbuddies-log")
		one := engine.Trace(f, "*.log, *.txt", "checkpoints", "claims")
		one.Amid = true
		e.Formats = append(e.Formats, one)
	}
	return e
}
