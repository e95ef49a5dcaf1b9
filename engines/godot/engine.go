// Package godot is everything that desynctool knows about Godot Rollback Netcode: its logs as states, orders and
// traces.
//
// # States
//
// The package reads the states in the logs of Godot Rollback Netcode. Their format is under Orders.
//
// A log has a state after each tick with confirmed inputs: the data that each node saved, by the node's path. A node
// becomes a row. Nodes with names that differ only by the number at the end share a table: /root/Main/Bullet7 is row 7
// of /root/Main/Bullet. The node's data becomes fields, within dictionaries and arrays by their paths: position.x,
// ammo[2].
//
// The addon leaves the values of keys that begin with an underscore, or are negative, out of its hash: they are noise
// here. The order of nodes and of keys is in the hash, and in the component order.
//
// # Orders
//
// The package reads the logs of Godot Rollback Netcode, an addon for games made with Godot 3
// and, by its ports, Godot 4.
//
// A log is a file of one peer, compressed as the engine does it (package compression). Its content is a sequence of
// values. Each one is a u32 length and a dictionary in the engine's binary encoding, little-endian:
//
//	{log_type: 0, peer_id: 1, match_info: {…}}               the header, first and once
//	{log_type: 2, tick: 17, state: {"/root/Main/Player": {…}, "$": 1812042}}
//	{log_type: 3, tick: 18, input: {1: {"/root/Main/Player": {…}, "$": 771}, 2: {…}}}
//	{log_type: 1, frame_type: 1, tick: 18, duration: 1.2, …}  what a frame took
//
// A state is the state after its tick, so the state of tick T belongs to state point T + 1. The first tick is tick 1:
// nothing happens in tick 0, and its state belongs to state points 0 and 1.
//
// A state or input is logged once it is confirmed: predictions are not in the log. "$" is a hash of the rest, without
// the values of keys that begin with an underscore or are negative. docs/formats/godot-rollback.md has the details.
//
// # Traces
//
// The package reads the hashes of states in the logs of Godot Rollback Netcode as a trace: one
// checksum a tick.
package godot

import (
	"bytes"
	"io"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/orderlog"
)

// Engine returns Godot Rollback Netcode, a library of many games.
func Engine() engine.Engine {
	f := engine.State(StateFormat(), "*-peer-<id>.log", "state", "orders", "checkpoints", "claims")
	hashes := TraceFormat()
	f.Trace, f.Signs.Begins = &hashes, []string{"GCPF"}
	f.Log = func(r io.Reader, name string) (orderlog.Source, error) { return NewReader(r, name) }
	return engine.Engine{Logs: logs(), Formats: []engine.Format{f}, Library: "Godot Rollback Netcode", Offers: offers()}
}

// logs are the logs of every game made with Godot.
func logs() []engine.Log {
	return []engine.Log{{
		Logger: "Godot", Marks: []engine.Mark{{Text: "Godot Engine v", Begin: true}},
		Facts: func(message []byte, to engine.FactTaker) {
			if rest, ok := bytes.CutPrefix(message, []byte("Godot Engine ")); ok {
				version, _, _ := bytes.Cut(rest, []byte(" "))
				to.Know("engine_version", version)
			}
		},
	}}
}

// offers are the contents of a log.
func offers() []engine.Offer {
	const log = "the log, of a game that calls SyncManager.start_logging"
	return []engine.Offer{{What: engine.Orders, How: log}, {What: engine.TickHashes, How: log}, {What: engine.TickStates, How: log}}
}
