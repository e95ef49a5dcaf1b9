// Package factorio reads desync reports of Factorio, desync-report-*.zip, and the output of the tool dat_diff of
// Hornwitser's factorio_tools for one.
//
// A report has two saves of one tick: the server's, which is the reference, and the save of the client that noticed. In
// addition to the game's data each has level_with_tags_tick_N.dat and level-heuristic-N: the state in the game's own
// binary format, with tags around its parts, as in XML:
//
//	<transport-belt-serialiser active-groups=128 active-lines=172>…
//	  <transport-line belt=96489>…<line><transport-line-item>………</transport-line-item>
//
// So every byte has a path, whatever the bytes mean. A file becomes a checkpoint for each tag that is not in another
// one, with a hash of all its bytes and their number, and one for each stretch of bytes before such a tag. Where they
// first differ, both files are read side by side, which finds the path and the bytes.
//
// script.dat contains the data of mods, one part for each mod. These parts are its checkpoints.
//
// Everything is read as a stream: memory never contains a whole file, or a part of it that is longer than a piece of
// data.
package factorio

import (
	"io"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/tracediff"
)

const title = "Factorio"

// Names of the formats.
const (
	LevelFormat  = "factorio-level"
	ScriptFormat = "factorio-script"
	DiffFormat   = "factorio-diff"
)

var (
	levelName     = lazyregexp.New(`^level_with_tags(?:_tick_(\d{1,10}))?\.dat$`)
	heuristicName = lazyregexp.New(`^level-heuristic-(\d{1,10})$`)
)

// IsLevel reports from its name whether a file is a state with tags. Only the name shows it: the bytes before the first
// tag are not documented.
func IsLevel(base string) bool {
	base = compression.PlainName(base)
	return levelName.MatchString(base) || heuristicName.MatchString(base)
}

// tickOf returns the tick in a file's name.
func tickOf(base string) (uint64, bool) {
	base = compression.PlainName(base)
	for _, name := range []*lazyregexp.Regexp{levelName, heuristicName} {
		if m := name.FindStringSubmatch(base); m != nil && m[1] != "" {
			n, err := strconv.ParseUint(m[1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// tickBeside returns the tick of a save by the names of the states with tags in its folder.
func tickBeside(tree files.Tree, name string) (tick uint64, known bool) {
	names, err := tree.Names(filepath.Dir(name))
	if err != nil {
		return 0, false
	}
	for _, base := range names {
		if n, ok := tickOf(base); ok && strings.HasPrefix(base, "level_with_tags") && (!known || n < tick) {
			tick, known = n, true
		}
	}
	return tick, known
}

// Peers of a report.
const (
	reference = "reference"
	desynced  = "desynced"
)

// peerOf returns the peer whose save contains a file, from the names of its folders and archives.
func peerOf(name string) string {
	for dir := path.Dir(filepath.ToSlash(name)); dir != "." && dir != "/" && dir != ""; dir = path.Dir(dir) {
		switch base := path.Base(dir); {
		case strings.HasPrefix(base, "reference-level"), strings.HasPrefix(base, "server-level"):
			return reference
		case strings.HasPrefix(base, "desynced-level"), strings.HasPrefix(base, "client-level"):
			return desynced
		}
	}
	return ""
}

// dialect returns what the checkpoints of a file are; known reports whether its tick is known.
func dialect(file, covers string, known bool) tracediff.Dialect {
	d := tracediff.Dialect{Engine: title, File: file, Detail: tracediff.Path, Covers: covers, Endless: true}
	if !known {
		d.TickName = tracediff.NoTick
	}
	return d
}

// Formats returns the formats of reports.
func Formats() []tracediff.Format {
	return []tracediff.Format{
		{
			Name: LevelFormat, Title: "Factorio state with tags (level_with_tags_tick_*.dat and level-heuristic-* of desync-report-*.zip)",
			Sniff:  func([]byte) bool { return false }, // its name shows it
			Read:   func(r io.Reader, name string, _ int) (tracediff.Source, error) { return newLevel(r, name) },
			Narrow: narrowLevel,
		},
		{
			Name: ScriptFormat, Title: "Factorio data of mods (script.dat)", Sniff: sniffScript,
			Read: func(r io.Reader, name string, _ int) (tracediff.Source, error) { return newScript(r, name, 0, false) },
			ReadAt: func(tree files.Tree, name string, r io.Reader, _ int) (tracediff.Source, error) {
				tick, known := tickBeside(tree, name)
				return newScript(r, name, tick, known)
			},
			Narrow: narrowScript,
		},
		{
			Name: DiffFormat, Title: "output of dat_diff (factorio_tools) on a Factorio desync report", Sniff: sniffDiff,
			Peers: func(io.Reader, string) ([]string, error) { return []string{reference, desynced}, nil },
			Read:  func(r io.Reader, name string, peer int) (tracediff.Source, error) { return newDiff(r, name, peer) },
		},
	}
}
