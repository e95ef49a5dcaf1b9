package zeroad_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/engines/zeroad"
	"github.com/desynctool/desynctool/orderlog"
)

// A session in which one peer had other data: the orders are the same, the
// hashes are not.
func Example_orders() {
	var peers []orderlog.Named
	for _, peer := range []string{"host", "client"} {
		f, err := os.Open(filepath.Join("../../testdata/0ad/mp_late_damage", peer, "commands.txt"))
		if err != nil {
			log.Fatal(err)
		}
		defer f.Close()
		r, err := zeroad.NewReader(f, peer)
		if err != nil {
			log.Fatal(err)
		}
		peers = append(peers, orderlog.Named{Name: peer, Source: r})
	}
	c, err := orderlog.Compare(peers, orderlog.CompareOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.Line())
	fmt.Println("last full hash that agrees: of point", *c.State.Good)
	for _, h := range c.State.Hashes {
		fmt.Printf("%s/%s: %d equal, %d differ\n", h.Kind, h.Coverage, h.Equal, h.Differ)
	}
	// Output:
	// state differs: simulation: orders are equal, 0ad hashes differ from state point 40 on
	// last full hash that agrees: of point 20
	// 0ad/: 2 equal, 10 differ
	// 0ad/quick: 40 equal, 172 differ
}
