package engines_test

import (
	"fmt"

	"github.com/desynctool/desynctool/engines"
)

// The games that play their own recordings again.
func ExampleAll() {
	for _, e := range engines.All() {
		if e.Replayer != nil {
			fmt.Println(e.Replayer.Name, e.Replayer.Formats)
		}
	}
	// Output:
	// openttd [openttd-log]
	// 0ad [0ad-log]
	// spring [spring-demo]
	// widelands [widelands-replay]
	// warzone2100 [warzone-replay]
}
