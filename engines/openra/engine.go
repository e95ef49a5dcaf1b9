package openra

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns OpenRA.
func Engine() engine.Engine {
	report := engine.State(Format(), "syncreport-<UTC>-<client>.log", "state")
	report.Lines = IsExcerpt
	report.Signs = engine.Signs{Begins: []string{"Player: "}, Lines: []string{
		"Game ID: ", "Sync for net frame ", "SharedRandom: ", "Synced Traits:", "Synced Effects:", "Orders Issued:", "Out of sync frame: ",
	}}
	return engine.Engine{Game: "OpenRA", Logs: logs(), Formats: []engine.Format{report}, Offers: []engine.Offer{
		{What: engine.DesyncStates, How: "Logs/syncreport-*.log, with EnableSyncReports on the server"},
	}}
}
