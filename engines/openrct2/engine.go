package openrct2

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns OpenRCT2.
func Engine() engine.Engine {
	e := engine.Engine{Game: "OpenRCT2", Offers: []engine.Offer{
		{What: engine.DesyncStates, How: "desyncs/desync_*.txt, which the client writes that notices a desync"},
	}}
	for _, f := range Formats() {
		one := engine.Trace(f, "desync_<UTC>_<tick>.txt", "checkpoints")
		one.Signs = engine.Signs{
			Begins: []string{"tick left = ", "tick: ", "WARNING: Comparing two snapshots with different ticks"},
			Lines:  []string{"srand0 left = ", "Sprite hash mismatch", "Entity hash mismatch"},
		}
		e.Formats = append(e.Formats, one)
	}
	return e
}
