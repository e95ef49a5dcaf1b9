package verdict

// Step is one question of the narrowing.
type Step int

// Steps, in the order in which they narrow.
const (
	StepPreflight Step = iota // is the evidence whole, and of one game
	StepInputs                // were the peers given the same orders
	StepInitial               // did they begin with the same state
	StepBracket               // between which two state points did they part
	StepChecksums             // what do the games' own checksums say
	StepTick                  // in which tick
	StepSystem                // in which system of it
	StepArchetype             // which archetype was first
	StepComponent             // which component of it
	StepEntity                // which entities
	StepField                 // which fields, with which values
	StepPeers                 // who is wrong
	StepCause                 // what kind of mistake
	StepClaims                // what do the engines say themselves
	steps
)

var stepNames = [steps]string{
	"preflight", "inputs", "initial-state", "bracket", "checksums", "tick", "system", "archetype", "component", "entity", "field", "peers", "cause", "claims",
}

// String returns the name that the JSON document has for the step.
func (s Step) String() string { return stepNames[s] }

// Steps returns all steps, in order.
func Steps() []Step {
	list := make([]Step, steps)
	for i := range list {
		list[i] = Step(i)
	}
	return list
}
