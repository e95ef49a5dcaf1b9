package zeroad_test

import (
	"fmt"

	"github.com/desynctool/desynctool/engines/zeroad"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

// A match was replayed with another data file.
func Example_trace() {
	format := zeroad.Formats()[0]
	sides, err := tracediff.OpenForeign(files.Disk, "../../testdata/0ad/replay_output/modded.stdout.log.gz", &format, tracediff.ReadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := tracediff.Compare(sides, tracediff.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %d hashes differ\n", r.TickName(r.First.Tick), r.Changed)
	for i, v := range r.First.Values {
		fmt.Println(r.Traces[i].Name, v.Sum(""))
	}
	// Output:
	// turn 17: 153 hashes differ
	// first run 9b53ffb1272d1be2d5735193fcedf2da
	// second run 35f00bbbe0ae79b5e4dd37d4a6538235
}
