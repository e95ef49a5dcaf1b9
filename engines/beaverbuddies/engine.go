package beaverbuddies

import (
	"github.com/desynctool/desynctool/engines/engine"
)

// Engine returns BeaverBuddies, the mod for several players of Timberborn.
func Engine() engine.Engine {
	e := engine.Engine{Game: "Timberborn", Messages: grammar()}
	for _, f := range Formats() {
		f.Claims = grammar().Read
		one := engine.Trace(f, "*.log, *.txt", "checkpoints", "claims")
		one.Amid = true
		e.Formats = append(e.Formats, one)
	}
	return e
}
