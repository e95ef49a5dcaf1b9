// Package engine has the types with which an engine describes itself to the rest of desynctool: the files that it
// leaves, how they are read, and how it plays its recordings again.
//
// An engine is a game, a game engine, or a library of netcode. Each one has a folder below engines/. The package in it
// returns one [Engine]. Package engines has the list of them.
package engine

import "github.com/desynctool/desynctool/engines/engine/messages"

// Engine is one engine.
type Engine struct {
	// Game is the name of the game in reports: "OpenTTD". It is empty for a library that many games use.
	Game string
	// Library is the name of a library that many games use, empty if Game is set.
	Library string

	// Formats are the engine's files, in the order in which they are recognised.
	Formats []Format

	// Messages are the engine's messages about desyncs in any log, nil if none are known. Its page has them.
	Messages *messages.Grammar

	// Logs describe the engine's own logs, for the messages in them that are at least warnings.
	Logs []Log

	// Replayer plays the engine's recordings again, nil if there is no recipe for it.
	Replayer *Replayer

	// Offers are all artifacts that players can provide and that are read, nil if that is not known. Reports ask for
	// nothing else.
	Offers []Offer
}
