package verdict

import "github.com/desynctool/desynctool/bisect"

// Lab makes experiments: it replays the orders of one peer again, from the last state in which the peers were equal
// until the end of the divergent tick.
type Lab struct {
	// Sim is the trusted build, Own the build that the peer had. Given is set if Own was named: else it is Sim. That an
	// experiment shows nothing excludes nothing unless Own was named and has been seen to be that build.
	Sim, Own string
	Given    bool
	// Try replays the orders of a peer in a mode: Plain, Against (Sim and Own side by side), and all others with Own.
	// An error means that the simulator cannot do it. The trial of Changing has the places that change in the ticks of
	// Serialize, Rollback and Predict.
	Try func(x Trying) (*bisect.Trial, error)
	// Allowed reports whether the replays that an experiment takes may still be made.
	Allowed func(x Trying) bool
	// Back returns by how many ticks the trace of a peer shows that it rolled back, 0 if it does not show that. Experiments
	// around a tick reach as far.
	Back func(peer string) uint64
}

// Trying is an experiment to make.
type Trying struct {
	Mode bisect.TrialMode
	Peer string
	Tick uint64
	// Whole begins with the session: a build's data outside its state may be older than the last state in which the
	// peers were equal.
	Whole bool
	// Wide makes the experiment in the ticks before and after Tick too, as far as the orders go.
	Wide bool
}

// Experiment is one that was made, or could not be.
type Experiment struct {
	Trying
	Sim    string // the build, or the two that were compared
	Result ExperimentResult
	// At is the tick in which it departs, System the first in it, if they are known; Labels
	// are the archetypes that differ then.
	At     *Moment
	System string
	Labels []string
	Why    string // of Impossible
	Shows  []string
	// Uncovered is set if the class need not have shown even if it was the cause: then it is
	// not excluded where nothing departs.
	Uncovered bool
	// Hits of Runs departed. In the mode Repeat they count the replays after the first, in others the repetitions of
	// the experiment itself.
	Hits, Runs int
	// Back is by how many ticks the peer rolled back at most, if that was known for the choice of the ticks.
	Back uint64

	trial *bisect.Trial // nil if none was made
	err   error         // why it was not
}

// ExperimentResult is how an experiment ended, by the name that the JSON document has for it.
type ExperimentResult string

// Results of experiments.
const (
	Agrees     ExperimentResult = "agrees"     // nothing departs
	DepartsSo  ExperimentResult = "departs"    // it departs where the peers diverged, with the same differences
	Elsewhere  ExperimentResult = "elsewhere"  // it departs, in another tick or in other columns
	Impossible ExperimentResult = "impossible" // the simulator cannot do it, or there is nothing to compare with; Why
	NotMade    ExperimentResult = "not-made"   // no more replays were allowed, or they were interrupted
)
