// Package gamelog reads the logs that games write for their developers, and finds what only some of the peers' logs
// contain.
//
// A [Log] keeps the messages that are at least a warning, with their lines, and the facts about the game and the
// machine. Equal lines are one [Entry]: time stamps, durations, addresses, folders and colours do not count. [Compare]
// finds the entries that some peers have before the split and others do not have at all, and [Facts] the facts that
// differ.
//
// Any text is a log: the package knows how the loggers of many engines begin a line, and takes the rest as plain text.
// docs/formats/gamelogs.md lists what is known about each.
package gamelog

import (
	"io"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
)

// Limits on what is kept of a log. Log.Left counts the entries beyond them.
const (
	maxEntries = 8192    // distinct entries, warnings and worse ones each
	maxKeys    = 1 << 18 // distinct lines that are counted
	maxText    = 400     // bytes of an entry's text
	maxLine    = 4096    // bytes of a line that are looked at
	maxMods    = 2048
	maxValue   = 200 // bytes of a fact's value
)

// Severity is the severity of a line by its own words.
type Severity int

// Severities, from harmless to worst. Lines with None are not kept.
const (
	None Severity = iota
	Warning
	Error
	Assertion
	Exception
	Fatal
)

func (s Severity) String() string {
	return [...]string{"", "warning", "error", "assertion", "exception", "fatal"}[s]
}

// Split is where the peers diverged, in the game's own terms for its ticks. The zero Split means unknown.
type Split struct {
	Known bool
	// Unit is frame, turn, tick, beat, …; empty if the game has only numbers, whatever their name in the log.
	Unit   string
	Number uint64
}

// in reports whether the split is known in a unit.
func (s *Split) in(unit string) bool {
	return s.Known && unit != "" && (s.Unit == "" || s.Unit == unit)
}

// Options configures how a log is read. The zero value takes the first message about a desync for the split.
type Options struct {
	// Split is where the peers diverged. Lines of later ticks are after it, if the log has ticks in that unit.
	Split Split
	// Claim is the line in which the game itself reports that it is out of sync, 0 if that is not known. This line and
	// later ones are after the split.
	Claim int64
	// Own describes the game's logs, from a page; nil if no page does.
	Own *engine.Log
}

// Log is the kept content of one log.
type Log struct {
	Name   string
	Logger string // who writes such logs, such as "Spring"; empty if that is not known
	// Relay reports whether its program passes orders on and does not play: its log is only compared with other relays'
	// logs.
	Relay bool
	Lines int64
	// Unit is the game's word for its ticks, First and Last are the ticks that lines have;
	// Unit is empty if none has any.
	Unit        string
	First, Last uint64
	ticked      int64 // how often another tick came
	begun       int64 // the line of the first
	// Cut is the first line after the split; Lines + 1 if there is none.
	Cut     int64
	Entries []*Entry // in the order in which they first come
	// Warnings and Worse count all lines, before and after the split.
	Warnings, Worse int64
	// Left counts distinct entries that there was no room for. Full reports whether there were so many that a missing
	// entry may have existed.
	Left  int64
	Full  bool
	Facts []Fact   // in the order in which they come, one of each name
	Mods  []string // sorted; nil if the log does not list them

	opts  Options
	keys  map[uint64]int64 // how often each line comes, by the hash of its key
	byKey map[uint64]*Entry
}

// Entry is a line, with all lines that are equal to it.
type Entry struct {
	Severity Severity
	// Text is the first of the lines, without the text before the message, without colours and without folders of
	// paths. It is valid UTF-8.
	Text string
	// Data reports whether it is about something that could not be found, loaded or understood.
	Data bool
	// Desync reports whether it is about the desync itself.
	Desync bool

	// Before is where it occurs before the split; its Count is 0 if it comes only later. After counts the lines after
	// it.
	Before Places
	After  int64

	key uint64
}

// Places are lines of a log.
type Places struct {
	Count       int64
	First, Last int64 // line numbers, from 1
	// Tick is the tick of the last one, or the nearest tick in a line before it; HasTick reports whether any line
	// before it has one.
	Tick    uint64
	HasTick bool
}

// Fact is something that a log states about the game or the machine, by the names that facts have everywhere.
type Fact struct {
	Name, Value string
	Line        int64
}

// Total returns how often an entry comes.
func (e *Entry) Total() int64 { return e.Before.Count + e.After }

// Read reads a log to its end. Memory is bounded, whatever the log's size. An error comes from in; the part that was
// read before it is also returned.
func Read(in io.Reader, name string, opts Options) (*Log, error) {
	r := &reader{opts: opts, logger: &noLogger, log: &Log{Name: name, opts: opts, keys: map[uint64]int64{}, byKey: map[uint64]*Entry{}}}
	r.calls = calls()
	if opts.Own != nil {
		r.calls = append(callsOf(opts.Own), r.calls...)
	}
	err := r.run(in)
	r.end()
	return r.log, err
}

// Serves reports whether reading the log with other options would give the same result: the claim is the same, and so
// is the split, or no line has a later tick than either.
func (l *Log) Serves(opts Options) bool {
	return opts.Claim == l.opts.Claim && (opts.Split == l.opts.Split || !l.beyond(l.opts.Split) && !l.beyond(opts.Split))
}

// beyond reports whether a line has a later tick than a split.
func (l *Log) beyond(s Split) bool { return s.in(l.Unit) && l.Last > s.Number }

// valid returns a text that was cut to at most maxText bytes.
func valid(b []byte) string {
	if len(b) > maxText {
		b = append(b[:maxText:maxText], "…"...)
	}
	return strings.ToValidUTF8(string(b), "")
}
