package warzone_test

import (
	"fmt"

	"github.com/desynctool/desynctool/engines/warzone"
)

func ExampleGame() {
	game := warzone.Game()
	fmt.Println(game.Name, game.Plays("warzone-replay"), game.Dumps, game.RealTime)
	// Output: warzone2100 true true false
}
