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
	// player-31a8cf9ebf
	// player-24b46d7707
	// player-24b46d7707
	// client 2
}
