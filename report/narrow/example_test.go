package narrow_test

import (
	"fmt"
	"log"

	"github.com/desynctool/desynctool/report/evidence"
	"github.com/desynctool/desynctool/report/evidence/archive"
	"github.com/desynctool/desynctool/report/narrow"
)

// Between which state points the peers of a session parted, by what they left.
func ExampleBisect() {
	paths := []string{"../../testdata/openttd/rng_poke"}
	tree, err := archive.Open(paths, archive.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tree.Close()
	session, err := evidence.Open(tree, paths)
	if err != nil {
		log.Fatal(err)
	}
	r, err := narrow.Bisect(session, nil, false)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(r.Bracket.Good, r.Bracket.Bad, "by", r.Bracket.By)
	fmt.Println(r.Groups)
	// Output:
	// 000adec0 000adee0 by snapshots
	// [[client] [server]]
}
