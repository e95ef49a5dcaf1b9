package document

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// Report is desynctool.triage/1: what happened to a session, with the evidence for it, and everything that a rendering
// shows. It is made once, and can be rendered many times, also from its JSON. Peers have their names, values are in the
// notation of the text twin.
type Report struct {
	Head
	// Error is why there is no result; empty if there is one.
	Error string `json:"error,omitempty"`

	// Verdict is what happened, in one to four sentences.
	Verdict []string `json:"verdict"`
	// Kind is the kind of the divergence, empty if none was found.
	Kind bisect.Kind `json:"kind,omitempty"`

	// Match identifies the match, nil unless there are reports of other matches next to this one.
	Match           *MatchDocument   `json:"match,omitempty"`
	Session         Session          `json:"session"`
	Peers           []TriagedPeer    `json:"peers"`
	FirstDivergence *FirstDivergence `json:"first_divergence"` // null if none was found
	// Splits are all stretches of state points in which peers are known to have diverged, in order; the first belongs
	// to FirstDivergence.
	Splits []SplitDocument `json:"splits"`

	// Caches is where caches begin to differ though the states are equal, nil if none are
	// known to.
	Caches *CachesDocument `json:"caches,omitempty"`

	// Ladder is the narrowing, step by step.
	Ladder []Rung `json:"ladder"`
	// Locus are the values that differ where the peers diverged, the root first, as many as are useful; Compared
	// identifies their states.
	Locus    []LocusField `json:"locus"`
	Compared *Compared    `json:"compared,omitempty"` // nil if no two states were compared
	// Causes are the possible causes of the mistake, the likeliest first; empty if they are not known. Excluded has the
	// reasons why other classes are not the cause.
	Causes   []Cause           `json:"cause"`
	Excluded map[string]string `json:"excluded,omitempty"`
	// Experiments are the replays that were made to find it, in order.
	Experiments []Experiment `json:"experiments,omitempty"`
	// Cascade lists when each system, or part of the state, first differed, in order.
	Cascade []CascadeDocument `json:"cascade"`
	// Orders are the orders around the divergence, Inputs how the orders of the peers differ.
	Orders []TriagedOrder `json:"orders"`
	Inputs *Inputs        `json:"inputs,omitempty"` // nil if fewer than two logs were compared

	// SimFailed describes how the requested simulator failed, empty if it did not.
	SimFailed string `json:"simulator_failed,omitempty"`
	// OwnFailed reports whether it was the peer's own build.
	OwnFailed bool `json:"own_failed,omitempty"`

	// Witness is the result of a game that played the recordings again, nil if none did.
	Witness *WitnessDocument `json:"witness,omitempty"`

	// OnlyHistories reports whether only history hashes show that the peers diverged.
	OnlyHistories bool `json:"only_histories,omitempty"`

	Contradictions []string `json:"contradictions"`
	Missing        []string `json:"missing"` // evidence that is lost or lacking
	Notes          []string `json:"notes"`
	// Claims are what the engines themselves reported, compared with the evidence.
	Claims []ClaimDocument `json:"claims,omitempty"`
	// Facts of the game and the machines that differ between the peers.
	Facts []Fact `json:"facts,omitempty"`
	// Stated are all facts of the game and the machines that the peers' files state, including facts that are the same
	// on all, or that only one peer states.
	Stated []Fact `json:"stated,omitempty"`
	// GameLogs are warnings and errors before the split that not all of the games' own logs
	// have, nil if there are none.
	GameLogs *GameLogs `json:"game_logs,omitempty"`

	// Next are the next steps, the most useful first. Ask is a text that asks the players for missing files, empty if
	// nothing is missing.
	Next []string `json:"next"`
	Ask  string   `json:"ask,omitempty"`
	// Send lists what peers may send to answer open steps, the most useful first.
	Send []Request `json:"send,omitempty"`

	// Fingerprint is the strict one: reports share it if equally much is known about them and all of it is the same;
	// empty if too little is known. Fingerprints has one for each level, from coarse to fine, as many as are known.
	Fingerprint  string        `json:"fingerprint"`
	Fingerprints []Fingerprint `json:"fingerprints"`
	Seen         []SeenBefore  `json:"seen_before,omitempty"`
	Timeline     *Timeline     `json:"timeline,omitempty"`
	Heat         *Heat         `json:"heat,omitempty"`
	Tree         *HashTree     `json:"tree,omitempty"`
	Map          *PositionsMap `json:"map,omitempty"`
	// Names are the engine's names for the ticks and state points of Timeline, Heat and Cascade, nil if it has none.
	Names *Names `json:"names,omitempty"`
}

// Session is which game the evidence is of.
type Session struct {
	Game  string `json:"game,omitempty"` // of an engine, or the sim's own name
	Seed  string `json:"seed,omitempty"` // 16 hex digits
	Build string `json:"build,omitempty"`
	// TickRate is how many ticks a second has, 0 if that is not known.
	TickRate float64 `json:"tick_rate,omitempty"`
	// First and Last are the state points between which there is evidence.
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	// Played is when the match was played, nil if that is not known.
	Played *Played `json:"played,omitempty"`
	// KnownBy is how the formats of the evidence are known: KnownByBytes, KnownByPage, KnownByItself, in this order.
	KnownBy []string `json:"known_by,omitempty"`
	// Tables are the tables of states in ordinary notations, with the way in which their rows are identified.
	Tables []Identified `json:"tables,omitempty"`
}

// How the format of a file is known.
const (
	KnownByBytes  = "bytes"  // it is one that the program knows
	KnownByPage   = "page"   // a page describes it: an engine's page, or one by the game's developers
	KnownByItself = "itself" // it is an ordinary notation, or a message in ordinary words
)

// Identified is how the rows of a table are matched with the rows of another state.
type Identified struct {
	Table string `json:"table"`
	Key   string `json:"key,omitempty"` // a member of the rows, empty if none identifies them
	// By is "id" for a member that has that name and is unique, "stable" for one that is unique and recurs in other
	// files, "name" for the name in a map, "place" for the place in a list, "described" for a key that a page
	// describes.
	By string `json:"by"`
}

// Words returns how the rows are identified, and why.
func (i *Identified) Words() string {
	if i.Key == "" {
		return i.Why()
	}
	return prose.Name(i.Key) + " (" + i.Why() + ")"
}

// Why returns why the rows are identified by their key, or else how they are identified.
func (i *Identified) Why() string {
	switch i.By {
	case "id":
		return "called like an id, unique in every list"
	case "stable":
		return "unique in every list, with the same values in other files"
	case "name":
		return "the name in the map"
	case "described":
		return "as the page has it"
	}
	return "the place in the list, since nothing else identifies them"
}

// Played is when a match was played, as its files have it. Times are RFC 3339, in UTC, to the second; a local time
// without a zone is taken for UTC.
type Played struct {
	First string `json:"first"`
	Last  string `json:"last"`
	By    string `json:"by"` // the source, in a few words
}

// Request is something that peers may send.
type Request struct {
	What string   `json:"what"`
	From []string `json:"from,omitempty"` // names of peers; empty if it is a peer that nothing is known of
	For  []string `json:"for"`            // the steps of the ladder that it may answer
}

// Parting is where recorded checksums diverge within the bracket of the states.
type Parting struct {
	Good   *uint64 `json:"good"` // the last tick in which they agree, null if none is known
	Bad    uint64  `json:"bad"`  // the first in which they differ
	Native string  `json:"native,omitempty"`
	By     string  `json:"by"`
}

// TriagedPeer is one peer.
type TriagedPeer struct {
	Name string `json:"name"`
	// Group is the number of the peers that have the same state where they diverged, from 1; 0 if its state there is
	// not known.
	Group int `json:"group"`
	// MatchesReference reports whether its hashes equal the simulator's; null if no simulator ran.
	MatchesReference *bool `json:"matches_reference"`
	Snapshots        int   `json:"snapshots"`
	OrderLog         bool  `json:"order_log"`
	Trace            bool  `json:"trace"`
	// ClaimLog reports whether it has a log with messages of the game, Mentioned whether it left nothing and only other
	// peers' messages name it.
	ClaimLog  bool `json:"claim_log,omitempty"`
	Mentioned bool `json:"mentioned,omitempty"`
}

// FirstDivergence is where the peers diverged.
type FirstDivergence struct {
	Tick         *uint64          `json:"tick"` // the divergent tick, null if only the bracket is known
	Exact        bool             `json:"exact"`
	Bracket      *BracketDocument `json:"bracket"`
	InitialState bool             `json:"initial_state"`
	// Loaded is the peer that diverged by loading another state, empty if none did.
	Loaded string `json:"loaded,omitempty"`
	System string `json:"system,omitempty"`
	// Archetypes are the archetypes that may have diverged first, the RNG under "". Root reports whether the first one
	// is known to have.
	Archetypes []string `json:"archetypes"`
	Root       bool     `json:"root"`
	Component  string   `json:"component,omitempty"`
	Native     *Native  `json:"native,omitempty"`
	// Checkpoint is the first differing checkpoint in the traces of an engine, Checksums where checksums of whole ticks
	// diverge; null if there are none within the bracket.
	Checkpoint *CheckpointDocument `json:"checkpoint,omitempty"`
	Checksums  *Parting            `json:"checksums,omitempty"`
	Healed     *uint64             `json:"healed_at"` // the states are equal again
	Detected   *uint64             `json:"detected_at"`
	// Majority is the number of the largest group, 0 if none is the largest. It is not
	// known to be right.
	Majority int `json:"majority"`
	// Wrong are the peers that are known to be wrong from a replay of the orders; empty if that is not known.
	Wrong []string `json:"wrong,omitempty"`
}

// RungState is how a step of the narrowing went.
type RungState string

// States of a step.
const (
	RungFound   RungState = "found"   // it narrows
	RungEqual   RungState = "equal"   // nothing differs there
	RungOpen    RungState = "open"    // the evidence does not answer it
	RungTrouble RungState = "trouble" // pieces of evidence contradict each other, or are lost
)

// Rung is one step of the narrowing.
type Rung struct {
	// Step is preflight, inputs, initial-state, bracket, checksums, tick, system,
	// archetype, component, entity, field, peers, cause or claims.
	Step  string    `json:"step"`
	State RungState `json:"state"`
	Found string    `json:"found"` // in a few words
	// Evidence is the evidence for that; for an open step, what would close it.
	Evidence string `json:"evidence"`
	// Needs are the artifacts that would close an open step; each of them would.
	Needs []string `json:"needs,omitempty"`
	// RestsOn are peers whose claims it depends on, without confirmation by another peer: a person with such a peer's
	// files could have forged it.
	RestsOn []string `json:"rests_on,omitempty"`
}

// LocusPeers returns the peers with values in the locus: first the peers that were compared, then others in the order
// of the session. Every rendering has them in this order.
func LocusPeers(r *Report) []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if r.Compared != nil {
		add(r.Compared.Peers[0])
		add(r.Compared.Peers[1])
	}
	has := map[string]bool{}
	for i := range r.Locus {
		for name := range r.Locus[i].Values {
			has[name] = true
		}
	}
	for _, p := range r.Peers {
		if has[p.Name] {
			add(p.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(has)) {
		add(name)
	}
	return names
}

// FactPeers returns the peers that state a fact: in the order of the session, then the peers that left nothing else, by
// name.
func (r *Report) FactPeers(f *Fact) []string {
	var names []string
	for _, p := range r.Peers {
		if _, has := f.Values[p.Name]; has {
			names = append(names, p.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Values)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Compared is which states were compared, and how much of them differs.
type Compared struct {
	Peers  [2]string `json:"peers"`
	Point  uint64    `json:"point"`
	Native string    `json:"native,omitempty"` // the engine's own name of it
	// Values counts all differing values, Rows are the entities that only one side has.
	Values uint64      `json:"values"`
	Rows   []LocusRows `json:"rows"`
	// Columns counts the differing values of each column.
	Columns []LocusColumn `json:"columns"`
	// Schema are columns that only one side has, or that have different types or scales.
	Schema []LocusSchema `json:"schema,omitempty"`
	// Reordered are the tables with the same rows, without ids, in another order on both sides.
	Reordered []string `json:"reordered,omitempty"`
	// Entities are the entities that all of these belong to, the entities of the locus first; Others counts the rest.
	// Together they count every value and every row once.
	Entities []Entity `json:"entities,omitempty"`
	Others   *Others  `json:"others,omitempty"`
}

// LocusSchema is a column that is not the same on both sides.
type LocusSchema struct {
	Archetype string `json:"archetype"`
	Cache     bool   `json:"cache,omitempty"`
	Component string `json:"component"`
	Field     string `json:"field"`
	// Types are the column's types, by peer; a peer that lacks the column has none.
	Types map[string]string `json:"types"`
}

// Text describes how the column differs: "only on host", "u64 on host, u32 on client".
func (s *LocusSchema) Text() string {
	var parts []string
	for _, peer := range slices.Sorted(maps.Keys(s.Types)) {
		parts = append(parts, s.Types[peer]+" on "+peer)
	}
	if len(parts) == 1 {
		for peer := range s.Types {
			return "only on " + peer
		}
	}
	return strings.Join(parts, ", ")
}

// LocusColumn is a column in which values differ.
type LocusColumn struct {
	Archetype string `json:"archetype"`
	Cache     bool   `json:"cache,omitempty"`
	ColumnDocument
}

// LocusField is one value that differs.
type LocusField struct {
	Archetype string `json:"archetype"`
	Cache     bool   `json:"cache,omitempty"`  // a cache's value, not one of the state
	Entity    *int   `json:"entity,omitempty"` // its place in Compared.Entities
	FieldDocument
	// Raw are the bits of numbers, as hex digits, the most significant first; empty
	// for other kinds.
	Raw map[string]string `json:"raw,omitempty"`
}

// LocusRows are entities that only one side has.
type LocusRows struct {
	Archetype string   `json:"archetype"`
	Cache     bool     `json:"cache,omitempty"`
	Peer      string   `json:"peer"` // that has them
	Keys      []string `json:"keys"` // the first
	Count     uint64   `json:"count"`
}

// Cause is a class of mistakes that may have caused the divergence.
type Cause struct {
	Class string `json:"class"` // a heading of docs/causes.md
	Title string `json:"title"`
	// Standing is "shown" (by experiments), "seen" (in the evidence itself), "not-excluded" (no
	// experiment shows or excludes it), or "looks-like".
	Standing string `json:"standing"`
	// Score is 1 if the cause is shown or seen, else Right of Of: in how many of the measured sessions with such
	// evidence it was one of the listed classes.
	Score float64 `json:"score"`
	Right int     `json:"measured_right,omitempty"`
	Of    int     `json:"measured_of,omitempty"`
	// Group is the same number for classes that the evidence does not separate. Classes with
	// different numbers hold together.
	Group    int      `json:"group"`
	Evidence []string `json:"evidence"`
	// Confirm is what would show it, a command where there is one; Refute what would exclude
	// it.
	Confirm string `json:"confirm,omitempty"`
	Refute  string `json:"refute,omitempty"`
}

// Measured returns how often the evidence for a cause was right, "" for a cause that was not measured: it is shown, or
// seen, or too few sessions have such evidence.
func (c *Cause) Measured() string {
	if c.Of == 0 {
		return ""
	}
	return fmt.Sprintf("right in %d of %d measured sessions with such evidence", c.Right, c.Of)
}

// Experiment is a replay that was made to find the cause.
type Experiment struct {
	Mode  string `json:"mode"` // as in replay
	Sim   string `json:"sim"`
	Peer  string `json:"peer"` // the peer that the replayed orders come from
	Whole bool   `json:"whole,omitempty"`
	// Wide is whether it was made in the ticks before and after the divergent one too.
	Wide bool `json:"wide,omitempty"`
	// RolledBack is by how many ticks the peer rolled back at most, where its trace shows that: Wide reaches as far.
	RolledBack uint64 `json:"rolled_back,omitempty"`
	// Result is "agrees", "departs" as the peers did, "elsewhere", "impossible" or "not-made".
	Result string   `json:"result"`
	Tick   *uint64  `json:"tick"` // in which it departs
	System string   `json:"system,omitempty"`
	Labels []string `json:"archetypes,omitempty"` // that differ then
	// Uncovered is whether its outcome excludes nothing: the mistake need not have shown in its
	// ticks.
	Uncovered bool     `json:"uncovered,omitempty"`
	Shows     []string `json:"shows,omitempty"` // classes of causes
	Text      string   `json:"text"`
}

// TriagedOrder is one order around the divergence.
type TriagedOrder struct {
	ReportedOrder
	Native string   `json:"native,omitempty"` // the engine's own name of its tick
	Peers  []string `json:"peers"`            // the peers with logs that have it
	// Difference is how it differs between the peers, empty if it does not.
	Difference orderlog.DifferenceKind `json:"difference,omitempty"`
	// On are the peers where it differs: those that are known to lack it, or the one that has it otherwise.
	On []string `json:"on,omitempty"`
	// Names an entity of the locus.
	Names string `json:"names,omitempty"`
}

// rank orders what reports show first: orders that differ, then those that name what differs.
func (o *TriagedOrder) rank() int {
	switch {
	case o.Difference != "":
		return 0
	case o.Names != "":
		return 1
	}
	return 2
}

// Differs describes how it differs, and on which peers; "" if it does not.
func (o *TriagedOrder) Differs() string {
	words := map[orderlog.DifferenceKind]string{
		orderlog.Missing: "missing", orderlog.Extra: "missing", orderlog.Duplicated: "twice", orderlog.Reordered: "in another place",
		orderlog.Late: "in another tick", orderlog.Altered: "with other content", orderlog.Failed: "failed",
	}
	if o.Difference == "" || len(o.On) == 0 { // saved reports of before do not name the peers
		return string(o.Difference)
	}
	return words[o.Difference] + " on " + strings.Join(prose.Names(o.On), ", ")
}

// Content shows the content of an order: as text if most of it is, else as hex digits.
func (o *TriagedOrder) Content() string { return payloadText(o.Payload) }

// Inputs is how the orders of the peers differ.
type Inputs struct {
	Line        string                `json:"line"`
	Count       int                   `json:"difference_count"`
	Differences []orderlog.Difference `json:"differences"` // the first
}

// Level is the question of the narrowing that a fingerprint covers.
type Level string

// Levels, from coarse to fine. Each covers the game, the kind of the divergence, and its own answer.
const (
	LevelKind      Level = "kind"
	LevelMessage   Level = "message"   // the form of the game's own message, and what it names, where there is nothing else
	LevelArchetype Level = "archetype" // that differ first
	LevelOrder     Level = "order"     // the kind of the order that differs, or that names what does
	LevelComponent Level = "component" // that differ first
	LevelStep      Level = "step"      // the system, or the engine's own name of the step
	LevelField     Level = "field"     // that differ first, and the kinds of their values
	LevelCause     Level = "cause"     // if an experiment confirmed it
)

// Levels returns all levels, from coarse to fine.
func Levels() []Level {
	return []Level{LevelKind, LevelMessage, LevelArchetype, LevelOrder, LevelComponent, LevelStep, LevelField, LevelCause}
}

// Seen reports whether reports that have this level in common count as reports of one bug; reports with less in common
// are similar.
func (l Level) Seen() bool { return l == LevelStep || l == LevelField || l == LevelCause }

// Fingerprint is one level of the identity of a bug.
type Fingerprint struct {
	Level  Level  `json:"level"`
	Name   string `json:"name"`   // what is hashed
	Digest string `json:"digest"` // 16 hex digits
	// Of are the archetypes, components or fields that it covers, sorted; for differing orders, how they differ and the
	// kind of the first one. It is nil if nothing is counted.
	Of []string `json:"of,omitempty"`
	// Pattern is how the values of fields differ, where that is the same each time: see the constants. It is not part of
	// the digest.
	Pattern string `json:"pattern,omitempty"`
}

// Patterns of values that differ.
const (
	PatternRounding  = "rounding"  // nothing but floats differ, by no more than rounding makes of them
	PatternExchanged = "exchanged" // a field has the same values on both sides, in other rows
	PatternOneBit    = "one bit"   // one bit of one float differs, and rounding does not make that
)

// SeenBefore is an earlier write-up that has a fingerprint in common.
type SeenBefore struct {
	Title string `json:"title"`
	File  string `json:"file"`
	Exact bool   `json:"exact"` // the strict fingerprint is the same
	// Level is the finest that they have in common, empty if only the strict one is.
	Level Level `json:"level,omitempty"`
}

// How describes in a few words how far the write-up is about the same bug.
func (s SeenBefore) How() string {
	switch {
	case s.Exact:
		return "seen before"
	case s.Level.Seen():
		return "seen before by its " + string(s.Level)
	}
	return "similar by its " + string(s.Level)
}

// Timeline is the evidence of each peer, by tick and state point, from the first to the last that has any.
type Timeline struct {
	From     uint64         `json:"from"`
	To       uint64         `json:"to"`
	Bin      uint64         `json:"bin"`                // ticks that one number of TimelinePeer.Orders counts
	BinFrom  *uint64        `json:"bin_from,omitempty"` // the first tick of the first bin, nil if that is From
	Peers    []TimelinePeer `json:"peers"`
	Detected *uint64        `json:"detected_at"`
}

// TimelinePeer is one line of a timeline.
type TimelinePeer struct {
	Name      string         `json:"name"`
	Snapshots []uint64       `json:"snapshots"`        // state points, thinned out where there are very many
	Thinned   bool           `json:"thinned"`          // not all are listed
	Orders    []uint64       `json:"orders,omitempty"` // how many in each bin
	Hashes    *TimelineSpan  `json:"hashes,omitempty"` // recorded sync hashes
	Trace     *TimelineSpan  `json:"trace,omitempty"`
	Marks     []TimelineMark `json:"marks,omitempty"` // joins, leaves, loads
}

// TimelineSpan is a stretch that something covers.
type TimelineSpan struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
	Count uint64 `json:"count"`
}

// TimelineMark is an event.
type TimelineMark struct {
	Tick uint64 `json:"tick"`
	Kind string `json:"kind"` // join, leave, removal, reconnect, save, load, resync
	Text string `json:"text,omitempty"`
}

// Heat is how a divergence spreads: how much of each archetype differs when.
type Heat struct {
	By string `json:"by"` // snapshots or traces
	// Peers are the two that are compared.
	Peers [2]string `json:"peers"`
	// Points are the state points of the columns.
	Points []uint64  `json:"points"`
	Rows   []HeatRow `json:"rows"`
}

// HeatRow is one archetype, the RNG under "", or one system.
type HeatRow struct {
	Label string `json:"label"`
	// Differs has one digit for each of Heat.Points: 1 where it differs, 0 where it is
	// equal, - where that is not known.
	Differs string `json:"differs"`
}

// HashTree is the Merkle tree of two states where the peers diverged.
type HashTree struct {
	Peers  [2]string  `json:"peers"`
	Point  uint64     `json:"point"`
	Roots  [2]string  `json:"roots"`
	Leaves []TreeLeaf `json:"leaves"` // in the order of the tree; the RNG is ""
}

// TreeLeaf is one leaf with both hashes; empty where that peer lacks it.
type TreeLeaf struct {
	Label  string    `json:"label"`
	Hashes [2]string `json:"hashes"`
	Rows   [2]uint64 `json:"rows"`
}

// MapAxes is how the axes of a map were found.
type MapAxes string

// Ways to find the axes of a map.
const (
	AxesDeclared MapAxes = "declared" // the game's format names the ground axes
	AxesNamed    MapAxes = "named"    // by the names of the two position fields
	AxesSpread   MapAxes = "spread"   // by the names of three: of y and z, the one with the closer values is the height
)

// PositionsMap has the positions of entities of the differing kinds on both peers.
type PositionsMap struct {
	Peers [2]string `json:"peers"`
	Point uint64    `json:"point"`
	// X and Y are the names of the axes.
	X    string  `json:"x"`
	Y    string  `json:"y"`
	Axes MapAxes `json:"axes,omitempty"`
	// AtLeast reports whether more entities may differ than the marked ones.
	AtLeast  bool        `json:"at_least,omitempty"`
	Entities []MapEntity `json:"entities"` // those that differ first, then others around them
	Left     uint64      `json:"left"`     // entities that are left out
}

// MapEntity is one entity; At has x and y of each peer, null where it lacks the entity.
type MapEntity struct {
	// Kind is the game's word for such things, as in Compared.Entities; Archetype is the one that has the position.
	Kind      string         `json:"kind,omitempty"`
	Archetype string         `json:"archetype"`
	Key       string         `json:"key"`
	At        [2]*[2]float64 `json:"at"`
	// Differs reports whether any of its values differs.
	Differs bool `json:"differs"`
}

// FirstCheckpoint returns the first checkpoint that differs between traces, with each peer's content there as a text;
// nil if none differs.
func FirstCheckpoint(r *tracediff.Result) (c *CheckpointDocument, values []string) {
	if r.First == nil {
		return nil, nil
	}
	doc := checkpoint(r, r.First)
	if names := onlyOn(r, r.First); names != "" {
		return &doc, []string{"exists only on " + names}
	}
	for i := range r.First.Values {
		if r.First.Values[i].Present {
			values = append(values, strings.TrimSpace(traceValue(r, r.First, i, false))+" on "+r.Traces[i].Name)
		}
	}
	return &doc, values
}

// onlyOn returns the peers on which the scope of a checkpoint exists, "" if that is not what differs.
func onlyOn(r *tracediff.Result, d *tracediff.Difference) string {
	var names []string
	for i := range d.Values {
		switch {
		case !d.Values[i].Present:
		case !exists(r, d, i):
			return ""
		case d.Values[i].Count == 1:
			names = append(names, r.Traces[i].Name)
		}
	}
	return strings.Join(names, ", ")
}

// BothNames returns an engine's own name of a tick or a state point, and its number unless that is part of the name.
func BothNames(native string, n uint64) string {
	number := strconv.FormatUint(n, 10)
	if native != tracediff.UnknownTick {
		native = said(PointOf(native, n)).Words()
	}
	switch {
	case native == "":
		return number
	case slices.Contains(strings.Fields(native), number), native == tracediff.UnknownTick:
		return native
	}
	if p := PointOf(native, n); p.Relation == snapshot.Some { // its number shows nothing
		return p.String()
	}
	return native + " (" + number + ")"
}

// PointName names a state point within a sentence.
func PointName(p snapshot.Point) string {
	p = said(p)
	switch {
	case p.Relation == snapshot.Some && p.Native != "":
		return p.String()
	case p.Native == "" || !spoken(p.Native):
		return "state point " + BothNames(p.Words(), p.Tick)
	case p.Relation == snapshot.After:
		return "the state after " + p.Native
	case p.Relation == snapshot.EndOf:
		return "the end of " + p.Native
	}
	return BothNames(p.Native, p.Tick)
}

// AtPoint describes the time of a state.
func AtPoint(p snapshot.Point) string {
	p = said(p)
	if p.Relation == snapshot.After && p.Native != "" {
		return "after " + p.Native
	}
	return "at " + PointName(p)
}

// PointOf returns a state point from its number and the words of its native name in a document.
func PointOf(native string, n uint64) snapshot.Point { return snapshot.Point{Tick: n}.Named(native) }

// InTick names a tick within a sentence. The name may already contain the unit: "turn 12", "tick 000adee0".
func InTick(name string) string {
	if spoken(name) {
		return name
	}
	return "tick " + name
}

// spoken reports whether a name already contains the unit: "frame 600", not "000adee0".
func spoken(name string) bool {
	first, _, more := strings.Cut(name, " ")
	return more && strings.IndexFunc(first, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

// ReportSchema is the schema of a Report.
const ReportSchema = "desynctool.triage/1"

// ReadReport reads a saved Report.
func ReadReport(r io.Reader, name string) (*Report, error) {
	b, err := io.ReadAll(io.LimitReader(r, limits.Report.Max()+1))
	if err != nil {
		return nil, err
	}
	if limits.Report.Over(int64(len(b))) {
		return nil, limits.Report.Reached(name, 0)
	}
	return ParseReport(b, name)
}

// ReadReports reads the array of reports that MatchesJSON wrote.
func ReadReports(r io.Reader, name string) (list []*Report, err error) {
	b, err := io.ReadAll(io.LimitReader(r, limits.Report.Max()+1))
	if err != nil {
		return nil, err
	}
	if limits.Report.Over(int64(len(b))) {
		return nil, limits.Report.Reached(name, 0)
	}
	if err := boundValues(b, name); err != nil {
		return nil, err
	}
	var all []json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("%s: not saved reports: %w", name, err)
	}
	for i, one := range all {
		r, err := ParseReport(one, fmt.Sprintf("%s, report %d", name, i+1))
		if err != nil {
			return nil, err
		}
		if r.Match == nil {
			r.Match = &MatchDocument{Number: i + 1}
		}
		list = append(list, r)
	}
	return list, nil
}

// ParseReport reads a Report from its JSON; name is its name in errors.
func ParseReport(b []byte, name string) (*Report, error) {
	if err := boundValues(b, name); err != nil {
		return nil, err
	}
	var out Report
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, fmt.Errorf("%s: not a saved report: %w", name, err)
	}
	out.Splits = list(out.Splits) // reports of before have none
	if out.Schema != ReportSchema {
		return nil, fmt.Errorf("%s: its schema is %q, expected %q", name, out.Schema, ReportSchema)
	}
	return &out, nil
}
