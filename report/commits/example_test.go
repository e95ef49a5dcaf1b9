package commits_test

import (
	"fmt"

	"github.com/desynctool/desynctool/report/commits"
)

// A program with a command line that does not contain where its trace goes.
func ExampleProgramTest() {
	_, err := commits.ProgramTest("./game --replay {log}", commits.ProgramOptions{})
	fmt.Println(err)
	// Output: no {out} in "./game --replay {log}", the placeholder for the path of the trace that it writes
}
