package openclonk

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns OpenClonk.
func Engine() engine.Engine {
	// Its checkpoints are what its claims say.
	return engine.Engine{Game: "OpenClonk", Messages: grammar(), Formats: []engine.Format{engine.LogTrace(Format(), nil)}}
}
