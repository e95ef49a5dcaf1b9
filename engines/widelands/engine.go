// Package widelands is everything that desynctool knows about Widelands: replays as orders, streams of its checksums as
// traces, the claims in its log, and how the game plays its replays again.
//
// # Orders
//
// The package reads the files that Widelands leaves after a network game: sync streams, which record the simulation's
// actions entry by entry, and replays, which contain the players' commands and hashes.
//
// All integers are little-endian.
//
// # Sync stream
//
// A .wss has no header. A .wse is the excerpt of the last half minute that the game
// saves when it notices a desync:
//
//	u32 length, version text, u32 length, build text, s32 player
//
// Entries follow in both: a tag, with the kind in the high nibble and the length of the payload in the low nibble, and
// the payload:
//
//	14  Desync                s32 player
//	24  DestroyObject         u32 serial
//	36  ProcessRequests       u8 type, u8 index, u32 target
//	44  HandleActiveSupplies  u32 n, then n times without a tag
//	                          ActiveSupply: u32 position, u32 warehouse
//	58  StartTransfer         u32 target, u32 source, then entries B8 of the serial
//	                          0, if any, then without a tag Launched: u32 serial
//	68  RunQueue              u32 due time in ms, u32 command
//	74  RandomSeed            u32
//	84  Random                u32
//	95  CmdAct                u32 serial, u8 type of the object
//	A8  Battle                u32 first, u32 second
//	B8  BobSetPosition        u32 serial, s16 x, s16 y
//
// The due time of a RunQueue entry is the only clock. A .wse ends with a Desync entry, a .wss anywhere: it has no end
// marker, and the copy of one that is being written is cut at a multiple of 4096 bytes.
//
// # Replay
//
//	01 a1 21 2e, u8 version 3, 63 77 05 f0, u32 state 0, u32 state 1 of the RNG
//	03  u32 record time, u32 due time, u32 serial, command
//	04  u32 time, MD5, 16 bytes            every 200 ms
//	02  u32 time                           the end
//
// A command is u8 id, u8 player and parameters; their length follows from the id. The MD5 at time t covers the sync
// stream from its start up to the first RunQueue entry that is due at t or later. So it is cumulative: hashes of peers
// that have diverged never agree again.
//
// docs/formats/widelands.md has the details, with the commands.
//
// # Traces
//
// The package reads files that Widelands leaves after a network game as traces: sync streams, in which each entry is a
// checkpoint, and replays, in which each hash is one. The game's messages about a desync are read as claims.
//
// Ticks are ms of game time. docs/formats/widelands.md has the mapping.
//
// # Replays
//
// The package makes Widelands play its own replays again.
//
// The game checks the hashes that a replay records, and prints the first one that it cannot confirm and its own hash.
// It prints nothing else, so three things are done to get everything that it knows:
//
//   - A replay ends at its last command, and hashes after that are never checked. In the copy that is played,
//     one more command follows at the end, due a day later, which is never run.
//   - It plays at the recorded speed. A script in its home folder, which the game runs while it registers its units,
//     sets the speed.
//   - It shows a window and waits, at the first hash that differs and at the end. Then we end it.
//
// Its results are left as a replay with its hashes instead of the recorded ones, up to the first one that differs; and
// as a sync stream, if the peer left its own and the game has confirmed the hash of its leading part: that part then
// equals the game's computation, byte by byte.
package widelands

import (
	"io"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/orderlog"
)

// Engine returns Widelands.
func Engine() engine.Engine {
	var list []engine.Format
	for _, f := range Formats() {
		switch f.Name {
		case "widelands-replay":
			replay := engine.Trace(f, "*.wrpl", "orders", "hashes", "checkpoints")
			replay.Extensions = []string{".wrpl"}
			replay.Log = func(r io.Reader, name string) (orderlog.Source, error) { return NewReader(r, name) }
			list = append(list, replay)
		case "widelands-sync":
			stream := engine.Trace(f, "*.wss, *.wse", "checkpoints", "claims")
			stream.Extensions = []string{".wss", ".wse"}
			list = append(list, stream)
		default:
			log := engine.Trace(f, "stdout.txt", "claims")
			log.Alone = true
			list = append(list, log)
		}
	}
	return engine.Engine{Game: "Widelands", Formats: list, Replayer: Game(), Offers: offers()}
}

// offers are the replay of each match, and the sync stream of one that ended with a desync.
func offers() []engine.Offer {
	return []engine.Offer{
		{What: engine.Orders, How: "*.wrpl of that match"},
		{What: engine.TimedHashes, How: "*.wrpl of that match"},
		{What: engine.Checkpoints, How: "*.wss, which the game keeps of a network game that ended with a desync"},
	}
}
