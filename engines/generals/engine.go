package generals

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns Command & Conquer Generals and what was made of it.
func Engine() engine.Engine {
	return engine.Engine{Game: "C&C Generals", Formats: []engine.Format{
		engine.Trace(Format(), "DebugFrame_<frame>.txt, crcDebug<machine>.txt", "checkpoints"),
	}}
}
