package tracediff

import (
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/snapshot"
)

// ClaimLog contains everything that an engine wrote about desyncs into one file.
type ClaimLog struct {
	File    string
	Dialect Dialect
	Peer    string // the peer that wrote the file, if known
	Claims  []Claim
	// Players are the names of the session's players by number, as far as the file contains them.
	Players map[uint32]string
	// Start contains data about the game at its start that must be the same on all peers, such as checksums of maps and
	// mods, by peer and name.
	Start map[string]map[string]string
	// Facts contains data about the game and the machine that wrote the file, by name: "build", "os", "map", …
	Facts map[string]string
	// Trouble describes a problem of the file, empty if there is none. The file may break off, or have lines that match
	// a claim's pattern but are not claims.
	Trouble string
	// Lost describes parts of the file that are not in Claims, such as another match that follows the first. It is
	// empty if there are none.
	Lost string
}

// Claim is an engine's message about a desync. It is a third kind of evidence, next to states and checksums. Its
// statements about tick and peers hold only as far as states or checksums prove them.
type Claim struct {
	File string
	Pos  Position
	Text string // as in the file, without the text before it on the line
	Lead string // the text before it, such as the time of day, if that is short

	// Tick is the tick in the message, if HasTick. It is an upper bound: the peers diverged in this tick or before.
	Tick    uint64
	HasTick bool
	// Peers are the names of the peers that it accuses. If it is Reported, these peers report it themselves, and nobody
	// accuses them.
	Peers    []string
	Reported bool
	// Values are the checksums that it contains for that tick, by peer. An empty name means a peer that it does not
	// name.
	Values []ClaimedValue
	// Of is what the values are, such as "velocity.y of Ball#3". It is empty for checksums of the whole state.
	Of string

	// By is the peer whose program wrote it, empty if the file does not show it. That peer's value in Values has the
	// same name.
	By string
	// SelfTest means that one machine computed the same tick twice and got different results. Values, if there are any,
	// belong to the first run and the second.
	SelfTest bool
	// Loaded is for self-tests. It means that the runs differ before the tick is computed: the second run had loaded
	// the state that the first had saved, perhaps in an earlier tick.
	Loaded bool
	// Began is for self-tests. It means that both runs began the tick with the same state, as far as the game can save it.
	Began bool
	// Replay means that the second computation replayed a recording, so the two builds may differ. The value of By
	// comes from the replay, all others from the recording.
	Replay bool
	// Data means that the values are of data that both machines had before the game began, such as a map or the content of
	// mods. Different data shows nothing about a game.
	Data bool
	// Quoted means that a person may have written the text, not the program: it is in a chat message, or the log does
	// not show the difference.
	Quoted bool
	// Told means that the text is the sentence of a person who writes about a desync. It is Quoted, too.
	Told bool
	// Detail contains details of the claim; see Dialect.Detail.
	Detail []Detail
}

// ClaimedValue is a checksum in a claim. Peer is empty if the claim names none.
type ClaimedValue struct {
	Peer  string `json:"peer"`
	Value string `json:"value"`
}

// OneSide and OtherSide are the peers of two values in a claim that does not show which machine had which value.
const (
	OneSide   = "one side"
	OtherSide = "the other side"
)

// sides are the other names of values that do not name machines.
var sides = []string{OneSide, OtherSide, "expected", "actual", "received", "computed", "calculated", "saved", "current", "stored", "original", "recorded", "replay", "InGame", "live",
	"left", "right"}

// IsSide reports whether the name of a value in a claim means a side. If not, it is a machine that may have files.
func IsSide(name string) bool {
	place, ok := strings.CutPrefix(name, "[") // in a list of checksums
	return slices.Contains(sides, name) || ok && len(place) > 1 && strings.Trim(place, "0123456789") == "]"
}

// FirstRun and SecondRun are the peers of a self-test, in which one machine computes the same ticks twice. A format
// with both sides of a self-test in one file gives its two peers these names. A claim about a self-test has SelfTest
// set. When a replay is compared with a recording, the recording is the first run: see Dialect.Replay.
const (
	FirstRun  = snapshot.FirstRun
	SecondRun = snapshot.SecondRun
)

// Proves reports whether the claim contains two different checksums for one tick, or the failure of a self-test. A text
// that a person may have written proves nothing.
func (c *Claim) Proves() bool {
	if c.Quoted || c.Data {
		return false
	}
	if c.SelfTest && len(c.Values) == 0 {
		return true
	}
	return slices.ContainsFunc(c.Values, func(v ClaimedValue) bool {
		return !equalSum([]byte(v.Value), []byte(c.Values[0].Value))
	})
}

// EqualSums reports whether two values are the same checksum: equal texts, or the same hex digits, with or without 0x
// and in either case.
func EqualSums(a, b string) bool { return equalSum([]byte(a), []byte(b)) }

// SumKey returns a key that is equal for values that are the same checksum, and only for them; see EqualSums.
func SumKey(v string) string {
	if d := digits([]byte(v)); isHex(d) {
		return strings.ToLower(string(d))
	}
	return v
}

// Standing is how a claim compares with the traces.
type Standing string

// Standings.
const (
	// Unchecked: no two traces have the tick in the claim.
	Unchecked Standing = "unchecked"
	// Borne: the traces first differ at the tick in the claim.
	Borne Standing = "borne-out"
	// Late: the traces differ at the tick in the claim, and before.
	Late Standing = "late"
	// Fits: nothing is known about the tick in the claim, but it lies where the peers diverged.
	Fits Standing = "fits"
	// Contradicted: the traces agree at the tick in the claim.
	Contradicted Standing = "contradicted"
)

// JudgedClaim is a claim compared with the traces.
type JudgedClaim struct {
	Claim
	Files    []string // all files that contain it
	Standing Standing
	// Contradictions describe where the traces contradict it: which peers agree at that tick, and which checksums they
	// have.
	Contradictions []string
	// Omits lists facts that it leaves out, which does not make it wrong.
	Omits []string

	dialect *Dialect
}

// TickName returns the engine's name for the claim's tick.
func (c *JudgedClaim) TickName() string {
	if c.dialect == nil {
		return strconv.FormatUint(c.Tick, 10)
	}
	return c.dialect.name(Tick{Number: c.Tick})
}

// Start is a value that had to be the same on all peers at the start, but was not according to the engines' logs.
type Start struct {
	Name   string            `json:"name"`
	Values map[string]string `json:"values"` // by peer
}
