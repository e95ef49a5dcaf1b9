package rimworld

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns RimWorld with its multiplayer mod.
func Engine() engine.Engine {
	e := engine.Engine{Game: "RimWorld", Logs: logs(), Offers: []engine.Offer{
		{What: engine.Checkpoints, How: "Desync-*.zip, which the client writes that diverges from the host"},
	}}
	for _, f := range Formats() {
		e.Formats = append(e.Formats, engine.Trace(f, "local_traces.txt, host_traces.txt", "checkpoints", "claims"))
	}
	return e
}

// logs are Unity's, with functions of the game in the stacks.
func logs() []engine.Log {
	return []engine.Log{{Calls: []engine.Call{{Function: "Verse.Log:Error", Severity: "error"}, {Function: "Verse.Log:Warning", Severity: "warning"}}}}
}
