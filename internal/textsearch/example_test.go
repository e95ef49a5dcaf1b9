package textsearch_test

import (
	"fmt"

	"github.com/desynctool/desynctool/internal/textsearch"
)

// Where messages begin in a log.
func Example() {
	messages := []string{"Desync at ", "Checksum for beat "}
	text := []byte("info: beat 1950\nwarning: Checksum for beat 1950 mismatched\nDesync at beat 1951\n")
	s := textsearch.New(messages)
	var places textsearch.Places
	for _, at := range s.Find(text, &places) {
		fmt.Printf("%d: %q\n", at, messages[s.At(text, at, 0)])
	}
	// Output:
	// 25: "Checksum for beat "
	// 59: "Desync at "
}
