package limits_test

import (
	"fmt"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// A reader asks before it allocates, and reports the limit that is reached.
func Example() {
	check := func(entries int64) error {
		if limits.Entries.Over(entries) {
			return limits.Entries.Reached("report.zip", entries)
		}
		return nil
	}
	fmt.Println(check(200_000))

	var s limits.Settings
	if err := s.Assign("entries=1m", "--limit"); err != nil {
		fmt.Println(err)
	}
	limits.Use(s)
	defer limits.Use(limits.Settings{})
	fmt.Println(check(200_000), limits.Entries.From())
	// Output:
	// report.zip: limit entries is reached: 200000, at most 100000 (entries of an archive); --limit entries=262144 raises it
	// <nil> --limit
}
