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

// The tables of a file.
func ExampleOpenFile() {
	f, err := snapshot.OpenFile("../testdata/snapshot/types.snap")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	fmt.Println("point", f.Info().Point, "root", f.Info().Root.Short())
	for i, t := range f.Info().Tables {
		table, err := snapshot.LoadTable(f, i)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(t.Label, "has", table.Rows(), "rows, columns:", len(table.Columns))
	}
	// Output:
	// point frame 9 root 9fb60174795ebab3
	// Empty has 0 rows, columns: 1
	// Keys has 2 rows, columns: 0
	// Pairs has 5 rows, columns: 17
	// Whole has 9 rows, columns: 17
	// Überläufer has 1 rows, columns: 1
	// Grid has 2 rows, columns: 1
	// Clock has 1 rows, columns: 1
}

// One value by the label, the component, the field and the entity's key.
func ExampleLookup() {
	state, err := snapshot.Hold(battlefield("host", 40))
	if err != nil {
		log.Fatal(err)
	}
	hp, ok := snapshot.NewLookup(state).Value("Infantry", "Health", "hp", snapshot.Key{A: 8})
	fmt.Println(hp, ok)
	// Output: 40 true
}

// Which archetypes differ, and how many hashes two peers would have to exchange to find it.
func ExampleDescend() {
	var states [2]snapshot.State
	for i, hp := range []int64{40, 41} {
		world := battlefield("peer", hp)
		for _, label := range []string{"Jet", "Projectile", "Tank"} {
			ready := snapshot.NewColumn("Weapon", "ready", snapshot.Bool, 0)
			ready.AppendUint(1)
			world.Tables = append(world.Tables, snapshot.Table{Label: label, Keys: snapshot.Keys{A: []uint64{1}}, Columns: []snapshot.Column{ready}})
		}
		var err error
		if states[i], err = snapshot.Hold(world); err != nil {
			log.Fatal(err)
		}
	}
	walk, err := snapshot.Descend(states[0], states[1], false)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(walk.Comparison.Diverged, "by", walk.Comparison.Hashes, "hashes")
	// Output: [Infantry] by 6 hashes
}

// A proof shows that an archetype belongs to a state of which only the root is known.
func ExampleProve() {
	state, err := snapshot.Hold(battlefield("host", 40))
	if err != nil {
		log.Fatal(err)
	}
	proof, err := snapshot.Prove(state, "Infantry")
	if err != nil {
		log.Fatal(err)
	}
	root := state.Info().Root
	checked, err := snapshot.VerifyProof(&proof.Proof, "infantry.proof", snapshot.Expected{Root: &root})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("belongs to the state:", checked.Err == nil)
	root[0] ^= 1
	checked, err = snapshot.VerifyProof(&proof.Proof, "infantry.proof", snapshot.Expected{Root: &root})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("belongs to another state:", checked.Err == nil)
	// Output:
	// belongs to the state: true
	// belongs to another state: false
}
