package shellwords_test

import (
	"fmt"
	"log"

	"github.com/desynctool/desynctool/internal/shellwords"
)

// A line that is written for a shell is taken apart without one.
func ExampleSplit() {
	line := shellwords.Join("./game", "--replay", "it's late/log 7.bin")
	words, err := shellwords.Split(line)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(line)
	fmt.Printf("%q\n", words)
	// Output:
	// ./game --replay 'it'\''s late/log 7.bin'
	// ["./game" "--replay" "it's late/log 7.bin"]
}
