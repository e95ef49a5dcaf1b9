package evidence_test

import (
	"fmt"
	"log"

	"github.com/desynctool/desynctool/report/evidence"
	"github.com/desynctool/desynctool/report/evidence/archive"
)

// What the peers of a session left.
func ExampleExamine() {
	paths := []string{"../../testdata/openttd/rng_poke"}
	tree, err := archive.Open(paths, archive.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tree.Close()
	session, err := evidence.Open(tree, paths)
	if err != nil {
		log.Fatal(err)
	}
	checkup, err := evidence.Examine(session, nil)
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
}
