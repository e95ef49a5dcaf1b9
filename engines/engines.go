// Package engines has the list of the engines that desynctool knows. Nothing else in the project names one.
package engines

import (
	"sync"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/openttd"
)

// All returns the engines in the order in which their files are recognised. The list is shared: nobody changes it.
func All() []engine.Engine { return all() }

var all = sync.OnceValue(func() []engine.Engine {
	return []engine.Engine{
		openttd.Engine(),
	}
})
