// Package zeroad is everything that desynctool knows about 0 A.D.: dumps as states, replays as orders, the output of a
// replaying game as traces, and how the game plays its replays again.
//
// # States
//
// The package reads the state dumps of 0 A.D. as states: the oos_dump.txt
// that a peer writes when it is out of sync, the NNNNN.txt of each turn that
// -ooslog writes, and the dumps of the serialization test. They may be
// compressed with gzip or xz.
//
// A dump is text:
//
//	State hash: 09a6299ab382d6fac775aa80127e4ece
//
//	rng: "238182952245423"
//	entities:
//	- id: 35
//	  Decay:
//	  Position:
//	    in world: true
//	    x: 128.4557
//	  Health:
//	    comp: {
//	  "maxHitpoints": 156.25,
//	  "hitpoints": 87.93967978872098
//	}
//
// It looks like YAML but is not. Native components have one line for each
// field, and lists repeat a name; components written in JavaScript have one
// field, comp, with their state as JSON, which begins at column 0. An empty line
// ends each entity.
//
// Each type of component becomes a table, keyed by entity; lists in it become separate tables, keyed (entity, index).
// docs/formats/zeroad-dump.md has the mapping at length.
//
// A dump carries no checksum of its text and no mark of its end. A dump that was cut off is recognised by the empty
// line and by the list of entities in TemplateManager, damage elsewhere only where it breaks the format.
//
// # Orders
//
// The package reads and writes commands.txt, the replay that 0 A.D. keeps of
// every match, as an order log.
//
//	start {"settings":{…},"map":"maps/random/mainland","matchID":"9A45A61FA8BE69AA",…}
//	turn 16 200
//	cmd 1 {"type":"walk","entities":[151,152],"x":78,"z":96.5,"queued":false}
//	end
//	hash-quick 5d3640d2b15d077118bd5c820882bcc3
//
// A turn has a label and a length in milliseconds, then commands with their player, then end, then in network games a
// hash of the state after it: a full one ("hash") at turns 0, 19, 39 and so on, else a quick one, which covers the RNG,
// the next entity's id and positions only. Equal quick hashes prove nothing about the rest.
//
// Turns are ticks: turn T leads from state point T to T + 1, so the hash after turn T belongs to point T + 1. (The
// engine's own messages count one more than the label.)
//
// [Write] writes the same bytes that were read. A line that is not exactly as above is an error, so that nothing is
// lost silently.
//
// # Traces
//
// The package reads the output of 0 A.D. when it replays a commands.txt without graphics: after each turn it computes
// the state's hash, and compares it with the recorded one.
//
//	Turn 16 (200)...
//	hash-quick ok (27ce755d45e29f7dc478a5d25be6fbac)
//	Turn 17 (200)...
//	hash-quick MISMATCH (35f00bbbe0ae79b5e4dd37d4a6538235 != 9b53ffb1272d1be2d5735193fcedf2da)
//	# Final state: 4fa0a5e87822ff762d422697570de5fc
//
// The first hash of two is the computed one. The output becomes two traces, the first run, which was recorded, and the
// second run, which replayed it, with a checkpoint a turn; checkpoints of quick hashes have the scope quick. Other
// lines come from the engine and mean nothing here. Without the final state the replay did not reach its end. The
// engine exits with 0 either way.
//
// # Replays
//
// The package makes 0 A.D. play its own recordings again: pyrogenesis -replay=commands.txt, without a screen. The
// results become a commands.txt like the ones of a game's peers, with the computed hashes in place of the recorded
// ones, and dumps of the state after wanted turns.
//
// The engine computes a hash where its file has one, and prints whether both are equal. It gets a copy of the recording
// in which every turn has a full hash: zeros where none was recorded. So two replays of one recording can be compared
// turn by turn, in all of their state.
//
// In the replay the engine takes the mods from the recording's start line. It leaves out missing mods with a warning;
// so we look for them before it starts, and for the map.
package zeroad

import (
	"io"

	"github.com/desynctool/desynctool/bisect/minimize"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/orderlog"
)

// Engine returns 0 A.D.
func Engine() engine.Engine {
	dump := engine.State(Format(), "oos_dump.txt, oos_logs/*.txt, serializationtest/*/debug.*", "state")
	dump.SelfTest, dump.Lines = ReadTest, IsExcerpt
	list := []engine.Format{{
		Name: "0ad-log", Title: "0 A.D. replay", Files: "commands.txt", Gives: []string{"orders", "hashes"}, Sniff: IsLog,
		Log:    func(r io.Reader, name string) (orderlog.Source, error) { return NewReader(r, name) },
		Writer: writer(),
		Signs:  engine.Signs{Begins: []string{`start {"settings":`}, Lines: []string{"turn 0 ", "turn 1 ", "turn 2 ", "hash-quick ", `cmd 1 {"`}},
	}, dump}
	for _, f := range Formats() {
		list = append(list, engine.Trace(f, "stdout of pyrogenesis -replay", "checkpoints"))
	}
	return engine.Engine{Game: "0 A.D.", Logs: logs(), Formats: list, Replayer: Game(), Offers: offers()}
}

// writer writes logs that the game plays.
func writer() *engine.LogWriter {
	return &engine.LogWriter{Name: "0ad-log", Fixed: func(kind string) bool { return kind == LengthKind }, File: minimize.File{
		Name: "commands.txt", Write: func(w io.Writer, log *orderlog.Log) error { return Write(w, log.Source()) },
	}}
}

// offers are the replay of each match, and the dumps that the engine writes on request.
func offers() []engine.Offer {
	return []engine.Offer{
		{What: engine.Orders, How: "commands.txt of that match, which the game keeps"},
		{What: engine.TickHashes, How: "commands.txt of that match, which the game keeps"},
		{What: engine.DesyncStates, How: "oos_dump.txt, which the game writes when it is out of sync"},
		{What: engine.TickStates, How: "oos_logs/*.txt, of a game started with -ooslog"},
	}
}
