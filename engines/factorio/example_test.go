package factorio_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/desynctool/desynctool/engines/factorio"
)

// Where in a save something differs, by the output of dat_diff.
func ExampleFormats() {
	paste := `replace   ref[9:10] -> des[9:10]
<surface name=nauvis> pos=17
  <chunk x=1 y=0> pos=39
ref: b'@\x00'
<surface name=nauvis> pos=17
  <chunk x=1 y=0> pos=39
des: b'B\x00'
`
	for _, f := range factorio.Formats() {
		if f.Name != factorio.DiffFormat {
			continue
		}
		desynced, err := f.Read(strings.NewReader(paste), "paste.txt", 1)
		if err != nil {
			log.Fatal(err)
		}
		rec, err := desynced.Next()
		if err != nil {
			log.Fatal(err)
		}
		for _, d := range rec.Checkpoint.Detail {
			fmt.Println(d.Text)
		}
	}
	// Output:
	// surface name=nauvis
	// chunk x=1 y=0
	// bytes 42 00
}
