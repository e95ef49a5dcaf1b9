package godot_test

import (
	"fmt"
	"log"

	"github.com/desynctool/desynctool/engines/godot"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/snapshot"
)

// The states in a log, and what is in the last one.
func ExampleFormat_state() {
	sets, err := snapshot.FindFile(files.Disk, "../../testdata/godot-rollback/tank/20240115-180402-peer-1.log", []snapshot.Format{godot.StateFormat()})
	if err != nil {
		log.Fatal(err)
	}
	entries := sets[0].Entries
	last := entries[len(entries)-1]
	state, err := last.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer state.Close()
	fmt.Println(sets[0].Peer, "has", len(entries), "states, the last one", last.Point.When())
	for _, t := range state.Info().Tables {
		fmt.Println(t.Class, t.Label, t.Rows)
	}
	// Output:
	// peer 1 has 14 states, the last one after tick 12
	// archetype /root/Main/Bullet 1
	// archetype /root/Main/ClientPlayer 1
	// archetype /root/Main/Johnny 1
	// archetype /root/Main/ServerPlayer 1
	// noise /root/Main/ClientPlayer (not hashed) 1
	// noise /root/Main/ServerPlayer (not hashed) 1
}
