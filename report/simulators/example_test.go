package simulators_test

import (
	"context"
	"fmt"

	"github.com/desynctool/desynctool/report/simulators"
)

// What a command line names as a simulator.
func ExampleParse() {
	sim, err := simulators.Parse(context.Background(), "builtin:fault=map-order@1234", simulators.Options{})
	fmt.Println(sim.Name, err)
	_, err = simulators.Parse(context.Background(), "exec:", simulators.Options{})
	fmt.Println(err)
	// Output:
	// builtin:fault=map-order@1234 <nil>
	// simulator "exec:": no command
}
