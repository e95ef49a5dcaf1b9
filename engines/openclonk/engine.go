package openclonk

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns OpenClonk.
func Engine() engine.Engine {
	e := engine.Engine{Game: "OpenClonk", Messages: grammar()}
	for _, f := range Formats() { // its checkpoints are what its claims say
		one := engine.Trace(f, "*.log, *.txt", "checkpoints")
		one.Amid = true
		e.Formats = append(e.Formats, one)
	}
	return e
}
