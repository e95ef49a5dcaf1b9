// Package widelands reads what Widelands leaves of a network game: sync streams,
// which record what the simulation did entry by entry, and replays, which hold the
// players' commands and hashes.
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
// Both go on with entries: a tag, whose high nibble is the kind and whose low
// nibble the length of the payload, and the payload:
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
// The due time of a RunQueue entry is the only clock. A .wse ends with a Desync
// entry, a .wss anywhere: it has no end of its own, and the copy of one that is
// being written is cut at a multiple of 4096 bytes.
//
// # Replay
//
//	01 a1 21 2e, u8 version 3, 63 77 05 f0, u32 state 0, u32 state 1 of the RNG
//	03  u32 record time, u32 due time, u32 serial, command
//	04  u32 time, MD5, 16 bytes            every 200 ms
//	02  u32 time                           the end
//
// A command is u8 id, u8 player and parameters, whose length follows from the id.
// The MD5 at time t is that of the sync stream from its start up to the first
// RunQueue entry that is due at t or later. So it is cumulative: hashes of peers
// that have parted never agree again.
//
// docs/formats/widelands.md has the same at length, with the commands.
package widelands

import "strings"

// Peer returns the peer that wrote a file, as its name says: "host" of
// 2026-11-20T08.55.13_nethost.wrpl.wss, "client 1" of
// 2026-11-20T08.55.14_netclient_1.wrpl, else "".
func Peer(path string) string {
	base := path[strings.LastIndexAny(path, `/\`)+1:]
	_, what, ok := strings.Cut(base, "_net")
	if !ok {
		return ""
	}
	if strings.HasPrefix(what, "host.wrpl") {
		return "host"
	}
	number, ok := strings.CutPrefix(what, "client_")
	if !ok {
		return ""
	}
	number, _, ok = strings.Cut(number, ".wrpl")
	if !ok || len(number) == 0 || len(number) > 3 || strings.Trim(number, "0123456789") != "" {
		return ""
	}
	return "client " + number
}
