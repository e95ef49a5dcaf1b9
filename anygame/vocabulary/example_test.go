package vocabulary_test

import (
	"fmt"

	"github.com/desynctool/desynctool/anygame/vocabulary"
)

// The last part of a name decides.
func ExampleOf() {
	fmt.Println(vocabulary.Of("netFrame") == vocabulary.Tick)
	fmt.Println(vocabulary.Of("frame_hash") == vocabulary.Sum)
	fmt.Println(vocabulary.Of("frame_time") == vocabulary.Measure)
	// Output:
	// true
	// true
	// true
}
