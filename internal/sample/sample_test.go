package sample_test

import (
	"fmt"
	"os"

	"github.com/desynctool/desynctool/internal/sample"
)

// How many seeds a test tries.
func ExampleOf() {
	for _, full := range []string{"", "1"} {
		os.Setenv("DESYNCTOOL_FULL_TESTS", full)
		fmt.Printf("DESYNCTOOL_FULL_TESTS=%s: %d seeds\n", full, sample.Of(5, 50))
	}
	// Output:
	// DESYNCTOOL_FULL_TESTS=: 5 seeds
	// DESYNCTOOL_FULL_TESTS=1: 50 seeds
}
