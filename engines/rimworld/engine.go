package rimworld

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns RimWorld with its mod for several players.
func Engine() engine.Engine {
	e := engine.Engine{Game: "RimWorld"}
	for _, f := range Formats() {
		e.Formats = append(e.Formats, engine.Trace(f, "local_traces.txt, host_traces.txt", "checkpoints", "claims"))
	}
	return e
}
