// Package ggpo is everything that desynctool knows about GGPO: the states that its sync test writes, and what they
// show.
//
// # States
//
// The package reads the states that GGPO's self-test logs as text:
// synclogs/state-0012-original.log and synclogs/state-0012-replay.log.
//
// The self-test plays a few frames, loads an older state and plays the same frames again on the same machine with the
// same inputs. If the checksum of a frame differs the second time, it makes the game log both states. The files are two
// runs of one machine, not two machines: the original belongs to snapshot.FirstRun, the replay to snapshot.SecondRun.
// The number is the frame's, so the state is the state at the state point before the frame is played.
//
// The game decides the content of the files. A line with a name and a value, separated by a colon or an equals sign, is
// a field; other lines are kept unchanged:
//
//	GameState object.
//	  num_ships: 2.
//	  ship 0 position:  320.0000, 240.0000
//	  ship 0 bullet 3: 12.00 8.50 -> 5.00 0.00.
//
// docs/formats/ggpo.md has the mapping in detail. The files carry no checksum and no mark of their end.
//
// # Traces
//
// The existence of the self-test's files is evidence, which the package reads: the library makes the game log a state
// only if the checksum of a frame differs when the frame is played a second time. The content of the files is a state.
package ggpo

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns GGPO, a library of many games.
func Engine() engine.Engine {
	f := engine.State(StateFormat(), "synclogs/state-<frame>-{original,replay}.log", "state", "claims")
	claims := TraceFormat()
	f.Trace = &claims
	f.Signs = engine.Signs{Begins: []string{"GameState object."}, Lines: []string{"num_ships: "}}
	return engine.Engine{Formats: []engine.Format{f}, Library: "GGPO", Offers: []engine.Offer{
		{What: engine.DesyncStates, How: "synclogs/state-*.log, of the self-test, ggpo_start_synctest"},
	}}
}
