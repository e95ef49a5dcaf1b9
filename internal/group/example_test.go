//go:build unix

package group_test

import (
	"fmt"
	"os/exec"

	"github.com/desynctool/desynctool/internal/group"
)

// A command that is ended with all that it started.
func Example() {
	cmd := exec.Command("sleep", "1000")
	group.Own(cmd)
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(group.Kill(cmd.Process))
	fmt.Println(cmd.Wait())
	// Output:
	// <nil>
	// signal: killed
}
