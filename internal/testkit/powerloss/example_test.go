package powerloss_test

import (
	"fmt"
	"log"
	"os/exec"
	"path/filepath"

	"github.com/desynctool/desynctool/internal/testkit/powerloss"
)

// Whatever a program leaves when the power is lost before any of its system calls. It needs strace.
func Example() {
	r, err := powerloss.Record(exec.Command("cp", "file", "/tmp/folder/"), "/tmp/folder")
	if err != nil {
		log.Fatal(err)
	}
	err = r.Each(1, 0, func(c powerloss.Crash) error {
		return c.Leave(filepath.Join("/tmp/found", string(powerloss.Any)), powerloss.Any)
	})
	if err != nil {
		log.Fatal(err)
	}
}

// A disk may lose more or less of what was not synced.
func ExampleLoss() {
	fmt.Println(powerloss.Losses)
	// Output: [all last any]
}
