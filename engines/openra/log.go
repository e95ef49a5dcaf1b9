package openra

import (
	"bytes"

	"github.com/desynctool/desynctool/engines/engine"
)

func logs() []engine.Log {
	return []engine.Log{{
		Logger: "OpenRA", Facts: logFacts,
		Marks: []engine.Mark{{Text: "OpenRA engine version ", Begin: true}, {Text: " Mod at Version "}, {Text: "Exception of type `", Begin: true}},
	}}
}

func logFacts(message []byte, to engine.FactTaker) {
	if rest, ok := bytes.CutPrefix(message, []byte("OpenRA engine version ")); ok {
		to.Know("engine_version", rest)
		return
	}
	for _, between := range []string{" mod version ", " Mod at Version "} {
		if mod, version, ok := bytes.Cut(message, []byte(between)); ok && len(mod) < 80 {
			to.Mod(string(mod) + " " + string(version))
			return
		}
	}
	if rest, ok := bytes.CutPrefix(message, []byte("on map ")); ok {
		to.Know("map", bytes.TrimSuffix(rest, []byte(".")))
	}
}
