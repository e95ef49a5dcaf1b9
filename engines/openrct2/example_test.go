package openrct2_test

import (
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/engines/openrct2"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

// The server's and a client's side of a report.
func ExampleFormats() {
	list := openrct2.Formats()
	format := &list[slices.IndexFunc(list, func(f tracediff.Format) bool { return f.Name == "openrct2" })]
	traces, err := tracediff.OpenForeign(files.Disk, "../../testdata/openrct2/desync_1749630000_17779466.txt", format, tracediff.ReadOptions{})
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
	// tick 17779466  srand0
	// server 0x815228cb
	// client 0x3f0a11d2
}
