package openttd_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/engines/openttd"
	"github.com/desynctool/desynctool/orderlog"
)

// A session in which one command never reached the client.
func Example() {
	var peers []orderlog.Named
	for _, peer := range []string{"server", "client"} {
		f, err := os.Open(filepath.Join("../../testdata/openttd/dropped_sign", peer, "commands-out.log"))
		if err != nil {
			log.Fatal(err)
		}
		defer f.Close()
		r, err := openttd.NewReader(f, peer)
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
	for _, d := range c.Differences {
		fmt.Printf("%s\n  line %d of %s\n", d.String(), d.At[0].Line, d.At[0].Peer)
	}
	fmt.Printf("compared from %s to %s; the client joined after %d orders\n", c.Window.NativeFrom, c.Window.NativeTo, c.Peers[1].Before)
	// Output:
	// inputs differ: network layer: 000adef0;12 missing 0x3b CMD_PLACE_SIGN of player 1 on client
	// 000adef0;12 missing 0x3b CMD_PLACE_SIGN of player 1 on client
	//   line 306 of server
	// compared from 000ade3e;1c to 000ae019;30; the client joined after 55 orders
}
