package stratagus_test

import (
	"fmt"
	"os"

	"github.com/desynctool/desynctool/engines/stratagus"
	"github.com/desynctool/desynctool/tracediff"
)

// The units of one player.
func ExampleFormat() {
	f, err := os.Open("../../testdata/messages/stratagus-a.log")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	source, err := stratagus.Format().Read(f, f.Name(), 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := tracediff.WriteSource(os.Stdout, source); err != nil {
		fmt.Println(err)
	}
	// Output:
	// %desynctool trace 1
	// tick=145 scope="unit 0 unit-gold-mine" sum=0x0206020a sum.order=1 sum.refs=1
	// tick=145 scope="unit 1 unit-gold-mine" sum=0x40c44148 sum.order=1 sum.refs=1
	// tick=145 scope="unit 17 unit-peon" sum=0x188c2900 sum.order=4 sum.refs=2
	// tick=146 scope="unit 0 unit-gold-mine" sum=0x00000007 sum.order=UnitAction::Still sum.refs=1
	// %end
}
