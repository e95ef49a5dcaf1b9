package wasmsim_test

import (
	"context"
	"fmt"
	"log"

	"github.com/desynctool/desynctool/bisect/extsim"
	"github.com/desynctool/desynctool/bisect/wasmsim"
	"github.com/desynctool/desynctool/orderlog"
)

// Ten ticks of the module that docs/sdk makes of a game in C.
func ExampleNew() {
	sim, err := wasmsim.New(context.Background(), "skirmish", "../../testdata/wasm/skirmish.wasm", extsim.Options{})
	if err != nil {
		log.Fatal(err)
	}
	s, err := sim.Start(&orderlog.Header{Seed: 7})
	if err != nil {
		log.Fatal(err)
	}
	for range 10 {
		if err := s.Step(nil); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(sim.Name, s.Point(), s.SyncHash())
	// Output: skirmish 10 53bbd6d11c417496
}
