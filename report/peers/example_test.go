package peers_test

import (
	"fmt"
	"log"
	"os"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/peers"
)

// Two reports of one state point, as a client and its host would send them.
func ExampleMerge() {
	names := []string{
		"testdata/client/desync_report_0000000000000003_0000000062.json",
		"testdata/host/desync_report_0000000000000003_0000000062.json",
	}
	var reports []*peers.Report
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			log.Fatal(err)
		}
		r, err := peers.Read(f, name)
		f.Close()
		if err != nil {
			log.Fatal(err)
		}
		reports = append(reports, r)
	}
	merged, err := peers.Merge(reports, names)
	if err != nil {
		log.Fatal(err)
	}
	point := &merged.Points[0]
	fmt.Println("state point", point.Point, point.Groups)
	for _, a := range point.Archetypes {
		fmt.Println(document.LabelName(a.Label), a.Groups)
	}
	// Output:
	// state point 62 [[client] [host]]
	// RNG [[client] [host]]
	// Destroyer [[client] [host]]
	// Infantry [[client] [host]]
}
