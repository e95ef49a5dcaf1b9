package generals_test

import (
	"fmt"
	"log"

	"github.com/desynctool/desynctool/engines/generals"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

// The first line that differs between two peers' files of one frame.
func ExampleFormat() {
	format := generals.Format()
	var traces []*tracediff.Trace
	for _, peer := range []string{"alpha", "bravo"} {
		list, err := tracediff.OpenForeign(files.Disk, "../../testdata/generals/position/"+peer+"/DebugFrame_000102.txt", &format, tracediff.ReadOptions{})
		if err != nil {
			log.Fatal(err)
		}
		traces = append(traces, list...)
	}
	r, err := tracediff.Compare(traces, tracediff.Options{})
	if err != nil {
		log.Fatal(err)
	}
	first := r.First
	fmt.Println("frame", r.TickName(first.Tick), first.System, first.Scope)
	for _, v := range first.Values {
		fmt.Println(v.Sum("z"))
	}
	// Output:
	// frame 102 dumpCoord3D aiupdate.cpp:2183 getObject()->getPosition()
	// 20.5/41A40000
	// 20.500002/41A40001
}
