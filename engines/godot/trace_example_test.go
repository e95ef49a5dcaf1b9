package godot_test

import (
	"fmt"
	"log"

	"github.com/desynctool/desynctool/engines/godot"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

// The first tick after which the hashes of two peers differ.
func ExampleFormat_trace() {
	format := godot.TraceFormat()
	var traces []*tracediff.Trace
	for _, peer := range []string{"1", "2"} {
		list, err := tracediff.OpenForeign(files.Disk, "../../testdata/godot-rollback/tank/20240115-180402-peer-"+peer+".log", &format, tracediff.ReadOptions{})
		if err != nil {
			log.Fatal(err)
		}
		traces = append(traces, list...)
	}
	r, err := tracediff.Compare(traces, tracediff.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("tick", r.TickName(r.First.Tick))
	for i, v := range r.First.Values {
		fmt.Println(r.Traces[i].Name, v.Sum(""))
	}
	// Output:
	// tick 8
	// peer 1 1725959562
	// peer 2 2797101986
}
