package openra_test

import (
	"fmt"
	"log"
	"os"

	"github.com/desynctool/desynctool/engines/openra"
	"github.com/desynctool/desynctool/snapshot"
)

// What differs between two clients' reports of one net frame.
func ExampleRead() {
	var states [2]snapshot.State
	for i, name := range []string{"syncreport-2023-11-05T181502Z-0.log", "syncreport-2023-11-05T181503Z-1.log"} {
		f, err := os.Open("../../testdata/openra/" + name)
		if err != nil {
			log.Fatal(err)
		}
		defer f.Close()
		stat, err := f.Stat()
		if err != nil {
			log.Fatal(err)
		}
		world, err := openra.Read(f, stat.Size(), name)
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
	fmt.Println(diff.A.Point)
	for _, table := range diff.Tables {
		for _, c := range table.Changes {
			fmt.Println(table.Label, c.Key, c.Component+"."+c.Field, c.A, c.B)
		}
	}
	// Output:
	// net frame 1204
	// Mobile 343 Mobile.PathHash "9453824" "9453825"
	// Mobile 343 sync.hash 9528824 9528825
	// PlayerResources 3 PlayerResources.Cash "40668" "40618"
	// PlayerResources 3 sync.hash 40380 40394
}
