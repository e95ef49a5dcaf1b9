package playbook

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report"
)

// Classes of causes, each a heading of docs/causes.md.
const (
	InputDropped     = "input-dropped"
	InputDuplicated  = "input-duplicated"
	InputReordered   = "input-reordered"
	InputAltered     = "input-altered"
	InputLate        = "input-late"
	InitialState     = "initial-state"
	DifferentData    = "different-data"
	RNGLeak          = "rng-leak"
	IterationOrder   = "iteration-order"
	UnstableSort     = "unstable-sort"
	Float            = "float"
	Uninitialized    = "uninitialized-memory"
	StaleCache       = "stale-cache"
	ImpureValidation = "impure-validation"
	PredictionLeak   = "prediction-leak"
	SaveForgets      = "save-forgets"
	ThreadTiming     = "thread-timing"
	Locale           = "locale"
	WallClock        = "wall-clock"
	BitFlip          = "bit-flip"
	SelfHealed       = "self-healed"
	ChecksumDefect   = "checksum-defect"
)

// class is what a report says of a class of causes.
type class struct {
	name, title string
	// confirm is what would tell it from classes that look alike.
	confirm string
}

var classes = []class{
	{InputDropped, "An order was lost on its way to a peer", "the relay's or the server's own log of orders"},
	{InputDuplicated, "An order was applied twice", "the relay's or the server's own log of orders"},
	{InputReordered, "Orders of a tick were applied in another order", "the relay's or the server's own log of orders"},
	{InputAltered, "An order was changed on its way", "the relay's or the server's own log of orders"},
	{InputLate, "An order was applied in another tick", "the relay's or the server's own log of orders"},
	{InitialState, "The peers did not begin with the same state", "the settings of the lobby that each peer began with"},
	{DifferentData, "The peers play by different data or code", "hashes of the data files; replay --against a simulator with the other data"},
	{RNGLeak, "The sim's random numbers are drawn by something that is no part of it", "replay --drill: the RNG departs behind a system, with or before what is drawn from it"},
	{IterationOrder, "Results are applied in the order of a map, or of threads that finish", "replay --runs 10: two replays of one peer differ"},
	{UnstableSort, "A sort leaves equal elements in no certain order", "replay --against the other platform's build, while --runs 10 of one build agrees"},
	{Float, "Floating-point arithmetic rounds differently", "replay --against the other platform's build; compiler flags (contraction, fast math)"},
	{Uninitialized, "Memory is read that was not set", "replay --from-each-snapshot: a peer that has just loaded does not repeat it; a memory sanitizer"},
	{StaleCache, "Derived data was not brought up to date", "replay --check-caches"},
	{ImpureValidation, "Testing whether an order is possible changes the state", "replay --check-purity"},
	{PredictionLeak, "What was predicted is not taken back completely", "replay --predict P,Q"},
	{SaveForgets, "A save or a restore leaves a part of the state out", "replay --serialize, replay --from-each-snapshot"},
	{ThreadTiming, "The result depends on the timing of threads", "replay --runs 10: two replays of one peer differ, now and then"},
	{Locale, "The result depends on the machine's language", "doctor: the peers' locales; a replay under each of them"},
	{WallClock, "The sim reads the machine's clock", "replay --runs 10: two replays of one peer differ, each time"},
	{BitFlip, "A bit of memory flipped", "replay of that peer's own log, which does not repeat it; a memory test of the machine"},
	{SelfHealed, "A value was wrong for a while and was computed anew", "replay of that peer's own log; what computes the value from scratch"},
	{ChecksumDefect, "The checksum is wrong, or does not cover what differs", "verify: hashes computed again from the states"},
}

// Classes returns the names of all classes, in the order of docs/causes.md.
func Classes() (names []string) {
	for _, c := range classes {
		names = append(names, c.name)
	}
	return names
}

func classOf(name string) class {
	return classes[slices.IndexFunc(classes, func(c class) bool { return c.name == name })]
}

// candidates are classes that the same evidence speaks for, the likeliest first.
type candidates struct {
	weight   float64
	classes  []string
	evidence []string
}

// inputClasses are the classes by how an order differs.
var inputClasses = map[orderlog.DifferenceKind]string{
	orderlog.Missing: InputDropped, orderlog.Extra: InputDropped, orderlog.Failed: InputDropped,
	orderlog.Duplicated: InputDuplicated, orderlog.Reordered: InputReordered, orderlog.Late: InputLate, orderlog.Altered: InputAltered,
}

// rank returns what may have caused a divergence. What no rule speaks for is not named.
func rank(t *traits) []report.Cause {
	list := judge(t)
	causes := []report.Cause{}
	var sum float64
	named := map[string]bool{}
	for i := range list {
		list[i].classes = slices.DeleteFunc(slices.Clone(list[i].classes), func(name string) bool {
			seen := named[name]
			named[name] = true
			return seen
		})
		if len(list[i].classes) > 0 {
			sum += list[i].weight
		}
	}
	group := 0
	for _, c := range list {
		if len(c.classes) == 0 {
			continue
		}
		group++
		for i, name := range c.classes {
			// Within a group the order says a little; the scores of all add up to 1.
			part := 2 * float64(len(c.classes)-i) / float64(len(c.classes)*(len(c.classes)+1))
			cause := report.Cause{
				Class: name, Title: classOf(name).title, Score: float64(int(1000*c.weight*part/sum+0.5)) / 1000, Group: group, Evidence: full(c.evidence),
			}
			if len(c.classes) > 1 {
				cause.Separate = classOf(name).confirm
			}
			causes = append(causes, cause)
		}
	}
	return causes
}

// judge holds the traits against what each class of causes looks like. The rules do not
// know the names of archetypes, fields and systems. Those that say more come first.
func judge(t *traits) (list []candidates) {
	add := func(weight float64, evidence []string, classes ...string) {
		list = append(list, candidates{weight, classes, evidence})
	}
	say := func(parts ...string) []string { return parts }
	if t.kind == bisect.ChecksumOnly {
		add(1, say("the states are equal while the checksums differ"), ChecksumDefect)
		return list
	}
	if t.kind == bisect.BlindChecksum {
		add(1, say("the states differ while every checksum agrees: it does not cover what differs"), ChecksumDefect)
		t.kind = bisect.StateDiffers
		defer func() { list = list[:min(len(list), 3)] }()
	}
	if t.inputs != "" {
		add(1, say(fmt.Sprintf("the peers were given different orders: %s", t.inputs)), inputClasses[t.inputs])
		return list
	}
	if t.kind != bisect.StateDiffers {
		return list
	}
	if len(t.caches) > 0 {
		add(1, say("before the states parted, derived data differed under equal states: "+strings.Join(t.caches, ", ")), StaleCache)
	}
	data := factsThatDiffer(t, true)
	if t.initial {
		add(0.9, append(say("the states differ before any tick was played"), data...), InitialState, DifferentData)
		return list
	}
	if len(data) > 0 {
		add(0.8, data, DifferentData)
	}
	if !t.seen {
		t.withoutStates(add)
		return list
	}
	t.byValues(add)
	return list
}

// factsThatDiffer tells of facts of the game, or of the machines, that differ.
func factsThatDiffer(t *traits, must bool) (out []string) {
	for _, f := range t.facts {
		if f.Must == must {
			var values []string
			for _, v := range f.Values {
				if !slices.Contains(values, v) {
					values = append(values, v)
				}
			}
			slices.Sort(values)
			out = append(out, fmt.Sprintf("%s differs: %s", f.Name, strings.Join(values, ", ")))
		}
	}
	return out
}

// withoutStates ranks by traces alone.
func (t *traits) withoutStates(add func(float64, []string, ...string)) {
	if t.known && t.early {
		add(0.6, []string{"the RNG differs behind the first system"}, RNGLeak, Uninitialized, DifferentData)
	}
}

// byValues ranks by the values that differ.
func (t *traits) byValues(add func(float64, []string, ...string)) {
	verb := "differ"
	if t.rows == 1 {
		verb = "differs"
	}
	rows := fmt.Sprintf("%s of %s %s, in %s", count(t.rows, "entity", "entities"), count(t.archetypes, "archetype", "archetypes"), verb, count(t.columns, "column", "columns"))
	fact := func(format string, args ...any) []string { return []string{fmt.Sprintf(format, args...), rows} }
	several := t.rows > 1
	before := t.system == "" || t.opening
	rng := t.early || !t.known && t.rng

	if t.healed && several && t.fields <= 2 && t.archetypes == 1 {
		add(0.95, fact("the states are equal again later"), SelfHealed)
	}
	if t.floats && t.ulp <= 1<<20 {
		add(0.95, fact("nothing but floats differ, by %d in the last place at most", t.ulp), Float)
	}
	if t.named > 0 && t.named == t.rows && t.rows <= 24 && before {
		if t.uncompared {
			add(0.9, fact("every entity that differs is named by an order (%s) of the tick, and the orders of some peers are not there to be compared", t.order), InputDropped, ImpureValidation, PredictionLeak)
		} else {
			add(0.9, fact("every entity that differs is named by an order (%s) of the tick, and the orders are equal", t.order), ImpureValidation, PredictionLeak)
		}
	}
	if t.bits == 1 && t.only == [2]uint64{} && t.named == 0 {
		add(0.85, fact("one bit of one value differs"), BitFlip)
	}
	if t.blank >= 8 {
		add(0.85, fact("%d values of one field are zero on one side", t.blank), SaveForgets)
	}
	if t.traded > 0 {
		add(0.8, fact("values of %d columns are the same on both sides, but in other rows", t.traded), t.ordering()...)
	}
	if t.exact && !t.exists && t.entries > 0 && t.entries >= uint64(t.rows) {
		add(0.8, fact("%d entries of derived data differ, though no entity came or went", t.entries), StaleCache, DifferentData)
	}
	if t.only[0] > 0 && t.only[0] == t.only[1] && t.archetypes > 1 {
		add(0.8, fact("new entities have each other's keys: %d and %d are on one side only", t.only[0], t.only[1]), t.ordering()...)
	}
	if t.floats && t.ulp > 1<<20 && several {
		add(0.8, fact("floats differ by much, in several entities"), WallClock, Uninitialized, DifferentData)
	}
	if rng {
		where := "where the states are compared"
		switch {
		case t.early:
			where = "behind the first system"
		case t.exact:
			where = "at the end of the tick"
		}
		if t.early && t.rows == 0 {
			add(0.95, fact("the RNG differs %s, and nothing else", where), RNGLeak)
		}
		add(0.7, fact("the RNG differs %s", where), RNGLeak, Uninitialized, DifferentData)
	}
	t.byShape(add, fact)
}

// byShape ranks by which rows and columns differ, where nothing in the values is telling.
func (t *traits) byShape(add func(float64, []string, ...string), fact func(string, ...any) []string) {
	switch {
	case t.rows == 0 && t.only == [2]uint64{}:
	case t.archetypes == 1 && t.columns == 1 && t.bothWays == 0 && t.rows > 1:
		add(0.6, fact("the values of one column all differ one way"), Uninitialized, SelfHealed, WallClock)
	case t.archetypes == 1 && t.columns == 1 && t.rows > 1:
		add(0.6, fact("one column differs"), WallClock, IterationOrder, UnstableSort)
	case t.archetypes == 1 && t.share > 0.9 && t.rows > 2:
		add(0.6, fact("nearly all entities of one archetype differ"), DifferentData, StaleCache, Uninitialized)
	case t.archetypes > 1 || t.bothWays > 0 && t.conserved > 0 || t.only[0] > 0 && t.only[1] > 0:
		add(0.6, fact("entities of several kinds differ"), t.ordering()...)
	case t.columns > 3*t.rows || t.rows <= 3 || t.fields >= 4:
		what := "few entities differ"
		if t.columns > 3*t.rows || t.fields >= 4 {
			what = "few entities differ, in many columns"
		}
		add(0.6, fact("%s", what), StaleCache, DifferentData, IterationOrder)
	default:
		add(0.5, fact("entities of one kind differ"), t.ordering()...)
	}
	add(0.2, fact("nothing excludes it"), t.ordering()...)
	add(0.1, fact("nothing excludes it"), StaleCache, DifferentData, Uninitialized)
}

// ordering are the classes of mistakes in which the order of work matters; one session does
// not tell them apart, unless the machines do.
func (t *traits) ordering() []string {
	if slices.ContainsFunc(t.facts, func(f report.Fact) bool { return f.Name == "locale" || f.Name == "language" || f.Name == "lang" }) {
		return []string{Locale, IterationOrder, UnstableSort}
	}
	return []string{IterationOrder, UnstableSort, Locale}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
