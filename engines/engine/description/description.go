// Package description reads desynctool.toml, the page on which the developers of a game describe its files.
//
// Most games need none: states, logs and inputs in ordinary notations are understood without a page. It settles the
// questions that the files leave open, and wrong guesses:
//
//	game = "Castle Siege"
//
//	[files]
//	states = ["dump-*.json"]
//	logs = ["*.log"]
//
//	[names]
//	pattern = "(?P<peer>[a-z]+)-(?P<tick>[0-9]+)"
//
//	[state]
//	tick = "world.frame"
//	noise = ["header.saved_at"]
//
//	[[table]]
//	path = "world.units"
//	key = "uid"
//
//	[[line]]
//	pattern = "Frame (?P<tick>[0-9]+) checksum (?P<sum>[0-9a-f]+)"
//
// All keys but game may be left out, and none is without effect: see [Description].
package description

import (
	"cmp"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/messages"
	"github.com/desynctool/desynctool/internal/file/compression"
)

// Base is the name of a page.
const Base = "desynctool.toml"

// Description is what a page contains.
type Description struct {
	File   string // the path of the page
	Game   string // how reports call the game; empty for an engine that many games use
	Engine string // how reports call the engine; empty if that is the game

	Unit   string // what the game calls a tick: "frame"
	Stride uint64 // how much its numbers of ticks grow from tick to tick, at least 1
	Source string // what its logs are called: "console"

	// States, Logs and Inputs are globs of files. If a kind has any, no other files belong to that kind.
	States, Logs, Inputs []string
	// Others are globs of files that are no evidence.
	Others []string

	// Name are what names of files contain, in the groups tick and peer. The first that fits a name counts.
	Name []*Pattern

	// Tick and Peer are paths to the tick and the peer in a state.
	Tick, Peer string
	// RNG, Noise and Cache are paths to the state of the random number generator, to values that differ between peers
	// in sync, and to values that are computed from the rest. Each includes everything below its path.
	RNG, Noise, Cache []string

	Tables []Table

	// Lines find checkpoints in logs, by the groups tick, sum, sum_NAME, system, scope and peer.
	Lines []*Pattern
	Sums  Sums
	// Messages find the game's messages about desyncs, and the values that belong to them.
	Messages []*messages.Form
	// Leads are what the program writes before its messages on a line. Nil means that no message is a quotation.
	Leads []string

	Log *engine.Log // what the game's own logs have; nil if that is not described

	lines map[string]int // of the texts in the page, by these
}

// Sums is what the checksums in logs are.
type Sums struct {
	Covers     string // what they cover
	Cumulative bool   // they also cover all that was before
	Values     bool   // they are values of the game
	Complete   bool   // logs lack none: if only one peer has one, that is a difference
	After      bool   // they are taken from the state after the tick
}

// Line returns the first line of the page with a text as a value, or with a path below a table; 0 if it has none.
func (d *Description) Line(text string) int { return d.lines[text] }

// Table is a table of states. A path consists of names with dots between them. Lists add nothing to it, and neither do
// maps with ids as names: world.units.hp is the member hp of each element of the list world.units.
type Table struct {
	Path  string // empty for files that are lists of rows
	Key   string // the path from a row to its identity; empty if that is not described
	Label string // how reports call the table; empty for the usual name
	// Position are the paths from a row to both coordinates of its place on the ground, or to a text with both; none
	// if that is not described.
	Position []string
}

// Names reports whether a pattern of names has a group.
func (d *Description) Names(group string) bool {
	return slices.ContainsFunc(d.Name, func(p *Pattern) bool { return p.has(group) })
}

// Pattern is a regular expression with named groups.
type Pattern struct {
	*regexp.Regexp
	Line int // of the page
	at   int // in it

	Peer, Scope string // templates of its groups for both; empty for none
}

// engine returns the name of the program that writes the logs.
func (d *Description) engine() string { return cmp.Or(d.Engine, d.Game) }

// Title returns the name of the game, or of the engine that many games use.
func (d *Description) Title() string { return cmp.Or(d.Game, d.Engine) }

// Kind is what the files of a glob contain.
type Kind uint8

// The kinds of files.
const (
	Undescribed Kind = iota
	State
	Log
	Input
	Other
)

// kindNames are the names of kinds in a page.
var kindNames = [...]string{"", "states", "logs", "inputs", "other"}

// String returns the name of the kind in a page.
func (k Kind) String() string { return kindNames[k] }

// Globs returns the globs of a kind.
func (d *Description) Globs(k Kind) []string {
	return [...][]string{nil, d.States, d.Logs, d.Inputs, d.Others}[k]
}

// KindOf returns what a file contains by the first glob that fits its path: Undescribed if none does.
func (d *Description) KindOf(file string) Kind {
	for k := State; k <= Other; k++ {
		if slices.ContainsFunc(d.Globs(k), func(glob string) bool { return Fits(glob, file) }) {
			return k
		}
	}
	return Undescribed
}

// Chooses reports whether globs decide which files belong to a kind.
func (d *Description) Chooses(k Kind) bool { return len(d.Globs(k)) > 0 }

// Fits reports whether a glob fits the end of a path: as many names as the glob has. What shows in a name how a file is
// compressed may be left out.
func Fits(glob, file string) bool {
	dir, base := path.Split(filepath.ToSlash(file))
	names := strings.Split(strings.Trim(dir, "/"), "/")
	above := min(strings.Count(glob, "/"), len(names))
	end := strings.Join(names[len(names)-above:], "/")
	for _, base := range []string{base, compression.PlainName(base)} {
		if ok, _ := path.Match(glob, strings.TrimPrefix(end+"/"+base, "/")); ok {
			return true
		}
	}
	return false
}
