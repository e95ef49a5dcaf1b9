package words

import (
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/internal/shellwords"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
)

// toLearn are the steps for which Next suggests what would close them.
var toLearn = []verdict.Step{
	verdict.StepInputs, verdict.StepInitial, verdict.StepTick, verdict.StepSystem, verdict.StepArchetype, verdict.StepComponent,
}

// Next returns the next steps, the most useful first.
func Next(c *verdict.Conclusion) []document.Step {
	out := next(c)
	if l := c.LackedData(); l != nil && !c.Inputs.Differ() {
		look := fmt.Sprintf("compare the data of %s with the data of %s: only %s has %s in its log (%s)", l.Have[0].Peer, join(l.Lack, "and"), l.Have[0].Peer, prose.Quote(l.Text), l.Where())
		out = slices.Insert(out, 0, document.Step{About: look})
	}
	return out
}

// advice is something to do that is not one of our commands.
func advice(format string, args ...any) document.Step {
	return document.Step{About: fmt.Sprintf(format, args...)}
}

func next(c *verdict.Conclusion) (out []document.Step) {
	switch {
	case c.Word != nil:
		return nextTold(c)
	case c.Diverged():
		return slices.Concat(replays(c), line(c), checks(c), values(c), toGet(c))
	case c.Ask != "":
		out = append(out, ask(c))
	case c.Alone:
		out = append(out, advice("ask for %s", Needs(c.Lacking)))
	case len(c.Lost)+len(c.Lacking) > 0:
		out = append(out, rerun(c, "doctor", nil, "what is missing, and a text that asks the players for it"))
	}
	if c.Inputs.State == verdict.InputsLogs {
		out = append(out, rerun(c, "orders", []string{"--all"}, "lists every order that differs between the logs"))
	}
	if len(c.Contradictions) > 0 {
		out = append(out, advice("one of two pieces that contradict each other is wrong: desynctool verify computes the hashes of a file again from its content"))
	}
	return out
}

// ask is to send the text that asks the players for the missing files.
func ask(c *verdict.Conclusion) document.Step {
	if stdin(c) {
		return advice("send the text for the players to them, which --all prints")
	}
	return rerun(c, "doctor", nil, "ends with a text that asks the players for what is missing")
}

// replays are the replays that would show who is wrong and why, or the lists of orders that differ.
func replays(c *verdict.Conclusion) (out []document.Step) {
	switch {
	case c.Bracket == nil && c.Cache == nil:
	case c.Inputs.Differ():
		out = append(out, rerun(c, "orders", []string{"--all"}, "lists every order that differs"))
	case c.SimFailed != "":
		out = append(out, testSim(c))
	case !c.Replayed && c.Held.Logs > 0 && c.Session.Game == "refsim":
		out = append(out, rerun(c, "triage", []string{"--sim", "builtin"}, "replays the orders and shows which peer is wrong"))
	case c.Witnessed != nil:
	case c.Replayer != nil && c.Held.Logs > 0:
		out = append(out, byGame(c))
	case !c.Replayed && c.Held.Logs > 0:
		out = append(out, advice("triage with --sim, the game as a simulator, replays the orders and shows which peer is wrong (docs/extsim.md)"))
	}
	if c.Replayed && c.Witnessed == nil && !c.Unsteady && c.Simulators.Own == "" && len(c.Causes) == 0 && c.Bracket != nil && !c.Inputs.Differ() {
		out = append(out, advice("triage with --sim and --own, the build that the peer had, makes the experiments in that build"))
	}
	return out
}

// line is the replay that leads to the line of source, if both builds are programs that a debugger can start.
func line(c *verdict.Conclusion) []document.Step {
	program := func(spec string) bool {
		kind, _, _ := strings.Cut(spec, ":")
		return kind == "exec" || strings.HasPrefix(kind, "exec+")
	}
	name, path := c.Wrong()
	sims := c.Simulators
	if len(c.Guilty) == 0 || path == "" || c.Given.Match != 0 || stdin(c) || !c.HasLog(name) || !program(sims.Sim) || !program(sims.Own) {
		return nil
	}
	return []document.Step{{
		Command: []string{"replay", document.PathArgument(path), "--sim", sims.Sim, "--against", sims.Own, "--writes"},
		About:   "names the line of the first write that differs, with gdb; --debugger gdb stops the build there (docs/code.md)",
	}}
}

// byGame is a replay by the game itself.
func byGame(c *verdict.Conclusion) document.Step {
	about := "has the game play the recordings again and shows which peer is wrong"
	if build := c.Replayer.Build; build != "" {
		about += "; " + build
	} else {
		about += " (docs/games.md)"
	}
	return rerun(c, "triage", []string{"--sim", c.Replayer.Name}, about)
}

// testSim tests the simulator that failed.
func testSim(c *verdict.Conclusion) document.Step {
	const about = "tests the simulator, which failed (docs/extsim.md)"
	spec := c.Simulators.Sim
	if c.OwnFailed {
		spec = c.Simulators.Own
	}
	kind, command, _ := strings.Cut(spec, ":")
	args := []string{"sim", "check"}
	switch kind {
	case "wasm":
		return document.Step{Command: append(args, spec), About: about}
	case "exec+unix", "exec+tcp":
		args = append(args, "--transport", strings.TrimPrefix(kind, "exec+"))
	case "exec":
	default:
		return advice("the command sim check %s", about)
	}
	words, err := shellwords.Split(command)
	if err != nil || len(words) == 0 {
		return advice("the command sim check %s", about)
	}
	return document.Step{Command: append(append(args, "--"), words...), About: about}
}

// checks are what would show the causes that are not shown yet.
func checks(c *verdict.Conclusion) (out []document.Step) {
	for i := range c.Causes {
		if from := &c.Causes[i]; !from.Confirmed() || strings.HasPrefix(from.Class, "input-") { // where an order is lost is open still
			out = append(out, confirm(c, from.Class, "check for "+from.Class))
		}
	}
	return out
}

// values lists the values that differ, if these are not all of them.
func values(c *verdict.Conclusion) (out []document.Step) {
	k := c.Compared
	if k == nil || k.Values <= uint64(len(c.Locus)) {
		return nil
	}
	about := fmt.Sprintf("lists all %d values that differ", k.Values)
	if c.Files[0] == "" || c.Files[1] == "" || stdin(c) || c.Given.Match > 0 {
		return []document.Step{advice("diff of the two states, with --all, %s", about)}
	}
	return []document.Step{{Command: []string{"diff", document.PathArgument(c.Files[0]), document.PathArgument(c.Files[1]), "--all"}, About: about}}
}

// toGet is what would answer the steps that are open.
func toGet(c *verdict.Conclusion) (out []document.Step) {
	for _, a := range c.Answers {
		if a.State == document.RungOpen && slices.Contains(toLearn, a.Step) && len(a.Needs) > 0 {
			out = append(out, get(a.Step, a.Needs))
		}
	}
	return out
}

func get(step verdict.Step, list []verdict.Need) document.Step {
	return advice("to learn the %s: get %s", strings.ReplaceAll(string(step), "-", " "), needsWithHow(list))
}

// Ahead returns the next steps before anything is compared: a replay by the game of the session, if it has one, and the
// evidence that its players can provide and no two of them left.
func Ahead(given verdict.Given, e *engine.Engine, list []verdict.Prospect) (out []document.Step) {
	if e == nil {
		return nil
	}
	ticks := slices.ContainsFunc(list, func(p verdict.Prospect) bool { return p.Step == verdict.StepTick && p.Can })
	for i := range list {
		p := theirs(&list[i])
		if p.Step == verdict.StepInputs && len(p.Have) > 0 && e.Replayer != nil {
			out = append(out, byGame(&verdict.Conclusion{Given: given, Replayer: e.Replayer}))
		}
		lacks := p.Step == verdict.StepInputs || !ticks && (p.Step == verdict.StepBracket || p.Step == verdict.StepTick)
		if e.Offers != nil && lacks && len(p.Have) < 2 && len(p.Needs) > 0 {
			out = append(out, get(p.Step, p.Needs))
		}
	}
	return out
}
