// Package unreal is all that desynctool knows of the Unreal Engine: by what its logs are told.
package unreal

import (
	"github.com/desynctool/desynctool/engines/engine"
)

// Engine returns the Unreal Engine.
func Engine() engine.Engine { return engine.Engine{Logs: logs()} }

func logs() []engine.Log {
	return []engine.Log{{Logger: "Unreal", Marks: []engine.Mark{{Text: "Log file open, ", Begin: true}, {Text: "]LogInit: "}}}}
}
