// Package warzone is everything that desynctool knows about Warzone 2100: dumps as states and traces, recordings as
// orders and traces, and how the game plays its recordings again.
//
// # States
//
// The package reads the sync dumps of Warzone 2100, desync25702_p1.txt, as
// states.
//
// A dump is a peer's computation of one tick, line by line; its format is under Orders. The lines about one object
// become one row:
//
//	[droidUpdate] < droid160627 = p7;pos(5569,5558,378),…    before its update
//	[droidUpdate] M droid160627 = p7;pos(5569,5558,378),…    in the middle of it
//	[droidUpdate] > droid160627 = p7;pos(5573,5564,379),…    after it
//
// The last of them is the state, in columns such as pos.x; earlier ones are in the components before and middle. The
// column update.after names the row before, so that the order of updates, which must be the same on all peers, is kept
// as well. Lines that fit into no row become rows of a table that is named like their function, with their text. So no
// difference between the lines of two dumps is lost, except lines that may differ: the game's version, which is a
// property of the head, and backtraces, which are noise. docs/formats/warzone2100.md has all tables.
//
// # Orders
//
// The package reads the files that Warzone 2100 4.x leaves after a multiplayer game: the recording that each peer
// writes, replay/multiplay/*.wzrp, and the dumps that all peers exchange when they notice a desync,
// logs/desync<time>_p<slot>.txt.
//
// # Recordings
//
// All integers are big-endian; varint is the engine's own, of one to five bytes.
//
//	"WZrp"
//	u32 length, JSON        of the game: players, map, seed, the recorder's slot
//	u32 version, u32 length, data    embedded map data, usually none
//	messages                u8 queue, u8 type, varint length, payload
//	u8 0, u8 133, u8 0      the end
//	u32 length, JSON, u32 length     {"gameTimeElapsed":67802}
//
// A [Replay] delivers the messages, a [Reader] orders on ticks. The payload of
// a GAME_TIME message, the only one that is decoded, is
//
//	varint latency, varint check time, u16 crc, u16 wanted latency
//
// # Dumps
//
//	===== BEGIN gameTime=25702, 205 entries, CRC 0xDD89782C =====
//	[syncDebugEconomy] < economy0 = 5583457484800
//	[droidUpdate] > droid289 = p0;pos(2752,3008,242),rot(0,0,0),…
//	===== END gameTime=25702, 205 entries, CRC 0xDD89782C =====
//
// A [Dump] delivers the lines as entries with named values, and checks the number of entries and the CRC.
// docs/formats/warzone2100.md has both formats in detail.
//
// # Time
//
// A tick is 100 ms of game time, and the game's clock begins at 2. Tick n is the game's 100 n + 2: it reads the
// messages that are due, begins the game state update of that time, takes the CRC, and then updates the objects. So the
// dump and the CRC with a time T cover the objects' updates of T - 100, and the messages and the head of T: they count
// for the state point of tick n, before its objects are updated.
//
// # Traces
//
// The package reads the recordings and the sync dumps of Warzone 2100 as
// traces.
//
// A recording, *.wzrp, contains the checksums that every peer sent: a trace for each slot, with one checksum a tick. A
// dump, desync25702_p1.txt, has one peer's computation of one tick, line by line: each line is a checkpoint with the
// game's values.
package warzone

import (
	"io"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/orderlog"
)

// Engine returns Warzone 2100.
func Engine() engine.Engine {
	var list []engine.Format
	for _, f := range Formats() {
		if f.Name == "warzone-replay" {
			replay := engine.Trace(f, "*.wzrp", "orders", "hashes", "checkpoints")
			replay.Extensions, replay.Signs.Begins = []string{".wzrp"}, []string{Magic}
			replay.Log = func(r io.Reader, name string) (orderlog.Source, error) { return NewReader(r, name) }
			list = append(list, replay)
			continue
		}
		dump := engine.State(Format(), "desync<time>_p<slot>.txt", "state", "checkpoints")
		dump.Trace, dump.Lines = &f, IsPart
		dump.Signs = engine.Signs{Begins: []string{"===== BEGIN gameTime="}, Lines: []string{"===== END gameTime="}}
		list = append(list, dump)
	}
	return engine.Engine{Game: "Warzone 2100", Logs: logs(), Formats: list, Replayer: Game(), Offers: offers()}
}

// logs are the files that the game writes with debugging enabled.
func logs() []engine.Log {
	return []engine.Log{{Logger: "Warzone 2100", Marks: []engine.Mark{{Text: "--- Starting log [", Begin: true}}}}
}

// offers are the recording of each match, and the dumps of a desync.
func offers() []engine.Offer {
	return []engine.Offer{
		{What: engine.Orders, How: "replay/multiplay/*.wzrp of that match"},
		{What: engine.TickHashes, How: "replay/multiplay/*.wzrp of that match"},
		{What: engine.DesyncStates, How: "logs/desync*_p*.txt, which all players' games write when one notices a desync"},
		{What: engine.Checkpoints, How: "logs/desync*_p*.txt, which all players' games write when one notices a desync"},
	}
}
