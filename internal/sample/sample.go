// Package sample says how much of what a test could try it does try: all of it
// where .ci/run sets the environment variable DESYNCTOOL_FULL_TESTS, else so
// much that a newcomer waits two minutes at most for all tests together.
package sample

import "os"

// Full reports whether the tests try everything: DESYNCTOOL_FULL_TESTS is 1.
func Full() bool { return os.Getenv("DESYNCTOOL_FULL_TESTS") == "1" }

// Of returns full where the tests try everything, else some of it. Both are of the
// same property: a smaller sample has fewer seeds, fewer ticks or fewer bytes.
func Of[T any](some, full T) T {
	if Full() {
		return full
	}
	return some
}
