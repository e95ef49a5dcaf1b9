package engine_test

import (
	"fmt"

	"github.com/desynctool/desynctool/engines/engine"
)

// A game that plays its own recordings, and no other order log.
func ExampleReplayer_Plays() {
	game := engine.Replayer{Name: "chess", Formats: []string{"chess-log"}}
	fmt.Println(game.Plays("chess-log"), game.Plays("order-log"))
	// Output:
	// true false
}
