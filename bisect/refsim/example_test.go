package refsim_test

import (
	"fmt"
	"log"

	"github.com/desynctool/desynctool/bisect/refsim"
)

// Two peers play the same game; one of them forgets to update a cache.
func Example() {
	config := refsim.Config{Seed: 42, Entities: 300}
	fault, peer, err := refsim.ParseFault("stale-cache/PathCost@100:client")
	if err != nil {
		log.Fatal(err)
	}
	host, err := refsim.New(config)
	if err != nil {
		log.Fatal(err)
	}
	client, err := refsim.New(config, fault)
	if err != nil {
		log.Fatal(err)
	}
	script := refsim.NewScript(config.Seed)
	for host.SyncHash() == client.SyncHash() {
		orders := script.Orders(host)
		if err := host.Step(orders); err != nil {
			log.Fatal(err)
		}
		if err := client.Step(orders); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("%s: %s, differs at point %d\n", peer, fault, host.Point())
	for _, d := range refsim.Differences(host, client) {
		fmt.Println(d.Archetype, d.Component, d.Keys)
	}
	// Output:
	// client: stale-cache/PathCost@100, differs at point 107
	// Tank Heading [8666]
	// Tank Position [8666]
	// Tank Velocity [8666]
}
