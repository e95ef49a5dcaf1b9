package verdict_test

import (
	"fmt"
	"log"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/engines/openttd"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/snapshot"
)

// What two peers' savegames show by themselves, and which questions stay open.
func ExampleConclude() {
	formats := []snapshot.Format{openttd.Format()}
	var peers []*bisect.Peer
	for _, name := range []string{"server", "client"} {
		path := "../../testdata/openttd/rng_poke/" + name
		sets, err := snapshot.Find(files.Disk, path, formats)
		if err != nil {
			log.Fatal(err)
		}
		peers = append(peers, &bisect.Peer{Path: path, Snapshots: sets[0]})
	}
	found, err := bisect.Run(peers, bisect.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var states [2]snapshot.State
	for i, file := range found.Bracket.BadFiles {
		if states[i], err = snapshot.OpenAny(files.Disk, file, formats); err != nil {
			log.Fatal(err)
		}
		defer states[i].Close()
	}
	diff, err := snapshot.Compare(states[0], states[1], snapshot.DiffOptions{})
	if err != nil {
		log.Fatal(err)
	}
	c, err := verdict.Conclude(verdict.Evidence{Bisect: found, Diff: diff})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("(%s, %s] %q\n", c.Bracket.Good, c.Bracket.Bad, c.Archetypes)
	for _, open := range c.Open() {
		fmt.Printf("open: %s\n", open.Step)
	}
	// Output:
	// (000adec0, 000adee0] []
	// open: inputs
	// open: tick
	// open: system
	// open: archetype
	// open: field
	// open: peers
	// open: cause
}
