package factorio

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns Factorio.
func Engine() engine.Engine {
	files := map[string]string{
		LevelFormat: "level_with_tags_tick_<tick>.dat, level-heuristic-<tick>", ScriptFormat: "script.dat", DiffFormat: "*.txt",
	}
	e := engine.Engine{Game: "Factorio", Logs: logs(), Offers: []engine.Offer{
		{What: engine.DesyncStates, How: "desync-report-*.zip, which the client writes that notices a desync"},
	}}
	for _, f := range Formats() {
		one := engine.Trace(f, files[f.Name], "checkpoints")
		if f.Name == LevelFormat {
			one.Named = IsLevel
		}
		e.Formats = append(e.Formats, one)
	}
	return e
}
