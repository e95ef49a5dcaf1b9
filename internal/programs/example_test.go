package programs_test

import (
	"fmt"

	"github.com/desynctool/desynctool/internal/programs"
)

// A program that the user names counts, and is an error if it is not there.
func ExampleFind() {
	_, err := programs.Find("desynctool-wasm", "/no/such/folder/wasm")
	fmt.Println(err)
	// Output: /no/such/folder/wasm: no program is there; it was given as desynctool-wasm
}
