package spring_test

import (
	"fmt"
	"io"
	"log"
	"os"

	"github.com/desynctool/desynctool/engines/spring"
)

// The states in a dump, with the first of their tables.
func ExampleParts() {
	const name = "../../testdata/spring/recoil/ServerGameState-846930886-[600-602].txt"
	f, err := os.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		log.Fatal(err)
	}
	parts, err := spring.Parts(f, stat.Size(), name)
	if err != nil {
		log.Fatal(err)
	}
	for _, part := range parts {
		world, err := spring.Read(io.NewSectionReader(f, part.Offset, part.Size), part.Size, name)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(part.Point)
		for i := range world.Tables[:3] {
			t := &world.Tables[i]
			fmt.Println(" ", t.Class, t.Label, t.Rows())
		}
	}
	// Output:
	// end of frame 600
	//   archetype AllyTeam 2
	//   archetype CobThread 3
	//   archetype Feature 1
	// end of frame 602
	//   archetype AllyTeam 2
	//   archetype CobThread 3
	//   archetype Feature 1
}
