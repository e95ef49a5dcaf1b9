// Package engines has the list of the engines that desynctool knows. Nothing else in the project names one.
package engines

import (
	"sync"

	"github.com/desynctool/desynctool/engines/beaverbuddies"
	"github.com/desynctool/desynctool/engines/clausewitz"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/factorio"
	"github.com/desynctool/desynctool/engines/faf"
	"github.com/desynctool/desynctool/engines/gekkonet"
	"github.com/desynctool/desynctool/engines/generals"
	"github.com/desynctool/desynctool/engines/ggpo"
	"github.com/desynctool/desynctool/engines/ggrs"
	"github.com/desynctool/desynctool/engines/godot"
	"github.com/desynctool/desynctool/engines/messages"
	"github.com/desynctool/desynctool/engines/openclonk"
	"github.com/desynctool/desynctool/engines/openra"
	"github.com/desynctool/desynctool/engines/openrct2"
	"github.com/desynctool/desynctool/engines/openttd"
	"github.com/desynctool/desynctool/engines/rimworld"
	"github.com/desynctool/desynctool/engines/spring"
	"github.com/desynctool/desynctool/engines/stratagus"
	"github.com/desynctool/desynctool/engines/unity"
	"github.com/desynctool/desynctool/engines/unreal"
	"github.com/desynctool/desynctool/engines/warzone"
	"github.com/desynctool/desynctool/engines/widelands"
	"github.com/desynctool/desynctool/engines/zeroad"
)

// All returns the engines in the order in which their files are recognised. The list is shared: nobody changes it.
func All() []engine.Engine { return all() }

var all = sync.OnceValue(func() []engine.Engine {
	return []engine.Engine{
		openttd.Engine(), zeroad.Engine(), spring.Engine(), widelands.Engine(), warzone.Engine(), openra.Engine(),
		openrct2.Engine(), rimworld.Engine(), factorio.Engine(), ggpo.Engine(), godot.Engine(), generals.Engine(),
		openclonk.Engine(), ggrs.Engine(), stratagus.Engine(), beaverbuddies.Engine(), faf.Engine(), gekkonet.Engine(), clausewitz.Engine(),
		unity.Engine(), unreal.Engine(),
	}
})

// Messages returns what the engines write about desyncs into any log.
func Messages() []*messages.Grammar { return grammars() }

var grammars = sync.OnceValue(func() (list []*messages.Grammar) {
	for _, e := range All() {
		if e.Messages != nil {
			list = append(list, e.Messages)
		}
	}
	return list
})

// Logs returns what the engines' own logs have, in the order of the list.
func Logs() (list []engine.Log) {
	for _, e := range All() {
		list = append(list, e.Logs...)
	}
	return list
}

// ReplayerOf returns what plays recordings of a format again, by its name; nil if no engine has a recipe for it.
func ReplayerOf(format string) *engine.Replayer {
	for _, e := range All() {
		if e.Replayer != nil && e.Replayer.Formats != nil && e.Replayer.Plays(format) {
			return e.Replayer
		}
	}
	return nil
}
