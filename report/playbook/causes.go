package playbook

import (
	"slices"

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

var classes = []string{
	InputDropped, InputDuplicated, InputReordered, InputAltered, InputLate, InitialState, DifferentData, RNGLeak, IterationOrder, UnstableSort, Float,
	Uninitialized, StaleCache, ImpureValidation, PredictionLeak, SaveForgets, ThreadTiming, Locale, WallClock, BitFlip, SelfHealed, ChecksumDefect,
}

// Classes returns the names of all classes, in the order of docs/causes.md.
func Classes() []string { return slices.Clone(classes) }

// Cause is a class of mistakes that may have caused a divergence.
type Cause struct {
	Class string
	// Score says how much speaks for it, 0 to 1; those of all causes add up to 1.
	Score float64
	// Group is the same for classes that the evidence cannot separate, from 1; Alike
	// says that there are others in it.
	Group int
	Alike bool
	Signs []Sign
	// Confirmed says that an experiment, such as a replay, showed it.
	Confirmed bool
	// Later says that nothing speaks for it but states of some time after the peers
	// parted: what they show may have followed from something else.
	Later bool
}

// candidates are classes that the same evidence speaks for, the likeliest first.
type candidates struct {
	weight  float64
	classes []string
	signs   []Sign
	later   bool
}

// inputClasses are the classes by how an order differs.
var inputClasses = map[orderlog.DifferenceKind]string{
	orderlog.Missing: InputDropped, orderlog.Extra: InputDropped, orderlog.Failed: InputDropped,
	orderlog.Duplicated: InputDuplicated, orderlog.Reordered: InputReordered, orderlog.Late: InputLate, orderlog.Altered: InputAltered,
}

// rank returns what may have caused a divergence. What no rule speaks for is not named.
func rank(t *traits) (causes []Cause) {
	list := judge(t)
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
			causes = append(causes, Cause{
				Class: name, Score: float64(int(1000*c.weight*part/sum+0.5)) / 1000, Group: group, Alike: len(c.classes) > 1, Signs: c.signs, Later: c.later,
			})
		}
	}
	return causes
}

// judge holds the traits against what each class of causes looks like. The rules do not
// know the names of archetypes, fields and systems. Those that say more come first.
func judge(t *traits) (list []candidates) {
	add := func(weight float64, signs []Sign, classes ...string) {
		list = append(list, candidates{weight: weight, classes: classes, signs: signs})
	}
	say := func(signs ...Sign) []Sign { return signs }
	if t.kind == bisect.ChecksumOnly {
		add(1, say(sign(OnlySumsDiffer)), ChecksumDefect)
		return list
	}
	if t.kind == bisect.BlindChecksum {
		add(1, say(sign(SumsAreBlind)), ChecksumDefect)
		t.kind = bisect.StateDiffers
		defer func() { list = list[:min(len(list), 3)] }()
	}
	if t.inputs != "" {
		add(1, say(Sign{Kind: OrdersDiffer, Order: t.inputs}), inputClasses[t.inputs])
		return list
	}
	if t.kind != bisect.StateDiffers {
		return list
	}
	if len(t.caches) > 0 {
		add(1, say(signOf(CachesBefore, t.caches...)), StaleCache)
	}
	data := factsThatDiffer(t, true)
	if t.initial {
		add(0.9, append(say(sign(StartDiffers)), data...), InitialState, DifferentData)
		return list
	}
	if len(data) > 0 {
		add(0.8, data, DifferentData)
	}
	if !t.seen {
		t.withoutStates(add)
		return list
	}
	first := len(list)
	t.byValues(add)
	if !t.exact {
		for i := first; i < len(list); i++ {
			list[i].later = !slices.ContainsFunc(list[i].signs, func(s Sign) bool { return s.Kind == RNGFirst })
		}
	}
	return list
}

// factsThatDiffer returns facts of the game, or of the machines, that differ.
func factsThatDiffer(t *traits, must bool) (out []Sign) {
	for _, f := range t.facts {
		if f.Must == must {
			var values []string
			for _, v := range f.Values {
				if !slices.Contains(values, v) {
					values = append(values, v)
				}
			}
			slices.Sort(values)
			out = append(out, signOf(FactDiffers, append([]string{f.Name}, values...)...))
		}
	}
	return out
}

// withoutStates ranks by traces only.
func (t *traits) withoutStates(add func(float64, []Sign, ...string)) {
	if t.known && t.early {
		add(0.6, []Sign{sign(RNGFirst)}, RNGLeak, Uninitialized, DifferentData)
	}
}

// byValues ranks by the values that differ.
func (t *traits) byValues(add func(float64, []Sign, ...string)) {
	extent := sign(Extent, uint64(t.rows), uint64(t.archetypes), uint64(t.columns))
	fact := func(s Sign) []Sign { return []Sign{s, extent} }
	several := t.rows > 1
	before := t.system == "" || t.opening
	rng := t.early || !t.known && t.rng

	if t.healed && several && t.fields <= 2 && t.archetypes == 1 {
		add(0.95, fact(sign(EqualAgain)), SelfHealed)
	}
	if t.floats && t.ulp <= 1<<20 {
		add(0.95, fact(sign(OnlyFloats, t.ulp)), Float)
	}
	if t.named > 0 && t.named == t.rows && t.rows <= 24 && before {
		if t.uncompared {
			add(0.9, fact(signOf(NamedByUncompared, t.order)), InputDropped, ImpureValidation, PredictionLeak)
		} else {
			add(0.9, fact(signOf(NamedByOrder, t.order)), ImpureValidation, PredictionLeak)
		}
	}
	if t.bits == 1 && t.only == [2]uint64{} && t.named == 0 {
		add(0.85, fact(sign(OneBit)), BitFlip)
	}
	if t.blank >= 8 {
		add(0.85, fact(sign(ZeroOnOneSide, uint64(t.blank))), SaveForgets)
	}
	if t.traded > 0 {
		add(0.8, fact(sign(ValuesInOtherRows, uint64(t.traded))), t.ordering()...)
	}
	if t.exact && !t.exists && t.entries > 0 && t.entries >= uint64(t.rows) {
		add(0.8, fact(sign(CacheEntries, t.entries)), StaleCache, DifferentData)
	}
	if t.only[0] > 0 && t.only[0] == t.only[1] && t.archetypes > 1 {
		add(0.8, fact(sign(EachOthersKeys, t.only[:]...)), t.ordering()...)
	}
	if t.floats && t.ulp > 1<<20 && several {
		add(0.8, fact(sign(FarFloats)), WallClock, Uninitialized, DifferentData)
	}
	if rng {
		where := sign(RNGLater)
		switch {
		case t.early:
			where = sign(RNGFirst)
		case t.exact:
			where = sign(RNGAtEnd)
		}
		if t.early && t.rows == 0 {
			add(0.95, fact(where), RNGLeak)
		}
		add(0.7, fact(where), RNGLeak, Uninitialized, DifferentData)
	}
	t.byShape(add, fact)
}

// byShape ranks by which rows and columns differ, where nothing in the values is telling.
func (t *traits) byShape(add func(float64, []Sign, ...string), fact func(Sign) []Sign) {
	switch {
	case t.rows == 0 && t.only == [2]uint64{}:
	case t.archetypes == 1 && t.columns == 1 && t.bothWays == 0 && t.rows > 1:
		add(0.6, fact(sign(ColumnOneWay)), Uninitialized, SelfHealed, WallClock)
	case t.archetypes == 1 && t.columns == 1 && t.rows > 1:
		add(0.6, fact(sign(OneColumn)), WallClock, IterationOrder, UnstableSort)
	case t.archetypes == 1 && t.share > 0.9 && t.rows > 2:
		add(0.6, fact(sign(NearlyAll)), DifferentData, StaleCache, Uninitialized)
	case t.archetypes > 1 || t.bothWays > 0 && t.conserved > 0 || t.only[0] > 0 && t.only[1] > 0:
		add(0.6, fact(sign(SeveralKinds)), t.ordering()...)
	case t.columns > 3*t.rows || t.rows <= 3 || t.fields >= 4:
		few := FewEntities
		if t.columns > 3*t.rows || t.fields >= 4 {
			few = FewEntitiesMuch
		}
		add(0.6, fact(sign(few)), StaleCache, DifferentData, IterationOrder)
	default:
		add(0.5, fact(sign(OneKind)), t.ordering()...)
	}
	add(0.2, fact(sign(NotExcluded)), t.ordering()...)
	add(0.1, fact(sign(NotExcluded)), StaleCache, DifferentData, Uninitialized)
}

// ordering are the classes of mistakes in which the order of work matters; one session does
// not separate them, unless the machines do.
func (t *traits) ordering() []string {
	if slices.ContainsFunc(t.facts, func(f report.Fact) bool { return f.Name == "locale" || f.Name == "language" || f.Name == "lang" }) {
		return []string{Locale, IterationOrder, UnstableSort}
	}
	return []string{IterationOrder, UnstableSort, Locale}
}
