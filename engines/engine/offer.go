package engine

import "cmp"

// Artifact is a kind of evidence about a match. A game writes some of them, always or if it is asked to.
type Artifact int

// Artifacts.
const (
	Orders       Artifact = iota // the orders as a peer applied them
	TimedHashes                  // hashes of the state at times that the game chooses, of every peer
	TickHashes                   // order logs with a hash of every tick
	TickTraces                   // a checksum of every tick, without the orders
	DesyncStates                 // states that the game writes when it notices a desync
	TimedStates                  // states at times that the game chooses, from before a desync too
	TickStates                   // states of any tick
	Checkpoints                  // checkpoints inside ticks
)

// Offer is an artifact that the players of a game can provide.
type Offer struct {
	What Artifact
	// How is where it comes from, in a few words without a point at the end: the file, and the setting if the game
	// writes it only on request. The engine's page has the same.
	How string
}

// Name returns the name of the game, or of the library.
func (e *Engine) Name() string { return cmp.Or(e.Game, e.Library) }

// Offer returns the first offer of one of some artifacts, in their order; nil if there is none.
func (e *Engine) Offer(any ...Artifact) *Offer {
	for _, what := range any {
		for i := range e.Offers {
			if e.Offers[i].What == what {
				return &e.Offers[i]
			}
		}
	}
	return nil
}
