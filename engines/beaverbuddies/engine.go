package beaverbuddies

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns BeaverBuddies, the multiplayer mod for Timberborn.
func Engine() engine.Engine {
	return engine.Engine{Game: "Timberborn", Formats: []engine.Format{engine.LogTrace(Format(), "claims")}}
}
