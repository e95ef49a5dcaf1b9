package confine_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/desynctool/desynctool/internal/confine"
)

// A program that writes too much is ended.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	e, err := confine.Run(context.Background(), confine.Command{
		Args: []string{"sh", "-c", "echo loading; exec head -c 10000000 /dev/zero > saved"}, Env: confine.Minimal(dir), Writes: []string{dir},
		Time: time.Minute, Disk: 1 << 20,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Why, e.Tail)
	// Output: wrote more than 1 MiB [loading]
}
