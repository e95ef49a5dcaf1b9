// Package hunt looks for sessions in which a simulator departs from itself, or from another
// one, before players find them: it makes orders up, plays them in every mode that the
// simulator allows, and keeps the smallest session of each failure.
//
// # Sessions by seed
//
// A session follows from one number of 64 bits, its seed, and from the target of the hunt: the simulators, the modes,
// the bound of ticks, the recorded logs. Everything else is drawn from it: the seed and the parameters of the game, how
// long it is, the orders, by how many ticks it is rolled back, and the players that are predicted. The generator is PCG
// of math/rand/v2, a stream for each use. Its draws stay the same within a Version.
//
// Orders are made as the simulator describes them (bisect.OrderTeller), or by changing recorded ones: some are left
// out, given twice, given earlier or later, by another player, with other payloads, or come from another log. Either
// way they are an order log like any other. Which kinds there are differs from session to session, since bugs hide from
// sessions that have everything; and a kind that was seldom possible so far in a session is given more often.
//
// # Failures
//
// Failures are alike if their fingerprints are equal. A fingerprint is made of what the mode shows (saves, caches, …),
// of the component, field and kind of number that departs first, of the system in which two simulators diverge, or of
// how the simulator broke off; never of a tick, a value or an entity. If a simulator does not agree with itself, it is
// made of the system alone. The first failure of a fingerprint is minimised; a later one again if it departs earlier
// than the smallest session known.
//
// # Same findings anywhere
//
// Several sessions are played at once, and their results count in the order of their seeds: findings and coverage do
// not depend on how many processors there are. This does not hold for a simulator that does not agree with itself.
package hunt

import (
	"math/rand/v2"

	"github.com/desynctool/desynctool/bisect"
)

// Version counts the changes of how a session follows from its seed.
const Version = 1

// Modes that only a hunt has.
const (
	// Play is the session itself as it is made up: the simulator may break off.
	Play bisect.TrialMode = "play"
	// Checksum compares the sync hash with the state that the simulator returns. It finds a checksum that leaves
	// something out, or was not brought up to date.
	Checksum bisect.TrialMode = "checksum"
)

// Modes returns the modes of a hunt, in the order in which they are tried. Play, which comes before them, always is.
func Modes() []bisect.TrialMode {
	return []bisect.TrialMode{Checksum, bisect.Dual, bisect.Serialize, bisect.Rollback, bisect.Predict, bisect.CheckPurity, bisect.CheckCaches, bisect.Against}
}

// Streams of the generator, each of one use.
const (
	planStream = iota + 1
	orderStream
	changeStream
)

func stream(seed, use uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, use)) }
