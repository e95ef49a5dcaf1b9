package description_test

import (
	"fmt"
	"log"

	"github.com/desynctool/desynctool/engines/engine/description"
)

// A page of a game that calls its ticks frames, and has an unusual line in its logs.
func ExampleParse() {
	page, err := description.Parse([]byte(`
game = "Castle Siege"
[files]
logs = ["net-*.txt"]
[[line]]
pattern = 'F(?P<tick>\d+)/(?P<sum>\w+)'
`), "desynctool.toml")
	if err != nil {
		log.Fatal(err)
	}
	var c description.Checkpoint
	ok, _ := page.Checkpoint([]byte("net: F12/beef"), &c)
	fmt.Println(page.Game, page.KindOf("logs/net-1.txt"), ok, c.Tick, string(c.Sums[0].Value))
	// Output:
	// Castle Siege logs true 12 beef
}
