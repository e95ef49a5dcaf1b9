package lazyregexp_test

import (
	"fmt"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

var tick = lazyregexp.New(`tick (\d+)`)

func Example() {
	fmt.Println(tick.FindStringSubmatch("diverged in tick 40")[1])
	// Output: 40
}
