package spring_test

import (
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/engines/spring"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

// The checksums that the players sent, in the server's demo.
func ExampleFormats() {
	list := spring.Formats()
	format := &list[slices.IndexFunc(list, func(f tracediff.Format) bool { return f.Name == "spring-demo" })]
	traces, err := tracediff.OpenForeign(files.Disk, "../../testdata/spring/pos_1ulp/server/demo.sdfz", format, tracediff.ReadOptions{})
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
	// tick 660
	// Alice a9452c8c
	// Bob a9452c8c
	// Carol 7f539632
}
