package kill_test

import (
	"fmt"
	"os/exec"

	"github.com/desynctool/desynctool/internal/testkit/kill"
)

// A program is killed when it has printed two lines and waits for a minute.
func ExampleAtLine() {
	lines, ended, err := kill.AtLine(exec.Command("sh", "-c", "echo one; echo two; exec sleep 60"), 2)
	fmt.Println(lines, ended, err)
	// Output: [one two] false <nil>
}
