package bisect_test

import (
	"fmt"
	"log"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/openttd"
)

func Example() {
	peers, err := bisect.Gather(files.Disk, []string{
		"../testdata/openttd/rng_poke/server",
		"../testdata/openttd/rng_poke/client",
	}, []snapshot.Format{snapshot.SnapFormat(), openttd.Format()})
	if err != nil {
		log.Fatal(err)
	}
	r, err := bisect.Run(peers, bisect.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("(%s, %s] after %d probes of %d pairs\n", r.Bracket.Good, r.Bracket.Bad, r.Probes, r.Snapshots)
	// Output: (000adec0, 000adee0] after 5 probes of 6 pairs
}
