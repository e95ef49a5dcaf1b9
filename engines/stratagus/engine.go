package stratagus

import (
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/tracediff/loglines"
)

// Engine returns Stratagus.
func Engine() engine.Engine {
	e := engine.Engine{Game: "Stratagus"}
	for _, f := range Formats() {
		f.Claims = loglines.ReadOnly("stratagus-log")
		one := engine.Trace(f, "*.log, *.txt", "checkpoints", "claims")
		one.Amid = true
		e.Formats = append(e.Formats, one)
	}
	return e
}
