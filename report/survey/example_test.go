package survey_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/survey"
	"github.com/desynctool/desynctool/snapshot"
)

// The states of a game that is on no list. The number in their names is the tick.
func ExampleFor() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for tick := range 3 {
		text := fmt.Sprintf(`{"step": %d, "units": [{"id": 7, "hp": %d}]}`, 100*tick, 50-tick)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("dump-%d.json", 100*tick)), []byte(text), 0o666); err != nil {
			log.Fatal(err)
		}
	}
	found, err := survey.For(files.Disk, []string{dir})
	if err != nil {
		log.Fatal(err)
	}
	sets, err := snapshot.Find(files.Disk, dir, formats.SnapshotsOf(found.Formats()))
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range sets[0].Entries {
		fmt.Println(e.Base, "is state point", e.Point)
	}
	// Output:
	// dump-0.json is state point 0
	// dump-100.json is state point 100
	// dump-200.json is state point 200
}
