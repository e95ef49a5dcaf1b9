package triage_test

import (
	"context"
	"fmt"

	"github.com/desynctool/desynctool/report/triage"
)

// The reports have a name for the bundle, wherever it lies.
func ExampleReader_Read() {
	var r triage.Reader
	reports, err := r.Read(context.Background(), "../../testdata/openttd/rng_poke", "upload.zip")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, one := range reports {
		fmt.Println(one.Status, one.Session.Game, one.Session.Seed)
	}
	// Output: diverged OpenTTD 0000000000000309
}
