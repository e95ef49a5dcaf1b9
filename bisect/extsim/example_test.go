package extsim_test

import (
	"fmt"
	"log"
	"time"

	"github.com/desynctool/desynctool/bisect/extsim"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/orderlog"
)

// A game that is served over the protocol, and asked by function calls instead of a
// connection.
func ExampleOver() {
	sim := extsim.Over("served", extsim.Options{}, func() (*extsim.Call, error) {
		server := extsim.NewServer(refsim.Simulator(), "1.0")
		return &extsim.Call{
			Do:      func(request []byte, _ time.Duration) ([]byte, error) { return server.Answer(request) },
			Release: server.Close,
		}, nil
	})
	config := refsim.Config{Seed: 7, Entities: 100}
	direct, err := refsim.New(config)
	if err != nil {
		log.Fatal(err)
	}
	served, err := sim.Start(&orderlog.Header{Seed: 7, Kinds: refsim.OrderKinds(), Params: direct.Config().Params()})
	if err != nil {
		log.Fatal(err)
	}
	for range 10 {
		if err := served.Step(nil); err != nil {
			log.Fatal(err)
		}
		if err := direct.Step(nil); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(served.Point(), served.SyncHash() == direct.SyncHash())
	// Output: 10 true
}
