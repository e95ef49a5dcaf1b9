// Package unity is all that desynctool knows of Unity: what its logs have.
package unity

import (
	"github.com/desynctool/desynctool/engines/engine"
)

// Engine returns Unity.
func Engine() engine.Engine { return engine.Engine{Logs: logs()} }

func logs() []engine.Log {
	mark := func(text string) engine.Mark { return engine.Mark{Text: text, Begin: true} }
	return []engine.Log{{
		Logger: "Unity", ManyGames: true, Stack: "UnityEngine.",
		Marks: []engine.Mark{
			mark("Initialize engine version:"), mark("Mono path[0]"), mark("[UnityMemory]"), mark("[Subsystems] Discovering subsystems"),
			mark("GfxDevice: creating device client"), mark("UnityEngine.Debug:Log"),
		},
		Calls: []engine.Call{
			{Function: "UnityEngine.Debug:LogError", Severity: "error"},
			{Function: "UnityEngine.Debug:LogException", Severity: "exception"},
			{Function: "UnityEngine.Debug:LogAssertion", Severity: "assertion"},
			{Function: "UnityEngine.Debug:LogWarning", Severity: "warning"},
		},
		Names: map[string]string{"initialize engine version": "engine_version", "unity version": "engine_version"},
	}}
}
