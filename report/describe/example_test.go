package describe_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/report/describe"
	"github.com/desynctool/desynctool/report/survey"
)

// A page about the states of a game that is on no list.
func ExampleNew() {
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
	guess, err := describe.New(survey.Under(files.Disk, []string{dir}, nil))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(guess.Page)
	// Output:
	// # The files of a game, as desynctool understood them by itself: every line below is a guess. Correct what is wrong,
	// # and check the page with: desynctool describe --check PATH. The keys are in docs/anygame.md.
	//
	// game = "My game"  # its name in reports
	//
	// [files]
	// # 3 files (dump-0.json): states as JSON
	// states = ["dump-*.json"]
	//
	// [names]
	// pattern = '^dump-(?P<tick>[0-9]+)\.json$'  # dump-0.json
	//
	// [state]
	// # The tick is also at step, and the same as in the names.
	//
	// # units: 1 row at most
	// [[table]]
	// path = "units"
	// key = "id"  # called like an id, unique in every list
	// #   id: integer
	// #   hp: integer
}
