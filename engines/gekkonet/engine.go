// Package gekkonet is all that desynctool knows of GekkoNet, a library of netcode for many games: messages that games print of its desyncs.
package gekkonet

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns GekkoNet.
func Engine() engine.Engine { return engine.Engine{Messages: grammar()} }
