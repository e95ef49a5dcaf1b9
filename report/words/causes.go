package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
)

// class is the text about a class of causes: what would show it, and what would exclude it.
type class struct {
	title   string
	confirm check
	refute  string
}

// check is something that would show a cause: a replay of the wrong peer's orders, or else a text.
type check struct {
	replay []string // flags
	beside bool     // the peer's own build runs next to the trusted one, else by itself
	with   string   // what to look at, or else what to do
}

// own is a replay in the build that the peer had.
func own(flags ...string) check { return check{replay: flags} }

// sideBySide is a replay in the trusted build and in the peer's build.
func sideBySide(with string, flags ...string) check {
	return check{replay: append([]string{}, flags...), beside: true, with: with}
}

var (
	ownLog  = check{with: "the relay's or the server's own log of orders"}
	ownRuns = own("--runs", "10")
	drilled = sideBySide("", "--drill")
)

// nothingDeparts is the check that confirms that no build made a value.
const nothingDeparts = "nothing departs"

var classes = map[string]class{
	verdict.InputDropped:     {"An order was lost on its way to a peer", ownLog, "a log of the relay that lacks the order as well"},
	verdict.InputDuplicated:  {"An order was applied twice", ownLog, "a log of the relay that has the order twice"},
	verdict.InputReordered:   {"Orders of a tick were applied in another order", ownLog, "a log of the relay with the same sequence of orders"},
	verdict.InputAltered:     {"An order was changed on its way", ownLog, "a log of the relay with the same content"},
	verdict.InputLate:        {"An order was applied in another tick", ownLog, "a log of the relay with the same tick"},
	verdict.InitialState:     {"The peers did not begin with the same state", check{with: "the settings of the lobby that each peer began with"}, "a state from before the one that was compared in which the peers are equal"},
	verdict.DifferentData:    {"The peers play by different data or code", sideBySide(""), "a replay in the peer's own build and data that comes to what the others have"},
	verdict.RNGLeak:          {"The sim's random numbers are drawn by something that is not part of it", drilled, "another value that differs before the RNG does"},
	verdict.IterationOrder:   {"Results are applied in the order of a map, or of threads that finish", ownRuns, "replays that are all the same, with as many threads as the peer had"},
	verdict.UnstableSort:     {"A sort leaves equal elements in no certain order", drilled, "two replays of one build that differ: then it is the order of work"},
	verdict.Float:            {"Floating-point arithmetic rounds differently", drilled, "in the same step, an integer that differs, or a float that does by more than rounding"},
	verdict.Uninitialized:    {"Memory is read that was not set", own("--serialize", "--runs", "10"), "a replay with a memory sanitizer that is silent"},
	verdict.StaleCache:       {"Derived data was not brought up to date", own("--check-caches"), "caches that are what the state gives, in every tick until then"},
	verdict.ImpureValidation: {"Testing whether an order is possible changes the state", own("--check-purity"), "the tests of all orders of that tick, after which the state is as before"},
	verdict.PredictionLeak:   {"What was predicted is not taken back completely", own("--predict", "0,1"), "predictions of all players in that tick, after which the state is as before"},
	verdict.SaveForgets:      {"A save or a restore leaves a part of the state out", own("--serialize"), "a state that is saved and loaded in that tick and goes on as the others do"},
	verdict.TimerOff:         {"A timer or counter is off after a reconnect", own("--from-each-snapshot"), "values that are off by another number than the number of ticks missed"},
	verdict.ThreadTiming:     {"The result depends on the timing of threads", own("--runs", "100"), "the same divergence with one thread"},
	verdict.Locale:           {"The result depends on the machine's language", check{with: "the peers' locales, as doctor lists them; a replay under each of them"}, "the same divergence between machines of one locale"},
	verdict.WallClock:        {"The sim reads the machine's clock", ownRuns, "replays that are all the same"},
	verdict.HostOnly:         {"Something that runs on one machine only changed the state", check{with: "a replay of the host's orders in a build without that script or bot"}, "the same divergence of a peer that is not the host"},
	verdict.ForeignWrite:     {"A value was overwritten from outside: a memory editor, a cheat, a broken memory", sideBySide(nothingDeparts), "the peer's own build making the same value again"},
	verdict.BitFlip:          {"A bit of memory flipped", sideBySide(nothingDeparts + "; and a memory test of the machine"), "the peer's own build making the same value again; the same field in another report"},
	verdict.SelfHealed:       {"A value was wrong for a while and was computed again", drilled, "something later that depends on the value and differs"},
	verdict.ChecksumDefect:   {"The checksum is wrong, or does not cover what differs", check{with: "hashes that are computed again from content, which verify does"}, "states that differ, with checksums that differ as well"},
}

// title returns the title of a class of causes.
func title(name string) string { return classes[name].title }

// Causes writes the possible causes of the mistake, the likeliest first.
func Causes(c *verdict.Conclusion) []document.Cause {
	list := []document.Cause{}
	for i := range c.Causes {
		from := &c.Causes[i]
		cause := document.Cause{
			Class: from.Class, Title: title(from.Class), Standing: string(from.Standing), Group: 1, Evidence: full(signs(from.Signs)),
			Confirm: confirm(c, from.Class, "").String(), Refute: classes[from.Class].refute,
		}
		if from.Together {
			cause.Group += i
		}
		if from.Confirmed() {
			cause.Score = 1
		} else if r := from.Rate; r != nil && r.Of > 0 {
			cause.Right, cause.Of, cause.Score = r.Right, r.Of, float64(1000*r.Right/r.Of)/1000
		}
		list = append(list, cause)
	}
	return list
}

// Excluded returns why classes of causes are excluded.
func Excluded(c *verdict.Conclusion) map[string]string {
	out := map[string]string{}
	for i := range c.Excluded {
		x := &c.Excluded[i]
		out[x.Class] = Sign(x.By)
		switch {
		case x.By.Kind != verdict.Experimented:
		case x.Class == verdict.DifferentData:
			out[x.Class] = "it comes to the states of the others: " + out[x.Class]
		case x.By.Names[0] == string(bisect.Plain):
			out[x.Class] = "it comes to the peer's states without it: " + out[x.Class]
		case x.Class == verdict.ChecksumDefect:
			out[x.Class] = "states differ: " + out[x.Class]
		default:
			out[x.Class] = "nothing departs: " + out[x.Class]
		}
	}
	return out
}

// Experiments writes the replays that were made to find the cause.
func Experiments(c *verdict.Conclusion) []document.Experiment {
	list := []document.Experiment{}
	for i := range c.Experiments {
		x := &c.Experiments[i]
		out := document.Experiment{
			Mode: string(x.Mode), Sim: x.Sim, Peer: x.Peer, Whole: x.Whole, Wide: x.Wide, RolledBack: x.Back, Uncovered: x.Uncovered, Result: string(x.Result), System: x.System,
			Shows: x.Shows, Text: experiment(theirs(x)),
		}
		out.Labels = lists.Map(x.Labels, label)
		if x.At != nil {
			out.Tick = &x.At.Number
		}
		list = append(list, out)
	}
	return list
}

// modes describe what a replay does.
var modes = map[bisect.TrialMode]string{
	bisect.Plain: "the peer's orders played again", bisect.Against: "two builds side by side", bisect.Repeat: "the orders played several times",
	bisect.Dual:      "two instances side by side",
	bisect.Serialize: "saved and loaded in the tick", bisect.Rollback: "rolled back in the tick", bisect.CheckCaches: "all caches computed again",
	bisect.CheckPurity: "orders tested before the tick is played", bisect.Predict: "the tick predicted and taken back",
}

// experiment describes how an experiment ended.
func experiment(x *verdict.Experiment) string {
	text := fmt.Sprintf("%s, in %s", modes[x.Mode], x.Sim)
	if x.Whole {
		text += ", from the start"
	}
	if x.Wide {
		text += ", before and after the tick too"
	}
	if x.Back > 0 {
		text += fmt.Sprintf(" (the peer's trace shows rollbacks by up to %s)", prose.Count(x.Back, "tick", "ticks"))
	}
	text += ": "
	where := ""
	if x.At != nil {
		where = ", in " + document.InTick(tick(*x.At))
	}
	if x.System != "" {
		where += ", in " + x.System
	}
	if len(x.Labels) > 0 {
		where += ": " + labels(x.Labels, 3)
	}
	switch x.Result {
	case verdict.DepartsSo:
		if x.Mode == bisect.Plain {
			return text + "it comes to the peer's states"
		}
		if x.Mode == bisect.Repeat {
			text += "it departs from itself" + where
			break
		}
		how := "as the peer did"
		if x.Wide {
			how = "in values that differ between the peers"
		}
		text += "it departs " + how + where
	case verdict.Elsewhere:
		text += "it departs, but not as the peer did" + where
	case verdict.Agrees:
		if x.Mode == bisect.Plain {
			return text + "it comes to what the others have, and not to the peer's state"
		}
		text += "nothing departs"
		if x.Uncovered && x.Mode == bisect.Predict {
			text += ", which excludes nothing: a replay knows all orders and does not show what the peer made of its guesses"
		} else if x.Uncovered {
			text += ", which excludes nothing: the values that differ between the peers do not change there"
		}
	case verdict.Impossible:
		return text + "not possible: " + x.Why
	default:
		return text + "not made, no more replays were allowed (--replays), or they were interrupted"
	}
	if x.Runs > 0 {
		text += fmt.Sprintf(", in %d of %d replays", x.Hits, x.Runs)
	}
	return text
}

// confirm returns what would show a class of causes. It is a command if everything that it needs is known: the log of
// the peer that is wrong, and the builds.
func confirm(c *verdict.Conclusion, class, about string) document.Step {
	check := classes[class].confirm
	if check.replay == nil {
		return document.Step{About: clauses(": ", about, check.with)}
	}
	name, path := c.Wrong()
	sims := c.Simulators
	if sims.Sim == "" && c.Session.Game == "refsim" {
		sims.Sim = "builtin"
	}
	if sims.Sim != "" && sims.Own == "" && !check.beside {
		sims.Own = sims.Sim
	}
	if path != "" && c.Given.Match == 0 && !stdin(c) && sims.Own != "" && c.HasLog(name) {
		command := []string{"replay", document.PathArgument(path), "--sim", sims.Own}
		if check.beside {
			command = []string{"replay", document.PathArgument(path), "--sim", sims.Sim, "--against", sims.Own}
		}
		return document.Step{Command: append(command, check.replay...), About: clauses(": ", about, check.with)}
	}
	whose := "the orders"
	if name != "" {
		whose += " of " + name
	}
	where := " in the build that the peer had, as --sim"
	if check.beside {
		where = " in a build that is trusted, as --sim, and the one that the peer had, as --against"
	}
	if len(check.replay) > 0 {
		where += ", with " + strings.Join(check.replay, " ")
	}
	return document.Step{About: clauses(": ", about, clauses("; ", "replay "+whose+where, check.with))}
}

// clauses joins what is not empty.
func clauses(between string, list ...string) string {
	return strings.Join(slices.DeleteFunc(list, func(s string) bool { return s == "" }), between)
}

// stdin reports whether some of the evidence came from stdin, which no command can read again.
func stdin(c *verdict.Conclusion) bool { return slices.Contains(c.Given.Paths, "-") }

// rerun returns a command with the paths that were given; without them if one was stdin.
func rerun(c *verdict.Conclusion, command string, flags []string, about string) document.Step {
	if stdin(c) || len(c.Given.Paths) == 0 {
		return document.Step{About: clauses(": ", strings.Join(append([]string{command}, flags...), " ")+" of the same files", about)}
	}
	args := []string{command}
	args = append(args, lists.Map(c.Given.Paths, document.PathArgument)...)
	if c.Given.Match > 0 {
		args = append(args, "--match", strconv.Itoa(c.Given.Match))
	}
	return document.Step{Command: append(args, flags...), About: about}
}

// signs describes the evidence for a cause.
func signs(list []verdict.Sign) []string {
	return lists.Map(list, Sign)
}

// Sign describes a sign in the evidence that supports a cause.
func Sign(s verdict.Sign) string {
	number := func(i int) uint64 {
		if i < len(s.Numbers) {
			return s.Numbers[i]
		}
		return 0
	}
	said := func(i int) string {
		if i < len(s.Names) {
			return s.Names[i]
		}
		return ""
	}
	name := func(i int) string { return prose.Name(said(i)) }
	switch s.Kind {
	case verdict.OnlySumsDiffer:
		return "the states are equal while the checksums differ"
	case verdict.SumsAreBlind:
		return "the states differ while every checksum agrees: none of them covers what differs"
	case verdict.CacheRecomputed:
		return fmt.Sprintf("%s's game computed derived data again and found it wrong: %s", name(0), prose.Quote(said(1)))
	case verdict.CachesUnderEqual:
		return "derived data differs under equal states"
	case verdict.OrdersDiffer:
		return orders[s.Order]
	case verdict.CachesBefore:
		return "before the states diverged, derived data differed under equal states: " + strings.Join(prose.Names(s.Names), ", ")
	case verdict.StartDiffers:
		return "the states differ before any tick was played"
	case verdict.FactDiffers:
		return fmt.Sprintf("%s differs: %s", name(0), strings.Join(prose.Names(s.Names[min(1, len(s.Names)):]), ", "))
	case verdict.FactSame:
		return fmt.Sprintf("%s is %s on the peer who is wrong and on one who is right", name(0), name(1))
	case verdict.PartedByLoading:
		return fmt.Sprintf("the state that %s loaded is not the one that the others have", name(0))
	case verdict.RestoredOther:
		return fmt.Sprintf("the rollback of %s did not restore what was saved: expected %s, got %s", name(0), said(1), said(2))
	case verdict.GuessKept:
		return fmt.Sprintf("%s guessed the input of player %d in the tick (%s), another one came (%s), and no restore led back to the tick", name(0), number(0), said(1), said(2))
	case verdict.LoadedThere:
		return fmt.Sprintf("%s has a %s marker in tick %d, where the states diverge", name(0), name(1), number(0))
	case verdict.Experimented:
		return fmt.Sprintf("%s (%s)", modes[bisect.TrialMode(said(0))], name(1))
	case verdict.OwnIsSound:
		return fmt.Sprintf("the peer's own build, %s, comes to what the others have in every experiment", name(0))
	case verdict.DecimalSigns:
		return "nothing but texts differ, which are the same numbers with another decimal sign"
	case verdict.EqualAgain:
		return "the states are equal again later"
	case verdict.OnlyFloats:
		return fmt.Sprintf("only floats differ, by no more than rounding makes of them, in %s", prose.Count(number(0), "entity", "entities"))
	case verdict.NamedByOrder:
		return fmt.Sprintf("every entity that differs is named by an order of the tick (%s), and the orders are equal", name(0))
	case verdict.NamedByUncompared:
		return fmt.Sprintf("every entity that differs is named by an order of the tick (%s), and the orders of some peers are not there to compare", name(0))
	case verdict.OneBit:
		return "one bit of one value differs"
	case verdict.ZeroOnOneSide:
		return fmt.Sprintf("%s of one field %s zero on one side", prose.Count(number(0), "value", "values"), map[bool]string{true: "is", false: "are"}[number(0) == 1])
	case verdict.ValuesInOtherRows:
		return fmt.Sprintf("values of %s are the same on both sides, but in other rows", prose.Count(number(0), "column", "columns"))
	case verdict.EachOthersKeys:
		return fmt.Sprintf("new entities have each other's keys: %d and %d are on one side only", number(0), number(1))
	case verdict.CalledWhere:
		return fmt.Sprintf("the code in which the builds depart calls %s", name(0))
	case verdict.RNGFirst:
		return "the RNG differs first, and nothing else"
	}
	return ""
}

// orders describes how the first differing order differs.
var orders = map[orderlog.DifferenceKind]string{
	orderlog.Missing:    "an order is missing on a peer",
	orderlog.Extra:      "a peer has an order that others lack",
	orderlog.Duplicated: "a peer applied an order twice",
	orderlog.Reordered:  "a peer applied orders of a tick in another order",
	orderlog.Late:       "an order is in another tick on a peer",
	orderlog.Altered:    "an order has another content on a peer",
	orderlog.Failed:     "an order failed on a peer",
}
