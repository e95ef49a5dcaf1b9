package warzone_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/engines/warzone"
	"github.com/desynctool/desynctool/snapshot"
)

// The dumps of two peers. One has another amount of power.
func ExampleFormat() {
	var states [2]snapshot.State
	for slot := range states {
		name := filepath.Join("../../testdata/warzone2100/player_power_3peer/host_p0", fmt.Sprintf("desync25702_p%d.txt", slot))
		f, err := os.Open(name)
		if err != nil {
			log.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			log.Fatal(err)
		}
		if states[slot], err = warzone.Format().Open(f, info.Size(), name); err != nil {
			log.Fatal(err)
		}
		fmt.Println(states[slot].Info().Peer, "at", states[slot].Info().Point)
	}
	diff, err := snapshot.Compare(states[0], states[1], snapshot.DiffOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, table := range diff.Tables {
		for _, c := range table.Changes {
			fmt.Printf("%s %s %s.%s %s %s\n", table.Label, c.Key, c.Component, c.Field, c.A, c.B)
		}
	}
	// Output:
	// slot 0 at 25702
	// slot 1 at 25702
	// Economy 1 before.power 1300 1301
	// Economy 1 economy.power 1300 1301
	// Economy 1 updatePlayerPower.from 1300 1301
	// Economy 1 updatePlayerPower.to 1300 1301
}
