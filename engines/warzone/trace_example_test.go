package warzone_test

import (
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/engines/warzone"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

// What each player sent of its state, in one recording.
func ExampleFormats() {
	list := warzone.Formats()
	format := &list[slices.IndexFunc(list, func(f tracediff.Format) bool { return f.Name == "warzone-replay" })]
	traces, err := tracediff.OpenForeign(files.Disk, "../../testdata/warzone2100/player_power_3peer/host_p0/20261120_085851_multiplay_p0.wzrp", format, tracediff.ReadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	r, err := tracediff.Compare(traces, tracediff.Options{})
	if err != nil {
		log.Fatal(err)
	}
	first := r.First
	fmt.Println(strings.TrimSpace("tick " + r.TickName(first.Tick) + " " + first.System + " " + first.Scope))
	for i, v := range first.Values {
		fmt.Println(r.Traces[i].Name, v.Sum(first.Sums[0]))
	}
	// Output:
	// tick 25702
	// slot 0 0x782c
	// slot 1 0x6294
	// slot 2 0x782c
}
