// Package spring reads what the Spring engine and its successor Recoil leave of a
// match besides dumps of the state: infolog.txt, and demos (.sdfz).
//
// # Infolog
//
// A log of text. Its lines begin with the time and, in a client, the frame:
//
//	[t=00:00:20.205818][f=0001039] Sync error for Bob in frame 1016 (got 67d9009b, correct is 3b04d30)
//	[t=00:00:18.477922] [GameServer] Sync error for Bob in frame 615 (got d87354c3, correct is 729bb0de)
//
// What it says of a desync is a claim: its frame is an upper bound, since a
// server drops answers that are late, and the peer that it accuses is the one
// that differs from what the server takes for right, not the one that is wrong.
//
// # Demo
//
// What the server sent, compressed with gzip, little-endian:
//
//	header       352 bytes, see DemoHeader
//	script       text
//	chunk...     f32 time, u32 length, message
//	statistics   not read
//
// A message begins with its type. Frames are messages of their own; a message
// belongs to the last frame before it. docs/formats/spring.md has the rest.
//
// # Checksum
//
// The engine's checksum of a frame is a u32 over the writes to synced variables,
// in their order. It starts over after each frame that 4096 divides, and covers
// positions, directions, headings, way points, projectiles and the RNG, but not
// health, resources, reload times or command queues.
package spring

// Reset is the number of frames after which the checksum starts over: after
// each frame that it divides.
const Reset = 4096
