// Package ggpo is all that desynctool knows of GGPO: the states that its sync test writes, and what that says.
//
// # States
//
// The package reads the states that GGPO's self-test logs as text:
// synclogs/state-0012-original.log and synclogs/state-0012-replay.log.
//
// The self-test plays a few frames, loads an older state and plays the same frames again on
// the same machine with the same inputs. Where the checksum of a frame is another one the
// second time, it has the game log both states. The files are two runs of one machine, not
// two machines: the original is that of snapshot.FirstRun, the replay that of snapshot.SecondRun. The
// number is that of the frame, so that the state is that of the state point before the frame is played.
//
// What is in the files is up to the game. A line with a name and a value, separated by a colon or
// an equals sign, is a field; other lines are kept as they are:
//
//	GameState object.
//	  num_ships: 2.
//	  ship 0 position:  320.0000, 240.0000
//	  ship 0 bullet 3: 12.00 8.50 -> 5.00 0.00.
//
// docs/formats/ggpo.md has the mapping at length. The files carry no checksum and no mark of
// their end.
//
// # Traces
//
// The package reads what the files of GGPO's self-test say by being there: the library has
// the game log a state only where the checksum of a frame is another one when the frame
// is played a second time. What is in the files is a state.
package ggpo

import "github.com/desynctool/desynctool/engines/engine"

// Engine returns GGPO, a library of many games.
func Engine() engine.Engine {
	f := engine.State(StateFormat(), "synclogs/state-<frame>-{original,replay}.log", "state", "claims")
	claims := TraceFormat()
	f.Trace = &claims
	f.Signs = engine.Signs{Begins: []string{"GameState object."}, Lines: []string{"num_ships: "}}
	return engine.Engine{Formats: []engine.Format{f}}
}
