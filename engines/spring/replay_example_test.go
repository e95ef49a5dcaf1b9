package spring_test

import (
	"fmt"

	"github.com/desynctool/desynctool/engines/spring"
)

// What the recipe plays, and what its words are.
func ExampleGame() {
	game := spring.Game()
	fmt.Println(game.Title, game.Formats, game.Dumps)
	for _, o := range game.Options {
		fmt.Printf("%s: %s\n", o.Name, o.Help)
	}
	// Output:
	// Spring [spring-demo] true
	// data: folders with games and maps, as in SPRING_DATADIR
}
