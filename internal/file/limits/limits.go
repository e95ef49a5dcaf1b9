// Package limits is the only table of limits for files: sizes, depths, and numbers of things. It applies to files in
// every format, so that one name always means the same thing.
//
// The values apply to the process. A program sets them once, with [Use], before it reads anything. Readers use
// [Limit.Max] and return an [Error] if a limit is reached. The error names the limit and how to raise it. Values that a
// format itself defines, such as the length of its magic, are not limits.
package limits

import (
	"cmp"
	"errors"
	"math"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"
)

// Unit is what the value of a limit counts.
type Unit int

// The units.
const (
	Bytes Unit = iota
	Count
	Times    // ratio of two sizes
	Duration // nanoseconds
)

// None is the value of a [Duration] without a limit.
const None = 0

// Limit is one entry of the table.
type Limit struct {
	Name    string
	Unit    Unit
	Default int64
	Most    int64  // maximum value; the minimum is 1, or None for a Duration
	Doc     string // what it limits, without a full stop

	of  string // where the default comes from, "" for this table
	now atomic.Pointer[setting]
}

// setting is a value with its origin.
type setting struct {
	value int64
	from  string
}

// Max returns the maximum allowed value, [None] if there is no limit.
func (l *Limit) Max() int64 {
	if s := l.now.Load(); s != nil {
		return s.value
	}
	return l.Default
}

// From returns the origin of the value: "default" or the one in [Settings], such as "--limit".
func (l *Limit) From() string {
	if s := l.now.Load(); s != nil {
		return s.from
	}
	return l.defaultFrom()
}

func (l *Limit) defaultFrom() string {
	return cmp.Or(l.of, "default")
}

// Over reports whether n is more than allowed.
func (l *Limit) Over(n int64) bool { return n > l.Max() }

// Reached returns the error for a file, by its path, that contains got of the things that l limits, or at least that
// many; 0 if unknown.
func (l *Limit) Reached(path string, got int64) *Error {
	return &Error{Limit: l, Path: path, Got: got}
}

// Files and archives.
var (
	File    = define("file", Bytes, 64*gib, 1<<50, "one file, unpacked")
	State   = define("state", Bytes, 1*gib, 1<<40, "a state or a text of an engine that is read whole, unpacked")
	Report  = define("report", Bytes, 64*mib, 1<<32, "a report of a peer, or a saved document")
	Files   = define("files", Count, 1_000_000, 1<<31, "files and folders below all paths")
	Folders = define("folders", Count, 5, 100, "how many folders deep peers are looked for")

	Archive = define("archive", Bytes, 1*gib, 1<<40, "the content of all archives that is held in memory")
	Entries = define("entries", Count, 100_000, 1<<31, "entries of an archive")
	Density = define("density", Count, 16, 1_000_000, "entries of all archives for each KiB of them, beyond 16384 entries")
	Nested  = define("nested", Count, 2, 16, "how deep archives in archives are read")

	Ratio       = define("ratio", Times, 200, 1_000_000, "how many times larger than the file its content may be, beyond what free allows")
	StreamRatio = define("stream-ratio", Times, 2000, 1_000_000, "the same for a log or trace, which is read piece by piece, and for maps of a save")
	Excess      = define("excess", Bytes, 1*gib, 1<<50, "content beyond ratio of all states that a command opens, together, each time that it opens one")
	Free        = define("free", Bytes, 64*mib, 1<<40, "content up to which no ratio counts")
)

// States.
var (
	Archetypes = define("archetypes", Count, 1<<16, 1<<24, "tables of a state: archetypes, caches and noise")
	Columns    = define("columns", Count, 1<<16, 1<<24, "columns of a table, or of all tables of a state that an engine wrote")
	Rows       = define("rows", Count, 1<<28, 1<<48, "rows of a table")
	Cells      = define("cells", Count, 1<<25, 1<<40, "rows times columns of all tables of a state that an engine wrote, absent values included")
	Sparse     = define("sparse", Times, 64, 1_000_000, "the same for each value that such a state gives, beyond 1048576")
	Cell       = define("cell", Bytes, 256*mib, 1<<31, "one block of one column of a .snap, or the index of a table")
	String     = define("string", Bytes, 64*mib, 1<<31, "one text, or one value of bytes, in a table")
	Header     = define("header", Bytes, 16*mib, 1<<31, "the header of a .snap")
	Properties = define("properties", Count, 1<<12, 1<<24, "properties in a header: build, system, mods")
	Depth      = define("depth", Count, 128, 1000, "how deep values, tags and elements of engines' files are nested")
)

// Logs and traces.
var (
	Frame       = define("frame", Bytes, 64*mib, 1<<31, "a frame of a log or trace")
	Line        = define("line", Bytes, 8*mib, 1<<31, "a line of a text")
	Tick        = define("tick", Bytes, 64*mib, 1<<31, "all that a log has of one tick")
	Orders      = define("orders", Count, 1<<20, 1<<31, "orders, hashes and markers of one tick")
	Checkpoints = define("checkpoints", Count, 1<<17, 1<<31, "checkpoints of one tick that are aligned, and systems and scopes of a trace")
	Names       = define("names", Count, 1<<20, 1<<31, "names that a trace or log defines")
	Claims      = define("claims", Count, 1<<16, 1<<31, "messages of an engine about a desync, of one file")
	Hunks       = define("hunks", Count, 1_000_000, 1<<31, "pieces of a pasted diff")
)

// The whole run.
var (
	Memory = define("memory", Bytes, 4*gib, 1<<50, "the content that is held in memory at one time")
	Wall   = define("wall", Duration, None, math.MaxInt64, "how long a command may take")
	CPU    = define("cpu", Duration, 4e9, math.MaxInt64, "processor time of a command that plays nothing, for each MiB that is given, at least one")
	Heap   = define("heap", Bytes, 22*mib, 1<<40, "memory of a command that plays nothing, for each MiB that is given, at least 16")
)

const (
	mib = 1 << 20
	gib = 1 << 30
)

// table contains all limits in order.
var table []*Limit

func define(name string, unit Unit, value, most int64, doc string) *Limit {
	l := &Limit{Name: name, Unit: unit, Default: value, Most: most, Doc: doc}
	table = append(table, l)
	return l
}

// All returns all limits in display order.
func All() []*Limit { return append([]*Limit(nil), table...) }

// Given returns the limits that were set, as NAME=VALUE, the input of [Settings.Assign]. With them, another process can
// have the same limits.
func Given() (list []string) {
	for _, l := range table {
		if s := l.now.Load(); s != nil {
			list = append(list, l.Name+"="+l.Text(s.value))
		}
	}
	return list
}

// FreeEntries is how many entries archives may have before [Density] applies.
const FreeEntries = 1 << 14

// freeCells is how many cells a state may have before [Sparse] applies.
const freeCells = 1 << 20

// Filled limits the tables of a state that an engine wrote, by [Cells] and by [Spread].
func Filled(cells, given int) error {
	if Cells.Over(int64(cells)) {
		return Cells.Reached("", 0)
	}
	return Spread(cells, given)
}

// Spread limits tables by [Sparse] if only given of the cells have a value. Rows that each have their own column take
// rows times columns cells.
func Spread(cells, given int) error {
	if cells > freeCells && Sparse.Over(int64(cells/max(given, 1))) {
		return Sparse.Reached("", int64(cells/max(given, 1)))
	}
	return nil
}

// Named returns the limit with that name, or nil.
func Named(name string) *Limit {
	for _, l := range table {
		if l.Name == name {
			return l
		}
	}
	return nil
}

// share is the divisor of GOMEMLIMIT that gives the limit for content. The rest is for data derived from content.
const share = 2

func init() {
	if n := debug.SetMemoryLimit(-1); n < math.MaxInt64 {
		Memory.Default, Memory.of = max(1, n/share), "half of GOMEMLIMIT"
	}
}

// Deadline returns how long a command may take, and whether there is a limit.
func Deadline() (time.Duration, bool) {
	n := Wall.Max()
	return time.Duration(n), n != None
}

// ProcessorTime returns how much processor time a command may use that plays nothing and is given so many bytes of
// evidence. It returns false if that is not limited.
func ProcessorTime(given int64) (time.Duration, bool) {
	each := CPU.Max()
	return time.Duration(float64(each) * max(1, float64(given)/mib)), each != None
}

// Space returns how many bytes of memory a command may use that plays nothing and is given so many bytes of evidence:
// whole MiB.
func Space(given int64) int64 {
	return int64(math.Ceil(min(1<<40, float64(Heap.Max())/mib*max(16, float64(given)/mib)))) * mib
}

// Ended reports whether an error is the limit for time or memory of a whole command.
func Ended(err error) bool {
	return slices.ContainsFunc([]*Limit{Wall, CPU, Heap}, func(l *Limit) bool { return errors.Is(err, l.Reached("", 0)) })
}
