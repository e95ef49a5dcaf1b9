// Package code leads from the tick in which two builds of a game depart to the line of source that made them depart.
//
// Two methods do so. Package flow compares the branches that the builds took in the tick; package gdb compares what they
// wrote to the field that differs. This package has the values that both share.
package code

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Place is a place in a program. A field that the debug information does not have is empty.
type Place struct {
	Function string // demangled where the debug information has such a name
	File     string // with slashes, as the compiler was given it
	Line     int    // from 1; 0 if it is not known
	Column   int    // from 1; 0 if it is not known
	Module   string // the file name of the program or library
	Offset   uint64 // in the module: the virtual address in its file
	Text     string // the line of source, without the space around it; see Read
}

// String returns "apply_damage (combat.c:212)", or the module and the offset where no name is known.
func (p Place) String() string {
	name := p.Function
	if name == "" {
		name = fmt.Sprintf("%s+0x%x", path.Base(p.Module), p.Offset)
	}
	if at := p.At(); at != "" {
		name += " (" + at + ")"
	}
	return name
}

// At returns "combat.c:212", or "" if the line is not known.
func (p Place) At() string {
	if p.File == "" || p.Line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d", path.Base(strings.ReplaceAll(p.File, `\`, "/")), p.Line)
}

// Library reports whether the line is in a header of the system, or in the sources of Rust's standard library.
func (p Place) Library() bool {
	return slices.ContainsFunc([]string{"/usr/include/", "/usr/lib/", "/include/c++/", "/rustc/", "/rust/deps/", "/rustlib/src/"}, func(dir string) bool {
		return strings.Contains(p.File, dir)
	})
}

// Own reports whether the place is a line of the game.
func (p Place) Own() bool { return p.Line > 0 && !p.Library() }

// Stack is a stack of calls, the innermost first.
type Stack []Place

// Game leaves out the calls that led to the game: the SDK, which answers requests, and its callers.
func (s Stack) Game() Stack {
	for i, p := range s {
		if i > 0 && (strings.HasPrefix(p.Function, "desync_") || strings.Contains(p.Function, "desynctool::")) {
			return s[:i]
		}
	}
	return s
}

// String returns "step_combat (combat.c:88) ← game_tick (game.c:41)".
func (s Stack) String() string {
	list := make([]string, len(s))
	for i, p := range s {
		list[i] = p.String()
	}
	return strings.Join(list, " ← ")
}
