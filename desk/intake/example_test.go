package intake_test

import (
	"fmt"

	"github.com/desynctool/desynctool/desk/intake"
	"github.com/desynctool/desynctool/report/document"
)

// A newer version of the tool finds the tick of a divergence, and the system.
func ExampleDifferences() {
	before, after := document.NoReport(document.Diverged, ""), document.NoReport(document.Diverged, "")
	before.FirstDivergence = &document.FirstDivergence{}
	tick := uint64(77)
	after.FirstDivergence = &document.FirstDivergence{Tick: &tick, System: "Combat"}
	for _, d := range intake.Differences(before, after) {
		fmt.Printf("%s: %q → %q\n", d.What, d.Old, d.New)
	}
	// Output:
	// tick: "" → "77"
	// system: "" → "Combat"
}
