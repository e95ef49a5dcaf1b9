package beaverbuddies_test

import (
	"fmt"
	"os"

	"github.com/desynctool/desynctool/engines/beaverbuddies"
	"github.com/desynctool/desynctool/tracediff"
)

// The client's trace of the tick in which it noticed.
func ExampleFormat() {
	f, err := os.Open("../../testdata/messages/beaverbuddies-client.log")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	source, err := beaverbuddies.Format().Read(f, f.Name(), 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := tracediff.WriteSource(os.Stdout, source); err != nil {
		fmt.Println(err)
	}
	// Output:
	// %desynctool trace 1
	// tick=812 scope=trace sum="Tick 812 started"
	// tick=812 scope=trace sum="Spots updated: 3 --> 4"
	// tick=812 scope=trace sum="Spawning: Oak, (1, 2, 3)"
	// tick=812 scope=trace sum="7 going to: Lodge"
	// %end
}
