// Package openttd is everything that desynctool knows about OpenTTD: saves as states, logs of commands as orders,
// messages of its network as traces, and how it plays its logs again.
//
// # States
//
// The package reads OpenTTD savegames as states: the dmp_cmds_*.sav files
// that a game started with -d desync=3 writes, netsave0.sav, and any other
// save.
//
// A save is a header of eight bytes and a container:
//
//	tag      4 bytes  OTTN raw, OTTZ zlib, OTTX xz, OTTD blocks of LZO1X
//	version  u16      save version; 302 is OpenTTD 13.0
//	         u16      0
//	container
//
// Everything is big-endian. The container has chunks until a u32 of 0. A chunk is a four-character id, a byte with its
// type in the low four bits, and
//
//	0 RIFF          a length of 28 bits (the high four bits of the type byte,
//	                then three bytes) and as many bytes
//	1 ARRAY         records: gamma(1 + length) and as many bytes; gamma 0 ends
//	2 SPARSE_ARRAY  the same, each record begins with gamma(index)
//	3 TABLE         as 1, and the first record describes the others
//	4 SPARSE_TABLE  as 2, and the first record describes the others
//
// Since save version 295 all chunks but the map arrays describe themselves. Each becomes a table of typed columns;
// lists and structs inside its records become separate tables. Chunks that do not describe themselves are kept as
// bytes. docs/formats/openttd.md has the mapping at length.
//
// A zlib or xz container and each LZO block carry a checksum, which is
// verified; a raw container carries none.
//
// # Orders
//
// The package reads commands-out.log, which OpenTTD writes with
// -d desync=2 or more, as an order log.
//
// Numbers are hexadecimal. With show_date_in_logs a line begins with "[YYYY-MM-DD HH:MM:SS] ". DATE counts days from
// year 0, FRACT the ticks of the day, which has 74.
//
//	new_map: SEED
//	load: FILE
//	sync: DATE; FRACT; RNG0; RNG1              server only, once a day
//	save: DATE; FRACT; FILE
//	msg: DATE; FRACT; TEXT
//	client: DATE; FRACT; COMPANY; CLIENT       server only
//	sync_err: DATE; FRACT                      client only
//	town cache mismatch: town 0                and others like it
//
//	cmd: DATE; FRACT; COMPANY; TILE; P1; P2; CMD; ERR; "TEXT" (NAME)   up to 12
//	cmd: DATE; FRACT; COMPANY; CMD; ERR; TILE; 0ARGS                   13
//	cmd: DATE; FRACT; COMPANY; CMD; ERR; HEX (NAME)                    from 14 on
//
// cmdf is a cmd with a failed test run. The arguments of 13.0 are raw bytes, cut at the first NUL, and may contain a
// line feed: so a line that does not begin with a known kind and a stamp belongs to the command before it.
// docs/formats/openttd-log.md describes what each line becomes.
//
// # Traces
//
// The package also reads other files of OpenTTD: which clients left because of a desync, from commands-out.log, and
// what a client learned about the server, from its network messages with -d net=9:
//
//	[2026-04-28 20:04:20] dbg: [net:9] Client::Receive_SERVER_SYNC(): sync_frame=2008700, sync_seed_1=1892841807
//	[2026-04-28 20:04:21] dbg: [net:9] Client::Receive_SERVER_COMMAND(): cmd=79, frame=2008707
//
// The second is a trace of the server, as its client received it: a checkpoint for each frame whose random numbers the
// server sent, and one for each frame with commands. It contains nothing about the client's own game.
//
// # Replays
//
// The package makes OpenTTD play its own logs of commands again.
//
// Only a build with command replay can do that: its developers compile it with DEBUG_DUMP_COMMANDS. Such a build, as a
// dedicated server, reads commands.log from its folder of saves, and runs each command at its time, as fast as it can.
// It compares the state of its random number generator with each one in the log, and gives up at the first one that
// differs. Meanwhile it writes its own log and saves.
//
// The log is played from the first of its saves that the peer left: a server's from when the map was made, a
// client's from its first save after it joined.
package openttd

import (
	"io"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/tracediff"
)

// Engine returns OpenTTD.
func Engine() engine.Engine {
	save := engine.State(Format(), "dmp_cmds_<seed>_<date>.sav, *.sav", "state")
	save.Extensions = []string{".sav"}
	list := []engine.Format{save, {
		Name: "openttd-log", Title: "OpenTTD log of commands (1.4 to 12, 13, 14 and later)", Files: "commands-out.log",
		Gives: []string{"orders", "hashes", "claims"}, Sniff: IsLog, Lines: IsLog, Alone: true,
		Log:   func(r io.Reader, name string) (orderlog.Source, error) { return NewReader(r, name) },
		Trace: &tracediff.Format{Name: "openttd-log", Title: "OpenTTD log of commands", Sniff: IsLog, Claims: LogClaims},
	}}
	for _, f := range Formats() {
		list = append(list, engine.Trace(f, "*.log, *.txt", "checkpoints", "claims"))
	}
	return engine.Engine{Game: "OpenTTD", Formats: list, Replayer: Game(), Offers: offers()}
}

// offers are the files of a game that was started with -d desync=3. The server alone logs hashes.
func offers() []engine.Offer {
	return []engine.Offer{
		{What: engine.Orders, How: "commands-out.log, of a game started with -d desync=2 or 3"},
		{What: engine.TimedStates, How: "dmp_cmds_*.sav, of a game started with -d desync=3"},
	}
}
