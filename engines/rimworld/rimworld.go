// Package rimworld reads the traces of RimWorld Multiplayer: local_traces.txt and host_traces.txt of a Desync-NN.zip,
// which a client writes when it has left the host's game, or one of them, cut anywhere.
//
// The mod takes a trace of each draw of the random number generator, and of some other
// events: the tick, a hash, and the call stack. It compares the hashes of both sides,
// finds the first trace that differs, and writes the traces around it:
//
//	Trace count: 57803
//	Trace of first desynced map random state:
//	21052 Tick:94992 Hash:538139122 '78002 0 New Arrivals 2 129315145603511 '
//	Verse.Rand.get_Int ()
//	Verse.Rand.Range (int,int)
//
//	Context traces:
//	21012 Tick:94992 Hash:-12841 '78002 Muffalo114 New Arrivals 1 3388471 '
//	Verse.Rand.get_Value ()
//
// The quotes contain the game's tick, the thing that is being ticked, the player's faction, the number of frames, the
// state of the random number generator, and possibly more.
//
// Each file is the trace of one peer: a checkpoint for each of the mod's traces, its number as scope, with the hash and
// what it covers as sums, and the stack as details. The trace that is the first to differ according to the mod is a
// claim.
package rimworld

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/tracediff"
)

const (
	title    = "RimWorld Multiplayer"
	fileKind = "RimWorld Multiplayer traces"
)

// Heads of files. A file that begins with one of emptyHeads has no traces.
const (
	countHead   = "Trace count: "
	noteHead    = "Note: "
	firstHead   = "Trace of first desynced map random state:"
	contextHead = "Context traces:"
)

var emptyHeads = []string{"No traces (remote: ", "No host traces", "Traces not available"}

// traceLine is the line that begins a trace. The closing quote is missing if the text in quotes has several lines.
var traceLine = lazyregexp.New(`^(-?\d{1,19}) Tick:(-?\d{1,11}) Hash:(-?\d{1,11}) '(.*)$`)

// Formats returns the format of the traces.
func Formats() []tracediff.Format {
	return []tracediff.Format{{
		Name:  "rimworld-traces",
		Title: "RimWorld Multiplayer traces (local_traces.txt and host_traces.txt of Desync-*.zip)",
		Sniff: sniff,
		Read: func(r io.Reader, name string, _ int) (tracediff.Source, error) {
			return newReader(r, name, facts{})
		},
		ReadAt: func(tree files.Tree, path string, r io.Reader, _ int) (tracediff.Source, error) {
			return newReader(r, path, readFacts(tree, path))
		},
		Claims: claims,
	}}
}

func sniff(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	if slices.ContainsFunc(emptyHeads, func(begin string) bool { return bytes.HasPrefix(head, []byte(begin)) }) {
		return true
	}
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		if string(line) == firstHead || begins(line) {
			return true
		}
	}
	return false
}

// side returns the peer of a file's traces from its name, "" if the name does not show it.
func side(path string) string {
	base := filepath.Base(path)
	for _, peer := range []string{"local", "host"} {
		if strings.HasPrefix(base, peer+"_traces") {
			return peer
		}
	}
	return ""
}

func dialect() tracediff.Dialect {
	return tracediff.Dialect{
		Engine: title, File: fileKind, Values: true, Running: true, Detail: tracediff.Stack, Endless: true, Relative: true,
		Covers: "the traces around the first that differed by the mod's own hashes: each hash covers the innermost six frames of the stack, their number, and the state of the random number generator",
	}
}
