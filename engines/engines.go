// Package engines has the list of the engines that desynctool knows. Nothing else in the project names one.
//
// A page in an engine's folder, desynctool.toml, describes what the engine writes about desyncs. The developers of any
// game can write such a page. Most engines are only a page; engines with their own formats also have a package in the
// folder.
package engines

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"sync"

	"github.com/desynctool/desynctool/engines/beaverbuddies"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/engines/engine/messages"
	"github.com/desynctool/desynctool/engines/factorio"
	"github.com/desynctool/desynctool/engines/generals"
	"github.com/desynctool/desynctool/engines/ggpo"
	"github.com/desynctool/desynctool/engines/ggrs"
	"github.com/desynctool/desynctool/engines/godot"
	"github.com/desynctool/desynctool/engines/openra"
	"github.com/desynctool/desynctool/engines/openrct2"
	"github.com/desynctool/desynctool/engines/openttd"
	"github.com/desynctool/desynctool/engines/rimworld"
	"github.com/desynctool/desynctool/engines/spring"
	"github.com/desynctool/desynctool/engines/warzone"
	"github.com/desynctool/desynctool/engines/widelands"
	"github.com/desynctool/desynctool/engines/zeroad"
)

//go:embed */desynctool.toml
var pages embed.FS

// All returns the engines in the order in which their files are recognised. The list is shared and must not be changed.
func All() []engine.Engine { return all() }

var all = sync.OnceValue(func() []engine.Engine {
	return []engine.Engine{
		with("openttd", openttd.Engine()), zeroad.Engine(), spring.Engine(), widelands.Engine(), with("warzone", warzone.Engine()),
		with("openra", openra.Engine()), openrct2.Engine(), rimworld.Engine(), with("factorio", factorio.Engine()), ggpo.Engine(), godot.Engine(),
		generals.Engine(), page("openclonk"), with("ggrs", ggrs.Engine()), page("stratagus"),
		with("beaverbuddies", beaverbuddies.Engine()), page("faf"), page("gekkonet"), page("clausewitz"), page("wesnoth"), page("unity"), page("unreal"),
	}
})

// page returns the engine that the page in a folder describes.
func page(folder string) engine.Engine {
	file := path.Join(folder, description.Base)
	text, err := pages.ReadFile(file)
	if err != nil {
		panic(err) // it is embedded
	}
	d, err := description.Parse(text, file)
	if err != nil {
		panic(fmt.Sprint("engines/", err))
	}
	return d.AsEngine(folder)
}

// with returns an engine with the messages and logs that the page in its folder describes.
func with(folder string, e engine.Engine) engine.Engine {
	described := page(folder)
	e.Messages, e.Logs = described.Messages, slices.Concat(e.Logs, described.Logs)
	for i := range e.Formats {
		if f := &e.Formats[i]; f.Trace != nil && f.Trace.Claims == nil && slices.Contains(f.Gives, "claims") {
			trace := *f.Trace
			trace.Claims = e.Messages.Read
			f.Trace = &trace
		}
	}
	return e
}

// Messages returns the engines' messages about desyncs in any log.
func Messages() []*messages.Grammar { return grammars() }

var grammars = sync.OnceValue(func() (list []*messages.Grammar) {
	for _, e := range All() {
		if e.Messages != nil {
			list = append(list, e.Messages)
		}
	}
	return list
})

// Logs returns the descriptions of the engines' own logs, in the order of the list.
func Logs() (list []engine.Log) {
	for _, e := range All() {
		list = append(list, e.Logs...)
	}
	return list
}

// ReplayerOf returns the replayer for recordings of a format, by the format's name; nil if no engine has a recipe for
// it.
func ReplayerOf(format string) *engine.Replayer {
	for _, e := range All() {
		if e.Replayer != nil && e.Replayer.Formats != nil && e.Replayer.Plays(format) {
			return e.Replayer
		}
	}
	return nil
}

// Of returns the engine that writes a format, by the format's name; nil if no engine of the list does.
func Of(format string) *engine.Engine {
	list := All()
	for i := range list {
		e := &list[i]
		if e.Messages != nil && e.Messages.Name == format || slices.ContainsFunc(e.Formats, func(f engine.Format) bool { return f.Name == format }) {
			return e
		}
	}
	return nil
}
