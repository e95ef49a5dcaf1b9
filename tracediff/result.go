package tracediff

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
)

// DefaultLimit is how many differences, findings and changes of groups a Result keeps by default. The counts always
// include all.
const DefaultLimit = 1000

// Options configures a comparison. The zero value finds all differences.
type Options struct {
	// Force compares traces even if their headers name different games.
	Force bool
	// FirstOnly stops after the first tick that differs.
	FirstOnly bool
	// Limit is how many differences, findings and changes of groups are kept. 0 means DefaultLimit, below 0 all.
	Limit int
	// Context is how many lines are kept on each side of the first difference. 0 means 3, below 0 none.
	Context int
	// Rollback is how many ticks a trace may go back and simulate again. 0 means 256. If it goes back further, the
	// state was replaced and a new epoch begins.
	Rollback uint64
	// Schedules describe relays that compare checksums at intervals.
	Schedules []Schedule
	// Claims are messages about desyncs that engines wrote in addition to the traces. With claims, fewer than two
	// traces are enough.
	Claims []*ClaimLog
	// Progress, if not nil, is called regularly with the number of bytes read from the largest file, compressed or not,
	// and the total. It is not called if all traces are streams.
	Progress func(done, total int64)
}

// Result is the result of comparing traces. Slices with one element for each trace are in the order of Traces.
type Result struct {
	Traces []TraceInfo

	// First is the first checkpoint that differs, nil if none does.
	First *Difference
	// Context contains the lines around First in each trace.
	Context []Context
	// Bracket is the range of ticks in which the traces diverged, nil if they did not.
	Bracket *Bracket

	// Differences are the first checkpoints that differ, in order. Changed and Missing count all of them.
	Differences      []Difference
	Changed, Missing int64

	// Cascade contains, in order, where each scope first differed. Checkpoints without a scope are grouped by system.
	Cascade []Cascade

	// Partings are the runs of ticks with different traces at their ends, and the ticks in which traces differ only
	// inside. They are in order and up to the limit; PartingCount counts all.
	Partings     []Parting
	PartingCount int64
	// Met are the last ticks at whose ends some traces were there and equal, the latest first.
	Met []Meeting

	// Groups lists which peers agree. It has an entry for each change, the first one at First.
	Groups []Groups
	// LastDiffering is the last tick that differed. LastCompared is the last tick that was compared. If it is greater,
	// the traces became equal again.
	LastDiffering, LastCompared Tick
	// EqualFrom is the first tick after LastDiffering that was compared, if there is one.
	EqualFrom Tick

	Findings     []Finding
	FindingCount int64

	// Noticed contains the results for Options.Schedules.
	Noticed []Noticed

	// Claims are the engines' own messages, each once, by tick. ClaimCount includes repetitions. Start lists data that,
	// by the engines' logs, had to be the same at the start and was not.
	Claims     []JudgedClaim
	ClaimCount int64
	Start      []Start
	claimed    Dialect // of the logs with claims
	passed     bool    // the ticks before First are only in some traces

	// Uncompared are traces that have no value in common with any other trace. Nothing is known about them.
	Uncompared []int

	// Unsure counts ticks that a trace lacks, where too little is known to decide whether it should have them. They are
	// not differences.
	Unsure int64

	// Noise are values that differ but are not differences, by the names of their sums.
	Noise []Noise

	// Untraced are systems and scopes that some traces do not have at all. This is not a difference.
	Untraced []Untraced

	Warnings []string
}

// Compares reports whether two traces have a part in common that was compared.
func (r *Result) Compares() bool { return len(r.Traces) > len(r.Uncompared)+1 }

// Diverged reports whether the traces differ. For a tick that no trace has, two checksums in an engine's claim also
// count.
func (r *Result) Diverged() bool {
	return r.First != nil || slices.ContainsFunc(r.Claims, func(c JudgedClaim) bool { return c.Standing == Unchecked && c.Proves() })
}

// OfRuns reports whether the traces are the runs of a self-test: they show nothing about other peers.
func (r *Result) OfRuns() bool {
	return len(r.Traces) > 0 && !slices.ContainsFunc(r.Traces, func(t TraceInfo) bool { return !snapshot.IsRun(t.Name) })
}

// Skips reports whether a trace lacks ticks within the bracket, in which the traces may have diverged.
func (r *Result) Skips() bool {
	return r.Bracket != nil && (r.passed && !r.Bracket.Exact() || slices.ContainsFunc(r.Traces, func(t TraceInfo) bool {
		return slices.ContainsFunc(t.Gaps, func(g Gap) bool {
			return (!r.Bracket.HasGood || r.Bracket.Good.Before(g.Last)) && g.First.Before(r.Bracket.Bad)
		})
	}))
}

// Dialect describes the engine's checksums. It comes from the traces, else from the logs with claims.
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

// TickText names a tick in a sentence: "tick 12", or as the engine does if that is more than a number: "frame 12".
func (r *Result) TickText(t Tick) string {
	name := r.TickName(t)
	if strings.Trim(name, "0123456789") == "" || name == t.String() || r.Dialect().TickName == nil {
		return "tick " + name
	}
	return name
}

// Tick is a tick in an epoch. Epochs count from 0; nearly all traces have only one.
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

// String returns "12", or "12 of epoch 1" if the epoch is not the first.
func (t Tick) String() string {
	if t.Epoch > 0 {
		return fmt.Sprintf("%d of epoch %d", t.Number, t.Epoch)
	}
	return fmt.Sprint(t.Number)
}

// TraceInfo is the information about a trace after the comparison.
type TraceInfo struct {
	Name, File string
	Header     Header
	Grammar    Grammar
	Dialect    Dialect // for an engine's file
	Packing    string

	// First and Last are the first and last tick that were read, both zero if Empty. Last may be before the trace's
	// end: ticks that no other trace reaches are not read.
	First, Last Tick
	Empty       bool
	Epochs      uint64

	// Ended means that the trace's end was marked, Torn that it breaks off. Running means that it ends like the file of
	// a game that is still running. Trouble describes the error if reading ended early.
	Ended, Torn, Running bool
	Trouble              string

	// Malformed counts lines that are not records.
	Malformed int64

	// Gaps are ticks between others that the trace lacks and another trace has. They are not compared and not
	// differences.
	Gaps []Gap

	// Ahead are the last ticks of the trace if it has only known predictions of them; Ticks is 0 if there are none.
	Ahead Gap

	// Rollback is nil if the trace has neither predictions nor rollbacks.
	Rollback *RollbackStats
	// Kept are guesses that another input contradicts, in ticks that were not simulated again: the first of at most 64
	// ticks. They are known only of traces with restores.
	Kept []KeptGuess
}

// Gap is a span of ticks that a trace lacks, both ends included.
type Gap struct {
	First, Last Tick
	// Ticks is how many of these ticks another trace has.
	Ticks int
	// Away means that the peer is known not to have played them.
	Away bool
	// Guessed means that the trace has these ticks, with values that differ from another trace's and may be guesses.
	Guessed bool
	// Framed means that a log which may lack lines has at least as many ticks after the gap, and no trace differs.
	Framed bool

	before int64 // ticks that the trace has before the gap
}

// Brief reports whether the checksums around the gap decide: it has so few ticks that a program probably failed to write
// them, while its peer was there, or it is framed.
func (g *Gap) Brief() bool { return (g.Ticks <= 2 || g.Framed) && !g.Guessed }

// maxGaps limits the length of TraceInfo.Gaps. After that the last gap grows.
const maxGaps = 1 << 12

// frame marks the gaps that checksums around them frame. ticks is how many the trace has.
func (t *TraceInfo) frame(ticks int64) {
	for i := range t.Gaps {
		g := &t.Gaps[i]
		after := ticks - g.before
		g.Framed = !g.Guessed && after >= settledCadence && after >= int64(g.Ticks)
	}
}

// gap notes that the trace lacks a tick. seen is the last tick that it has, ticks how many it has.
func (t *TraceInfo) gap(tick, seen Tick, ticks int64) {
	if n := len(t.Gaps); n > 0 && (seen.Before(t.Gaps[n-1].First) || n == maxGaps) {
		if t.Gaps[n-1].Last != tick { // it may lack several checkpoints of a tick
			t.Gaps[n-1].Last = tick
			t.Gaps[n-1].Ticks++
		}
		return
	}
	t.Gaps = append(t.Gaps, Gap{First: tick, Last: tick, Ticks: 1, before: ticks})
}

// guess notes a tick of which the trace may have guesses only.
func (t *TraceInfo) guess(tick Tick) {
	if n := len(t.Gaps); n == 0 || !t.Gaps[n-1].Guessed {
		t.Gaps = append(t.Gaps, Gap{First: tick, Guessed: true})
	}
	if g := &t.Gaps[len(t.Gaps)-1]; g.Ticks == 0 || g.Last != tick {
		g.Last = tick
		g.Ticks++
	}
}

// ahead notes a tick that a trace has, which is over.
func (t *TraceInfo) ahead(tick Tick, predicted bool) {
	switch {
	case !predicted:
		t.Ahead = Gap{}
	case t.Ahead.Ticks == 0:
		t.Ahead = Gap{First: tick, Last: tick, Ticks: 1}
	default:
		t.Ahead.Last = tick
		t.Ahead.Ticks++
	}
}

// early notes a gap that became known only later. It lies before the others.
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

// RollbackStats counts the events in a trace with rollbacks.
type RollbackStats struct {
	Rollbacks       int64 // restores, or returns to an earlier tick
	Deepest         uint64
	Predicted       int64 // checkpoints that were predicted
	Mispredictions  int64 // of those, contradicted by the confirmed value
	Unconfirmed     int64 // of those, without a confirmed value at the end
	Confirmed       int64
	GuessedInputs   int64
	WrongInputs     int64 // of those, contradicted by the known input
	BeyondWindow    int64 // checkpoints of ticks that were already settled
	ConfirmedTwice  int64 // confirmed checkpoints that were confirmed again
	ConfirmedChange int64 // of those, with another value
}

// KeptGuess is an input that was guessed for a tick. Another input was known later, and no restore led back to the tick.
type KeptGuess struct {
	Tick         Tick
	Player       uint32
	Guess, Known string // the values of the first sum that differs
	Pos          Position
}

// DifferenceKind is the way in which traces differ at a checkpoint.
type DifferenceKind string

// Kinds of differences.
const (
	Changed DifferenceKind = "changed" // different checksums or counts
	Missing DifferenceKind = "missing" // some peers lack it and should have it
)

// Difference is a checkpoint at which traces differ.
type Difference struct {
	Kind          DifferenceKind
	Tick          Tick
	System, Scope string
	Phase         Phase
	Occurrence    uint32
	// Sums are the names of the sums that differ. Count reports whether the counts differ.
	Sums   []string
	Count  bool
	Values []Value

	seq  int64
	lack uint64 // traces that should have it
}

// Place returns the system and scope of the checkpoint, as far as it has them.
func (d *Difference) Place() string {
	return cmp.Or(strings.Trim(d.System+", "+d.Scope, ", "), "its checkpoint")
}

// Parts returns the names of the sums that differ at a checkpoint of a whole tick that has a sum for each of several parts
// of the game (sum.move, sum.combat). All parts have their sums at once: several parts that differ have no order.
func (d *Difference) Parts() (names []string) {
	named := 0
	for i := range d.Values {
		n := 0
		for k := range d.Values[i].Sums {
			if d.Values[i].Sums[k].Name != "" {
				n++
			}
		}
		named = max(named, n)
	}
	if d.Kind != Changed || d.System != "" || d.Scope != "" || named < 2 {
		return nil
	}
	return lists.Where(d.Sums, func(name string) bool { return name != "" })
}

// Value is one trace's part of a checkpoint.
type Value struct {
	Present  bool    // if false, everything but Absent is zero
	Absent   Absence // the reason if it is not present, else ""
	File     string  // the file with it, for a trace that is joined from several
	Pos      Position
	Sums     []Sum
	Count    uint64
	HasCount bool
	// Detail contains details of the checkpoint, see [Dialect.Detail].
	Detail []Detail
}

// Absence is the reason why a trace does not have a checkpoint. Only Lacking is a difference.
type Absence string

// Reasons.
const (
	Lacking     Absence = "lacking"      // it should have it
	NotBegun    Absence = "not-begun"    // it begins later
	Over        Absence = "over"         // it ends before
	Unreadable  Absence = "unreadable"   // lines that are not records may contain it
	NotTraced   Absence = "untraced"     // it never has this system and scope
	NotCompared Absence = "not-compared" // it has them at other ticks
)

// Sum returns the sum with that name as text, "" if there is none.
func (v *Value) Sum(name string) string {
	for _, s := range v.Sums {
		if s.Name == name {
			return string(s.Value)
		}
	}
	return ""
}

// Bracket means that traces agreed at tick Good and differed at tick Bad, and that no tick between them was compared.
// The error happened after Good, and in Bad at the latest.
type Bracket struct {
	Good    Tick
	HasGood bool // false if the first tick that was compared differs
	Bad     Tick
}

// Exact reports whether Bad is the tick in which the traces diverged.
func (b *Bracket) Exact() bool {
	return b.HasGood && b.Good.Epoch == b.Bad.Epoch && b.Good.Number+1 == b.Bad.Number
}

// Cascade is where a scope, or a system without scopes, first differed.
type Cascade struct {
	Scope  string // "" for checkpoints without one
	System string
	Tick   Tick
	Count  int64 // number of differences
	Last   Tick  // the last of them

	seq int64
}

// Groups lists the traces that agree from a tick on.
type Groups struct {
	Tick Tick
	// Groups are indexes of traces without differences between them, in order. Traces without the tick are in no group.
	// Traces that could belong to two groups by their checkpoints are in none either.
	Groups [][]int
}

// FindingKind is an error within one trace, or in the order of several.
type FindingKind string

// Kinds of findings.
const (
	// ConfirmedChanged: a checkpoint was confirmed and later confirmed with another value.
	ConfirmedChanged FindingKind = "confirmed-changed"
	// RestoreMismatch: a restored state is not the saved one.
	RestoreMismatch FindingKind = "restore-mismatch"
	// ResimulationOff: the ticks that were simulated again are not the ticks from the restored state to the tick of the
	// restore.
	ResimulationOff FindingKind = "resimulation-off"
	// InputAfterConfirmed: an input was used after a different one was confirmed for the same tick and player.
	InputAfterConfirmed FindingKind = "input-after-confirmed"
	// Reordered: peers have the same checkpoints in a tick, in a different order.
	Reordered FindingKind = "reordered"
)

var findingWords = map[FindingKind]string{
	ConfirmedChanged:    "a confirmed value changed later",
	RestoreMismatch:     "a restore did not restore what was saved",
	ResimulationOff:     "the ticks simulated again are not those that were rolled back",
	InputAfterConfirmed: "an input was used after another was confirmed",
	Reordered:           "the same checkpoints in another order",
}

// Words describes a finding of this kind.
func (k FindingKind) Words() string { return findingWords[k] }

// Finding is an error of a FindingKind.
type Finding struct {
	Kind          FindingKind
	Trace         int
	Tick          Tick
	System, Scope string
	Player        uint32
	Pos           Position // where it becomes visible
	Before        Position // of the record that it contradicts
	Expected, Got string
}

// Untraced is a system and scope that some traces do not have.
type Untraced struct {
	System, Scope string
	Traces        []int // traces that do not have it
	Count         int64 // number of checkpoints in the others
}

// MismatchError reports that traces belong to different games.
type MismatchError struct {
	What string // "seeds" or "matches"
	A, B string // the values
	// NameA and NameB are the traces.
	NameA, NameB string
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("traces cannot be compared: %s are %s (%s) and %s (%s)", e.What, e.A, e.NameA, e.B, e.NameB)
}

// Comparable returns an error for traces of different games.
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

// otherBuilds returns warnings about traces from different builds. These are compared nevertheless, because different
// builds explain most desyncs.
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

// Schedule defines when a relay compares the peers' checksums, in ticks. The zero Schedule compares every tick.
type Schedule struct {
	Name string // name in the result
	// Every compares each tick that is a multiple of it, if the intervals below are 0.
	Every uint64
	// Early, Normal and Late are intervals. Early applies for EarlyTicks from the start and from each reconnect, Late
	// from tick LateFrom on if that is not 0, and Normal otherwise.
	Early, Normal, Late  uint64
	EarlyTicks, LateFrom uint64
	Reconnects           []uint64
}

// interval returns the interval at a tick, and the tick at which another interval may begin.
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

// Noticed is when a relay that compares on a schedule would have detected a divergence.
type Noticed struct {
	Schedule Schedule
	// Noticed reports whether it would have detected it, at Tick, within the traces.
	Noticed bool
	// Tick is the tick of the detection. If the traces still differ at their end, it is the next scheduled tick after
	// it.
	Tick Tick
	// Late is the number of ticks since the first that differs.
	Late uint64
	// Open reports whether the traces still differ at their end.
	Open bool
}

// Context contains the lines around a record in one trace.
type Context struct {
	FirstLine int64 // number of Lines[0], 0 in a binary trace
	At        int   // index of the record in Lines; may be one after the last
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
