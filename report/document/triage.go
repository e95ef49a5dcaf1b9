package document

import (
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/prose"
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
	FirstDivergence *FirstDivergence `json:"first_divergence"` // null if no states are known to differ
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
	// Code is where in the code the builds depart, nil if nobody asked.
	Code *Code `json:"code,omitempty"`
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

// Played is when a match was played: by a recording's header, else by names of files, lines of logs, entries of the
// archive, unless these are over three days apart. Times are RFC 3339, in UTC, to the second; a local time without a
// zone is taken for UTC.
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
	// Wrong are the peers that are known to be wrong from a replay of the orders; empty if that is not known. Suspects
	// are peers that depart from a replay of another peer's orders: their own logs, which are not there, may have others.
	Wrong    []string `json:"wrong,omitempty"`
	Suspects []string `json:"suspects,omitempty"`
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
	// archetype, component, entity, field, peers, code, cause or claims.
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
	LevelCode      Level = "code"      // the function and line at which the builds depart

	LevelStrict Level = "strict" // all but the code, and how values differ; not in Levels
)

// Levels returns all levels, from coarse to fine.
func Levels() []Level {
	return []Level{LevelKind, LevelMessage, LevelArchetype, LevelOrder, LevelComponent, LevelStep, LevelField, LevelCause, LevelCode}
}

// Seen reports whether reports that have this level in common count as reports of one bug; reports with less in common
// are similar.
func (l Level) Seen() bool {
	return l == LevelStep || l == LevelField || l == LevelCause || l == LevelCode
}

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
	// Known is set if they share what --same-by compares: the divergence is not new.
	Known bool `json:"known,omitempty"`
}

// How describes in a few words, which begin with an s, how far the write-up is about the same bug.
func (s SeenBefore) How() string {
	switch {
	case s.Exact:
		return "seen before"
	case s.Known || s.Level.Seen():
		return "seen before by its " + string(s.Level)
	}
	return "similar by its " + string(s.Level)
}
