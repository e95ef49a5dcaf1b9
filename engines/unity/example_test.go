package unity_test

import (
	"fmt"

	"github.com/desynctool/desynctool/engines/unity"
)

// By which texts the logs are told from others.
func ExampleEngine() {
	log := unity.Engine().Logs[0]
	fmt.Println(log.Logger)
	fmt.Printf("%q\n", log.Marks[0].Text)
	// Output:
	// Unity
	// "Initialize engine version:"
}
