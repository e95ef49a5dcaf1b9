package document

import "fmt"

// Cause is a class of mistakes that may have caused the divergence.
type Cause struct {
	Class string `json:"class"` // a heading of docs/causes.md
	Title string `json:"title"`
	// Standing is "shown" (by experiments), "seen" (in the evidence itself), "not-excluded" (no
	// experiment shows or excludes it), or "looks-like".
	Standing string `json:"standing"`
	// Score is 1 if the cause is shown or seen, else Right of Of: in how many of the measured sessions with such
	// evidence it was one of the listed classes.
	Score float64 `json:"score"`
	Right int     `json:"measured_right,omitempty"`
	Of    int     `json:"measured_of,omitempty"`
	// Group is the same number for classes that the evidence does not separate. Classes with
	// different numbers hold together.
	Group    int      `json:"group"`
	Evidence []string `json:"evidence"`
	// Confirm is what would show it, a command where there is one; Refute what would exclude
	// it.
	Confirm string `json:"confirm,omitempty"`
	Refute  string `json:"refute,omitempty"`
}

// Measured returns how often the evidence for a cause was right, "" for a cause that was not measured: it is shown, or
// seen, or too few sessions have such evidence.
func (c *Cause) Measured() string {
	if c.Of == 0 {
		return ""
	}
	return fmt.Sprintf("right in %d of %d measured sessions with such evidence", c.Right, c.Of)
}

// Experiment is a replay that was made to find the cause.
type Experiment struct {
	Mode  string `json:"mode"` // as in replay
	Sim   string `json:"sim"`
	Peer  string `json:"peer"` // the peer that the replayed orders come from
	Whole bool   `json:"whole,omitempty"`
	// Wide is whether it was made in the ticks before and after the divergent one too.
	Wide bool `json:"wide,omitempty"`
	// RolledBack is by how many ticks the peer rolled back at most, where its trace shows that: Wide reaches as far.
	RolledBack uint64 `json:"rolled_back,omitempty"`
	// Result is "agrees", "departs" as the peers did, "elsewhere", "impossible" or "not-made".
	Result string   `json:"result"`
	Tick   *uint64  `json:"tick"` // in which it departs
	System string   `json:"system,omitempty"`
	Labels []string `json:"archetypes,omitempty"` // that differ then
	// Uncovered is whether its outcome excludes nothing: the mistake need not have shown in its
	// ticks.
	Uncovered bool     `json:"uncovered,omitempty"`
	Shows     []string `json:"shows,omitempty"` // classes of causes
	Text      string   `json:"text"`
}
