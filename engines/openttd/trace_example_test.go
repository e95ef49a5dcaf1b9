package openttd_test

import (
	"fmt"
	"os"

	"github.com/desynctool/desynctool/engines/openttd"
	"github.com/desynctool/desynctool/tracediff"
)

// The server's messages to a client.
func ExampleFormats() {
	f, err := os.Open("../../testdata/messages/openttd-net.log")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	source, err := openttd.Formats()[0].Read(f, f.Name(), 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := tracediff.WriteSource(os.Stdout, source); err != nil {
		fmt.Println(err)
	}
	// Output:
	// %desynctool trace 1
	// %peer "server"
	// tick=2008671 sum=0x0cd7ab90
	// tick=2008700 sum=0xffffffff
	// tick=2008707 scope=commands n=2 sum.cmd=79,93
	// tick=2008708 scope=commands n=1 sum.cmd=1
	// tick=12 sum=0x00000007
	// %end
}
