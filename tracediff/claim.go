package tracediff

import (
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/snapshot"
)

// ClaimLog is what an engine wrote of desyncs into one file.
type ClaimLog struct {
	File    string
	Dialect Dialect
	Peer    string // whose file it is, if it says
	Claims  []Claim
	// Players are the names of the session's players by their numbers, as far as
	// the file says.
	Players map[uint32]string
	// Start is what the file says of the game at its start that has to be the same
	// on all peers, such as checksums of maps and mods, by peer and name.
	Start map[string]map[string]string
	// Facts are what the file says of the game and of the machine that wrote it, by the names of
	// facts: "build", "os", "map", …
	Facts map[string]string
	// Trouble is what is wrong with the file, empty if nothing is: it breaks off,
	// or has lines that a pattern of a claim fits and that are none.
	Trouble string
	// Lost says what of the file is not in Claims, such as another match that follows the
	// first, empty if all is.
	Lost string
}

// Claim is what an engine wrote of a desync. It is evidence of a third kind,
// beside states and checksums: what it says of when and of whom holds no further
// than the artifacts prove it.
type Claim struct {
	File string
	Pos  Position
	Text string // as it stands in the file, without what stands before it on the line

	// Tick is the tick that it names, if HasTick. It is an upper bound: the peers
	// parted in it at the latest.
	Tick    uint64
	HasTick bool
	// Peers are those that it accuses, by name.
	Peers []string
	// Values are the checksums of that tick that it states, by peer; an empty name
	// is a peer that it does not name.
	Values []ClaimedValue

	// By is the peer whose program wrote it, empty if the file does not say. It is
	// the name that a value of that peer has in Values.
	By string
	// SelfTest says that one machine computed the same tick twice and came to different
	// results. Values, if there are any, are of the first run and of the second.
	SelfTest bool
	// Loaded says of a self-test that the runs differ before the tick is computed: the second had
	// loaded what the first had saved, perhaps in an earlier tick.
	Loaded bool
	// Replay says that what was computed the second time is a replay of a recording: the
	// builds of both may differ. The value of By is the replay's, all others are as they were
	// recorded.
	Replay bool
	// Quoted says that it may be the words of a person, not of the program: it stands
	// in a message of a chat, or where the log has nothing that tells these apart.
	Quoted bool
	// Detail says more of what it claims, as Dialect.Detail says.
	Detail []Detail
}

// ClaimedValue is a checksum in a claim.
type ClaimedValue struct{ Peer, Value string }

// OneSide and OtherSide are the peers of two values in a claim that does not show which machine had which.
const (
	OneSide   = "one side"
	OtherSide = "the other side"
)

// sides are further names of values that are no names of machines.
var sides = []string{OneSide, OtherSide, "expected", "actual", "received", "computed", "calculated", "saved", "stored", "original", "recorded", "replay", "InGame", "live"}

// IsSide reports whether a name of a value in a claim is that of a side, and not of a machine that could be asked for its
// files.
func IsSide(name string) bool { return slices.Contains(sides, name) }

// FirstRun and SecondRun are the peers of a self-test, in which one machine computes the same
// ticks twice. A format whose files hold both sides of one gives its two peers these names; a
// claim of one has SelfTest set. Of a replay that is held against a recording, the recording is
// the first run: see Dialect.Replay.
const (
	FirstRun  = snapshot.FirstRun
	SecondRun = snapshot.SecondRun
)

// Proves reports whether the claim states two different checksums of one tick, or that a
// self-test failed. The words of a person never prove.
func (c *Claim) Proves() bool {
	if c.Quoted {
		return false
	}
	if c.SelfTest && len(c.Values) == 0 {
		return true
	}
	for _, v := range c.Values {
		if !equalSum([]byte(v.Value), []byte(c.Values[0].Value)) {
			return true
		}
	}
	return false
}

// EqualSums reports whether two values are the same checksum: equal as they stand, or the same
// number of hex digits with or without 0x, in either case.
func EqualSums(a, b string) bool { return equalSum([]byte(a), []byte(b)) }

// SumKey returns what values have in common that are the same checksum, and no others, see
// EqualSums.
func SumKey(v string) string {
	if d := digits([]byte(v)); isHex(d) {
		return strings.ToLower(string(d))
	}
	return v
}

// Standing is how a claim stands beside what was compared.
type Standing string

// Standings.
const (
	// Unchecked: no two traces have the tick that it names.
	Unchecked Standing = "unchecked"
	// Borne: the traces first differ at the tick that it names.
	Borne Standing = "borne-out"
	// Late: the traces differ at the tick that it names, and before.
	Late Standing = "late"
	// Fits: nothing is of the tick that it names, which lies where the peers parted.
	Fits Standing = "fits"
	// Contradicted: the traces agree at the tick that it names.
	Contradicted Standing = "contradicted"
)

// JudgedClaim is a claim beside what the traces say.
type JudgedClaim struct {
	Claim
	Files    []string // all that hold it
	Standing Standing
	// Contradictions say where the traces have it otherwise: who agrees with whom
	// at that tick, and which checksums they have.
	Contradictions []string
	// Omits say what it leaves out, which does not make it wrong.
	Omits []string

	dialect *Dialect
}

// TickName returns the name that the claim's engine has for its tick.
func (c *JudgedClaim) TickName() string {
	if c.dialect == nil {
		return strconv.FormatUint(c.Tick, 10)
	}
	return c.dialect.name(Tick{Number: c.Tick})
}

// Start is something that had to be the same on all peers at the start, and that
// engines' logs say was not.
type Start struct {
	Name   string
	Values map[string]string // by peer
}
