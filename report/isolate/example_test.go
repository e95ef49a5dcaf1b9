package isolate_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/desynctool/desynctool/internal/sandbox"
	"github.com/desynctool/desynctool/report/isolate"
)

// A process that ends before it has answered is an error with how it ended.
func ExampleReader_Ask() {
	r := isolate.Reader{Process: func() (*exec.Cmd, error) { return exec.Command("sh", "-c", "read -n 1 x; exit 3"), nil }}
	_, _, err := r.Ask(context.Background(), &isolate.Request{
		Paths: []string{"report.zip"}, Rules: sandbox.Rules{Limits: sandbox.Defaults()},
	}, nil)
	died := (*isolate.DiedError)(nil)
	fmt.Println(errors.As(err, &died), err)
	// Output: true the isolated process ended without an answer (exit status 3)
}
