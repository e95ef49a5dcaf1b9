package words

import (
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/playbook"
)

// class is what is said of a class of causes.
type class struct {
	title string
	// confirm is what would separate it from classes that look alike.
	confirm string
}

var classes = map[string]class{
	playbook.InputDropped:     {"An order was lost on its way to a peer", "the relay's or the server's own log of orders"},
	playbook.InputDuplicated:  {"An order was applied twice", "the relay's or the server's own log of orders"},
	playbook.InputReordered:   {"Orders of a tick were applied in another order", "the relay's or the server's own log of orders"},
	playbook.InputAltered:     {"An order was changed on its way", "the relay's or the server's own log of orders"},
	playbook.InputLate:        {"An order was applied in another tick", "the relay's or the server's own log of orders"},
	playbook.InitialState:     {"The peers did not begin with the same state", "the settings of the lobby that each peer began with"},
	playbook.DifferentData:    {"The peers play by different data or code", "hashes of the data files; replay --against a simulator with the other data"},
	playbook.RNGLeak:          {"The sim's random numbers are drawn by something that is not part of it", "replay --drill, in which the RNG departs after a system, with or before what is drawn from it"},
	playbook.IterationOrder:   {"Results are applied in the order of a map, or of threads that finish", "replay --runs 10, in which two replays of one peer differ"},
	playbook.UnstableSort:     {"A sort leaves equal elements in no certain order", "replay --against the other platform's build, while --runs 10 of one build agrees"},
	playbook.Float:            {"Floating-point arithmetic rounds differently", "replay --against the other platform's build; compiler flags (contraction, fast math)"},
	playbook.Uninitialized:    {"Memory is read that was not set", "replay --from-each-snapshot, in which a peer that has just loaded does not repeat it; a memory sanitizer"},
	playbook.StaleCache:       {"Derived data was not brought up to date", "replay --check-caches"},
	playbook.ImpureValidation: {"Testing whether an order is possible changes the state", "replay --check-purity"},
	playbook.PredictionLeak:   {"What was predicted is not taken back completely", "replay --predict P,Q"},
	playbook.SaveForgets:      {"A save or a restore leaves a part of the state out", "replay --serialize, replay --from-each-snapshot"},
	playbook.ThreadTiming:     {"The result depends on the timing of threads", "replay --runs 10, in which two replays of one peer differ, now and then"},
	playbook.Locale:           {"The result depends on the machine's language", "the peers' locales, as doctor lists them; a replay under each of them"},
	playbook.WallClock:        {"The sim reads the machine's clock", "replay --runs 10, in which two replays of one peer differ, each time"},
	playbook.BitFlip:          {"A bit of memory flipped", "replay of that peer's own log, which does not repeat it; a memory test of the machine"},
	playbook.SelfHealed:       {"A value was wrong for a while and was computed anew", "replay of that peer's own log; what computes the value from scratch"},
	playbook.ChecksumDefect:   {"The checksum is wrong, or does not cover what differs", "verify, which computes hashes again from the states"},
}

// title says what a class of causes is.
func title(name string) string { return classes[name].title }

// Causes writes what may have made the mistake, the likeliest first.
func Causes(c *playbook.Conclusion) []report.Cause {
	list := []report.Cause{}
	for i := range c.Causes {
		from := &c.Causes[i]
		cause := report.Cause{Class: from.Class, Title: title(from.Class), Score: from.Score, Group: from.Group, Evidence: full(signs(from.Signs)), Later: from.Later}
		if from.Alike {
			cause.Separate = classes[from.Class].confirm
		}
		list = append(list, cause)
	}
	return list
}

// signs says what speaks for a cause.
func signs(list []playbook.Sign) (texts []string) {
	for _, s := range list {
		texts = append(texts, Sign(s))
	}
	return texts
}

// Sign says what the evidence shows, as far as it speaks for a cause.
func Sign(s playbook.Sign) string {
	number := func(i int) uint64 {
		if i < len(s.Numbers) {
			return s.Numbers[i]
		}
		return 0
	}
	name := func(i int) string {
		if i < len(s.Names) {
			return s.Names[i]
		}
		return ""
	}
	switch s.Kind {
	case playbook.OnlySumsDiffer:
		return "the states are equal while the checksums differ"
	case playbook.SumsAreBlind:
		return "the states differ while every checksum agrees: none of them covers what differs"
	case playbook.CacheRecomputed:
		return fmt.Sprintf("%s's game computed derived data anew and found it wrong: “%s”", name(0), name(1))
	case playbook.OrdersDiffer:
		return orders[s.Order]
	case playbook.CachesBefore:
		return "before the states parted, derived data differed under equal states: " + strings.Join(s.Names, ", ")
	case playbook.StartDiffers:
		return "the states differ before any tick was played"
	case playbook.FactDiffers:
		return fmt.Sprintf("%s differs: %s", name(0), strings.Join(s.Names[min(1, len(s.Names)):], ", "))
	case playbook.Extent:
		if number(0) == 0 {
			return "no entity differs"
		}
		verb := "differ"
		if number(0) == 1 {
			verb = "differs"
		}
		return fmt.Sprintf("%s of %s %s, in %s", prose.Count(number(0), "entity", "entities"), prose.Count(number(1), "archetype", "archetypes"), verb, prose.Count(number(2), "column", "columns"))
	case playbook.EqualAgain:
		return "the states are equal again later"
	case playbook.OnlyFloats:
		return fmt.Sprintf("only floats differ, by at most %d in the last place", number(0))
	case playbook.FarFloats:
		return "floats differ by much, in several entities"
	case playbook.NamedByOrder:
		return fmt.Sprintf("every entity that differs is named by an order of the tick (%s), and the orders are equal", name(0))
	case playbook.NamedByUncompared:
		return fmt.Sprintf("every entity that differs is named by an order of the tick (%s), and the orders of some peers are not there to compare", name(0))
	case playbook.OneBit:
		return "one bit of one value differs"
	case playbook.ZeroOnOneSide:
		return fmt.Sprintf("%s of one field %s zero on one side", prose.Count(number(0), "value", "values"), map[bool]string{true: "is", false: "are"}[number(0) == 1])
	case playbook.ValuesInOtherRows:
		return fmt.Sprintf("values of %s are the same on both sides, but in other rows", prose.Count(number(0), "column", "columns"))
	case playbook.CacheEntries:
		return fmt.Sprintf("%s of derived data differ, though no entity came or went", prose.Count(number(0), "entry", "entries"))
	case playbook.EachOthersKeys:
		return fmt.Sprintf("new entities have each other's keys: %d and %d are on one side only", number(0), number(1))
	case playbook.RNGFirst:
		return "the RNG differs after the first system"
	case playbook.RNGAtEnd:
		return "the RNG differs at the end of the tick"
	case playbook.RNGLater:
		return "the RNG differs where the states are compared"
	case playbook.ColumnOneWay:
		return "the values of one column all differ one way"
	case playbook.OneColumn:
		return "one column differs"
	case playbook.NearlyAll:
		return "nearly all entities of one archetype differ"
	case playbook.SeveralKinds:
		return "entities of several archetypes differ"
	case playbook.FewEntities:
		return "few entities differ"
	case playbook.FewEntitiesMuch:
		return "few entities differ, in many columns"
	case playbook.OneKind:
		return "entities of one archetype differ"
	case playbook.NotExcluded:
		return "nothing excludes it"
	}
	return ""
}

// orders says how the first order differs that does.
var orders = map[orderlog.DifferenceKind]string{
	orderlog.Missing:    "an order is missing on a peer",
	orderlog.Extra:      "a peer has an order that others lack",
	orderlog.Duplicated: "a peer applied an order twice",
	orderlog.Reordered:  "a peer applied orders of a tick in another order",
	orderlog.Late:       "an order is in another tick on a peer",
	orderlog.Altered:    "an order has another content on a peer",
	orderlog.Failed:     "an order failed on a peer",
}
