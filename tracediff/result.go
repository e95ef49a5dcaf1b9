package tracediff

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
)

// DefaultLimit is how many differences, findings and changes of groups a Result
// keeps by default. All are counted.
const DefaultLimit = 1000

// Options says how traces are compared. The zero value finds all differences.
type Options struct {
	// Force compares traces whose headers name different games.
	Force bool
	// FirstOnly ends with the first tick that differs.
	FirstOnly bool
	// Limit is the number of differences, findings and changes of groups that
	// are kept; 0 means DefaultLimit, below 0 all.
	Limit int
	// Context is the number of lines kept on each side of the first difference;
	// 0 means 3, below 0 none.
	Context int
	// Rollback is by how many ticks a trace may go back and simulate again; 0
	// means 256. Beyond that, the state was replaced and an epoch begins.
	Rollback uint64
	// Schedules are those of relays that compare checksums now and then.
	Schedules []Schedule
	// Claims are what engines wrote of desyncs beside the traces. With claims,
	// fewer than two traces will do.
	Claims []*ClaimLog
	// Progress, if not nil, is called now and then with the bytes that are read of
	// the largest file, compressed or not, and their total. Where all
	// are streams it is not called.
	Progress func(done, total int64)
}

// Result is what a comparison of traces found. Slices of one element a trace
// are in the order of Traces.
type Result struct {
	Traces []TraceInfo

	// First is the first checkpoint that differs, nil if none does.
	First *Difference
	// Context is what surrounds First in each trace.
	Context []Context
	// Bracket says between which ticks the traces parted, nil if they did not.
	Bracket *Bracket

	// Differences are the first checkpoints that differ, in order; Changed and
	// Missing count all.
	Differences      []Difference
	Changed, Missing int64

	// Cascade has for each scope, and for checkpoints without one for each
	// system, where it first differed, in order.
	Cascade []Cascade

	// Partings are the runs of ticks at whose end traces differ, and the ticks inside which
	// they do, in order, up to the limit; PartingCount counts all.
	Partings     []Parting
	PartingCount int64

	// Groups says which peers agree: an entry where it changed, the first one at
	// First.
	Groups []Groups
	// LastDiffering is the last tick that differed, and LastCompared the last
	// one that was compared. If the latter is greater, the traces have become
	// equal again.
	LastDiffering, LastCompared Tick
	// EqualFrom is the first tick after LastDiffering that was compared, if there
	// is one.
	EqualFrom Tick

	Findings     []Finding
	FindingCount int64

	// Noticed answers Options.Schedules.
	Noticed []Noticed

	// Claims are what the engines themselves say, each once, by tick; ClaimCount
	// counts them with their repetitions. Start is what had to be the same at the
	// start and was not, by the engines' logs.
	Claims     []JudgedClaim
	ClaimCount int64
	Start      []Start
	claimed    Dialect // of the logs with claims

	// Uncompared are traces of which no checkpoint has a value in common with
	// any other trace: nothing is known of them.
	Uncompared []int

	// Unsure counts ticks that a trace lacks of which too little is known to say
	// whether it should have them. They are not differences.
	Unsure int64

	// Noise are values that differ and that are no differences, by the names of their sums.
	Noise []Noise

	// Untraced are systems and scopes that some traces do not have at all, which
	// is not a difference.
	Untraced []Untraced

	Warnings []string
}

// Diverged reports whether the traces differ, or, where none of them has the
// tick, an engine states two checksums of one.
func (r *Result) Diverged() bool {
	return r.First != nil || slices.ContainsFunc(r.Claims, func(c JudgedClaim) bool { return c.Standing == Unchecked && c.Proves() })
}

// Dialect returns what the engine's checksums are: that of the traces, else that
// of the logs with claims.
func (r *Result) Dialect() Dialect {
	for i := range r.Traces {
		if d := r.Traces[i].Dialect; d.Engine != "" {
			return d
		}
	}
	return r.claimed
}

// TickName returns the engine's own name of a tick, else its number.
func (r *Result) TickName(t Tick) string {
	d := r.Dialect()
	return d.name(t)
}

// Tick is a tick in an epoch. Epochs count from 0; nearly all traces have one.
type Tick struct {
	Epoch  uint64
	Number uint64
}

func (t Tick) compare(u Tick) int {
	switch {
	case t == u:
		return 0
	case t.Epoch < u.Epoch || t.Epoch == u.Epoch && t.Number < u.Number:
		return -1
	}
	return 1
}

// Before reports whether t comes before u.
func (t Tick) Before(u Tick) bool { return t.compare(u) < 0 }

// String returns "12", or "12 of epoch 1" if it is not the first.
func (t Tick) String() string {
	if t.Epoch > 0 {
		return fmt.Sprintf("%d of epoch %d", t.Number, t.Epoch)
	}
	return fmt.Sprint(t.Number)
}

// TraceInfo is what is known of a trace after it was compared.
type TraceInfo struct {
	Name, File string
	Header     Header
	Grammar    Grammar
	Dialect    Dialect // of an engine's file
	Packing    string

	// First and Last are the first and last tick that were read; both zero if
	// Empty. Last may not be the trace's end: what no other trace reaches is
	// not read.
	First, Last Tick
	Empty       bool
	Epochs      uint64

	// Ended says that the trace's end was marked as such, Torn that it breaks
	// off, and Trouble what went wrong if reading ended early.
	// Running says that it ends as the file of a running game does.
	Ended, Torn, Running bool
	Trouble              string

	// Malformed counts lines that are not records.
	Malformed int64

	// Gaps are the ticks between others of which the trace has nothing, while another
	// one has: they are not compared, and no difference.
	Gaps []Gap

	// Rollback is nil if the trace has neither predictions nor rollbacks.
	Rollback *RollbackStats
}

// Gap is a span of ticks, both ends included, of which a trace has nothing.
type Gap struct {
	First, Last Tick
	// Ticks is of how many another trace has something.
	Ticks int
	// Away says that the peer is known not to have played them.
	Away bool
}

// Brief reports whether so few ticks are lacking that a program rather failed to write them than that its peer was not
// there. The checksums around them decide.
func (g *Gap) Brief() bool { return g.Ticks <= 2 }

// maxGaps bounds TraceInfo.Gaps; after that many the last one grows.
const maxGaps = 1 << 12

// gap notes that the trace has nothing of a tick. Seen is the last one of which it has.
func (t *TraceInfo) gap(tick, seen Tick) {
	if n := len(t.Gaps); n > 0 && (seen.Before(t.Gaps[n-1].First) || n == maxGaps) {
		t.Gaps[n-1].Last = tick
		t.Gaps[n-1].Ticks++
		return
	}
	t.Gaps = append(t.Gaps, Gap{First: tick, Last: tick, Ticks: 1})
}

// early notes a gap that shows as one only later: it is before the others.
func (t *TraceInfo) early(first, last Tick) {
	if len(t.Gaps) > 0 && t.Gaps[0].First.compare(first) <= 0 {
		if t.Gaps[0].Last.Before(last) {
			t.Gaps[0].Last = last
			t.Gaps[0].Ticks = math.MaxInt
		}
		return
	}
	ticks := math.MaxInt
	if first == last {
		ticks = 1
	}
	t.Gaps = slices.Insert(t.Gaps, 0, Gap{First: first, Last: last, Ticks: ticks})
}

// What returns Trouble without the name of the file: "line 7: …".
func (t *TraceInfo) What() string {
	if rest, ok := strings.CutPrefix(t.Trouble, t.File+": "); ok {
		return rest
	}
	if rest, ok := strings.CutPrefix(t.Trouble, t.File+":"); ok {
		return "line " + rest
	}
	return t.Trouble
}

// RollbackStats counts what a trace with rollbacks went through.
type RollbackStats struct {
	Rollbacks       int64 // restores, or returns to an earlier tick
	Deepest         uint64
	Predicted       int64 // checkpoints that were predicted
	Mispredictions  int64 // of those, how many the confirmed value contradicted
	Unconfirmed     int64 // of those, how many had no confirmed value by the end
	Confirmed       int64
	GuessedInputs   int64
	WrongInputs     int64 // of those, how many the known input contradicted
	BeyondWindow    int64 // checkpoints of ticks that had been settled
	ConfirmedTwice  int64 // confirmed checkpoints that were confirmed again
	ConfirmedChange int64 // of those, how many to another value
}

// DifferenceKind is how traces differ at a checkpoint.
type DifferenceKind string

// Kinds of differences.
const (
	Changed DifferenceKind = "changed" // other checksums or counts
	Missing DifferenceKind = "missing" // some peers lack it and should have it
)

// Difference is a checkpoint at which traces differ.
type Difference struct {
	Kind          DifferenceKind
	Tick          Tick
	System, Scope string
	Phase         Phase
	Occurrence    uint32
	// Sums are the names of the sums that differ, and Count says whether the
	// counts do.
	Sums   []string
	Count  bool
	Values []Value

	seq  int64
	lack uint64 // traces that should have it
}

// Place names the system and scope of the checkpoint, as far as it has them.
func (d *Difference) Place() string {
	return cmp.Or(strings.Trim(d.System+", "+d.Scope, ", "), "its checkpoint")
}

// Value is what one trace has at a checkpoint.
type Value struct {
	Present  bool    // everything but Absent is zero if not
	Absent   Absence // why it is not, "" if it is
	File     string  // that it stands in, of a trace that is joined from several
	Pos      Position
	Sums     []Sum
	Count    uint64
	HasCount bool
	// Detail says more of it, see [Dialect.Detail].
	Detail []Detail
}

// Absence says why a trace does not have a checkpoint. Only Lacking is a
// difference.
type Absence string

// Reasons.
const (
	Lacking     Absence = "lacking"      // it should have it
	NotBegun    Absence = "not-begun"    // it begins later
	Over        Absence = "over"         // it ends before
	Unreadable  Absence = "unreadable"   // it may stand in lines that are not records
	NotTraced   Absence = "untraced"     // it never has this system and scope
	NotCompared Absence = "not-compared" // it has them at other ticks
)

// Sum returns the value of the sum of that name as text, "" if there is none.
func (v *Value) Sum(name string) string {
	for _, s := range v.Sums {
		if s.Name == name {
			return string(s.Value)
		}
	}
	return ""
}

// Bracket says that traces agreed at tick Good and did not at tick Bad, and that
// no tick between was compared. The mistake was made after Good, in Bad at the
// latest.
type Bracket struct {
	Good    Tick
	HasGood bool // false if the first tick that was compared differs
	Bad     Tick
}

// Exact reports whether Bad is the tick in which the traces parted.
func (b *Bracket) Exact() bool {
	return b.HasGood && b.Good.Epoch == b.Bad.Epoch && b.Good.Number+1 == b.Bad.Number
}

// Cascade is where a scope, or a system without scopes, first differed.
type Cascade struct {
	Scope  string // "" for checkpoints without one
	System string
	Tick   Tick
	Count  int64 // differences in all
	Last   Tick  // the last of them

	seq int64
}

// Groups says which traces agree from a tick on.
type Groups struct {
	Tick Tick
	// Groups are numbers of traces that nothing tells apart, in order. Those
	// without the tick are in none, nor are those whose checkpoints would let them
	// agree with two groups.
	Groups [][]int
}

// FindingKind is something wrong within one trace, or in the order of several.
type FindingKind string

// Kinds of findings.
const (
	// ConfirmedChanged: a checkpoint was confirmed and later confirmed with
	// another value.
	ConfirmedChanged FindingKind = "confirmed-changed"
	// RestoreMismatch: what a restore put back is not what was saved.
	RestoreMismatch FindingKind = "restore-mismatch"
	// ResimulationOff: the ticks simulated again are not those between the state
	// that was restored and the tick at which it was.
	ResimulationOff FindingKind = "resimulation-off"
	// InputAfterConfirmed: an input was used after another was confirmed for the
	// same tick and player.
	InputAfterConfirmed FindingKind = "input-after-confirmed"
	// Reordered: peers have the same checkpoints in a tick in another order.
	Reordered FindingKind = "reordered"
)

var findingWords = map[FindingKind]string{
	ConfirmedChanged:    "a confirmed value changed later",
	RestoreMismatch:     "a restore did not restore what was saved",
	ResimulationOff:     "the ticks simulated again are not those that were rolled back",
	InputAfterConfirmed: "an input was used after another was confirmed",
	Reordered:           "the same checkpoints in another order",
}

// Words says what a finding of the kind is.
func (k FindingKind) Words() string { return findingWords[k] }

// Finding is one of them.
type Finding struct {
	Kind          FindingKind
	Trace         int
	Tick          Tick
	System, Scope string
	Player        uint32
	Pos           Position // where it shows
	Before        Position // of what it contradicts
	Expected, Got string
}

// Untraced is a system and scope that some traces do not have.
type Untraced struct {
	System, Scope string
	Traces        []int // that do not have it
	Count         int64 // checkpoints of the others
}

// MismatchError says that traces are not of the same game.
type MismatchError struct {
	What string // "seeds" or "matches"
	A, B string // values
	// NameA and NameB are the traces.
	NameA, NameB string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("traces cannot be compared: %s are %s (%s) and %s (%s)", e.What, e.A, e.NameA, e.B, e.NameB)
}

// Comparable refuses traces of different games.
func Comparable(list []*Trace) error {
	for i, b := range list {
		for _, a := range list[:i] {
			if a.Dialect.Session != "" && b.Dialect.Session != "" && a.Dialect.Session != b.Dialect.Session {
				return &MismatchError{"matches", a.Dialect.Session, b.Dialect.Session, a.Name, b.Name}
			}
			if a.Header.HasSeed && b.Header.HasSeed && a.Header.Seed != b.Header.Seed {
				return &MismatchError{"seeds", fmt.Sprint(a.Header.Seed), fmt.Sprint(b.Header.Seed), a.Name, b.Name}
			}
		}
	}
	return nil
}

// otherBuilds says where traces are of different builds: these are compared all the same,
// since another build is what explains most desyncs.
func otherBuilds(list []*Trace) (warnings []string) {
	for i, b := range list {
		for _, a := range list[:i] {
			if a.Header.Build != "" && b.Header.Build != "" && a.Header.Build != b.Header.Build {
				return []string{fmt.Sprintf("builds differ: %s has %q, %s has %q", prose.Name(a.Name), a.Header.Build, prose.Name(b.Name), b.Header.Build)}
			}
		}
	}
	return nil
}

// Schedule is when a relay compares the peers' checksums, in ticks. The zero
// Schedule compares every tick.
type Schedule struct {
	Name string // what it is called in the answer
	// Every compares each tick that it divides, if the intervals below are 0.
	Every uint64
	// Early, Normal and Late are intervals: Early for EarlyTicks from the start
	// and from each reconnect, Late from tick LateFrom on if that is not 0, and
	// Normal otherwise.
	Early, Normal, Late  uint64
	EarlyTicks, LateFrom uint64
	Reconnects           []uint64
}

// interval returns the interval that holds at a tick, and the tick at which
// another one may begin.
func (s *Schedule) interval(tick uint64) (n, until uint64) {
	if s.Normal == 0 {
		return max(s.Every, 1), ^uint64(0)
	}
	until = ^uint64(0)
	for i := -1; i < len(s.Reconnects); i++ {
		begin := uint64(0)
		if i >= 0 {
			begin = s.Reconnects[i]
		}
		if tick >= begin && tick-begin < s.EarlyTicks && s.Early > 0 {
			return s.Early, begin + s.EarlyTicks
		}
		if begin > tick {
			until = min(until, begin)
		}
	}
	if s.LateFrom > 0 && s.Late > 0 {
		if tick >= s.LateFrom {
			return s.Late, until
		}
		until = min(until, s.LateFrom)
	}
	return s.Normal, until
}

// Next returns the first tick from tick on at which the relay compares.
func (s *Schedule) Next(tick uint64) uint64 {
	for {
		n, until := s.interval(tick)
		next := tick
		if r := tick % n; r != 0 {
			next += n - r
		}
		if next < until || until <= tick || next < tick {
			return next
		}
		tick = until
	}
}

// Noticed says when a relay that compares on a schedule would have seen a
// divergence.
type Noticed struct {
	Schedule Schedule
	// Noticed says whether it would have, at Tick, within the traces.
	Noticed bool
	// Tick is that tick; if the traces still differ at their end, the next one
	// after it.
	Tick Tick
	// Late is how many ticks after the first that differs.
	Late uint64
	// Open says that the traces still differ at their end.
	Open bool
}

// Context is what surrounds a record in one trace.
type Context struct {
	FirstLine int64 // number of Lines[0], 0 in a binary trace
	At        int   // which of Lines is the record; it may be one after the last
	Lines     []string
}

func (c *Context) keep(lines [][]byte, at int, first int64) {
	c.At, c.FirstLine = at, first
	for _, line := range lines {
		if len(line) > maxContextLine {
			line = slices.Concat(line[:maxContextLine], []byte("…"))
		}
		c.Lines = append(c.Lines, string(line))
	}
}

// maxContextLine is the length in bytes at which a line of context is cut.
const maxContextLine = 1024
