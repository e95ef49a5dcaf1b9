package stratagus

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns Stratagus.
func Engine() engine.Engine {
	claims := grammar()
	return engine.Engine{Game: "Stratagus", Messages: claims, Formats: []engine.Format{engine.LogTrace(Format(), claims)}}
}
