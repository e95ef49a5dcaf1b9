package ggrs

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns GGRS, a library of many games.
func Engine() engine.Engine {
	return engine.Engine{Formats: []engine.Format{engine.LogTrace(Format(), "claims")}, Library: "GGRS", Offers: []engine.Offer{
		{What: engine.TickTraces, How: "the log of bevy_ggrs at the level of traces"},
	}}
}
