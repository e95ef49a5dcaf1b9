package stratagus

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns Stratagus.
func Engine() engine.Engine {
	return engine.Engine{Game: "Stratagus", Formats: []engine.Format{engine.LogTrace(Format(), "claims")}}
}
