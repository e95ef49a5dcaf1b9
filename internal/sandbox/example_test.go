package sandbox_test

import (
	"fmt"

	"github.com/desynctool/desynctool/internal/sandbox"
)

func ExampleDefaults() {
	l := sandbox.Defaults()
	fmt.Println(sandbox.Size(l.Memory), l.Wall, l.Files)
	// Output: 4 GiB 10m0s 1024
}
