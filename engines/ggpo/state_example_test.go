package ggpo_test

import (
	"fmt"
	"log"
	"os"

	"github.com/desynctool/desynctool/engines/ggpo"
	"github.com/desynctool/desynctool/snapshot"
)

// What differs between both runs of a frame.
func ExampleRead() {
	var states [2]snapshot.State
	for i, run := range []string{"original", "replay"} {
		name := "../../testdata/ggpo/vectorwar/synclogs/state-0013-" + run + ".log"
		f, err := os.Open(name)
		if err != nil {
			log.Fatal(err)
		}
		defer f.Close()
		stat, err := f.Stat()
		if err != nil {
			log.Fatal(err)
		}
		world, err := ggpo.Read(f, stat.Size(), name)
		if err != nil {
			log.Fatal(err)
		}
		if states[i], err = snapshot.Hold(world); err != nil {
			log.Fatal(err)
		}
	}
	diff, err := snapshot.Compare(states[0], states[1], snapshot.DiffOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, table := range diff.Tables {
		for _, c := range table.Changes {
			fmt.Println(table.Label, c.Key, c.Component+"."+c.Field, c.A, c.B)
		}
	}
	// Output:
	// ship 1 ship.heading "93" "96"
	// ship 1 ship.velocity "0.0522, 0.9986" "0.1045, 0.9945"
}
