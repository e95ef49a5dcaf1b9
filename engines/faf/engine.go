// Package faf is all that desynctool knows of Supreme Commander: Forged Alliance, as the clients of FAF play it: messages in its log.
package faf

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns Supreme Commander.
func Engine() engine.Engine {
	return engine.Engine{Game: "Supreme Commander", Messages: grammar(), Logs: logs()}
}

func logs() []engine.Log {
	return []engine.Log{{Logger: "Forged Alliance", Marks: []engine.Mark{{Text: "debug: Loading module '"}, {Text: "Checksum for beat "}}}}
}
