package ggrs_test

import (
	"fmt"
	"os"

	"github.com/desynctool/desynctool/engines/ggrs"
	"github.com/desynctool/desynctool/tracediff"
)

// A log that ends soon after a rollback.
func ExampleFormat() {
	f, err := os.Open("../../testdata/messages/bevy_ggrs-a.log")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	source, err := ggrs.Format().Read(f, f.Name(), 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := tracediff.WriteSource(os.Stdout, source); err != nil {
		fmt.Println(err)
	}
	// Output:
	// %desynctool trace 1
	// tick=15118 phase=predicted sum=0xc3387452a3c84267
	// tick=15119 scope=Gold phase=predicted sum=0x0000000000000007
	// tick=15119 scope="Transform<Vec3, f32>" phase=predicted sum=0x00000000000000ab
	// tick=15119 phase=predicted sum=0x0000000000000001
	// tick=15120 scope="rollback entities" phase=predicted sum=0x0000000000000005
	// tick=15120 phase=predicted sum=0x875164d47c219510
	// event=restore tick=15119 at=15121
	// tick=15119 phase=predicted sum=0x0000000000000002
	// tick=15120 phase=predicted sum=0x508030672ffbd971
	// %end
}
