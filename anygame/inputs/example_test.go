package inputs_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/desynctool/desynctool/anygame/inputs"
	"github.com/desynctool/desynctool/orderlog"
)

// The inputs of a game that nobody described.
func ExampleLearn() {
	const file = `{"tick":5,"player":1,"cmd":"move","x":3}
{"tick":5,"player":2,"cmd":"stop","all":true}
{"tick":9,"player":1,"cmd":"move","x":4}
`
	source, err := inputs.Learn([]byte(file), "inputs.jsonl").Read(strings.NewReader(file), "inputs.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	log, err := orderlog.Collect(source, "inputs.jsonl")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	for _, tick := range log.Ticks {
		for _, o := range tick.Orders {
			fmt.Printf("tick %d, player %d: %s %s\n", o.Tick, o.Player, log.Header.Kinds[o.Kind].Name, o.Payload)
		}
	}
	// Output:
	// tick 5, player 1: move {"x":3}
	// tick 5, player 2: stop {"all":true}
	// tick 9, player 1: move {"x":4}
}
