package beaverbuddies

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns BeaverBuddies, the mod for several players of Timberborn.
func Engine() engine.Engine {
	claims := grammar()
	return engine.Engine{Game: "Timberborn", Messages: claims, Formats: []engine.Format{engine.LogTrace(Format(), claims)}}
}
