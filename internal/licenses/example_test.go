package licenses_test

import (
	"fmt"
	"runtime/debug"

	"github.com/desynctool/desynctool/internal/licenses"
)

// The licence of a module that docs/dependencies.md lists.
func ExampleOf() {
	list := licenses.Of(&debug.BuildInfo{Deps: []*debug.Module{{Path: "github.com/spf13/cobra", Version: "v1.10.2"}}})
	fmt.Println(list.License)
	for _, m := range list.Modules[1:] { // after Go's standard library
		fmt.Println(m.Module, m.Version, *m.License)
	}
	// Output:
	// Apache-2.0
	// github.com/spf13/cobra v1.10.2 Apache-2.0
}
