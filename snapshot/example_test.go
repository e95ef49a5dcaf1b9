package snapshot_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"github.com/desynctool/desynctool/snapshot"
)

// battlefield returns a state of two infantrymen.
func battlefield(peer string, hp int64) *snapshot.World {
	health := snapshot.NewColumn("Health", "hp", snapshot.I32, 0)
	health.AppendInt(75)
	health.AppendInt(hp)
	x := snapshot.NewColumn("Position", "x", snapshot.Fixed, 65536)
	x.AppendInt(3 << 15)
	x.AppendAbsent() // aboard a transport
	return &snapshot.World{
		Head: snapshot.Head{Seed: 7, Point: snapshot.Point{Tick: 1242}, Peer: peer, RNG: []byte{1, 2, 3, 4}},
		Tables: []snapshot.Table{{
			Label:   "Infantry",
			Keys:    snapshot.Keys{A: []uint64{3, 8}},
			Columns: []snapshot.Column{health, x},
		}},
	}
}

func Example() {
	host, err := snapshot.Hold(battlefield("host", 40))
	if err != nil {
		log.Fatal(err)
	}
	client, err := snapshot.Hold(battlefield("client", 41))
	if err != nil {
		log.Fatal(err)
	}
	d, err := snapshot.Compare(host, client, snapshot.DiffOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range d.Tables {
		for _, c := range t.Changes {
			fmt.Printf("%s[%s].%s.%s: %s against %s\n", t.Label, c.Key, c.Component, c.Field, c.A, c.B)
		}
	}
	// Output: Infantry[8].Health.hp: 40 against 41
}

func ExampleWriteText() {
	raw, err := snapshot.Encode(battlefield("host", 40), snapshot.WriteOptions{})
	if err != nil {
		log.Fatal(err)
	}
	f, err := snapshot.Open(bytes.NewReader(raw), int64(len(raw)), "desync.snap")
	if err != nil {
		log.Fatal(err)
	}
	if err := snapshot.WriteText(os.Stdout, f); err != nil {
		log.Fatal(err)
	}
	// Output:
	// %desynctool snapshot 1
	// # state hash bb1dcafccc63b0219f860ba4626ddd4c9e5e544312381f95c74fdceaab95c90b
	// %seed 7
	// %tick 1242
	// %peer "host"
	// %rng 0x01020304
	// %table archetype "Infantry" 1
	// %column "Health" "hp" i32
	// %column "Position" "x" fixed 65536
	// Infantry[3].Health.hp = 75
	// Infantry[3].Position.x = 1.5
	// Infantry[8].Health.hp = 40
	// Infantry[8].Position.x = absent
}
