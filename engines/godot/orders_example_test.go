package godot_test

import (
	"fmt"
	"log"
	"os"

	"github.com/desynctool/desynctool/engines/godot"
	"github.com/desynctool/desynctool/internal/file/compression"
)

// The inputs of the first tick in a log.
func ExampleNewReader() {
	const name = "../../testdata/godot-rollback/input/host/20250301-090000-peer-1.log"
	f, err := os.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	content, _, err := compression.Unpack(f, 0)
	if err != nil {
		log.Fatal(err)
	}
	r, err := godot.NewReader(content, name)
	if err != nil {
		log.Fatal(err)
	}
	rec, err := r.Next()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Header().Peer, "in tick", rec.Tick.Number)
	for _, o := range rec.Tick.Orders {
		fmt.Printf("player %d: %s\n", o.Player, o.Payload)
	}
	// Output:
	// peer 1 in tick 1
	// player 1: {"/root/Game":{"pressed":1}}
	// player 77: {"/root/Game":{"pressed":3}}
}
