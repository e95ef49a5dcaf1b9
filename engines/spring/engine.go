// Package spring is everything that desynctool knows about Spring and Recoil: dumps as states, demos as orders and
// traces, the claims in its log, and how the engine plays its demos again.
//
// # States
//
// The package reads state dumps of the Spring engine and of Recoil: the text
// that the engine writes as ClientGameState-<random>-[<first>-<last>].txt or
// ServerGameState-…, and that scripts of games write in the same shape.
//
// A dump contains the states of many frames, one after the other:
//
//	 mapName: MiniMap 1
//	minFrame: 0
//	frame: 0, seed: 0
//		units: 2
//			unitID: 17206 (name: tank)
//				pos: <146.000000, 167.065048, 180.000000>
//				heading: 0, mapSquare: 0
//				health: 1227.468750, experience: 0.000000
//				pieces: 4
//					name: base
//		features: 0
//		projectiles: 0
//		teams: 4
//			teamID: 0
//	frame: 30, seed: 0
//
// Tabs nest. Each kind of thing becomes a table keyed by the engine's ids; a unit's parts become a table keyed by
// (unit, index). Columns follow from keys and from the shapes of values, and not from one file's content.
// docs/formats/spring.md has the mapping at length.
//
// Recoil prints floats as their bits, and vectors as a hash of their bits; the values follow them only on request.
//
// A dump carries no checksum. The numbers of units, pieces and so on that it gives are checked against the content, and
// no line is skipped.
//
// # Orders
//
// In addition to dumps of the state, the package reads other files that the Spring engine and its successor Recoil
// leave: infolog.txt, and demos (.sdfz).
//
// # Infolog
//
// A text log. Its lines begin with the time and, in a client, the frame:
//
//	[t=00:00:20.205818][f=0001039] Sync error for Bob in frame 1016 (got 67d9009b, correct is 3b04d30)
//	[t=00:00:18.477922] [GameServer] Sync error for Bob in frame 615 (got d87354c3, correct is 729bb0de)
//
// Its messages about a desync are claims: the frame is an upper bound, since a server drops answers that are late, and
// the accused peer is the one that differs from the result that the server takes for right, not necessarily the one
// that is wrong.
//
// # Demo
//
// The data that the server sent, compressed with gzip, little-endian:
//
//	header       352 bytes, see DemoHeader
//	script       text
//	chunk...     f32 time, u32 length, message
//	statistics   not read
//
// A message begins with its type. Frames are separate messages; a message belongs to the last frame before it.
// docs/formats/spring.md has the rest.
//
// # Checksum
//
// The engine's checksum of a frame is a u32 over the writes to synced variables,
// in their order. It starts over after each frame that 4096 divides, and covers
// positions, directions, headings, way points, projectiles and the RNG, but not
// health, resources, reload times or command queues.
//
// # Traces
//
// The package reads the checksums in demos of the Spring engine and of Recoil as traces, and the engine's claims in
// infologs and demos.
//
// # Replays
//
// The package makes the Spring engine play its demos again, for package gamereplay.
//
// spring-headless plays a copy of the demo, see copying: the engine simulates it as recorded, and logs its checksum of
// each frame. Our interface, ui.lua, loads the game's own, plays the demo as fast as the machine can, and dumps the
// state at the start of wanted frames. The evidence is a demo, with the orders of the recording and the computed
// checksums, and states.
//
// Spring checks the engine's version itself, but plays with other data than the recording's: the checksums of game and
// map in its log are compared, and a replay with others is refused.
package spring

import (
	"io"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/orderlog"
)

// Engine returns the Spring and Recoil engines.
func Engine() engine.Engine {
	var list []engine.Format
	for _, f := range Formats() {
		if f.Name != "spring-demo" {
			infolog := engine.Trace(f, "infolog.txt", "claims")
			infolog.Matches, infolog.Alone = infologMatches, true
			list = append(list, infolog)
			continue
		}
		demo := engine.Trace(f, "*.sdfz", "orders", "hashes", "checkpoints", "claims")
		demo.Extensions, demo.Signs.Begins = []string{".sdfz"}, []string{DemoMagic}
		demo.Log = func(r io.Reader, name string) (orderlog.Source, error) { return NewReader(r, name) }
		list = append(list, demo)
	}
	state := engine.State(Format(), "ClientGameState-*.txt, ServerGameState-*.txt", "state")
	state.Signs = engine.Signs{Begins: []string{" mapName: "}, Lines: []string{"mapName: ", "modName: ", "minFrame: ", "maxFrame: ", "unitID: "}}
	return engine.Engine{Game: "Spring", Logs: logs(), Formats: append(list, state), Replayer: Game(), Offers: offers()}
}

// infologMatches returns the games of an infolog.
func infologMatches(r io.Reader, name string) (list []engine.MatchPart, err error) {
	games, err := Games(r, name)
	for _, g := range games {
		id := g.ID
		if strings.Trim(id, "0") == "" {
			id = "" // it was never set
		}
		list = append(list, engine.MatchPart{ID: id, From: g.From, To: g.To, Line: g.Line})
	}
	return list, err
}

// offers are the demo of each match, with the checksums of every 60th frame, and states.
func offers() []engine.Offer {
	return []engine.Offer{
		{What: engine.Orders, How: "*.sdfz, the demo of that match"},
		{What: engine.TimedHashes, How: "*.sdfz, the demo of that match"},
		{What: engine.TickStates, How: "ClientGameState-*.txt, which a script of the game writes"},
	}
}
