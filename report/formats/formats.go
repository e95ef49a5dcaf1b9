// Package formats is the one ordered list of the file formats that desynctool reads. Files are recognised by content: a
// file belongs to the first format whose Sniff accepts its leading bytes.
package formats

import (
	"path/filepath"
	"slices"
	"sync"

	"github.com/desynctool/desynctool/engines"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/snapshot"
)

// All returns the list. It is shared: do not change it.
func All() []engine.Format { return all() }

var all = sync.OnceValue(func() []engine.Format {
	var known, amid []engine.Format
	for _, e := range engines.All() {
		for _, f := range e.Formats {
			f.Game = e.Game
			if f.Amid {
				amid = append(amid, f)
			} else {
				known = append(known, f)
			}
		}
	}
	return slices.Concat(
		[]engine.Format{snap(), orderLog(), tickSignatures()},
		known,
		[]engine.Format{ownTrace()},
		amid,
		Messages(), // any log may contain their lines
		[]engine.Format{textTrace()},
	)
})

// IsGame reports whether a format belongs to a game of that name. The name is then one of our own.
func IsGame(name string) bool { return name != "" && games()[name] }

var games = sync.OnceValue(func() map[string]bool {
	is := map[string]bool{}
	for _, f := range All() {
		is[f.Game] = true
	}
	return is
})

// Snapshots returns the formats of states, in the order of the list.
func Snapshots() []snapshot.Format { return SnapshotsOf(All()) }

// SnapshotsOf is Snapshots for some formats.
func SnapshotsOf(list []engine.Format) []snapshot.Format {
	var out []snapshot.Format
	for i := range list {
		if list[i].Snapshot != nil {
			out = append(out, *list[i].Snapshot)
		}
	}
	return out
}

// Recognize returns the format of a file by its name, which may be a path, and its leading
// bytes, nil if it is none.
func Recognize(name string, head []byte) *engine.Format { return Among(All(), name, head) }

// Known reports whether [Recognize] finds a format.
func Known(name string, head []byte) bool { return Recognize(name, head) != nil }

// Among is Recognize for some formats. A name that Format.Named knows counts before the bytes do;
// one that a snapshot.Format knows, where the content need not show it, after them.
func Among(list []engine.Format, name string, head []byte) *engine.Format {
	base := filepath.Base(name)
	for i := range list {
		if list[i].Described && len(head) > 0 && list[i].Paths(name) {
			return &list[i]
		}
	}
	for i := range list {
		if list[i].Named != nil && list[i].Named(base) {
			return &list[i]
		}
	}
	for i := range list {
		if list[i].Paths != nil && len(head) > 0 && list[i].Paths(name) {
			return &list[i]
		}
	}
	for i := range list {
		if list[i].Sniff(head) {
			return &list[i]
		}
	}
	for i := range list {
		if s := list[i].Snapshot; s != nil && len(head) > 0 && s.Named(name) {
			return &list[i]
		}
	}
	return nil
}
