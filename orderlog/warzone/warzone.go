// Package warzone reads what Warzone 2100 4.x leaves of a multiplayer game: the
// recording that each peer writes, replay/multiplay/*.wzrp, and the dumps that
// all peers exchange when they notice a desync, logs/desync<time>_p<slot>.txt.
//
// # Recordings
//
// All integers are big-endian; varint is the engine's own, of one to five bytes.
//
//	"WZrp"
//	u32 length, JSON        of the game: players, map, seed, whose recording it is
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
// A [Dump] delivers the lines as entries with named values, and checks the
// number of entries and the CRC. docs/formats/warzone2100.md has both formats
// at length.
//
// # Time
//
// A tick is 100 ms of game time, and the game's clock begins at 2. Tick n is the
// one that the game calls 100 n + 2: it reads the messages that are due, begins
// the game state update of that time, takes the CRC, and then updates the
// objects. So what is labelled with a time T, the dump and the CRC, covers the
// objects' updates of T - 100, and the messages and the head of T: it is taken as
// of the state point of tick n, before its objects are updated.
package warzone

import "strconv"

// TickLength is the length of a tick in units of game time, which are
// milliseconds.
const TickLength = 100

// firstTime is the game time at which a game begins; each tick adds TickLength.
const firstTime = 2

// TickName returns what the game calls a tick, its game time: "25702".
func TickName(tick uint64) string { return strconv.FormatUint(tick*TickLength+firstTime, 10) }

// SlotName returns the name of the peer in a slot: "slot 1".
func SlotName(slot int) string { return "slot " + strconv.Itoa(slot) }
