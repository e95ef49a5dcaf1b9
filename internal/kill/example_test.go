package kill_test

import (
	"fmt"
	"os"

	"github.com/desynctool/desynctool/internal/kill"
)

// How often a program is killed.
func ExampleTimes() {
	os.Setenv("DESYNCTOOL_KILLS", "1000")
	fmt.Println(kill.Times())
	// Output:
	// 1000
}
