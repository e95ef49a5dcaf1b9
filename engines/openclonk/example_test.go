package openclonk_test

import (
	"fmt"
	"os"

	"github.com/desynctool/desynctool/engines/openclonk"
	"github.com/desynctool/desynctool/tracediff"
)

// The client's side of a log.
func ExampleFormat() {
	f, err := os.Open("../../testdata/loglines/openclonk.log")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	source, err := openclonk.Format().Read(f, f.Name(), 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := tracediff.WriteSource(os.Stdout, source); err != nil {
		fmt.Println(err)
	}
	// Output:
	// %desynctool trace 1
	// %peer "client"
	// tick=400 scope="sync check" sum.Rnc=5121 sum.Cpx=80210 sum.PXS=12 sum.MMi=633 sum.Obc=703 sum.Oei=825 sum.Sct=2655
	// %end
}
