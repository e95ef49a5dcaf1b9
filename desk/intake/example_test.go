package intake_test

import (
	"fmt"

	"github.com/desynctool/desynctool/desk/intake"
	"github.com/desynctool/desynctool/report"
)

// A newer version of the tool finds the tick of a divergence, and the system.
func ExampleDifferences() {
	before, after := report.NoReport(report.Diverged, ""), report.NoReport(report.Diverged, "")
	before.FirstDivergence = &report.FirstDivergence{}
	tick := uint64(77)
	after.FirstDivergence = &report.FirstDivergence{Tick: &tick, System: "Combat"}
	for _, d := range intake.Differences(before, after) {
		fmt.Printf("%s: %q → %q\n", d.What, d.Old, d.New)
	}
	// Output:
	// tick: "" → "77"
	// system: "" → "Combat"
}
