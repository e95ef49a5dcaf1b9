package compare_test

import (
	"fmt"
	"log"

	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
)

// Between which state points the peers of a session diverged, by what they left.
func ExampleBisect() {
	session, err := bundle.OpenPaths("../../testdata/openttd/rng_poke")
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	r, err := compare.Bisect(session, compare.Builds{}, compare.BisectOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Bracket.Good, r.Bracket.Bad, "by", r.Bracket.By)
	fmt.Println(r.Groups)
	// Output:
	// 000adec0 000adee0 by snapshots
	// [[client] [server]]
}
