package check_test

import (
	"fmt"
	"path/filepath"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/report/check"
)

func ExampleCheck() {
	result, err := check.Check(files.Disk, []string{filepath.Join("..", "..", "testdata", "cuts", "wrong.snap")}, check.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range result[0].Findings {
		if f.Rule.Level == check.Error {
			fmt.Println(f.Rule.ID, f.Rule.Anchor())
			fmt.Printf("byte %d: %s\n", f.Offset, f.Text)
		}
	}
	// Output:
	// snap-cuts docs/snapshot.md#blocks-and-canonical-bytes
	// byte 207: no block begins at key 2
}
