package words

import (
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/playbook"
)

// toLearn are the steps of which Next says what would close them.
var toLearn = []playbook.Step{
	playbook.StepInputs, playbook.StepInitial, playbook.StepTick, playbook.StepSystem, playbook.StepArchetype, playbook.StepComponent,
}

// Next says what to do, the most useful first.
func Next(c *playbook.Conclusion) []string {
	out := next(c)
	if l := c.LackedData(); l != nil && !c.Inputs.Differ() {
		look := fmt.Sprintf("compare the data of %s with that of %s: only %s has “%s” in its log (%s)", l.Have[0].Peer, join(l.Lack, "and"), l.Have[0].Peer, prose.Shorten(l.Text, 100), l.Where())
		out = slices.Insert(out, 0, look)
	}
	return out
}

func next(c *playbook.Conclusion) []string {
	out := []string{}
	if c.Word != nil {
		return nextTold(c)
	}
	if !c.Diverged() {
		switch {
		case c.Ask != "":
			out = append(out, "send the text below to the players")
		case c.Alone:
			out = append(out, "ask for "+Needs(c.Lacking))
		case len(c.Lost)+len(c.Lacking) > 0:
			out = append(out, "ask the players for what is missing: desynctool doctor PATH… writes the text")
		}
		if c.Inputs.State == playbook.InputsLogs {
			out = append(out, "desynctool orders PATH… --all lists every order that differs between the logs")
		}
		if len(c.Contradictions) > 0 {
			out = append(out, "desynctool verify FILE… computes hashes again from content: one of two pieces that contradict each other is wrong")
		}
		return out
	}
	switch {
	case c.Bracket == nil:
	case c.Inputs.Differ():
		out = append(out, "desynctool orders PATH… --all lists every order that differs")
	case c.SimFailed != "":
		out = append(out, "desynctool sim check -- GAME tests the simulator, which failed (docs/extsim.md)")
	case !c.Replayed && c.Held.Logs > 0 && c.Session.Game == "refsim":
		out = append(out, "desynctool triage PATH… --sim builtin replays the orders and shows which peer is wrong")
	case !c.Replayed && c.Held.Logs > 0:
		out = append(out, "desynctool triage PATH… --sim exec:GAME replays the orders in the game and shows which peer is wrong (docs/extsim.md)")
	}
	if c.Replayed && !c.Unsteady && c.Simulators.Own == "" && len(c.Causes) == 0 && c.Bracket != nil && !c.Inputs.Differ() {
		out = append(out, fmt.Sprintf("desynctool triage PATH… --sim %s --own BUILD makes the experiments in the build that the peer had", quote(c.Simulators.Sim)))
	}
	for i := range c.Causes {
		if from := &c.Causes[i]; !from.Confirmed() || strings.HasPrefix(from.Class, "input-") { // where an order is lost is open still
			out = append(out, fmt.Sprintf("check for %s: %s", from.Class, command(c, classes[from.Class].confirm)))
		}
	}
	if k := c.Compared; k != nil && k.Values > uint64(len(c.Locus)) {
		out = append(out, fmt.Sprintf("desynctool diff A@%d B@%d --all lists all %d values that differ", k.Point, k.Point, k.Values))
	}
	for _, a := range c.Answers {
		if a.State == report.RungOpen && slices.Contains(toLearn, a.Step) && len(a.Needs) > 0 {
			out = append(out, fmt.Sprintf("to learn the %s: get %s", strings.ReplaceAll(a.Step.String(), "-", " "), Needs(a.Needs)))
		}
	}
	return out
}
