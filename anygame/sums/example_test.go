package sums_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/desynctool/desynctool/anygame/sums"
	"github.com/desynctool/desynctool/tracediff"
)

// The log of a game that nobody described.
func ExampleLearn() {
	const log = `[12:00:01] INFO loading map 7
[12:00:02] INFO [sync] tick=1200 hash=0x9f3acc01 players=4
[12:00:02] DEBUG drew 812 objects
[12:00:03] INFO [sync] tick=1201 hash=0x1b22e0a7 players=4
[12:00:04] WARN [sync] tick=1202 hash=0xc4410f5e players=3
`
	p := sums.Learn([]byte(log), "game.log")
	fmt.Println(p.Title())
	source, err := p.Format().Read(strings.NewReader(log), "game.log", 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := tracediff.WriteSource(os.Stdout, source); err != nil {
		fmt.Println(err)
	}
	// Output:
	// tick is the number at "tick", checksum is "hash"
	// %desynctool trace 1
	// tick=1200 sum=0x9f3acc01
	// tick=1201 sum=0x1b22e0a7
	// tick=1202 sum=0xc4410f5e
	// %end
}
