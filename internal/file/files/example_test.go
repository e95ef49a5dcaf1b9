package files_test

import (
	"fmt"
	"log"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/internal/file/files"
)

// The files in a folder, on the disk or in whatever else is a Tree.
func Example() {
	const dir = "../../../testdata/cuts"
	var tree files.Tree = files.Disk
	names, err := tree.Names(dir)
	if err != nil {
		log.Fatal(err)
	}
	slices.Sort(names)
	for _, name := range names {
		stat, err := tree.Stat(filepath.Join(dir, name))
		if err != nil {
			log.Fatal(err)
		}
		if filepath.Ext(name) == ".snap" {
			fmt.Println(name, stat.Size())
		}
	}
	// Output:
	// right.snap 441
	// wrong.snap 559
}
