package verdict

import (
	"slices"

	"github.com/desynctool/desynctool/orderlog"
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
	TimerOff         = "timer-off"
	ThreadTiming     = "thread-timing"
	Locale           = "locale"
	WallClock        = "wall-clock"
	HostOnly         = "host-only"
	ForeignWrite     = "foreign-write"
	BitFlip          = "bit-flip"
	SelfHealed       = "self-healed"
	ChecksumDefect   = "checksum-defect"
)

var classes = []string{
	InputDropped, InputDuplicated, InputReordered, InputAltered, InputLate, InitialState, DifferentData, RNGLeak, IterationOrder, UnstableSort, Float,
	Uninitialized, StaleCache, ImpureValidation, PredictionLeak, SaveForgets, TimerOff, ThreadTiming, Locale, WallClock, HostOnly, ForeignWrite, BitFlip,
	SelfHealed, ChecksumDefect,
}

// Classes returns the names of all classes, in the order of docs/causes.md.
func Classes() []string { return slices.Clone(classes) }

// inputClasses are the classes by how an order differs.
var inputClasses = map[orderlog.DifferenceKind]string{
	orderlog.Missing: InputDropped, orderlog.Extra: InputDropped, orderlog.Failed: InputDropped,
	orderlog.Duplicated: InputDuplicated, orderlog.Reordered: InputReordered, orderlog.Late: InputLate, orderlog.Altered: InputAltered,
}
