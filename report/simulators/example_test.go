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
	_, err = simulators.Parse(context.Background(), "mygame", simulators.Options{})
	fmt.Println(err)
	// Output:
	// builtin:fault=map-order@1234 <nil>
	// unknown simulator "mygame", expected builtin, builtin:fault=NAME[/PLACE][@TICK], exec:COMMAND, exec+unix:COMMAND, exec+tcp:COMMAND or wasm:FILE
}
