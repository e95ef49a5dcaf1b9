package statements_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/desynctool/desynctool/anygame/statements"
)

// What a game of no known engine printed.
func Example() {
	const text = `[12:04:11] INFO net: tick 500 confirmed
[12:04:12] ERROR net: state hash mismatch at tick 510: local 8d3f00a1, remote 17b2c09e
`
	found, err := statements.Scan(strings.NewReader(text), "game.log")
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range found.Claims {
		fmt.Printf("line %d, %s: %s\n", c.Pos.Line, found.Dialect.TickName(c.Tick), c.Text)
		fmt.Println(c.Values, c.Proves())
	}
	// Output:
	// line 2, tick 510: state hash mismatch at tick 510: local 8d3f00a1, remote 17b2c09e
	// [{local 8d3f00a1} {remote 17b2c09e}] true
}
