package rimworld_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/desynctool/desynctool/engines/rimworld"
)

// Where the peers diverged according to a paste of traces.
func ExampleFormats() {
	paste := `Trace count: 1000
Trace of first desynced map random state:
200 Tick:500 Hash:-77 '450 Muffalo12 New Arrivals 2 129 '
at Verse.Rand.Range (int,int) [0x00017] in <cb53>:0
at Verse.Pawn.Tick () [0x0001c] in <cb53>:0
`
	claims, err := rimworld.Formats()[0].Claims(strings.NewReader(paste), "local_traces.txt")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(claims.Peer, "tick", claims.Claims[0].Tick)
	for _, d := range claims.Claims[0].Detail {
		fmt.Println(d.Text)
	}
	// Output:
	// local tick 500
	// trace 200 of 1000: tick 500, hash -77, state of the random number generator 129
	// thing Muffalo12, faction New Arrivals, game tick 450
	// Verse.Rand.Range (int,int)
	// Verse.Pawn.Tick ()
}
