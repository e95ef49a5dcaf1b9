package bisect_test

import (
	"fmt"
	"log"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// Two peers on values in memory: states of every tenth tick, and an order log with a
// hash of every tick.
func Example() {
	var peers []*bisect.Peer
	for i, name := range []string{"host", "client"} {
		hashes := bisect.NewHashes(orderlog.Header{Seed: 7, Peer: name, Peers: []string{"host", "client"}})
		var states []snapshot.State
		for tick := range uint64(31) {
			hp := 100 - tick
			if name == "client" && tick > 17 {
				hp++ // one shot missed
			}
			state := held(7, tick, hp)
			root := state.Info().Root.Short()
			hashes.Add(&orderlog.Record{Kind: orderlog.ObservedRecord, Observed: []orderlog.Observed{
				{Point: tick, Peer: uint32(i), Kind: orderlog.SyncHash, Bytes: root[:]},
			}})
			if tick%10 == 0 {
				states = append(states, state)
			}
		}
		set, err := snapshot.SetOf(name, states...)
		if err != nil {
			log.Fatal(err)
		}
		peers = append(peers, &bisect.Peer{Name: name, Path: name, Snapshots: set, Log: hashes.Log()})
	}
	r, err := bisect.Run(peers, bisect.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s differ in (%s, %s] by %s: tick %d\n", r.Groups, r.Bracket.Good, r.Bracket.Bad, r.Bracket.By, r.Tick)
	fmt.Printf("%d of %d pairs of states were read\n", r.Probes, r.Snapshots)
	// Output:
	// [[host] [client]] differ in (17, 18] by recorded hashes: tick 17
	// 4 of 4 pairs of states were read
}

// held is a state with one soldier.
func held(seed, tick, hp uint64) snapshot.State {
	c := snapshot.NewColumn("Health", "hp", snapshot.U64, 0)
	c.AppendUint(hp)
	s, err := snapshot.Hold(&snapshot.World{
		Head:   snapshot.Head{Seed: seed, Point: snapshot.Point{Tick: tick}},
		Tables: []snapshot.Table{{Label: "Soldier", Keys: snapshot.Keys{A: []uint64{1}}, Columns: []snapshot.Column{c}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	return s
}
