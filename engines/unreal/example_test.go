package unreal_test

import (
	"fmt"

	"github.com/desynctool/desynctool/engines/unreal"
)

// By which texts the logs are told from others.
func ExampleEngine() {
	log := unreal.Engine().Logs[0]
	fmt.Println(log.Logger)
	fmt.Printf("%q\n", log.Marks[0].Text)
	// Output:
	// Unreal
	// "Log file open, "
}
