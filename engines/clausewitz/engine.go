// Package clausewitz is all that desynctool knows of the Clausewitz engine: messages in its error.log.
package clausewitz

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns the Clausewitz engine.
func Engine() engine.Engine { return engine.Engine{Game: "Crusader Kings III", Messages: grammar()} }
