//go:build unix

package processgroup_test

import (
	"fmt"
	"os/exec"

	"github.com/desynctool/desynctool/internal/processgroup"
)

// A command that is ended with all that it started.
func Example() {
	cmd := exec.Command("sleep", "1000")
	processgroup.Own(cmd)
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(processgroup.Kill(cmd.Process))
	fmt.Println(cmd.Wait())
	// Output:
	// <nil>
	// signal: killed
}
