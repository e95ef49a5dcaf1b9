package bundle_test

import (
	"fmt"
	"log"

	"github.com/desynctool/desynctool/report/bundle"
)

// What the peers of a session left.
func ExampleExamine() {
	session, err := bundle.OpenPaths("../../testdata/openttd/rng_poke")
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	checkup, err := bundle.Examine(session, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range checkup.Peers {
		for _, c := range p.Covers {
			fmt.Println(p.Name, c.Count, c.What)
		}
	}
	// Output:
	// client 8 states
	// client 17 orders
	// server 10 states
	// server 332 orders
	// server 275 hashes
	// server 1 claims
}
