package warzone_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/engines/warzone"
	"github.com/desynctool/desynctool/orderlog"
)

// A session of three peers. One had a different amount of power: the orders are the same, and the checksums show which
// peer differs from the others.
func ExampleReader() {
	var peers []orderlog.Named
	for _, name := range []string{"host_p0/20261120_085851_multiplay_p0.wzrp", "gamma_p1/20261120_085852_multiplay_p1.wzrp"} {
		f, err := os.Open(filepath.Join("../../testdata/warzone2100/player_power_3peer", name))
		if err != nil {
			log.Fatal(err)
		}
		defer f.Close()
		r, err := warzone.NewReader(f, name)
		if err != nil {
			log.Fatal(err)
		}
		peers = append(peers, orderlog.Named{Name: r.Header().Peer, Source: r})
	}
	c, err := orderlog.Compare(peers, orderlog.CompareOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Line())
	for _, v := range c.State.First.Values {
		fmt.Printf("%s: %s\n", v.Peer, v.Hash)
	}
	// Output:
	// state differs: simulation: orders are equal, crc16/sync-debug hashes differ from state point 25702 on
	// slot 0: 0x782c
	// slot 1: 0x6294
}
