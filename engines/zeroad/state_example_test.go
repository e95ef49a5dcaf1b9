package zeroad_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/engines/zeroad"
	"github.com/desynctool/desynctool/snapshot"
)

// The first difference between two peers with units that do different damage.
func ExampleFormat() {
	var states [2]snapshot.State
	for i, peer := range []string{"host", "client"} {
		name := filepath.Join("../../testdata/0ad/mp_late_damage", peer, "ooslog/00024.txt.gz")
		f, err := os.Open(name)
		if err != nil {
			log.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			log.Fatal(err)
		}
		if states[i], err = zeroad.Format().Open(f, info.Size(), name); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(states[0].Info().Point)
	diff, err := snapshot.Compare(states[0], states[1], snapshot.DiffOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, table := range diff.Tables {
		for _, c := range table.Changes {
			fmt.Println(c.Component, c.Key, c.Field, c.A, c.B)
		}
	}
	// Output:
	// after turn 24
	// BattleDetection 3 damage 3.4093003032000126 3.7192366943999957
	// BattleDetection 4:0 damageRecord[] 14.836726791278991 15.181100559279002
	// Health 35 hitpoints 87.93967978872098 87.59530602072097
	// Health 148 hitpoints 196.5906996968 196.2807633056
}
