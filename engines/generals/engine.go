package generals

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns Command & Conquer Generals and the games derived from it.
func Engine() engine.Engine {
	return engine.Engine{Game: "C&C Generals", Formats: []engine.Format{
		engine.Trace(Format(), "DebugFrame_<frame>.txt, crcDebug<machine>.txt", "checkpoints"),
	}}
}
