package widelands_test

import (
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/engines/widelands"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

// The sync streams of a host and a client.
func ExampleFormats() {
	list := widelands.Formats()
	format := &list[slices.IndexFunc(list, func(f tracediff.Format) bool { return f.Name == "widelands-sync" })]
	var traces []*tracediff.Trace
	for _, path := range []string{
		"../../testdata/widelands/cmdact_serial/host/2026-11-20T08.55.13_nethost.wrpl.wss.gz",
		"../../testdata/widelands/cmdact_serial/client/2026-11-20T08.55.14_netclient_1.wrpl.wss.gz",
	} {
		opened, err := tracediff.OpenForeign(files.Disk, path, format, tracediff.ReadOptions{})
		if err != nil {
			log.Fatal(err)
		}
		traces = append(traces, opened...)
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
	// tick 161431 ms Act CmdAct
	// host 304
	// client 1 305
}
