package generals

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns Command & Conquer Generals and the games derived from it.
func Engine() engine.Engine {
	return engine.Engine{Game: "C&C Generals", Formats: []engine.Format{
		engine.Trace(Format(), "DebugFrame_<frame>.txt, crcDebug<machine>.txt", "checkpoints"),
	}, Offers: []engine.Offer{
		{What: engine.Checkpoints, How: "DebugFrame_*.txt, of a build with DEBUG_CRC started with -SaveDebugCRCPerFrame FOLDER -DebugCRCFromFrame 0 -LogObjectCRCs -NetCRCInterval 1"},
	}}
}
