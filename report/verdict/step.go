package verdict

// Step is one question of the narrowing, by the name that the JSON document has for it.
type Step string

// Steps, in the order in which they narrow.
const (
	StepPreflight Step = "preflight"     // is the evidence whole, and of one game
	StepInputs    Step = "inputs"        // were the peers given the same orders
	StepInitial   Step = "initial-state" // did they begin with the same state
	StepBracket   Step = "bracket"       // between which two state points did they diverge
	StepChecksums Step = "checksums"     // what do the games' own checksums show
	StepTick      Step = "tick"          // in which tick
	StepSystem    Step = "system"        // in which system of it
	StepArchetype Step = "archetype"     // which archetype was first
	StepComponent Step = "component"     // which component of it
	StepEntity    Step = "entity"        // which entities
	StepField     Step = "field"         // which fields, with which values
	StepPeers     Step = "peers"         // who is wrong
	StepCode      Step = "code"          // in which line of the game's code
	StepCause     Step = "cause"         // what kind of mistake
	StepClaims    Step = "claims"        // what do the engines report themselves
)
