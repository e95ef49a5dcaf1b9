package bisect_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
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

// Two folders as two players sent them: states of every tenth tick, the client's soldier hit in tick 27.
func ExampleOpenFolder() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var peers []*bisect.Peer
	for _, name := range []string{"host", "client"} {
		folder := filepath.Join(dir, name)
		if err := os.Mkdir(folder, 0o777); err != nil {
			log.Fatal(err)
		}
		for tick := uint64(0); tick <= 100; tick += 10 {
			hp := uint64(100)
			if name == "client" && tick > 27 {
				hp = 93
			}
			state, err := snapshot.Load(held(7, tick, hp))
			if err != nil {
				log.Fatal(err)
			}
			if err := snapshot.WriteFile(filepath.Join(folder, snapshot.Name(7, tick)), state, snapshot.WriteOptions{}); err != nil {
				log.Fatal(err)
			}
		}
		peer, err := bisect.OpenFolder(folder)
		if err != nil {
			log.Fatal(err)
		}
		peers = append(peers, peer)
	}
	r, err := bisect.Run(peers, bisect.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("equal at point %s, different at %s\n", r.Bracket.Good, r.Bracket.Bad)
	fmt.Println("files to compare:", filepath.Base(r.Bracket.BadFiles[0]), filepath.Base(r.Bracket.BadFiles[1]))
	// Output:
	// equal at point 20, different at 30
	// files to compare: desync_0000000000000007_0000000030.snap desync_0000000000000007_0000000030.snap
}

// counter is a game: each order adds its player's number to a total. With a limit, larger totals are cut.
type counter struct{ tick, total, limit uint64 }

func (c *counter) Point() uint64 { return c.tick }

func (c *counter) Step(orders []orderlog.Order) error {
	for _, o := range orders {
		c.total += uint64(o.Player)
	}
	if c.limit > 0 && c.total > c.limit {
		c.total = c.limit
	}
	c.tick++
	return nil
}

func (c *counter) SyncHash() (sum merkle.Short) {
	binary.BigEndian.PutUint64(sum[:], c.total)
	return sum
}

// simOf returns a simulator that plays games of counter.
func simOf(name string, limit uint64) *bisect.Sim {
	return &bisect.Sim{Name: name, Start: func(*orderlog.Header) (bisect.Simulator, error) {
		return &counter{limit: limit}, nil
	}}
}

// ordersOfPlayers returns the log of a session in which two players give an order in every tick.
func ordersOfPlayers(ticks uint64) *orderlog.Log {
	kinds := []orderlog.OrderKind{{Name: "add"}}
	var orders []orderlog.Order
	for tick := range ticks {
		orders = append(orders, orderlog.Order{Tick: tick, Player: 2, Sequence: uint32(tick)}, orderlog.Order{Tick: tick, Player: 3, Sequence: uint32(tick)})
	}
	var file bytes.Buffer
	w, err := orderlog.NewWriter(&file, orderlog.Header{Seed: 7, Peer: "client", Peers: []string{"client"}, Kinds: kinds}, orderlog.WriterOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for i := 0; i < len(orders); i += 2 {
		if err := w.WriteTick(&orderlog.Tick{Number: orders[i].Tick, Orders: orders[i : i+2]}); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	l, err := orderlog.ReadAll(&file, "order-log.bin")
	if err != nil {
		log.Fatal(err)
	}
	return l
}

// A game in Go replays a log that contains the hashes of another build. The other build cuts totals at 100.
func ExampleTry() {
	recorded, err := bisect.Compute(ordersOfPlayers(50), simOf("client's build", 100), bisect.ComputeOptions{Peer: "client"})
	if err != nil {
		log.Fatal(err)
	}
	trial, err := bisect.Try(recorded, simOf("good build", 0), bisect.TrialOptions{Mode: bisect.Plain})
	if err != nil {
		log.Fatal(err)
	}
	tick, _ := trial.Tick()
	fmt.Printf("departs: %v, in tick %d\n", trial.Departed(), tick)
	fmt.Printf("the log has %s, %s computes %s\n", trial.First.Expected, trial.Sim, trial.First.Got)
	// Output:
	// departs: true, in tick 20
	// the log has 0000000000000064, good build computes 0000000000000069
}

// What a build computes from the orders of a log, as the log of a peer that had this build.
func ExampleCompute() {
	computed, err := bisect.Compute(ordersOfPlayers(3), simOf("good build", 0), bisect.ComputeOptions{Peer: "computed"})
	if err != nil {
		log.Fatal(err)
	}
	for _, hash := range bisect.LogOf(computed).Hashes {
		fmt.Printf("point %d: %s\n", hash.Point, hash.Sum)
	}
	// Output:
	// point 0: 0000000000000000
	// point 1: 0000000000000005
	// point 2: 000000000000000a
	// point 3: 000000000000000f
}
