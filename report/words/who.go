package words

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/verdict"
)

// why names the cause, or what the divergence looks like, or explains why no cause is known.
func why(c *verdict.Conclusion) string {
	names := likeliest(c)
	if len(names) == 0 {
		return "The cause is not known: " + unfit(c) + "." + lead(c)
	}
	first := &c.Causes[0]
	text := join(names, map[bool]string{false: "or", true: "and"}[first.Together])
	if len(names) == 1 {
		text = fmt.Sprintf("%s (%s)", lower(title(names[0])), names[0])
	}
	switch first.Standing {
	case verdict.Shown:
		text = "Cause, by experiment: " + text
	case verdict.NotExcluded:
		return "No experiment shows the cause. Not excluded: " + text + "."
	case verdict.Seen:
		text = "Cause: " + text
	default:
		text = "It looks like this: " + text
		if r := first.Rate; r != nil {
			text += fmt.Sprintf("; of %d measured sessions with such evidence that was right in %d", r.Of, r.Right)
		}
	}
	switch {
	case len(names) > 1 && first.Together:
		text += ", which hold together"
	case len(names) > 1:
		text += "; this evidence does not separate them"
	}
	return text + "."
}

// unfit explains why no cause is known.
func unfit(c *verdict.Conclusion) string {
	switch {
	case slices.ContainsFunc(c.Experiments, func(x verdict.Experiment) bool { return x.Result == verdict.NotMade }):
		return "not all experiments that may show it were made"
	case c.Kind == bisect.ChecksumOnly && c.MayLack():
		return "the states may lack what differs, such as random numbers, or the checksum covers what is no state"
	case c.Compared == nil:
		return "no states of the moment at which the peers diverged were compared"
	case c.Later == 0:
		text := "several kinds of mistakes make such values"
		if list := alike(c); len(list) > 0 {
			text = join(list, "and") + verb(list, " is", " are") + " equal, and " + text
		}
		return text
	case c.Began:
		return "the states that differ were saved after the tick in which the runs diverged"
	case c.Tick != nil:
		return fmt.Sprintf("the nearest states that differ were saved %s later", prose.Count(c.Later, "tick", "ticks"))
	case c.Bracket != nil && c.Bracket.Good == nil:
		return "the peers may have diverged long before these states were saved"
	}
	return fmt.Sprintf("the states that differ were saved up to %s after the divergence", prose.Count(c.Later, "tick", "ticks"))
}

// likeliest returns the classes of the causes.
func likeliest(c *verdict.Conclusion) []string {
	return lists.Map(c.Causes, func(x verdict.Cause) string { return x.Class })
}

// who names the peer that is wrong, as far as that is known.
func who(c *verdict.Conclusion) string {
	if c.Witnessed != nil && !c.Inputs.Differ() {
		return whoWitnessed(c)
	}
	switch {
	case len(c.Guilty) > 0:
		verb := "departs"
		if len(c.Guilty) > 1 {
			verb = "depart"
		}
		by, of := "Wrong", ""
		if b := c.Borrowed; b != nil {
			by += ", by the log of " + b.From + " alone"
			of = fmt.Sprintf(" of %s; the log of %s is not there, so it may have been given others", b.From, b.Peer)
		}
		if c.OwnReplay != nil {
			of = " in its own log"
		}
		return fmt.Sprintf("%s: %s, which %s from a replay of the orders%s.", by, join(c.Guilty, "and"), verb, of)
	case c.Inputs.Differ():
		return cmp.Or(blamed(c), "The peers were given different orders.")
	case unreplayed(c):
		return "Which peer is wrong is not known: the simulator failed: " + c.SimFailed + "."
	case c.Unsteady:
		return "Which peer is wrong is not known: the simulator does not agree with itself, replays of the same orders differ."
	case c.Replayed:
		return "Which peer is wrong is not known: the replay departs from none there, or from every one."
	}
	if r := c.Restored; r != nil {
		return fmt.Sprintf("%s departs from the state that it had saved itself; a replay of the orders would show whether the others are right (%s).", prose.Name(r.Peer), sim(c))
	}
	would := "a replay of the orders would show it (" + sim(c) + ")"
	switch {
	case c.Held.Logs > 0:
	case slices.ContainsFunc(c.Answers, unlogged):
		would = "only a replay of the orders would show it, and no order logs of " + c.Engine.Name() + " are read"
	default:
		would = "an order log and a replay of it would show it (" + sim(c) + ")"
	}
	if len(c.Groups) > 1 && len(c.Peers) > 2 {
		would = groups(c.Groups) + "; " + would
	}
	return "Which peer is wrong is not known: " + would + "."
}

// sim is the flag that has the orders replayed.
func sim(c *verdict.Conclusion) string {
	if c.Replayer != nil {
		return "--sim " + c.Replayer.Name
	}
	return "--sim"
}

// unlogged reports whether a step needs an order log, and none of the game is read.
func unlogged(a verdict.Answer) bool {
	return slices.ContainsFunc(a.Unmade, func(n verdict.Need) bool { return n.What == verdict.SimulatorOrders })
}

// blamed describes how the orders differ, "" if that is not known.
func blamed(c *verdict.Conclusion) string {
	if c.Inputs.Parting == nil {
		return ""
	}
	return fmt.Sprintf("The network layer is to blame: %s.", partingOrder(&c.Inputs))
}
