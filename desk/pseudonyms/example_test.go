package pseudonyms_test

import (
	"fmt"

	"github.com/desynctool/desynctool/desk/pseudonyms"
)

func Example() {
	key, err := pseudonyms.ParseKey(testKey, "desk/key")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"Ada", "Zoë", "Zoe\u0308", "client 2"} {
		fmt.Println(key.Player(name))
	}
	// Output:
	// player-26594131a8
	// player-40287424b4
	// player-40287424b4
	// client 2
}
