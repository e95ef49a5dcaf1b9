package openclonk

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns OpenClonk. Its checkpoints are what its claims say.
func Engine() engine.Engine {
	return engine.Engine{Game: "OpenClonk", Formats: []engine.Format{engine.LogTrace(Format())}}
}
